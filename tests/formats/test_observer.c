/* Observers, fed with hand-made points: the tables printed in the document (section 6.5.6), and its formulas. */
#include "formats/observer.h"
#include "fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct {
    double time;
    int kind;
    uint32_t event_step;
    double x;
} Fed;

enum {
    START = KOINE_POINT_START,
    GRID = KOINE_POINT_GRID,
    LEFT = KOINE_POINT_LEFT,
    STEP = KOINE_POINT_STEP,
    RIGHT = KOINE_POINT_RIGHT,
    STOP = KOINE_POINT_STOP,
    REGION = KOINE_POINT_REGION
};

static char table[4096];

static KoineStatus give(KoineSink *sink, FakeModel *fake, const Fed *fed)
{
    fake->slots[SLOT_X].r = fed->x;
    fake->slots[SLOT_N].i = (int64_t)fed->x;
    fake->slots[SLOT_DX].r = -fed->x;
    return sink->point(sink, &fake->model, &(KoinePoint){ fed->time, fed->event_step, fed->kind });
}

/* Feeds the points as the runtime does: GRID points only where the observer asks for one. */
static const char *observe(ObserverOptions options, const Fed *fed, size_t n)
{
    static const char *const globs[] = { "x" };
    char path[] = "/tmp/koine-observer-XXXXXX";
    close(mkstemp(path));
    Arena *const arena = arena_create(NULL);
    FakeModel fake;
    fake_create(&fake);
    options.path = path;
    if (!options.globs) {
        options.globs = globs;
        options.n_globs = 1;
    }
    KoineSink *const sink = observer_sink(&options, arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    for (size_t k = 0; k < n; k++)
        if (fed[k].kind != GRID || sink->next_time == fed[k].time)
            assert_int_equal(give(sink, &fake, &fed[k]), KOINE_OK);
    assert_int_equal(sink->end(sink, &fake.model), KOINE_OK);
    FILE *const file = fopen(path, "r");
    const size_t size = fread(table, 1, sizeof table - 1, file);
    table[size] = 0;
    fclose(file);
    unlink(path);
    arena_destroy(arena);
    return table;
}

#define OBSERVE(options, ...)                                                                                          \
    observe((ObserverOptions)options, (const Fed[]){ __VA_ARGS__ }, sizeof((const Fed[]){ __VA_ARGS__ }) / sizeof(Fed))
#define OPTIONS(...)                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* The printed example: two values at 48 from a double event, a change of region at 73. */
#define STAIRCASE                                                                                                      \
    { 0, START, 0, 10 }, { 10, LEFT, 0, 10 }, { 10, STEP, 0, 10 }, { 10, RIGHT, 1, 15 }, { 25, LEFT, 0, 15 },          \
        { 25, STEP, 0, 15 }, { 25, RIGHT, 1, 20 }, { 33, LEFT, 0, 20 }, { 33, RIGHT, 1, 13 }, { 40, GRID, 0, 13 },     \
        { 48, LEFT, 0, 13 }, { 48, STEP, 0, 13 }, { 48, STEP, 1, 18 }, { 48, RIGHT, 2, 10 }, { 59, LEFT, 0, 10 },      \
        { 59, RIGHT, 1, 15 }, { 63, LEFT, 0, 15 }, { 63, RIGHT, 1, 20 }, { 73, LEFT, 0, 20 }, { 73, REGION, 0, 8 },    \
        { 79, LEFT, 0, 8 }, { 79, RIGHT, 1, 13 }, { 90, LEFT, 0, 13 },                                                 \
    {                                                                                                                  \
        100, STOP, 0, 13                                                                                               \
    }

static void test_sx182_sx183_on_change(void **state)
{
    (void)state;
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_ON_CHANGE, .to = INFINITY), STAIRCASE),
                        "time,Takt,x\n0,0,10\n10,1,15\n25,1,20\n33,1,13\n48,1,18\n48,2,10\n59,1,15\n63,1,20\n"
                        "73,-1,8\n79,1,13\n");
}

