/* Whether the user allows code that is not Koine's: files that are named, folders that are trusted. */
#include "assertions.h"
#include "outside/permission.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Outside outside;
    Sources *sources;
    char root[64];
} Fixture;

static const char *inside(const Fixture *f, const char *name)
{
    return arena_format(f->outside.arena, "%s/%s", f->root, name);
}

static void put(const Fixture *f, const char *name, const char *text)
{
    FILE *file = fopen(inside(f, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The list of trusted folders is that of this test. */
static int begin(void **state)
{
    Arena *arena = arena_create(NULL);
    Fixture *f = NEW(arena, Fixture);
    f->sources = sources_create(arena);
    f->outside = (Outside){ .arena = arena, .sources = f->sources, .diag = diag_create(arena, f->sources) };
    strcpy(f->root, "/tmp/koine-permission-XXXXXX");
    *state = f;
    if (!mkdtemp(f->root) || setenv("XDG_CONFIG_HOME", f->root, 1) != 0)
        return -1;
    mkdir(inside(f, "mine"), 0700);
    mkdir(inside(f, "other"), 0700);
    put(f, "mine/a.c", "");
    put(f, "other/b.c", "");
    return 0;
}

static int end(void **state)
{
    Fixture *f = *state;
    const int status = system(arena_format(f->outside.arena, "rm -r %s", f->root));
    arena_destroy(f->outside.arena);
    return status;
}

static void test_files_are_known_by_what_they_are(void **state)
{
    Fixture *f = *state;
    const char *const named[] = { "m", inside(f, "mine/../other/b.c"), NULL };
    f->outside.permission = (ExternalPermission){ .files = named };
    const Judge judge = judge_of(&f->outside);
    assert_true(judge_knows(&judge, "m"));
    assert_true(judge_knows(&judge, inside(f, "other/b.c")));
    assert_false(judge_knows(&judge, inside(f, "mine/a.c")));
    assert_false(judge_trusts(&judge, inside(f, "other/b.c"))); /* that is another question */
}

static void test_nothing_is_known_without_a_word(void **state)
{
    Fixture *f = *state;
    const Judge judge = judge_of(&f->outside);
    assert_false(judge_knows(&judge, inside(f, "mine/a.c")));
    assert_false(judge_trusts(&judge, inside(f, "mine/a.c")));
    assert_false(judge_trusts_source(&judge, SOURCE_NONE));
}

/* The list counts only for those who ask for it. */
static void test_folders_are_trusted_where_the_list_counts(void **state)
{
    Fixture *f = *state;
    const char *whole, *why;
    assert_true(trust_add(inside(f, "mine"), f->outside.arena, &whole, &why));
    const uint32_t mine = sources_add_text(f->sources, inside(f, "mine/a.c"), "", 0);
    const uint32_t other = sources_add_text(f->sources, inside(f, "other/b.c"), "", 0);
    Judge judge = judge_of(&f->outside);
    assert_false(judge_trusts(&judge, inside(f, "mine/a.c")));
    f->outside.permission.counts_trust = true;
    judge = judge_of(&f->outside);
    assert_null(judge.not_trusted);
    assert_true(judge_trusts(&judge, inside(f, "mine/a.c")));
    assert_false(judge_trusts(&judge, inside(f, "other/b.c")));
    assert_true(judge_trusts_source(&judge, mine));
    assert_false(judge_trusts_source(&judge, other));
}

static const char *help_of(const Fixture *f)
{
    DiagItem item;
    const Judge judge = judge_of(&f->outside);
    diag_error(f->outside.diag, DIAG_EXTERNAL_FORBIDDEN, SPAN_NONE, "no");
    judge_help(&judge, " --external a.c --external b.c");
    assert_true(diag_item(f->outside.diag, 0, &item));
    return item.help;
}

static void test_help_names_the_files(void **state)
{
    const char *help = help_of(*state);
    assert_non_null(
        strstr(help, "allow it: --external a.c --external b.c, or --allow-external, or koine trust FOLDER"));
}

/* A list that others may write is none. */
static void test_a_list_of_others_does_not_count(void **state)
{
    Fixture *f = *state;
    const char *whole, *why;
    assert_true(trust_add(inside(f, "mine"), f->outside.arena, &whole, &why));
    assert_int_equal(chmod(trust_path(f->outside.arena), 0666), 0);
    f->outside.permission.counts_trust = true;
    const Judge judge = judge_of(&f->outside);
    assert_non_null(judge.not_trusted);
    assert_false(judge_trusts(&judge, inside(f, "mine/a.c")));
    assert_string_equal(help_of(f), judge.not_trusted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files_are_known_by_what_they_are, begin, end),
        cmocka_unit_test_setup_teardown(test_nothing_is_known_without_a_word, begin, end),
        cmocka_unit_test_setup_teardown(test_folders_are_trusted_where_the_list_counts, begin, end),
        cmocka_unit_test_setup_teardown(test_help_names_the_files, begin, end),
        cmocka_unit_test_setup_teardown(test_a_list_of_others_does_not_count, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
