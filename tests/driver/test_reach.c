/* Which files a model can be made of. */
#include "bank/reach.h"
#include "assertions.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void write_text(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/koine-test-reach.XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(chdir(root), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    assert_int_equal(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
    return 0;
}

static bool has(const Reach *reach, ReachKind kind, const char *path)
{
    for (uint32_t k = 0; k < reach->n; k++)
        if (reach->at[k].kind == kind && strcmp(reach->at[k].path, path) == 0)
            return true;
    return false;
}

static void imported_banks_give_their_classes_only(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    Reach reach = { 0 };
    write_text("mine/koine.bank", "import ../pub\n");
    write_text("mine/Top.mdl", "");
    write_text("pub/koine.bank", "import And from ../gates\nimport ../mine\nimport ../nowhere\n");
    write_text("pub/Or/Fast.mdl", "");
    write_text("pub/Or/notes.txt", "");
    write_text("pub/letters.txt", "");
    write_text("gates/And.mdl", "");
    write_text("gates/deep/er/Not.mdl", "");
    reach_model("mine/Top.mdl", arena, &reach);
    assert_true(has(&reach, REACH_FOLDER, "mine/"));
    assert_true(has(&reach, REACH_LIST, "mine/../pub/"));
    assert_true(has(&reach, REACH_FILE, "mine/../pub/koine.bank"));
    assert_true(has(&reach, REACH_FILE, "mine/../pub/Or/Fast.mdl"));
    assert_true(has(&reach, REACH_FILE, "mine/../pub/../gates/And.mdl")); /* through the other */
    for (uint32_t k = 0; k < reach.n; k++) {
        fail_if(strstr(reach.at[k].path, ".txt"), "%s", reach.at[k].path);
        fail_if(strstr(reach.at[k].path, "Not"), "%s", reach.at[k].path);
        fail_if(reach.at[k].kind == REACH_FOLDER && strcmp(reach.at[k].path, "mine/") != 0, "%s", reach.at[k].path);
    }
    arena_destroy(arena);
}

static void a_version_reaches_the_bank_above(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    Reach reach = { 0 };
    write_text("bank/koine.bank", "");
    write_text("bank/And/Fast.mdl", "");
    reach_model("bank/And/Fast.mdl", arena, &reach);
    assert_true(has(&reach, REACH_FOLDER, "bank/And/"));
    assert_true(has(&reach, REACH_FOLDER, "bank/"));
    arena_destroy(arena);
}

static void inclusions_are_single_files(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    Reach reach = { 0 };
    write_text("here/m.dym", "{ @../lib/not.lib } @../lib/a.lib\nmodel m @m.dym @nothing.lib end");
    write_text("lib/a.lib", "@b.lib;");
    write_text("lib/b.lib", "@a.lib");
    write_text("lib/not.lib", "");
    reach_model("here/m.dym", arena, &reach);
    assert_true(has(&reach, REACH_FOLDER, "here/"));
    assert_true(has(&reach, REACH_FILE, "here/../lib/a.lib"));
    assert_true(has(&reach, REACH_FILE, "here/../lib/b.lib"));
    assert_false(has(&reach, REACH_FILE, "here/../lib/not.lib"));
    assert_false(has(&reach, REACH_FOLDER, "here/../lib/"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(imported_banks_give_their_classes_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_version_reaches_the_bank_above, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inclusions_are_single_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
