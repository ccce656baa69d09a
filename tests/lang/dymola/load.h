/* For tests of the language Dymola: a text becomes a Model, which is printed and compared. */
#ifndef TESTS_LANG_DYMOLA_LOAD_H
#define TESTS_LANG_DYMOLA_LOAD_H

#include "assertions.h"
#include "base/text.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lang/dymola/dymola.h"
#include "passes/pipeline.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    Pool *pool;
    Model *model;
} Loaded;

static inline Loaded load_as(const char *text, const char *class_name, const char *profile)
{
    Loaded l = { .arena = arena_create(NULL) };
    l.sources = sources_create(l.arena);
    l.diag = diag_create(l.arena, l.sources);
    l.pool = pool_create(l.arena, names_create(l.arena));
    const LoadRequest request = { .pool = l.pool,
                                  .sources = l.sources,
                                  .source = sources_add_text(l.sources, "t.dym", text, strlen(text)),
                                  .class_name = class_name,
                                  .profile = profile };
    l.model = dymola_language.load(&request, l.diag);
    return l;
}

static inline char *messages(Loaded *l)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diag_print(l->diag, to, (DiagStyle){ 0 });
    fclose(to);
    char *copy = arena_text(l->arena, text, size);
    free(text);
    return copy;
}

static inline Loaded load(const char *text)
{
    Loaded l = load_as(text, NULL, NULL);
    if (!l.model || !model_verify(l.model, l.diag))
        fail_msg("%s\n%s", text, messages(&l));
    return l;
}

static inline void release(Loaded *l)
{
    arena_destroy(l->arena);
}

static inline bool until_connected(void *context, const Compile *compile, const Pass *pass)
{
    (void)compile;
    return strcmp(pass->name, context) != 0;
}

static inline void run_to(Loaded *l, const char *pass)
{
    Compile compile = { .model = l->model, .arena = l->arena, .diag = l->diag };
    if (!run_pipeline(&compile, until_connected, (void *)pass) || !model_verify(l->model, l->diag))
        fail_msg("%s", messages(l));
}

/* The lines of the text form that begin with a word, without it. */
static inline char *lines_of(Loaded *l, const char *word)
{
    Text text = { .arena = l->arena }, found = { .arena = l->arena };
    model_print(l->model, &text, (PrintOptions){ .no_places = true });
    text_add(&found, "");
    for (char *line = strtok(text.at, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, word, strlen(word)) == 0 && line[strlen(word)] == ' ') {
            text_add(&found, line + strlen(word) + 1);
            text_char(&found, '\n');
        }
    return found.at;
}

static inline int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Equations without their labels, sorted. */
static inline char *equations_of(Loaded *l)
{
    char *lines[200];
    size_t n = 0;
    for (char *line = strtok(lines_of(l, "eq"), "\n"); line && n < 200; line = strtok(NULL, "\n")) {
        char *by = strstr(line, " by \"");
        if (by)
            *by = '\0';
        lines[n++] = strchr(line, ' ') + 1;
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    Text text = { .arena = l->arena };
    text_add(&text, "");
    for (size_t k = 0; k < n; k++)
        text_format(&text, "%s\n", lines[k]);
    return text.at;
}

static inline void expect_equations(const char *text, const char *expected)
{
    Loaded l = load(text);
    run_to(&l, "expand-connections");
    assert_string_equal(equations_of(&l), expected);
    release(&l);
}

static inline void expect_has(const char *text, const char *word, const char *part)
{
    Loaded l = load(text);
    const char *lines = lines_of(&l, word);
    fail_if(!strstr(lines, part), "no `%s` in\n%s", part, lines);
    release(&l);
}

#endif