/* From TRecBeg on, to TRecEnd; in a table of two variables only what changed has a value. */
static void test_sx182_window_and_columns(void **state)
{
    (void)state;
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_ON_CHANGE, .from = 40, .to = 63), STAIRCASE),
                        "time,Takt,x\n40,0,13\n48,1,18\n48,2,10\n59,1,15\n63,1,20\n");
    static const char *const globs[] = { "n", "on", "x'" };
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_ON_CHANGE, .to = 30, .globs = globs, .n_globs = 3), STAIRCASE),
                        "time,Takt,n,on,der(x)\n0,0,10,0,-10\n10,1,15,,-15\n25,1,20,,-20\n");
}

/* Cases a to d of the document: DTSample 10, TScal 1. */
static void test_sx181_sx183_sx184_sampled_cases(void **state)
{
    (void)state;
    const ObserverOptions every10 = { .kind = OBSERVER_SAMPLED, .from = 20, .to = INFINITY, .every = 10 };
    const Fed kink[] = {
        { 20, GRID, 0, 17 }, { 30, GRID, 0, 23 }, { 36, LEFT, 0, 28 }, { 37, REGION, 0, 29 }, { 40, GRID, 0, 26 }
    };
    assert_string_equal(observe(every10, kink, 5), "time,Takt,x\n20,0,17\n30,0,23\n36,0,28\n37,-1,29\n40,0,26\n");
    const Fed jump[] = {
        { 20, GRID, 0, 21 }, { 30, GRID, 0, 24 }, { 36, LEFT, 0, 25 }, { 37, REGION, 0, 10 }, { 40, GRID, 0, 11 }
    };
    assert_string_equal(observe(every10, jump, 5), "time,Takt,x\n20,0,21\n30,0,24\n36,0,25\n37,-1,10\n40,0,11\n");
    const Fed event_kink[] = { { 20, GRID, 0, 16 }, { 30, GRID, 0, 11 }, { 35, LEFT, 0, 7 },
                               { 35, STEP, 0, 7 },  { 35, RIGHT, 1, 7 }, { 40, GRID, 0, 10 } };
    assert_string_equal(observe(every10, event_kink, 6), "time,Takt,x\n20,0,16\n30,0,11\n35,0,7\n35,1,7\n40,0,10\n");
    const Fed event_jump[] = { { 20, GRID, 0, 21 }, { 30, GRID, 0, 18 }, { 35, LEFT, 0, 14 },
                               { 35, STEP, 0, 14 }, { 35, RIGHT, 1, 9 }, { 40, GRID, 0, 7 } };
    assert_string_equal(observe(every10, event_jump, 6), "time,Takt,x\n20,0,21\n30,0,18\n35,0,14\n35,1,9\n40,0,7\n");
}

/* A region changes and then events happen, all at one time; an instant at which nothing happens leaves no row. */
static void test_sx184_region_and_events_at_one_time(void **state)
{
    (void)state;
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_SAMPLED, .to = INFINITY, .every = 4), { 0, START, 0, 1 },
                                { 1, LEFT, 0, 2 }, { 2, LEFT, 0, 3 }, { 2, STEP, 0, 4 }, { 2, STEP, 1, 5 },
                                { 2, RIGHT, 2, 6 }, { 4, LEFT, 0, 7 }, { 5, STOP, 0, 8 }),
                        "time,Takt,x\n0,0,1\n2,0,3\n2,-1,4\n2,1,5\n2,2,6\n4,0,7\n5,0,8\n");
}

/* TRecEnd lies between two samples: it is recorded as well, and nothing after it. */
static void test_sx181_to_the_end_of_recording(void **state)
{
    (void)state;
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_SAMPLED, .from = 1, .to = 6, .every = 2), { 0, START, 0, 0 },
                                { 1, GRID, 0, 1 }, { 2, GRID, 0, 9 }, { 3, GRID, 0, 3 }, { 5, GRID, 0, 5 },
                                { 6, GRID, 0, 6 }, { 7, GRID, 0, 7 }, { 8, LEFT, 0, 8 }, { 8, RIGHT, 1, 9 },
                                { 9, STOP, 0, 9 }),
                        "time,Takt,x\n1,0,1\n3,0,3\n5,0,5\n6,0,6\n");
}

