/* See vet.h. */
#include "emit/c/vet.h"
#include "base/ascii.h"
#include "emit/c/prelude.h"
#include <ctype.h>

typedef struct {
    const char *begin, *at, *end;
    const Names *sections;
    const char *fault; /* NULL: none */
} Vet;

static const char CHARACTERS[] = " \n{}[]()<>=+-*/&|!?:;,.";
static const char POINTER[] = "(*koine_x"; /* to a function of C, which is declared */

static bool is_one_of(const char *const *words, const char *word, size_t n)
{
    for (uint32_t k = 0; words[k]; k++)
        if (strlen(words[k]) == n && memcmp(words[k], word, n) == 0)
            return true;
    return false;
}

static bool begins_with(const char *word, size_t n, const char *head)
{
    return n >= strlen(head) && memcmp(word, head, strlen(head)) == 0;
}

/* ---- comments ---- */
static void vet_comment(Vet *v)
{
    for (v->at += 2; v->at + 1 < v->end && !(v->at[0] == '*' && v->at[1] == '/'); v->at++)
        if (*v->at < ' ' || *v->at > '~' || *v->at == '\\' || *v->at == '?' || *v->at == '#' ||
            (v->at[0] == '/' && v->at[1] == '*')) {
            v->fault = "a comment with a character that does not belong there";
            return;
        }
    if (v->at + 1 < v->end)
        v->at += 2;
    else
        v->fault = "a comment without end";
}

/* ---- words ---- */
/* "f2_Name", "k7": a letter and a number, and for functions more behind it. */
static bool is_numbered(const char *word, size_t n, char letter)
{
    size_t k = 1;
    while (k < n && isdigit((unsigned char)word[k]))
        k++;
    return n > 1 && word[0] == letter && k > 1 && (k == n || (letter == 'f' && word[k] == '_'));
}

static bool is_section(const Vet *v, const char *word, size_t n)
{
    static const char part[] = "_part_";
    const size_t n_part = sizeof part - 1;
    NameId unused;
    if (names_find(v->sections, word, n, &unused))
        return true;
    while (n && isdigit((unsigned char)word[n - 1]))
        n--;
    return n > n_part && memcmp(word + n - n_part, part, n_part) == 0 &&
           names_find(v->sections, word, n - n_part, &unused);
}

static bool is_helper(const char *word, size_t n)
{
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (strlen(function_name((Helper)f)) == n && memcmp(function_name((Helper)f), word, n) == 0)
            return true;
    return false;
}

/* A bracket behind the word makes it a call, unless it is one of these. */
static bool may_have_bracket(const Vet *v, const char *word, size_t n)
{
    static const char *const keywords[] = { "if", "for", "return", "void", NULL };
    return is_one_of(keywords, word, n) || is_numbered(word, n, 'k') || is_numbered(word, n, 'f') ||
           begins_with(word, n, "koine_") || is_section(v, word, n) || is_helper(word, n);
}

/* Keywords of C that the printer uses outside of the prelude. All others are refused. */
static bool is_refused_word(const char *word, size_t n)
{
    static const char *const used[] = { "static",  "inline",   "const",    "void",     "double", "int", "int32_t",
                                        "int64_t", "uint32_t", "uint64_t", "struct",   "enum",   "for", "if",
                                        "else",    "goto",     "break",    "return",   "m",      "n",   "i",
                                        "row",     "rows",     "model",    "restrict", NULL };
    if (*word == '_')
        return true;
    if (isdigit((unsigned char)*word) || is_one_of(used, word, n) || has_prelude_prefix(word) || is_helper(word, n))
        return false;
    char copy[64];
    if (n >= sizeof copy)
        return true;
    memcpy(copy, word, n);
    copy[n] = 0;
    return is_prelude_name(copy);
}

/* What stands behind blanks and comments. */
static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end)
        if (*at == ' ' || *at == '\n')
            at++;
        else if (at + 1 < end && at[0] == '/' && at[1] == '*') {
            for (at += 2; at + 1 < end && !(at[0] == '*' && at[1] == '/');)
                at++;
            at = at + 1 < end ? at + 2 : end;
        } else
            break;
    return at;
}

static void vet_word(Vet *v)
{
    const char *word = v->at;
    while (v->at < v->end && is_name_character(*v->at))
        v->at++;
    const size_t n = (size_t)(v->at - word);
    const char *next = skip_blanks(v->at, v->end);
    if (is_refused_word(word, n))
        v->fault = "a word that Koine does not write";
    else if (next < v->end && *next == '(' && !begins_with(next, (size_t)(v->end - next), POINTER) &&
             !may_have_bracket(v, word, n))
        v->fault = "a call of a function that is not Koine's";
}

