/* The words of Koine's text form (word.def and the operations of op.def), for its printer and its reader. */
#ifndef IR_WORDS_H
#define IR_WORDS_H

#include "ir/expr.h"

typedef enum {
    WORD_NO, /* not a word of the text form */
#define WORD(name, text, reserved) WORD_##name,
#include "ir/word.def"
#undef WORD
    WORD_OPERATION /* WORD_OPERATION + op: an operation that is written as a call */
} Word;

typedef struct Words Words;

Words *words_create(Arena *arena);
uint32_t words_find(const Words *words, const char *text, size_t length); /* Word, or WORD_OPERATION + op */
const char *word_text(Word word);
/* Whether a name that is spelled so must stand in quotes. words may be NULL: slower, without memory. */
bool words_is_reserved(const Words *words, const char *text, size_t length);

/* Letters of unquoted names: ASCII letters, digits (not first), _ and $, and all of UTF-8 beyond ASCII. */
static inline bool is_name_start(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26 || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}
static inline bool is_name_letter(char c)
{
    static const uint64_t letters[4] = { UINT64_C(0x03ff001000000000), UINT64_C(0x07fffffe87fffffe), UINT64_MAX,
                                         UINT64_MAX };
    return letters[(unsigned char)c >> 6] >> ((unsigned char)c & 63) & 1;
}

/* A name of the form $LETTERnumber, as the text form gives to elements without a name of their own; else 0.
 * letter 'e' and "$e12" give 12. Leading zeros and numbers above UINT32_MAX - 1 are other names. */
uint32_t generated_number(const char *text, size_t length, char letter);

/* Binding strength of what is printed; an operand weaker than its place demands stands in parentheses. */
typedef enum {
    BINDS_IF,
    BINDS_OR,
    BINDS_AND,
    BINDS_NOT,
    BINDS_RELATION,
    BINDS_SUM,
    BINDS_PRODUCT,
    BINDS_OPERAND
} Binds;

/* Values of enumerations in the order of model.h, by their words. */
typedef struct {
    uint8_t n;
    Word words[10];
} WordList;
extern const WordList definition_words, causality_words, select_words, variability_words, region_words, trigger_words,
    relation_words, clock_words, method_words, table_words, outside_words, role_words, anchor_words, action_words,
    block_words, part_words;
extern const Op step_ops[4];

#endif
