/* Banks: versions, imports, and checking class by class. Each test makes its bank in a folder of its own. */
#include "bank/bank_check.h"
#include "driver/compile.h"
#include "bank/store.h"
#include "driver/dump.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    /* Older than any check that follows, as the clock of files is coarse; and each time another time. */
    static long n_written;
    const struct timespec times[2] = { { time(NULL) - 100, 0 }, { time(NULL) - 100, n_written++ } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void write_gate(const char *name, const char *class, const char *sensor, const char *start)
{
    char text[512];
    snprintf(text, sizeof text,
             "BASIC COMPONENT %s\nDECLARATION OF ELEMENTS\n  DEPENDENT VARIABLE Out (REAL)\n"
             "  SENSOR VARIABLE %s (REAL) := %s\nDYNAMIC BEHAVIOUR\n  Out := %s + 1;\nEND OF %s\n",
             class, sensor, start, sensor, class);
    write_text(name, text);
}

static void write_user(const char *name, const char *class, const char *part)
{
    char text[512];
    snprintf(text, sizeof text,
             "HIGH LEVEL COMPONENT %s\n  SUBCOMPONENTS P OF CLASS %s\n  INPUT CONNECTIONS\n    x --> P.In;\n"
             "  OUTPUT EQUIVALENCES\n    y := P.Out;\nEND OF %s\n",
             class, part, class);
    write_text(name, text);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root, access("/dev/shm", W_OK) == 0 ? "/dev/shm/koine-bank-XXXXXX" : "/tmp/koine-bank-XXXXXX");
    char cache[80];
    if (!mkdtemp(root))
        return 1;
    snprintf(cache, sizeof cache, "%s/cache", root);
    return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static const char *in_root(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", root, name);
    return path;
}

/* ---- loading ---- */
/* The start value of `sensor` in the loaded model tells which version was taken. */
static void assert_loads(const char *file, const char *const *versions, const char *text)
{
    char path[256];
    Compilation *c = compilation_create(NULL);
    const CompileRequest request = { .path = in_root(file, path), .versions = versions };
    if (!compilation_load(c, &request))
        fail_msg("%s", diag_json(c->diag, c->arena));
    Text dump = { .arena = c->arena };
    assert_true(compilation_dump(c, "load", DUMP_MODEL, &dump));
    if (!strstr(dump.at, text))
        fail_msg("no '%s' in %s", text, dump.at);
    compilation_destroy(c);
}

static void assert_fails(const char *file, const char *const *versions, const char *code, const char *first,
                         const char *second)
{
    char path[256];
    Compilation *c = compilation_create(NULL);
    const CompileRequest request = { .path = in_root(file, path), .versions = versions };
    assert_false(compilation_load(c, &request));
    const char *json = diag_json(c->diag, c->arena), *at = strstr(json, code);
    if (!at || !strstr(at, first) || !strstr(at, second))
        fail_msg("no %s, %s, %s in %s", code, first, second, json);
    compilation_destroy(c);
}

static void test_sx176_the_version_in_use(void **state)
{
    (void)state;
    write_user("b/Top.mdl", "Top", "Gate");
    write_gate("b/Gate/Version0.mdl", "Gate", "In", "10");
    write_gate("b/Gate/Other.mdl", "Gate", "In", "20");
    assert_fails("b/Top.mdl", NULL, "KN2050", "there is no component class 'Gate'",
                 "a line 'use Gate VERSION'"); /* no bank file */
    write_text("b/koine.bank", "");
    assert_loads("b/Top.mdl", NULL, "start 10.0"); /* the default */
    write_text("b/koine.bank", "# chosen\nuse Gate Other\n");
    assert_loads("b/Top.mdl", NULL, "start 20.0");
    assert_loads("b/Top.mdl", (const char *[]){ "Version0", NULL }, "start 10.0");
    assert_loads("b/Top.mdl", (const char *[]){ "Gate=Version0", NULL }, "start 10.0");
    assert_fails("b/Top.mdl", (const char *[]){ "Gate=Third", NULL }, "KN2053",
                 "the class 'Gate' has no version 'Third'", "its versions are Other, Version0");
    assert_fails("b/Top.mdl", (const char *[]){ "Third", NULL }, "KN2053",
                 "no class of this model has the version 'Third'", "CLASS=VERSION");
    write_text("b/koine.bank", "use Gate Third\n");
    assert_fails("b/Top.mdl", NULL, "KN2053", "the class 'Gate' has no version 'Third'", "\"line\": 1, \"column\": 10");
}

static void test_sx176_only_version_and_none(void **state)
{
    (void)state;
    write_text("b/koine.bank", "");
    write_user("b/Top/One.mdl", "Top", "Gate"); /* a version itself: its classes lie in the bank above */
    write_gate("b/Gate/Only.mdl", "Gate", "In", "10");
    assert_loads("b/Top/One.mdl", NULL, "start 10.0");
    write_gate("b/Gate/More.mdl", "Gate", "In", "20");
    assert_fails("b/Top/One.mdl", NULL, "KN2054", "the class 'Gate' has several versions and none is in use",
                 "choose one of More, Only: koine bank use Gate More");
    write_gate("b/Gate.mdl", "Gate", "In", "30");
    assert_fails("b/Top/One.mdl", NULL, "KN2055", "the class 'Gate' stands in a file and in a folder", "Gate.mdl");
}

static void test_the_component_bears_the_name_of_its_class(void **state)
{
    (void)state;
    write_text("b/koine.bank", "");
    write_user("b/Top.mdl", "Top", "Gate");
    write_gate("b/Gate/Only.mdl", "Other", "In", "10");
    assert_fails("b/Top.mdl", NULL, "KN1103", "this is the component `Other`, wanted is `Gate`", "");
}

static void test_imports_in_their_order(void **state)
{
    (void)state;
    write_text("b/koine.bank", "import ../priv\nimport ../pub\nimport Gate from \"../old gates\" as OldGate\n");
    write_user("b/Top.mdl", "Top", "Gate");
    write_user("b/Old.mdl", "Old", "OldGate");
    write_gate("pub/Gate.mdl", "Gate", "In", "10");
    write_gate("old gates/Gate.mdl", "Gate", "In", "40");
    mkdir(in_root("priv", (char[256]){ 0 }), 0700);
    assert_loads("b/Top.mdl", NULL, "start 10.0");
    write_gate("priv/Gate.mdl", "Gate", "In", "20");
    assert_loads("b/Top.mdl", NULL, "start 20.0");
    write_gate("b/Gate.mdl", "Gate", "In", "30");
    assert_loads("b/Top.mdl", NULL, "start 30.0");
    assert_loads("b/Old.mdl", NULL, "start 40.0");
    write_text("b/koine.bank", "import ../nowhere\nimport Gat from ../pub as OldGate\n");
    assert_fails("b/Old.mdl", NULL, "KN2056", "there is no class 'Gat' in", "\"line\": 2, \"column\": 1");
    write_text("b/koine.bank", "import Gate from ../nowhere as OldGate\n");
    assert_fails("b/Old.mdl", NULL, "KN2056", "there is no folder '", "/b/../nowhere' to import from");
}

/* An imported class finds what it is made of in its own bank, with the versions in use there. */
static void test_imported_classes_stay_at_home(void **state)
{
    (void)state;
    write_text("b/koine.bank", "import Middle from ../lib\n");
    write_user("b/Top.mdl", "Top", "Middle");
    write_gate("b/Gate.mdl", "Gate", "In", "10");
    write_text("b/Top.mdl", "HIGH LEVEL COMPONENT Top\n  SUBCOMPONENTS Middle\nEND OF Top\n");
    write_text("lib/koine.bank", "use Gate B\n");
    write_text("lib/Middle.mdl", "HIGH LEVEL COMPONENT Middle\n  SUBCOMPONENTS Gate\nEND OF Middle\n");
    write_gate("lib/Gate/A.mdl", "Gate", "In", "20");
    write_gate("lib/Gate/B.mdl", "Gate", "In", "30");
    assert_loads("b/Top.mdl", NULL, "start 30.0");
}

static void test_mistakes_in_the_bank_file(void **state)
{
    (void)state;
    write_user("b/Top.mdl", "Top", "Gate");
    write_gate("b/Gate.mdl", "Gate", "In", "10");
    static const struct {
        const char *text, *code, *message, *place;
    } cases[] = {
        { "# fine\nuse Gate\n", "KN2052", "use wants a class and one of its versions", "\"line\": 2, \"column\": 1" },
        { "use Gate ../x\n", "KN2052", "'../x' cannot be the name of a class or version",
          "\"line\": 1, \"column\": 10" },
        { "import\n", "KN2052", "import wants a folder, or a class, from and a folder", "\"line\": 1, \"column\": 1" },
        { "import A from b like C\n", "KN2052", "import wants a folder", "\"line\": 1" },
        { "\n<<<<<<< HEAD\n", "KN2052", "this line is not understood", "\"line\": 2, \"column\": 1" },
        { "use A B\nuse A C\n", "KN2055", "the version of 'A' is chosen twice", "\"line\": 2, \"column\": 1" },
        { "import A from b\nimport C from d as A\n", "KN2055", "the class 'A' is imported twice",
          "\"line\": 2, \"column\": 1" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        write_text("b/koine.bank", cases[k].text);
        assert_fails("b/Top.mdl", NULL, cases[k].code, cases[k].message, cases[k].place);
    }
}

/* ---- checking ---- */
typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    BankCheck check;
} Checked;

static Checked check_bank(const char *folder)
{
    char path[256];
    Checked c = { .arena = arena_create(NULL) };
    c.sources = sources_create(c.arena);
    c.diag = diag_create(c.arena, c.sources);
    const BankCheckRequest request = { .folder = arena_format(c.arena, "%s", in_root(folder, path)) };
    assert_true(bank_check(&c.check, &request, c.sources, c.diag, c.arena));
    return c;
}

static void assert_check(const char *folder, uint32_t translated, uint32_t wrong)
{
    Checked c = check_bank(folder);
    if (c.check.n_translated != translated || c.check.n_wrong != wrong)
        fail_msg("translated %u, wrong %u: %s", c.check.n_translated, c.check.n_wrong, diag_json(c.diag, c.arena));
    arena_destroy(c.arena);
}

static void assert_said(const char *folder, const char *code, const char *first, const char *second)
{
    Checked c = check_bank(folder);
    const char *json = diag_json(c.diag, c.arena), *at = strstr(json, code);
    if (!at || !strstr(at, first) || !strstr(at, second))
        fail_msg("no %s, %s, %s in %s", code, first, second, json);
    arena_destroy(c.arena);
}

enum { MANY = 1000, LEAVES = 900 };

/* 900 basic classes, 100 made of nine each. */
static void write_many(void)
{
    char file[64], class[32], text[512];
    for (int k = 0; k < LEAVES; k++) {
        snprintf(class, sizeof class, "Leaf%d", k);
        snprintf(file, sizeof file, "b/%s.mdl", class);
        write_gate(file, class, "In", "1");
    }
    for (int k = 0; k < MANY - LEAVES; k++) {
        int n = snprintf(text, sizeof text, "HIGH LEVEL COMPONENT Group%d\n  SUBCOMPONENTS Leaf%d", k, 9 * k);
        for (int j = 1; j < 9; j++)
            n += snprintf(text + n, sizeof text - (size_t)n, ", Leaf%d", 9 * k + j);
        snprintf(text + n, sizeof text - (size_t)n,
                 "\n  COMPONENT CONNECTIONS\n    Leaf%d.Out --> Leaf%d.In;\nEND OF Group%d\n", 9 * k, 9 * k + 1, k);
        snprintf(file, sizeof file, "b/Group%d.mdl", k);
        write_text(file, text);
    }
}

/* After an edit of one class of a thousand only that one is translated; its users too once they would see it. */
static void test_sx169_only_what_changed_is_translated(void **state)
{
    (void)state;
    write_many();
    assert_check("b", MANY, 0);
    assert_check("b", 0, 0);
    write_gate("b/Leaf77.mdl", "Leaf77", "In", "5 # another value, the same interface");
    assert_check("b", 1, 0);
    assert_check("b", 0, 0);
    write_gate("b/Leaf77.mdl", "Leaf77", "Input", "5"); /* seen by Group8, which does not connect it */
    assert_check("b", 2, 0);
    write_gate("b/Leaf73.mdl", "Leaf73", "Input", "5"); /* which Group8 connects */
    assert_check("b", 2, 1);
    assert_said("b", "KN1161", "`Leaf73` has no quantity `In`", "Group8.mdl\", \"line\": 4");
    assert_check("b", 0, 1);                            /* said again, translated no more */
    write_gate("b/Leaf73.mdl", "Leaf73", "Input", "6"); /* messages may point into it */
    assert_check("b", 2, 1);
    write_gate("b/Leaf73.mdl", "Leaf73", "In", "5");
    assert_check("b", 2, 0);
}

static void test_touched_files_are_not_translated(void **state)
{
    (void)state;
    char path[256];
    write_gate("b/Gate.mdl", "Gate", "In", "1");
    assert_check("b", 1, 0);
    assert_int_equal(utimensat(AT_FDCWD, in_root("b/Gate.mdl", path), NULL, 0), 0);
    assert_check("b", 0, 0);
    assert_int_equal(unlink(path), 0);
    write_gate("b/Gate.mdl", "Gate", "In", "2"); /* the same size and, but for the file system, the same time */
    assert_check("b", 1, 0);
}

static void test_sx163_a_change_of_version_is_seen_by_users(void **state)
{
    (void)state;
    write_text("b/koine.bank", "use Gate A\n");
    write_user("b/Top.mdl", "Top", "Gate");
    write_gate("b/Gate/A.mdl", "Gate", "In", "1");
    write_gate("b/Gate/B.mdl", "Gate", "Input", "1");
    assert_check("b", 3, 0);
    assert_said("b", "KN2059", "the version 'B' of 'Gate' has no sensor 'In'", "A.mdl\", \"line\": 4");
    assert_said("b", "KN2059", "the version 'A' of 'Gate' has no sensor 'Input'", "B.mdl\", \"line\": 4");
    write_text("b/koine.bank", "use Gate B\nuse Gone A\n");
    assert_check("b", 1, 1);
    assert_said("b", "KN1161", "`P` has no quantity `In`", "Top.mdl");
    assert_said("b", "KN2058", "there is no class 'Gone' with versions here", "\"line\": 2, \"column\": 1");
}

static void test_classes_that_come_and_go(void **state)
{
    (void)state;
    char path[256];
    write_user("b/Top.mdl", "Top", "Gate");
    assert_check("b", 1, 1);
    assert_said("b", "KN2050", "there is no component class 'Gate'", "Top.mdl\", \"line\": 2, \"column\": 28");
    assert_check("b", 0, 1);
    write_gate("b/Gate.mdl", "Gate", "In", "1");
    assert_check("b", 2, 0);
    unlink(in_root("b/Gate.mdl", path));
    assert_check("b", 1, 1);
}

static void test_imported_classes_are_checked_too(void **state)
{
    (void)state;
    write_text("b/koine.bank", "import ../lib\n");
    write_user("b/Top.mdl", "Top", "Gate");
    write_gate("lib/Gate.mdl", "Gate", "In", "1");
    assert_check("b", 2, 0);
    assert_check("b", 0, 0);
    write_gate("lib/Gate.mdl", "Gate", "Inp", "1");
    assert_check("b", 2, 1);
}

/* A, B, A through files: by the version in use, and across banks that import each other. */
static void test_sx142_cyclic_containment(void **state)
{
    (void)state;
    write_text("b/koine.bank", "use B Wrong\nimport ../c\n");
    write_user("b/A.mdl", "A", "B");
    write_gate("b/B/Right.mdl", "B", "In", "1");
    write_user("b/B/Wrong.mdl", "B", "A");
    assert_fails("b/A.mdl", NULL, "KN2051", "A.mdl' contains itself", "through '");
    assert_loads("b/A.mdl", (const char *[]){ "B=Right", NULL }, "start 1.0");
    assert_check("b", 3, 2);
    assert_said("b", "KN2051", "A.mdl' contains itself", "Wrong.mdl\", \"line\": 2, \"column\": 28");
    assert_check("b", 0, 2);
    write_text("c/koine.bank", "import ../b\n");
    write_user("c/D.mdl", "D", "E");
    write_user("b/E.mdl", "E", "D");
    assert_fails("c/D.mdl", NULL, "KN2051", "D.mdl' contains itself", "through '");
}

static void test_a_chain_without_end(void **state)
{
    (void)state;
    char file[64], text[128];
    for (int k = 0; k < 599; k++) {
        snprintf(text, sizeof text, "HIGH LEVEL COMPONENT L%d\n  SUBCOMPONENTS P OF CLASS L%d\nEND OF L%d\n", k, k + 1,
                 k);
        snprintf(file, sizeof file, "b/L%d.mdl", k);
        write_text(file, text);
    }
    write_gate("b/L599.mdl", "L599", "In", "1");
    assert_fails("b/L0.mdl", NULL, "KN1006", "components are nested more than 500 deep", "L500.mdl");
    assert_loads("b/L200.mdl", NULL, "start 1.0");
    assert_said("b", "KN1006", "components are nested more than 500 deep", "");
}

/* Whatever is done to the stored file: the verdict is right and the store mended. */
static void test_a_damaged_store_is_ignored(void **state)
{
    (void)state;
    char folder[256], path[600] = "";
    write_user("b/Top.mdl", "Top", "Gate");
    write_gate("b/Gate.mdl", "Gate", "In", "1");
    assert_check("b", 2, 0);
    DIR *d = opendir(in_root("cache/koine/store", folder));
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        if (e->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    closedir(d);
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    for (off_t at = 0; at < s.st_size; at += 23) {
        FILE *file = fopen(path, "r+");
        fseek(file, at, SEEK_SET);
        const int c = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(c ^ 0x41, file);
        fclose(file);
        assert_check("b", 2, 0);
        assert_check("b", 0, 0);
    }
    for (off_t size = 0; size < s.st_size; size += 41) {
        assert_int_equal(truncate(path, size), 0);
        assert_check("b", 2, 0);
    }
    assert_int_equal(truncate(path, 0), 0);
    Arena *arena = arena_create(NULL);
    assert_int_equal(store_summary(arena).n, 1);
    store_clear(arena);
    assert_int_equal(store_summary(arena).n, 0);
    arena_destroy(arena);
}

/* A bank is the same from wherever it is looked at; so are its messages. */
static void test_paths_are_those_of_the_caller(void **state)
{
    (void)state;
    char path[256], before[256];
    write_text("b/Top.mdl", "HIGH LEVEL COMPONENT Top\n  SUBCOMPONENTS Gate\nEND OF Other\n");
    assert_check("b", 1, 1);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(in_root("b", path)), 0);
    Checked c = { .arena = arena_create(NULL) };
    c.sources = sources_create(c.arena);
    c.diag = diag_create(c.arena, c.sources);
    assert_true(bank_check(&c.check, &(BankCheckRequest){ .folder = "." }, c.sources, c.diag, c.arena));
    assert_int_equal(c.check.n_translated, 0);
    assert_non_null(strstr(diag_json(c.diag, c.arena), "\"file\": \"Top.mdl\", \"line\": 3"));
    arena_destroy(c.arena);
    assert_int_equal(chdir(before), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sx176_the_version_in_use),
        TEST(test_sx176_only_version_and_none),
        TEST(test_the_component_bears_the_name_of_its_class),
        TEST(test_imports_in_their_order),
        TEST(test_imported_classes_stay_at_home),
        TEST(test_mistakes_in_the_bank_file),
        TEST(test_sx169_only_what_changed_is_translated),
        TEST(test_touched_files_are_not_translated),
        TEST(test_sx163_a_change_of_version_is_seen_by_users),
        TEST(test_classes_that_come_and_go),
        TEST(test_imported_classes_are_checked_too),
        TEST(test_sx142_cyclic_containment),
        TEST(test_a_chain_without_end),
        TEST(test_a_damaged_store_is_ignored),
        TEST(test_paths_are_those_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