/* ---- the rest ---- */
/* "(*koine_x12" stands before: a pointer to a function of C is declared. */
static bool is_declared_pointer(const Vet *v)
{
    const char *at = v->at;
    while (at > v->begin && isdigit((unsigned char)at[-1]))
        at--;
    const size_t n = sizeof POINTER - 1;
    return at < v->at && (size_t)(at - v->begin) >= n && memcmp(at - n, POINTER, n) == 0;
}

/* Brackets behind brackets call what is inside of them, unless a type follows: then they declare a function. */
static bool is_call_of_brackets(const Vet *v)
{
    static const char declares[] = "(KoineSlot *m";
    const char *next = skip_blanks(v->at + 1, v->end);
    if (is_declared_pointer(v))
        return false;
    return next < v->end && *next == '(' && !begins_with(next, (size_t)(v->end - next), declares);
}

static void vet_character(Vet *v)
{
    const char c = *v->at, next = v->at + 1 < v->end ? v->at[1] : 0;
    if (!c || !strchr(CHARACTERS, c) || (c == '?' && next == '?') || (c == '<' && next == ':') ||
        (c == ')' && is_call_of_brackets(v)))
        v->fault = "a character that Koine does not write there";
    v->at++;
}

static void vet_stretch(Vet *v, const char *begin, const char *end)
{
    v->at = v->begin = begin;
    v->end = end;
    while (v->at < end && !v->fault)
        if (v->at[0] == '/' && v->at + 1 < end && v->at[1] == '*')
            vet_comment(v);
        else if (is_name_character(*v->at))
            vet_word(v);
        else
            vet_character(v);
}

static void refuse(const Vet *vet, const Text *text, Arena *arena, const char **why)
{
    uint32_t line = 1;
    for (const char *c = text->at; c < vet->at; c++)
        line += *c == '\n';
    *why = arena_format(arena, "the generated C was refused before it was compiled: %s (line %u)", vet->fault, line);
}

bool vet_text(const Code *code, const Text *text, PreludeSpan prelude, Arena *arena, const char **why)
{
    Names *sections = names_create(arena);
    for (uint32_t k = 0; k < code->n_sections; k++)
        names_text(sections, code->sections[k].name);
    Vet vet = { .sections = sections };
    vet_stretch(&vet, text->at, text->at + prelude.begin);
    if (!vet.fault)
        vet_stretch(&vet, text->at + prelude.end, text->at + text->n);
    if (!vet.fault)
        return true;
    refuse(&vet, text, arena, why);
    return false;
}

/* ---- constant data ---- */
/* As model_string writes it. */
static void vet_literal(Vet *v)
{
    for (v->at++; v->at < v->end && *v->at != '"'; v->at++) {
        if (*v->at == '\\' && v->end - v->at > 3 && strspn(v->at + 1, "01234567") >= 3)
            v->at += 3;
        else if (!is_name_character(*v->at) && !strchr(" _.,:;()[]{}<>=+-*%&|!'^~", *v->at)) {
            v->fault = "a literal with a character that does not belong there";
            return;
        }
    }
    if (v->at < v->end)
        v->at++;
    else
        v->fault = "a literal without end";
}

static void vet_data_word(Vet *v, bool (*is_word)(const char *word, size_t n))
{
    const char *word = v->at;
    while (v->at < v->end && is_name_character(*v->at))
        v->at++;
    const size_t n = (size_t)(v->at - word);
    if (!isdigit((unsigned char)*word) && !is_numbered(word, n, 'a') && !is_word(word, n))
        v->fault = "a word that Koine does not write";
}

bool vet_data(const Text *text, bool (*is_word)(const char *word, size_t n), Arena *arena, const char **why)
{
    Vet vet = { .at = text->at, .end = text->at + text->n };
    while (vet.at < vet.end && !vet.fault)
        if (*vet.at == '"')
            vet_literal(&vet);
        else if (is_name_character(*vet.at))
            vet_data_word(&vet, is_word);
        else if (*vet.at && strchr(" \n{}[],;=.-+*", *vet.at))
            vet.at++;
        else
            vet.fault = "a character that Koine does not write there";
    if (vet.fault)
        refuse(&vet, text, arena, why);
    return !vet.fault;
}
