/* One run as CSV and in the native store: the viewer shows the same of both. */
#include "driver/compile.h"
#include "formats/csv.h"
#include "formats/store.h"
#include "web/curves.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    char paths[2][64];
    Result *csv, *store;
} Pair;

static int set_up(void **state)
{
    Pair *const p = calloc(1, sizeof *p);
    p->arena = arena_create(NULL);
    snprintf(p->paths[0], sizeof p->paths[0], "/tmp/koine-result-%ld.csv", (long)getpid());
    snprintf(p->paths[1], sizeof p->paths[1], "/tmp/koine-result-%ld.h5", (long)getpid());
    Compilation *const c = compilation_create(NULL);
    const char *why, *error = "";
    assert_true(compilation_load(c, &(CompileRequest){ .path = KOINE_SOURCE_DIR "/examples/bouncing-ball/Ball.mdl" }));
    assert_true(compilation_schedule(c));
    const KoineModelKind *const kind = compilation_kind(c, "interp", &why);
    KoineSink *const sinks[] = { csv_sink(&(CsvOptions){ .path = p->paths[0] }, p->arena),
                                 store_sink(&(StoreOptions){ .path = p->paths[1], .begin = "{\"model\": \"Ball\"}" },
                                            p->arena) };
    const KoineHost host = { 0 };
    KoineModel *model;
    assert_int_equal(kind->create(kind, &host, &model), KOINE_OK);
    KoineRunReport report;
    koine_simulate(model, &(KoineRunOptions){ .stop = 6, .interval = 1e-4, .sinks = sinks, .n_sinks = 2 }, &report);
    assert_int_equal(report.end, KOINE_RUN_DONE);
    assert_true(store_finish(sinks[1], "{\"end\": \"done\"}"));
    kind->destroy(model);
    compilation_destroy(c);
    p->csv = result_open(p->paths[0], p->arena, &error);
    p->store = result_open(p->paths[1], p->arena, &error);
    if (!p->csv || !p->store)
        fail_msg("%s", error);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    Pair *const p = *state;
    result_close(p->csv);
    result_close(p->store);
    for (int k = 0; k < 2; k++)
        unlink(p->paths[k]);
    arena_destroy(p->arena);
    free(p);
    return 0;
}

static uint32_t find(const Result *result, const char *name)
{
    for (uint32_t k = 0; k < result_columns(result); k++)
        if (strcmp(result_column(result, k)->name, name) == 0)
            return k;
    fail_msg("no column %s", name);
    return 0;
}

static Curves curves_of(const Pair *p, const Result *result, const char *name, CurvesWindow window)
{
    const uint32_t column = find(result, name);
    Curves curves;
    assert_true(curves_read(result, &column, 1, window, p->arena, &curves));
    return curves;
}

static void rows_and_values_are_the_same(void **state)
{
    const Pair *const p = *state;
    static const char *const names[] = { "time", "Y", "Vy", "Stufe", "Y_Treppe", "Abstand" };
    assert_int_equal(result_rows(p->csv), result_rows(p->store));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const CurvesWindow window = { 1.2, 1.4, 1000, false };
        const Curves a = curves_of(p, p->csv, names[k], window), b = curves_of(p, p->store, names[k], window);
        assert_false(a.is_reduced || b.is_reduced);
        assert_int_equal(a.n, b.n);
        assert_true(a.n > 1900);
        assert_memory_equal(a.times, b.times, a.n * sizeof(double));
        assert_memory_equal(a.columns[0], b.columns[0], a.n * sizeof(double));
    }
}

/* The store knows the extremes of its blocks: pieces may differ at their borders, not in what they reach. */
static void from_afar_the_extremes_are_the_same(void **state)
{
    const Pair *const p = *state;
    static const char *const names[] = { "Y", "Vy", "Stufe" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const CurvesWindow window = { -INFINITY, INFINITY, 200, false };
        const Curves both[] = { curves_of(p, p->csv, names[k], window), curves_of(p, p->store, names[k], window) };
        double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
        for (int which = 0; which < 2; which++) {
            assert_true(both[which].is_reduced && both[which].n <= 400);
            for (uint64_t i = 0; i < both[which].n; i++) {
                assert_true(i == 0 || both[which].times[i] >= both[which].times[i - 1]);
                low[which] = fmin(low[which], both[which].columns[0][i]);
                high[which] = fmax(high[which], both[which].columns[0][i]);
            }
            assert_true(both[which].times[0] == 0 && both[which].times[both[which].n - 1] == 6);
        }
        assert_true(low[0] == low[1] && high[0] == high[1]);
    }
}

static void events_are_at_the_same_times(void **state)
{
    const Pair *const p = *state;
    const CurvesEvents a = curves_events(p->csv, 0, 6, 100, p->arena);
    const CurvesEvents b = curves_events(p->store, 0, 6, 100, p->arena);
    assert_true(a.n > 10);
    assert_int_equal(a.n, b.n);
    for (uint32_t k = 0; k < a.n; k++)
        assert_true(a.times[k] == b.times[k]);
}

static void the_store_tells_of_its_run(void **state)
{
    const Pair *const p = *state;
    assert_non_null(strstr(result_provenance(p->store), "\"Ball\""));
    assert_non_null(strstr(result_statistics(p->store), "\"done\""));
    assert_null(result_provenance(p->csv));
    assert_true(result_column(p->store, find(p->store, "Radius"))->is_constant);
    assert_true(result_column(p->store, find(p->store, "Stufe"))->is_discrete);
    assert_int_equal(result_look(p->csv), RESULT_SAME);
    assert_int_equal(result_look(p->store), RESULT_SAME);
    FILE *const more = fopen(p->paths[0], "a");
    fputs("7,0,0,0,0,0,0,0\n", more);
    fclose(more);
    assert_int_equal(result_look(p->csv), RESULT_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_values_are_the_same),
        cmocka_unit_test(from_afar_the_extremes_are_the_same),
        cmocka_unit_test(events_are_at_the_same_times),
        cmocka_unit_test(the_store_tells_of_its_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
