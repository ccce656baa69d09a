#include "words.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    uint64_t n; /* models */
    bool is_here;
} Word;

static Word words[] = {
#define WORD(name, text, reserved) { text, 0, false },
#include "ir/word.def"
#undef WORD
#define OP(name, text, ...) { text, 0, false },
#include "ir/op.def"
#undef OP
#define WHOLE(name, text, ...) { text, 0, false },
#include "ir/whole.def"
#undef WHOLE
};
enum { N_WORDS = sizeof words / sizeof *words, LONGEST_LINE = 1 << 16 };

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

static void count_one(const char *at, size_t n)
{
    for (uint32_t k = 0; k < N_WORDS; k++)
        if (strlen(words[k].text) == n && strncmp(words[k].text, at, n) == 0)
            words[k].is_here = true;
}

/* Words in texts, in quotes and behind # are none. */
static void count_line(const char *line)
{
    for (const char *at = line; *at && *at != '#';) {
        size_t n = 1;
        if (*at == '"' || *at == '\'')
            n += strcspn(at + 1, *at == '"' ? "\"" : "'") + 1;
        else if (isalpha((unsigned char)*at)) {
            while (is_part(at[n]))
                n++;
            count_one(at, n);
        } else if (is_part(*at)) {
            while (is_part(at[n]))
                n++;
        }
        const size_t left = strlen(at);
        at += n < left ? n : left;
    }
}

void words_count(const char *path)
{
    FILE *const file = fopen(path, "r");
    char *line = malloc(LONGEST_LINE);
    for (uint32_t k = 0; k < N_WORDS; k++)
        words[k].is_here = false;
    while (file && line && fgets(line, LONGEST_LINE, file))
        count_line(line);
    for (uint32_t k = 0; k < N_WORDS; k++)
        words[k].n += words[k].is_here;
    free(line);
    if (file)
        fclose(file);
}

static bool is_first(uint32_t word) /* of those that are spelled so */
{
    for (uint32_t k = 0; k < word; k++)
        if (strcmp(words[k].text, words[word].text) == 0)
            return false;
    return isalpha((unsigned char)words[word].text[0]);
}

bool words_print(uint64_t n_models)
{
    bool is_good = true;
    printf("words in no model:");
    for (uint32_t k = 0; k < N_WORDS; k++)
        if (words[k].n == 0 && is_first(k))
            printf(" %s", words[k].text);
    printf("\n");
    for (uint32_t k = 0; k < N_WORDS; k++)
        if (words[k].n > 0 && words[k].n < n_models / 100 && is_first(k)) {
            printf("%8llu models with the word %s: fewer than one in a hundred\n", (unsigned long long)words[k].n,
                   words[k].text);
            is_good = false;
        }
    return is_good;
}
