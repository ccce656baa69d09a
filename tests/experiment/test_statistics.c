/* The counters of a run: every one of them is added up over the phases and reaches the JSON and the table. */
#include "experiment/statistics.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Statistics in which counter number k is k*by. */
static KoineRunStatistics numbered(uint64_t by)
{
    KoineRunStatistics s = { 0 };
    uint64_t k = 0;
#define KOINE_COUNTER(part, name, ...) s.part.name = ++k * by;
#include "koine/statistics.def"
    return s;
}

static void test_every_counter_is_added_up(void **state)
{
    (void)state;
    KoineRunStatistics sum = numbered(1);
    const KoineRunStatistics part = numbered(100);
    statistics_add(&sum, &part);
    uint64_t k = 0, most = 0;
#define TOTAL_ADD  (101 * k)
#define TOTAL_MOST (most++, 100 * k)
#define KOINE_COUNTER(of, name, how, ...)                                                                              \
    k++;                                                                                                               \
    assert_int_equal(sum.of.name, TOTAL_##how);
#include "koine/statistics.def"
    assert_int_equal(most, 1); /* most_cycles */
    assert_true(k > 40);
}

static void test_distributions_are_added_up(void **state)
{
    (void)state;
    KoineRunStatistics sum = { .model.by_cycles = { 1, 2 }, .events.by_event_steps = { 3 } };
    const KoineRunStatistics part = { .model.by_cycles = { 10, 20 },
                                      .events.by_event_steps = { 0, 0, 0, 0, 0, 0, 0, 7 } };
    statistics_add(&sum, &part);
    assert_int_equal(sum.model.by_cycles[0], 11);
    assert_int_equal(sum.model.by_cycles[1], 22);
    assert_int_equal(sum.events.by_event_steps[0], 3);
    assert_int_equal(sum.events.by_event_steps[7], 7);
}

static void test_texts_are_those_of_the_last_phase(void **state)
{
    (void)state;
    KoineRunStatistics sum = { .solver = "dopri5", .choice = "none", .total_seconds = 1, .control.largest_error = 2 };
    const KoineRunStatistics part = { .solver = "cvode-bdf",
                                      .total_seconds = 2,
                                      .control = { .largest_error = 1, .largest_error_state = "x" } };
    statistics_add(&sum, &part);
    assert_string_equal(sum.solver, "cvode-bdf");
    assert_string_equal(sum.choice, "");
    assert_true(sum.total_seconds == 3);
    assert_true(sum.control.largest_error == 2); /* and its state */
    assert_string_equal(sum.control.largest_error_state, "");
}

/* A comparison that is held back in two phases is one of the list; another one is added. */
static void test_comparisons_held_back_are_joined(void **state)
{
    (void)state;
    KoineRunStatistics sum = {
        .n_held = 1, .held = { { .text = "x > 0", .from = 1, .to = 2, .width = 0.5, .times = 1, .crossings = 10 } }
    };
    const KoineRunStatistics part = { .n_held = 2,
                                      .held = { { .text = "y > 0", .from = 3, .to = 4 },
                                                { .text = "x > 0", .from = 5, .to = 6, .times = 2, .crossings = 7 } } };
    statistics_add(&sum, &part);
    assert_int_equal(sum.n_held, 2);
    assert_string_equal(sum.held[1].text, "y > 0");
    const KoineHeldBack *const x = &sum.held[0];
    assert_true(x->from == 1 && x->to == 6 && x->width == 0.5 && x->times == 3 && x->crossings == 17);
    for (uint32_t k = 0; k < 4; k++) { /* more than there is room for are counted */
        KoineRunStatistics more = { .n_held = 2 };
        snprintf(more.held[0].text, KOINE_HELD_TEXT, "a > %u", (unsigned)k);
        snprintf(more.held[1].text, KOINE_HELD_TEXT, "b > %u", (unsigned)k);
        statistics_add(&sum, &more);
    }
    assert_int_equal(sum.n_held, 10);
    assert_string_equal(sum.held[KOINE_MOST_HELD - 1].text, "b > 2");
}

static void test_every_counter_is_a_key_and_a_line(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    Text json = { .arena = arena }, table = { .arena = arena };
    const RunRecord record = { .model = "m", .tier = "interp", .run.statistics = numbered(1) };
    statistics_json(&record, &json);
    statistics_table(&record, &table);
    char wanted[256];
    uint64_t k = 0;
#define KOINE_COUNTER(part, name, how, is_shown, title)                                                                \
    snprintf(wanted, sizeof wanted, "\n  \"%s\": %llu,\n", #name, (unsigned long long)++k);                            \
    assert_non_null(strstr(json.at, wanted));                                                                          \
    snprintf(wanted, sizeof wanted, "\n  %-44s %12llu\n", title, (unsigned long long)k);                               \
    assert_true(!(is_shown) == !strstr(table.at, wanted));
    const KoineRunStatistics *const s = &record.run.statistics;
#include "koine/statistics.def"
    snprintf(wanted, sizeof wanted, "\"factorizations\": %llu,", (unsigned long long)s->model.system_factorisations);
    assert_non_null(strstr(json.at, wanted));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_counter_is_added_up),
        cmocka_unit_test(test_distributions_are_added_up),
        cmocka_unit_test(test_texts_are_those_of_the_last_phase),
        cmocka_unit_test(test_comparisons_held_back_are_joined),
        cmocka_unit_test(test_every_counter_is_a_key_and_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
