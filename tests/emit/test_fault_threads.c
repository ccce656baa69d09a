/* Instances of one kind that fail in several threads at once: each gets its explanation, and the compiler's memory is
 * only read meanwhile. Of use with the thread sanitizer (cmake --preset tsan). */
#include "base/diag.h"
#include "emit/code.h"
#include "emit/program.h"
#include "ir/read.h"
#include "koine/simulate.h"
#include "passes/pipeline.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
    Arena *arena;
    Executable *executable;
    KoineModelKind *kind;
} World;

static World make(const char *body)
{
    World w = { .arena = arena_create(NULL) };
    Sources *sources = sources_create(w.arena);
    Diag *diag = diag_create(w.arena, sources);
    const char *text = arena_format(w.arena, "koine-ir 1\nmodel m\n%send m\n", body), *why = NULL;
    const uint32_t source = sources_add_text(sources, "m.ir", text, strlen(text));
    Pool *pool = pool_create(w.arena, names_create(w.arena));
    Compile compile = { .model = model_read(pool, sources, source, diag), .arena = w.arena, .diag = diag };
    const bool is_good = compile.model && run_pipeline(&compile, NULL, NULL);
    if (!is_good)
        diag_print(diag, stderr, (DiagStyle){ 0 });
    assert_true(is_good);
    const uint32_t n_nodes = pool_count(pool), n_refs = compile.model->refs.n;
    const Program *program = program_create(compile.schedule, w.arena);
    assert_int_equal(pool_count(pool), n_nodes); /* what the layout makes is its own */
    assert_int_equal(compile.model->refs.n, n_refs);
    w.executable = interp_load(program_code(program), &why, w.arena);
    assert_non_null(w.executable);
    w.kind = koine_machine_kind(program_data(program), executable_code(w.executable));
    assert_non_null(w.kind);
    return w;
}

static void drop(World *w)
{
    koine_machine_free(w->kind);
    executable_destroy(w->executable);
    arena_destroy(w->arena);
}

typedef struct {
    const KoineModelKind *kind;
    const char *expected;
    bool is_same;
} Failure;

static void *fail_often(void *at)
{
    enum { ROUNDS = 20 };
    Failure *f = at;
    f->is_same = true;
    for (int k = 0; k < ROUNDS && f->is_same; k++) {
        const KoineHost host = { .tolerance = 1e-6 };
        const KoineRunOptions options = { .stop = 2, .interval = 1, .solver = "dopri5" };
        KoineRunReport *report = calloc(1, sizeof *report);
        KoineModel *model;
        f->is_same = report && f->kind->create(f->kind, &host, &model) == KOINE_OK;
        if (f->is_same) {
            f->is_same =
                koine_simulate(model, &options, report) == KOINE_RUN_FAILED && strstr(report->text, f->expected);
            f->kind->destroy(model);
        }
        if (!f->is_same)
            fprintf(stderr, "'%s' has no '%s'\n", report ? report->text : "", f->expected);
        free(report);
    }
    return NULL;
}

static void fail_together(const char *body, const char *expected)
{
    enum { N = 4 };
    World w = make(body);
    pthread_t ids[N];
    Failure failures[N];
    for (int k = 0; k < N; k++) {
        failures[k] = (Failure){ w.kind, expected, false };
        assert_int_equal(pthread_create(&ids[k], NULL, fail_often, &failures[k]), 0);
    }
    for (int k = 0; k < N; k++) {
        pthread_join(ids[k], NULL);
        assert_true(failures[k].is_same);
    }
    drop(&w);
}

static void an_operation_without_value(void **unused)
{
    (void)unused;
    fail_together("var x Real continuous der start 0.5 fixed\nvar y Real continuous\n"
                  "eq a y := sqrt(x - 1.0)\neq b der(x) := y\n",
                  "square root of a negative number: sqrt(x - 1.0) with x = 0.5");
}

static void an_index_outside(void **unused)
{
    (void)unused;
    fail_together("var x Real[3] continuous der start 0.5 fixed\nvar n Integer discrete next start 7 fixed\n"
                  "var y Real continuous\neq a y := x[n]\neq b for i in 1:3: der(x[i]) := y\n"
                  "trans t level next set when time >= 1.0 :\n  next(n) := 1\nend t\n",
                  "index 7 of 'x' is outside 1 to 3");
}

static void a_singular_system(void **unused)
{
    (void)unused;
    fail_together("param p Real = 0.0\nvar x Real continuous der start 0.5 fixed\nvar a, b Real continuous\n"
                  "eq e p*a + p*b*x = 1.0 + x\neq f a*p - b*p = 2.0*x\neq g der(x) := a + b\n",
                  "not determined: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_without_value),
        cmocka_unit_test(an_index_outside),
        cmocka_unit_test(a_singular_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
