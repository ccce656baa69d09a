/* Texts of a language as files: each one of accept/ loads without a word and prints as the .ir file beside it; each one
 * of reject/ gives exactly the errors and warnings that its comments announce.
 *
 * A comment `error KN1105: part of the text` announces a message on its own line, `error 2:7 KN1105: part of the text`
 * one at that place; `note 2:7: ...` and `help: ...` announce what a message must be followed by. The comment `places`
 * asks for places in the .ir file. KOINE_BLESS=1 rewrites the .ir files.
 *
 * A test of a language says what its files are called, what its comments begin and end with, and how it loads one. */
#ifndef TESTS_LANG_FILES_H
#define TESTS_LANG_FILES_H

#include "assertions.h"
#include "base/text.h"
#include "ir/language.h"
#include "ir/print.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 600, MOST_MESSAGES = 64, LONGEST_PATH = 512 };

typedef struct {
    char folder[LONGEST_PATH], path[LONGEST_PATH + 256], name[LONGEST_PATH + 256];
} Case;

typedef struct {
    Arena *arena;
    Diag *diag;
    const char *text;
    Model *model; /* NULL: refused */
} LoadedFile;

/* The files of a language; main() says which. */
typedef struct {
    const char *ending;
    char comment_begin, comment_end;
    LoadedFile (*load)(const Case *which);
} LanguageFiles;
static const LanguageFiles *files;

static char *printed(Arena *arena, Diag *diag)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diag_print(diag, to, (DiagStyle){ .json = false });
    fclose(to);
    char *copy = arena_text(arena, text, size);
    free(text);
    return copy;
}

static void expect_silence(const LoadedFile *file)
{
    fail_if(diag_errors(file->diag) + diag_warnings(file->diag) > 0 || !file->model, "%s",
            printed(file->arena, file->diag));
}

/* ---- accept ---- */
static char *file_text(Arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    Text text = { .arena = arena };
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
        text_bytes(&text, block, n);
    fclose(file);
    return text.n ? text.at : arena_text(arena, "", 0);
}

