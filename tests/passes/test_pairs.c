/* File-pair tests of the passes: FOLDER/CASE.ir is read, the passes run up to the one that its first line names, and
 * what is printed must be FOLDER/CASE.out: the Model, from match-equations on the Schedule; where the model is wrong,
 * the messages. The folder has the name of the pass. KOINE_BLESS=1 writes the expected files. */
#include "base/diag.h"
#include "ir/print.h"
#include "ir/print_schedule.h"
#include "ir/read.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct {
    const char *pass;
    bool is_found, is_broken;
} Stop;

static bool stop_at(void *context, const Compile *compile, const Pass *pass)
{
    Stop *stop = context;
    stop->is_broken = stop->is_broken || !model_verify(compile->model, compile->diag);
    stop->is_found = strcmp(pass->name, stop->pass) == 0;
    return !stop->is_found && !stop->is_broken;
}

static void read_pass(const char *path, char *pass, size_t size)
{
    char line[128] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    if (strncmp(line, "# pass: ", 8) != 0)
        fail_msg("%s: the first line is not '# pass: NAME'", path);
    snprintf(pass, size, "%.*s", (int)strcspn(line + 8, "\n"), line + 8);
}

static bool has_schedule(const char *pass)
{
    bool is_reached = false;
    for (uint32_t k = 0; k < pipeline_count(); k++) {
        is_reached = is_reached || strcmp(pipeline[k].name, "match-equations") == 0;
        if (strcmp(pipeline[k].name, pass) == 0)
            return is_reached;
    }
    fail_msg("there is no pass '%s'", pass);
    return false;
}

static void print_messages(Diag *diag, Text *to)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    diag_print(diag, file, (DiagStyle){ 0 });
    fclose(file);
    text_bytes(to, text, size);
    free(text);
}

static void print_outcome(const char *path, const char *pass, Text *to)
{
    Arena *arena = to->arena;
    Pool *pool = pool_create(arena, names_create(arena));
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    Stop stop = { .pass = pass };
    uint32_t source;
    assert_int_equal(sources_open(sources, path, &source), SOURCE_OK);
    Compile c = { .model = model_read(pool, sources, source, diag), .arena = arena, .diag = diag };
    const bool good = c.model && model_verify(c.model, diag) && run_pipeline(&c, stop_at, &stop);
    print_messages(diag, to);
    if (stop.is_broken)
        fail_msg("%s: a pass broke the model: %s", path, to->at);
    if (!good)
        return;
    if (!stop.is_found)
        fail_msg("%s: there is no pass '%s'", path, pass);
    if (has_schedule(pass))
        schedule_print(c.schedule, to);
    else
        model_print(c.model, to, (PrintOptions){ 0 });
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return text;
}

static void write_all(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_pair(void **state)
{
    const char *path = *state; /* FOLDER/CASE.ir */
    char pass[64], folder[64], expected_path[512];
    read_pass(path, pass, sizeof pass);
    snprintf(folder, sizeof folder, "%.*s", (int)strcspn(path, "/"), path);
    for (char *at = folder; *at; at++)
        *at = *at == '_' ? '-' : *at;
    assert_string_equal(folder, pass);
    Text text = { .arena = arena_create(NULL) };
    text_add(&text, "");
    print_outcome(path, pass, &text);
    snprintf(expected_path, sizeof expected_path, "%.*s.out", (int)(strlen(path) - 3), path);
    if (getenv("KOINE_BLESS"))
        write_all(expected_path, text.at);
    char *expected = read_all(expected_path);
    if (!expected)
        fail_msg("%s is missing; KOINE_BLESS=1 writes it", expected_path);
    assert_string_equal(text.at, expected);
    free(expected);
    arena_destroy(text.arena);
}

int main(void)
{
    glob_t found;
    if (chdir(KOINE_SOURCE_DIR "/tests/passes") != 0 || glob("*/*.ir", 0, NULL, &found) != 0)
        return 1;
    struct CMUnitTest *tests = calloc(found.gl_pathc, sizeof *tests);
    for (size_t k = 0; k < found.gl_pathc; k++)
        tests[k] = (struct CMUnitTest){ .name = found.gl_pathv[k],
                                        .test_func = check_pair,
                                        .initial_state = found.gl_pathv[k] };
    const int failed = _cmocka_run_group_tests("pairs", tests, found.gl_pathc, NULL, NULL);
    globfree(&found);
    free(tests);
    return failed;
}
