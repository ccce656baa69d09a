/* Connected ports whose members are more than potentials and flows: in all tiers, against closed forms and RK4. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/ports/"

/* 1 kg/s at 10, 2 at 20 and 1 at 50 mix to (10 + 40 + 50)/4; the sink would give 7 to the pipe. */
static void check_streams(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "out.h_in"), 25, 1e-13);
    expect_near(run_last(r, "out.h_now"), 25, 1e-13);
    expect_near(run_last(r, "box.hb"), 25, 1e-13);
    expect_near(run_last(r, "box.pipe.ha"), 7, 1e-13);
    expect_near(run_last(r, "box.ha"), 7, 1e-13);
    expect_near(run_last(r, "box.pipe.pa"), 1.4, 1e-13);
}

static void test_mls_15_2_streams_mix_by_their_flows(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "streams.ir", .stop = 1, .interval = 1 }, check_streams);
}

/* Runge-Kutta with 2,000,000 steps by hand gives M = 13.67814306, E = 259.06696970. The flow into the vessel turns
 * where sin(t) = -1/4: inside it keeps its own E/M. */
static void check_reversal(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "v.M"), 5 + 2 * (1 - cos(10)) + 0.5 * 10, 1e-8);
    expect_near(run_last(r, "v.E"), 259.06696970, 1e-7);
    expect_near(run_at(r, "v.h_in", 4), 4, 1e-12);
    expect_near(run_at(r, "v.h_in", 2), (30 * 2 * sin(2) + 4 * 0.5) / (2 * sin(2) + 0.5), 1e-12);
}

static void test_mls_15_3_what_flows_is_seen_by_its_direction(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "reversal.ir", .stop = 10, .interval = 2, .tolerance = 1e-10 },
                     check_reversal);
}

/* All flows vanish at t = 1: the mixture goes smoothly to the mean of the others, (10 + 40)/2. */
static void check_rest(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "out.h_in", 0.5), (10 * 0.5 + 40 * 1.5) / 2, 1e-12);
    expect_near(run_at(r, "out.h_in", 1), 25, 1e-12);
    expect_near(run_at(r, "shut.h_in", 1), 3, 0); /* nothing comes from there ever: its own value */
    expect_near(run_at(r, "x.h_in[1]", 1), 12, 1e-12);
    expect_near(run_at(r, "x.h_in[2]", 1), 13, 1e-12);
}

static void test_mls_15_2_without_flow_there_is_still_a_mixture(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "rest.ir", .stop = 1, .interval = 0.5 }, check_rest);
}

/* The three turns of a ring add up to none. */
static void check_ring(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values, t = r->rows[k].time;
        expect_near(remainder(v[run_column(r, "t3.phi")] + 0.3 * t + 0.5 + sin(t), 6.283185307179586), 0, 1e-9);
        expect_near(v[run_column(r, "t3.sa")], sin(0.3 * t + 0.5 + sin(t)), 1e-12);
    }
}

static void test_mls_9_4_a_ring_of_overdetermined_ports_is_broken(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "ring.ir", .stop = 2, .interval = 0.25 }, check_ring);
}

/* Runge-Kutta with 4,000 steps by hand. */
static void check_chain(const RunResult *r)
{
    static const double T[] = { 1.848757405859081, 1.5566551768617836, 1.2884478395171806,
                                0.967320873479826, 0.5810759912017046, 0.1943052987715313 };
    expect_done(r);
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "rod.T[%d]", i + 1);
        expect_near(run_last(r, name), T[i], 1e-9);
    }
    expect_near(run_last(r, "h.T"), (T[2] + T[3] + 0.3 / 4) / 2, 1e-9);
}

static void test_elements_of_arrays_of_ports_are_connected_in_loops(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "chain.ir", .stop = 2, .interval = 1, .tolerance = 1e-11 },
                     check_chain);
}

/* w = 40 - 39 exp(-t/2) up to 2, then 2 exp(-t/2) down to 1.5, up to 2 again, down: switched by two signals of a plug.
 */
static void check_plugs(const RunResult *r)
{
    const double first = 2 * log(39.0 / 38), fall = 2 * log(4.0 / 3), rise = 2 * log(38.5 / 38);
    expect_done(r);
    expect_near(run_at(r, "drive.speed", 0.5), 2 * exp(-(0.5 - first) / 2), 1e-7);
    expect_near(run_at(r, "drive.speed", 1), 2 * exp(-(1 - first - fall - rise) / 2), 1e-7);
    expect_near(run_at(r, "control.i", 1), 0.4 * run_at(r, "drive.motor.w", 1), 1e-12);
    expect_near(run_last(r, "spare.i"), 0, 0);
    expect_near(run_last(r, "spare.w"), exp(-0.1 * 1), 1e-7);
}

static void test_mls_9_2_ports_in_ports_and_signals_are_connected(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "plugs.ir", .stop = 1, .interval = 0.5, .tolerance = 1e-8 },
                     check_plugs);
}

/* Both bars hang on c at their ends b, so they are not rooted at a; transitions of the branches that are gone never
 * fire. */
static void check_structure(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "b.side"), 2, 0);
    expect_near(run_last(r, "d.xa"), 3, 0);
    expect_near(run_last(r, "d.yb"), 1, 0);
    expect_near(run_at(r, "b.n", 0.25), 20, 0);
    expect_near(run_last(r, "b.n"), 120, 0);
    expect_near(run_last(r, "d.n"), 1, 0);
}

static void test_m7_structural_regions_are_decided_behind_connections(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "structure.ir", .stop = 1, .interval = 0.25 }, check_structure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mls_15_2_streams_mix_by_their_flows),
        cmocka_unit_test(test_mls_15_3_what_flows_is_seen_by_its_direction),
        cmocka_unit_test(test_mls_15_2_without_flow_there_is_still_a_mixture),
        cmocka_unit_test(test_mls_9_4_a_ring_of_overdetermined_ports_is_broken),
        cmocka_unit_test(test_elements_of_arrays_of_ports_are_connected_in_loops),
        cmocka_unit_test(test_mls_9_2_ports_in_ports_and_signals_are_connected),
        cmocka_unit_test(test_m7_structural_regions_are_decided_behind_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
