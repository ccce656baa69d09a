/* See words.h. A word is found by one probe or two in a table filled once. */
#include "ir/words.h"
#include "base/bug.h"
#include "base/map.h"

enum { SLOTS = 1024, LONGEST = 24 }; /* about 200 words */

struct Words {
    uint16_t slots[SLOTS]; /* word, 0: empty */
    uint8_t lengths[SLOTS];
    uint64_t firsts[LONGEST + 1]; /* per length: a bit for each first letter of its words; most names have another */
};

typedef struct {
    const char *text;
    bool is_reserved;
} WordRow;

static const WordRow rows[] = {
    { "", false },
#define WORD(name, text, reserved) { text, reserved },
#include "ir/word.def"
#undef WORD
};

static const char *text_of(uint32_t word)
{
    return word < WORD_OPERATION ? rows[word].text : op_text((Op)(word - WORD_OPERATION));
}

static uint64_t first_bit(const char *text)
{
    return (uint64_t)1 << (text[0] & 63);
}

static uint32_t slot_of(const Words *words, const char *text, size_t length)
{
    const uint32_t first = (unsigned char)text[0], middle = (unsigned char)text[length / 2],
                   last = (unsigned char)text[length - 1]; /* these tell nearly all words apart */
    uint32_t slot = (first * 37 + middle * 101 + last * 11 + (uint32_t)length * 131) & (SLOTS - 1);
    while (words->slots[slot]) {
        if (words->lengths[slot] == length && memcmp(text_of(words->slots[slot]), text, length) == 0)
            break;
        slot = (slot + 1) & (SLOTS - 1);
    }
    return slot;
}

static void add(Words *words, uint32_t word)
{
    const char *text = text_of(word);
    const size_t length = strlen(text);
    if (length > LONGEST)
        BUG("a word of the text form is longer than LONGEST");
    const uint32_t slot = slot_of(words, text, length);
    if (words->slots[slot])
        return;
    words->slots[slot] = (uint16_t)word;
    words->lengths[slot] = (uint8_t)length;
    words->firsts[length] |= first_bit(text);
}

Words *words_create(Arena *arena)
{
    Words *words = NEW(arena, Words);
    for (uint32_t word = WORD_NO + 1; word < WORD_OPERATION; word++)
        add(words, word);
    for (uint32_t op = 0; op < OP_COUNT; op++)
        if (is_name_start(op_text((Op)op)[0]))
            add(words, WORD_OPERATION + op); /* and, or, not, min, max are there already */
    return words;
}

uint32_t words_find(const Words *words, const char *text, size_t length)
{
    if (length == 0 || length > LONGEST || !(words->firsts[length] & first_bit(text)))
        return WORD_NO;
    return words->slots[slot_of(words, text, length)];
}

const char *word_text(Word word)
{
    return rows[word].text;
}

static bool is_spelled(uint32_t word, const char *text, size_t length)
{
    const char *known = text_of(word);
    return strlen(known) == length && memcmp(known, text, length) == 0;
}

static uint32_t find_slowly(const char *text, size_t length)
{
    for (uint32_t word = WORD_NO + 1; word < WORD_OPERATION + OP_COUNT; word++)
        if (is_spelled(word, text, length))
            return word;
    return WORD_NO;
}

bool words_is_reserved(const Words *words, const char *text, size_t length)
{
    const uint32_t word = words ? words_find(words, text, length) : find_slowly(text, length);
    return word >= WORD_OPERATION || rows[word].is_reserved;
}

uint32_t generated_number(const char *text, size_t length, char letter)
{
    if (length < 3 || length > 11 || text[0] != '$' || text[1] != letter || text[2] == '0')
        return 0;
    uint64_t number = 0;
    for (size_t k = 2; k < length; k++) {
        if (text[k] < '0' || text[k] > '9')
            return 0;
        number = number * 10 + (uint64_t)(text[k] - '0');
    }
    return number < UINT32_MAX ? (uint32_t)number : 0;
}

const WordList definition_words = {
    9, { WORD_NONE, WORD_NOW, WORD_NEXT, WORD_DER, WORD_PULSE, WORD_INPUT, WORD_BINDING, WORD_CLOCKED, WORD_FOREIGN }
};
const WordList causality_words = { 5, { WORD_LOCAL, WORD_INPUT, WORD_OUTPUT, WORD_PARAMETER, WORD_PORT } };
const WordList select_words = { 5, { WORD_NEVER, WORD_AVOID, WORD_DEFAULT, WORD_PREFER, WORD_ALWAYS } };
const WordList variability_words = {
    5, { WORD_CONSTANT, WORD_STRUCTURAL, WORD_PARAMETER, WORD_DISCRETE, WORD_CONTINUOUS }
};
const WordList region_words = { 3, { WORD_CAUSAL, WORD_ACAUSAL, WORD_STRUCTURAL } };
const WordList trigger_words = {
    8, { WORD_LEVEL, WORD_EDGE, WORD_TICK, WORD_MESSAGE, WORD_STEP, WORD_INITIAL, WORD_TERMINAL, WORD_ENTRY }
};
const WordList relation_words = { 4, { WORD_STATE, WORD_TIME, WORD_DISCRETE, WORD_LITERAL } };
const WordList method_words = { 6,
                                { WORD_NONE, WORD_EXPLICITEULER, WORD_EXPLICITMIDPOINT2, WORD_EXPLICITRUNGEKUTTA4,
                                  WORD_IMPLICITEULER, WORD_IMPLICITTRAPEZOID } };
const WordList clock_words = {
    8, { WORD_SAMPLE, WORD_PERIODIC, WORD_EVENT, WORD_INFERRED, WORD_SUB, WORD_SUPER, WORD_SHIFT, WORD_BACK }
};
const WordList table_words = { 5, { WORD_LINEAR, WORD_BESSEL, WORD_SPLINE, WORD_AKIMA, WORD_CONSTANT } };
const WordList outside_words = { 3, { WORD_ERROR, WORD_HOLD, WORD_EXTRAPOLATE } };
const WordList role_words = {
    7, { WORD_POTENTIAL, WORD_FLOW, WORD_STREAM, WORD_IN, WORD_OUT, WORD_PARAMETER, WORD_PORT }
};
const WordList anchor_words = { 3, { WORD_ROOT, WORD_POTENTIAL, WORD_BRANCH } };
const WordList action_words = { 5, { WORD_DISPLAY, WORD_TERMINATE, WORD_WARNING, WORD_SEND, WORD_FAIL } };
const WordList block_words = { 8,
                               { WORD_ASSIGN, WORD_LINEAR, WORD_NEWTON, WORD_ITERATE, WORD_FOREIGN, WORD_RELATION,
                                 WORD_STEPFN, WORD_TRANSITION } };
const WordList part_words = {
    6, { WORD_PARAMETERS, WORD_STARTS, WORD_DERIVATIVES, WORD_ROOTS, WORD_OUTPUTS, WORD_EVENT }
};
const Op step_ops[4] = { OP_FLOOR, OP_CEIL, OP_TRUNC, OP_ROUND };
