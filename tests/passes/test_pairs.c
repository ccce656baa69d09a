/* File-pair tests of the passes: FOLDER/CASE.ir is read, the passes run up to the one that its first line names, and
 * what is printed must be FOLDER/CASE.out: the Model, after sort-blocks the Schedule. A model that is refused has
 * FOLDER/CASE.err instead, one that is warned of may have FOLDER/CASE.warn besides: each of its lines stands in the
 * messages, and no other code is reported. The folder has the name of the pass. With the comment "# without verify" the
 * model is not verified before the passes; "# evaluate parameters" and "# remove unneeded" ask for what is done on
 * demand, as does
 * "# systems symbolic" and "# systems torn". "# mode $r1 2": fix-modes gives this choice that value.
 * KOINE_BLESS=1 writes the expected files; after that somebody reads them. */
#include "assertions.h"
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

static uint8_t seen_codes[10000];

/* ---- running the passes ---- */
typedef struct {
    const char *pass;
    bool is_found, is_broken;
    Compile *c;
    const char *mode; /* NULL: none */
    FixedChoice choice;
} Stop;

/* Selectors are there once merge-regions has made them. */
static void fix_choice(Stop *stop)
{
    const Model *m = stop->c->model;
    char name[64];
    long long value;
    assert_int_equal(sscanf(stop->mode, "\n# mode %63s %lld", name, &value), 2);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (strcmp(variable_path(m, (VarId){ k }, stop->c->arena), name) == 0) {
            stop->choice = (FixedChoice){ { k }, value };
            stop->c->modes.fixed = &stop->choice;
            stop->c->modes.n_fixed = 1;
            stop->c->modes.is_mode = true;
        }
    assert_int_equal(stop->c->modes.n_fixed, 1);
}

static bool stop_at(void *context, const Compile *compile, const Pass *pass)
{
    Stop *stop = context;
    stop->is_broken = stop->is_broken || !model_verify(compile->model, compile->diag);
    if (stop->mode && strcmp(pass->name, "lower-whens") == 0)
        fix_choice(stop);
    stop->is_found = strcmp(pass->name, stop->pass) == 0;
    return !stop->is_found && !stop->is_broken;
}

/* For models that verify refuses: a pass says it too. */
static bool stop_late(void *context, const Compile *compile, const Pass *pass)
{
    Stop *stop = context;
    (void)compile;
    stop->is_found = strcmp(pass->name, stop->pass) == 0;
    return !stop->is_found;
}

static uint32_t number_of(const char *pass)
{
    uint32_t k = 0;
    while (k < pipeline_count() && strcmp(pipeline[k].name, pass) != 0)
        k++;
    if (k == pipeline_count())
        fail_msg("there is no pass '%s'", pass);
    return k;
}

typedef struct {
    Text printed; /* empty: refused */
    Text messages;
    bool is_good;
} Outcome;

static void add_messages(Diag *diag, Text *to)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    diag_print(diag, file, (DiagStyle){ 0 });
    fclose(file);
    text_bytes(to, text, size);
    free(text);
}

static Outcome run_case(const char *path, const char *pass, Arena *arena)
{
    Outcome outcome = { .printed = { .arena = arena }, .messages = { .arena = arena } };
    Pool *pool = pool_create(arena, names_create(arena));
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    Stop stop = { .pass = pass };
    uint32_t source;
    assert_int_equal(sources_open(sources, path, &source), SOURCE_OK);
    const bool is_verified = !strstr(sources_get(sources, source)->text, "\n# without verify");
    const char *const text = sources_get(sources, source)->text;
    Compile c = { .model = model_read(pool, sources, source, diag),
                  .arena = arena,
                  .diag = diag,
                  .evaluates_parameters = strstr(text, "\n# evaluate parameters") != NULL,
                  .systems = strstr(text, "\n# systems symbolic") ? SYSTEMS_SYMBOLIC
                             : strstr(text, "\n# systems torn")   ? SYSTEMS_TORN
                                                                  : SYSTEMS_AUTO,
                  .removes_unneeded = strstr(text, "\n# remove unneeded") != NULL };
    stop.c = &c;
    stop.mode = strstr(text, "\n# mode ");
    outcome.is_good = c.model && (!is_verified || model_verify(c.model, diag)) &&
                      run_pipeline(&c, is_verified ? stop_at : stop_late, &stop);
    add_messages(diag, &outcome.messages);
    if (stop.is_broken)
        fail_msg("%s: a pass broke the model: %s", path, outcome.messages.at);
    text_add(&outcome.printed, "");
    if (!outcome.is_good)
        return outcome;
    assert_true(stop.is_found);
    c.model->facts = 0; /* numbers of the table of passes, not of the model */
    if (number_of(pass) >= number_of("sort-blocks"))
        schedule_print(c.schedule, &outcome.printed);
    else
        model_print(c.model, &outcome.printed, (PrintOptions){ .no_places = true });
    return outcome;
}

