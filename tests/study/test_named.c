/* How models, classes and versions are named, and what experiments say of them. */
#include "assertions.h"
#include "driver/words.h"
#include "study/named.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    char root[64];
} Fixture;

static const char *inside(const Fixture *f, const char *name)
{
    return arena_format(f->arena, "%s/%s", f->root, name);
}

static void put(const Fixture *f, const char *name, const char *text)
{
    FILE *file = fopen(inside(f, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int begin(void **state)
{
    Arena *arena = arena_create(NULL);
    Fixture *f = NEW(arena, Fixture);
    f->arena = arena;
    f->sources = sources_create(arena);
    f->diag = diag_create(arena, f->sources);
    strcpy(f->root, "/tmp/koine-named-XXXXXX");
    *state = f;
    return mkdtemp(f->root) ? 0 : -1;
}

static int end(void **state)
{
    Fixture *f = *state;
    const int status = system(arena_format(f->arena, "rm -r %s", f->root));
    arena_destroy(f->arena);
    return status;
}

static void splits(const Fixture *f, const char *text, const char *path, const char *class_name)
{
    CompileRequest request = { 0 };
    named_split(&request, text, f->arena);
    assert_string_equal(request.path, path);
    if (class_name)
        assert_string_equal(request.class_name, class_name);
    else
        assert_null(request.class_name);
}

static void test_a_class_stands_behind_the_last_colon(void **state)
{
    const Fixture *f = *state;
    splits(f, "Ball.mdl", "Ball.mdl", NULL);
    splits(f, "Ball.mdl:Ball", "Ball.mdl", "Ball");
    splits(f, "a:b/Ball.mdl", "a:b/Ball.mdl", NULL);
    splits(f, "parts.dym:motors.DC", "parts.dym", "motors.DC");
    splits(f, "Ball.mdl:", "Ball.mdl:", NULL);
    splits(f, ":Ball", ":Ball", NULL);
}

/* A file of the whole name has no class; a class that is named already stays. */
static void test_what_is_there_comes_first(void **state)
{
    const Fixture *f = *state;
    put(f, "odd:name", "");
    splits(f, inside(f, "odd:name"), inside(f, "odd:name"), NULL);
    CompileRequest request = { .class_name = "Given" };
    named_split(&request, "Ball.mdl:Ball", f->arena);
    assert_string_equal(request.path, "Ball.mdl");
    assert_string_equal(request.class_name, "Given");
}

static void test_versions_are_a_list(void **state)
{
    const Fixture *f = *state;
    const char *const *versions = named_versions(" A=1,2 ,, B=3", f->arena);
    assert_string_equal(versions[0], "A=1");
    assert_string_equal(versions[1], "2");
    assert_string_equal(versions[2], "B=3");
    assert_null(versions[3]);
    assert_null(named_versions(NULL, f->arena)[0]);
}

static void test_the_nearest_file(void **state)
{
    const Fixture *f = *state;
    put(f, "Ball.mdl", "");
    assert_string_equal(named_nearest_file(inside(f, "Bal.mdl"), f->arena), inside(f, "Ball.mdl"));
    assert_null(named_nearest_file(inside(f, "Pendulum.mdl"), f->arena));
    assert_null(named_nearest_file(inside(f, "no/Ball.mdl"), f->arena));
}

/* Sources keep the text of a file, so each time has its own. */
static Beside take(Fixture *f, const char *name, CompileRequest *request, Experiment *e)
{
    const char *other;
    f->sources = sources_create(f->arena);
    f->diag = diag_create(f->arena, f->sources);
    *e = experiment_none(&compilation_vocabulary);
    request->path = inside(f, name);
    return named_take_beside(request, f->sources, f->arena, f->diag, e, &other);
}

static void test_the_experiment_beside_a_model(void **state)
{
    Fixture *f = *state;
    CompileRequest request = { 0 };
    Experiment e;
    put(f, "Ball.mdl", "");
    put(f, "Other.mdl", "");
    assert_int_equal(take(f, "Ball.mdl", &request, &e), BESIDE_NONE);
    put(f, "Ball.exp.yaml", "model: Ball.mdl:Small\nuse: Part=2\nstop: 3\n");
    assert_int_equal(take(f, "Ball.mdl", &request, &e), BESIDE_TAKEN);
    assert_string_equal(request.class_name, "Small");
    assert_string_equal(request.versions[0], "Part=2");
    assert_true(e.has[EXPERIMENT_STOP] && e.part.stop == 3);
    put(f, "Ball.exp.yaml", "model: Other.mdl\nstop: 3\n");
    assert_int_equal(take(f, "Ball.mdl", &request, &e), BESIDE_OTHER);
    assert_false(e.has[EXPERIMENT_STOP]);
    put(f, "Ball.exp.yaml", "stop: [\n");
    assert_int_equal(take(f, "Ball.mdl", &request, &e), BESIDE_WRONG);
    assert_true(diag_errors(f->diag) > 0);
}

/* Values of settings come before nominal values. */
static void test_what_an_experiment_asks_of_the_compiler(void **state)
{
    const Fixture *f = *state;
    CompileRequest request = { 0 };
    Experiment e = experiment_none(&compilation_vocabulary);
    assert_true(experiment_give(&e, "set", "k=2", f->arena, f->diag));
    assert_true(experiment_give(&e, "nominal", "x=100", f->arena, f->diag));
    assert_true(experiment_give(&e, "stop-when", "x > 1", f->arena, f->diag));
    named_take_experiment(&request, &e, f->sources, "command line", f->arena);
    assert_int_equal(request.n_values, 2);
    assert_string_equal(request.values[0].name, "k");
    assert_false(request.values[0].is_nominal);
    assert_string_equal(request.values[0].place, "command line");
    assert_string_equal(request.values[1].name, "x");
    assert_true(request.values[1].is_nominal);
    assert_string_equal(request.stop_when, "x > 1");
    assert_null(request.task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_class_stands_behind_the_last_colon, begin, end),
        cmocka_unit_test_setup_teardown(test_what_is_there_comes_first, begin, end),
        cmocka_unit_test_setup_teardown(test_versions_are_a_list, begin, end),
        cmocka_unit_test_setup_teardown(test_the_nearest_file, begin, end),
        cmocka_unit_test_setup_teardown(test_the_experiment_beside_a_model, begin, end),
        cmocka_unit_test_setup_teardown(test_what_an_experiment_asks_of_the_compiler, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