static void bless(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_accept(void **state)
{
    const Case *which = *state;
    const LoadedFile file = files->load(which);
    expect_silence(&file);
    const char places[] = { files->comment_begin, ' ', 'p', 'l', 'a', 'c', 'e', 's', '\0' };
    Text text = { .arena = file.arena };
    model_print(file.model, &text, (PrintOptions){ .no_places = !strstr(file.text, places) });
    char *path = arena_format(file.arena, "%.*sir", (int)strlen(which->path) - 3, which->path);
    if (getenv("KOINE_BLESS"))
        bless(path, text.at);
    const char *expected = file_text(file.arena, path);
    assert_non_null(expected);
    assert_string_equal(text.at, expected);
    arena_destroy(file.arena);
}

/* ---- reject ---- */
typedef struct {
    unsigned line, column, code; /* column 0: any; code 0: a note or help */
    char level[16], text[300];
    bool is_seen;
} Message;

/* `error KN1105: `, `error 2:7 KN1105: `, `note 2:7: `, `help: `; how long it is, 0: none of them. */
static int announced(const char *at, Message *message)
{
    int length = 0;
    if (sscanf(at, " %15[a-z] KN%u: %n", message->level, &message->code, &length) >= 2 && length)
        return length;
    if (sscanf(at, " %15[a-z] %u:%u KN%u: %n", message->level, &message->line, &message->column, &message->code,
               &length) >= 4 &&
        length)
        return length;
    message->code = 0;
    if (sscanf(at, " note %u:%u: %n", &message->line, &message->column, &length) >= 2 && length)
        strcpy(message->level, "note");
    else if (sscanf(at, " help: %n", &length) >= 0 && length)
        strcpy(message->level, "help");
    return length;
}

/* What the comments of a text announce; a line can have several. */
static uint32_t read_expected(const char *text, Message *messages)
{
    uint32_t n = 0, line = 1;
    for (const char *at = text; *at; at++) {
        Message *message = &messages[n];
        *message = (Message){ .line = line };
        line += *at == '\n';
        const int length = *at == files->comment_begin ? announced(at + 1, message) : 0;
        if (length == 0)
            continue;
        at += 1 + length;
        for (size_t k = 0; *at && *at != '\n' && *at != '\r' && *at != files->comment_begin &&
                           *at != files->comment_end && k + 1 < sizeof message->text;
             k++)
            message->text[k] = *at++;
        for (size_t k = strlen(message->text); k > 0 && strchr(" \t", message->text[k - 1]); k--)
            message->text[k - 1] = '\0';
        at--;
        assert_true(++n < MOST_MESSAGES);
    }
    return n;
}

/* Lines `path:line:column: error KN1105: text`. */
static bool read_message(const char *line, const char *path, Message *message)
{
    const size_t length = strlen(path);
    int at = 0;
    *message = (Message){ 0 };
    if (strncmp(line, path, length) != 0 || line[length] != ':')
        return false;
    if (sscanf(line + length, ":%u:%u: %15[a-z] KN%u: %n", &message->line, &message->column, message->level,
               &message->code, &at) < 4 ||
        at == 0)
        return false;
    snprintf(message->text, sizeof message->text, "%s", line + length + at);
    return true;
}

static bool is_meant(const Message *expected, const Message *found)
{
    return !expected->is_seen && expected->line == found->line && expected->code == found->code &&
           (expected->column == 0 || expected->column == found->column) && strcmp(expected->level, found->level) == 0 &&
           strstr(found->text, expected->text);
}

/* A note or help stands somewhere among the messages. */
static bool is_advice_given(Arena *arena, const Message *expected, const char *path, const char *all)
{
    const char *line =
        strcmp(expected->level, "help") == 0
            ? arena_format(arena, "\n  help: %s", expected->text)
            : arena_format(arena, "\n  note: %s:%u:%u: %s", path, expected->line, expected->column, expected->text);
    return strstr(all, line) != NULL;
}

static void test_reject(void **state)
{
    const Case *which = *state;
    const LoadedFile file = files->load(which);
    Message expected[MOST_MESSAGES];
    const uint32_t n = read_expected(file.text, expected);
    assert_true(n > 0); /* a text to be refused says what it is refused with */
    assert_true((file.model == NULL) == (diag_errors(file.diag) > 0));
    char *all = printed(file.arena, file.diag);
    char *rest = arena_text(file.arena, all, strlen(all));
    for (char *line = strtok_r(rest, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        Message found;
        if (!read_message(line, which->path, &found))
            continue;
        uint32_t k = 0;
        while (k < n && !is_meant(&expected[k], &found))
            k++;
        fail_if(k == n, "not expected: %s\n%s", line, all);
        expected[k].is_seen = true;
    }
    for (uint32_t k = 0; k < n; k++)
        fail_if(!expected[k].is_seen &&
                    (expected[k].code || !is_advice_given(file.arena, &expected[k], which->path, all)),
                "line %u: no %s KN%u: %s\n%s", expected[k].line, expected[k].level, expected[k].code, expected[k].text,
                all);
    arena_destroy(file.arena);
}

/* ---- collecting ---- */
static Case cases[MOST_FILES];
static struct CMUnitTest tests[MOST_FILES];
static uint32_t n_cases;

static void add_case(const char *name, CMUnitTestFunction function, Case *which)
{
    assert_true(n_cases < MOST_FILES);
    tests[n_cases++] = (struct CMUnitTest){ name, function, NULL, NULL, which };
}

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), n = strlen(files->ending);
    return length > n && strcmp(entry->d_name + length - n, files->ending) == 0;
}

/* The files of a folder of the tree, each as a test; how many there are. */
static uint32_t add_folder(const char *name, CMUnitTestFunction function)
{
    char folder[LONGEST_PATH];
    snprintf(folder, sizeof folder, "%s/%s", KOINE_SOURCE_DIR, name);
    struct dirent **entries;
    const int n = scandir(folder, &entries, is_model, alphasort);
    for (int k = 0; k < n; k++) {
        Case *which = &cases[n_cases];
        snprintf(which->folder, sizeof which->folder, "%s", folder);
        snprintf(which->path, sizeof which->path, "%s/%s", folder, entries[k]->d_name);
        snprintf(which->name, sizeof which->name, "%s/%s", strrchr(folder, '/') + 1, entries[k]->d_name);
        add_case(which->name, function, which);
        free(entries[k]);
    }
    if (n >= 0)
        free(entries);
    return n > 0 ? (uint32_t)n : 0;
}

#endif