/* ---- files ---- */
static char *read_all(const char *path, Arena *arena)
{
    Sources *sources = sources_create(arena);
    uint32_t source;
    if (sources_open(sources, path, &source) != SOURCE_OK)
        return NULL;
    const Source *file = sources_get(sources, source);
    return arena_text(arena, file->text, file->size);
}

static void write_all(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The pass of the first line; the folder is called as it is, with underscores. */
static const char *pass_of(const char *path, Arena *arena)
{
    static const char head[] = "# pass: ";
    const char *text = read_all(path, arena);
    assert_non_null(text);
    if (strncmp(text, head, sizeof head - 1) != 0)
        fail_msg("%s: the first line is not '# pass: NAME'", path);
    text += sizeof head - 1;
    const char *pass = arena_text(arena, text, strcspn(text, "\n"));
    char *folder = arena_text(arena, path, strcspn(path, "/"));
    for (char *at = folder; *at; at++)
        *at = *at == '_' ? '-' : *at;
    assert_string_equal(folder, pass);
    (void)number_of(pass);
    return pass;
}

/* ---- messages ---- */
static const char *next_code(const char *text)
{
    static const char *const heads[] = { "error KN", "warning KN" };
    const char *first = NULL;
    for (uint32_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        const char *at = strstr(text, heads[k]);
        if (at && (!first || at < first))
            first = at;
    }
    return first;
}

/* The lines with a code, without their places: what a bless writes. */
static char *fragments_of(const char *messages, Arena *arena)
{
    Text text = { .arena = arena };
    text_add(&text, "");
    for (const char *at = messages; (at = next_code(at)); at++)
        text_format(&text, "%.*s\n", (int)strcspn(at, "\n"), at);
    return text.at;
}

static void check_messages(const char *path, const char *messages, const char *expected, Arena *arena)
{
    for (const char *at = expected; *at;) {
        const size_t n = strcspn(at, "\n");
        const char *fragment = arena_text(arena, at, n);
        if (n && !strstr(messages, fragment))
            fail_msg("%s: no message with: %s\n%s", path, fragment, messages);
        at += n + (at[n] == '\n');
    }
    for (const char *at = messages; (at = next_code(at)); at++) {
        const char *code = arena_text(arena, strstr(at, "KN"), 6);
        if (!strstr(expected, code))
            fail_msg("%s: %s is not expected\n%s", path, code, messages);
        seen_codes[strtoul(code + 2, NULL, 10)] = 1;
    }
}

static void check_pair(void **state)
{
    const char *path = *state; /* FOLDER/CASE.ir */
    Arena *arena = arena_create(NULL);
    const Outcome outcome = run_case(path, pass_of(path, arena), arena);
    const char *stem = arena_text(arena, path, strlen(path) - 3);
    const char *good_path = arena_format(arena, "%s.out", stem), *bad_path = arena_format(arena, "%s.err", stem);
    if (getenv("KOINE_BLESS") && outcome.is_good) {
        write_all(good_path, outcome.printed.at);
        unlink(bad_path);
    } else if (getenv("KOINE_BLESS")) {
        write_all(bad_path, fragments_of(outcome.messages.at, arena));
        unlink(good_path);
    }
    const char *good = read_all(good_path, arena), *bad = read_all(bad_path, arena),
               *warn = read_all(arena_format(arena, "%s.warn", stem), arena);
    if (!good == !bad)
        fail_msg("%s: there must be either %s or %s; KOINE_BLESS=1 writes it", path, good_path, bad_path);
    if (good && !outcome.is_good)
        fail_msg("%s: refused\n%s", path, outcome.messages.at);
    if (bad && outcome.is_good)
        fail_msg("%s: not refused\n%s", path, outcome.printed.at);
    if (good)
        assert_string_equal(outcome.printed.at, good);
    if (good && warn)
        check_messages(path, outcome.messages.at, warn, arena);
    if (bad)
        check_messages(path, outcome.messages.at, bad, arena);
    arena_destroy(arena);
}

/* After all pairs: every code of the passes was reported by one of them. */
static void every_message_of_the_passes_occurs(void **state)
{
    (void)state;
    for (uint32_t k = 0, code; (code = diag_code_at(k)); k++)
        fail_if(code >= 2100 && code < 2200 && !seen_codes[code], "no pair provokes KN%u", code);
}

int main(void)
{
    glob_t found;
    if (chdir(KOINE_SOURCE_DIR "/tests/passes") != 0 || glob("*/*.ir", 0, NULL, &found) != 0)
        return 1;
    struct CMUnitTest *tests = calloc(found.gl_pathc + 1, sizeof *tests);
    for (size_t k = 0; k < found.gl_pathc; k++)
        tests[k] = (struct CMUnitTest){ .name = found.gl_pathv[k],
                                        .test_func = check_pair,
                                        .initial_state = found.gl_pathv[k] };
    tests[found.gl_pathc] = (struct CMUnitTest){ .name = "messages", .test_func = every_message_of_the_passes_occurs };
    const int failed = _cmocka_run_group_tests("pairs", tests, found.gl_pathc + 1, NULL, NULL);
    globfree(&found);
    free(tests);
    return failed;
}