/* The document prints mean 21 and 18, minimum 8 and 12, maximum 30 and 29 for a curve that cannot be read; this one has
 * them: 8*10 + 30*20 + 16*10 = 21*40 and 16*10 + 29*10 + 12*10 + 15*10 = 18*40. */
static void test_sx185_compressed_discrete(void **state)
{
    (void)state;
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_COMPRESSED_DISCRETE, .to = INFINITY, .width = 40),
                                { 0, START, 0, 8 }, { 10, LEFT, 0, 8 }, { 10, RIGHT, 1, 30 }, { 30, LEFT, 0, 30 },
                                { 30, RIGHT, 1, 16 }, { 50, LEFT, 0, 16 }, { 50, RIGHT, 1, 29 }, { 60, LEFT, 0, 29 },
                                { 60, RIGHT, 1, 12 }, { 70, LEFT, 0, 12 }, { 70, RIGHT, 1, 15 }, { 80, STOP, 0, 15 }),
                        "time,min(x),max(x),mean(x)\n40,8,30,21\n80,12,29,18\n");
    /* The staircase by the formula: (100 + 225 + 160 + 91)/40, (104 + 110 + 60 + 200 + 48 + 13)/40, and 80 to 100. */
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_COMPRESSED_DISCRETE, .to = INFINITY, .width = 40), STAIRCASE),
                        "time,min(x),max(x),mean(x)\n40,10,20,14.4\n80,8,20,13.375\n100,13,13,13\n");
}

/* Values on a border belong to both intervals; the value that ends there does not belong to the second one. */
static void test_sx185_borders(void **state)
{
    (void)state;
    assert_string_equal(OBSERVE(OPTIONS(.kind = OBSERVER_COMPRESSED_DISCRETE, .to = 20, .width = 10),
                                { 0, START, 0, 1 }, { 10, LEFT, 0, 1 }, { 10, STEP, 1, 7 }, { 10, RIGHT, 2, 3 },
                                { 30, STOP, 0, 3 }),
                        "time,min(x),max(x),mean(x)\n10,1,7,1\n20,3,7,3\n");
}

/* Trapezoids without the cell of the region change: (150 + 205 + 225 + 147 + 31.5)/(40 - 1), TScal being 1; behind it
 * (11 + 13)/2. An event at 45: x jumps from 12 to 14. */
static void test_sx186_compressed_continuous(void **state)
{
    (void)state;
    assert_string_equal(
        OBSERVE(OPTIONS(.kind = OBSERVER_COMPRESSED_CONTINUOUS, .to = INFINITY, .every = 10, .samples = 4),
                { 0, START, 0, 10 }, { 10, GRID, 0, 20 }, { 20, GRID, 0, 21 }, { 30, GRID, 0, 24 }, { 36, LEFT, 0, 25 },
                { 37, REGION, 0, 10 }, { 40, GRID, 0, 11 }, { 45, LEFT, 0, 12 }, { 45, RIGHT, 1, 14 },
                { 50, STOP, 0, 16 }),
        "time,min(x),max(x),mean(x)\n40,10,25,19.44871794871795\n50,11,16,13.25\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx182_sx183_on_change),
        cmocka_unit_test(test_sx182_window_and_columns),
        cmocka_unit_test(test_sx181_sx183_sx184_sampled_cases),
        cmocka_unit_test(test_sx184_region_and_events_at_one_time),
        cmocka_unit_test(test_sx181_to_the_end_of_recording),
        cmocka_unit_test(test_sx185_compressed_discrete),
        cmocka_unit_test(test_sx185_borders),
        cmocka_unit_test(test_sx186_compressed_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
