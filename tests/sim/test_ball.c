/* The ball on the staircase to its end, in all tiers, beside a classical Runge-Kutta method of 300,000 steps that is
 * written out here: it halves the step in which the contact begins or ends until the time is known to 1e-12, and stops
 * at the edges of the steps, which are known (X = 0.3 T, steps of 0.2, the last one begins at X = 1.4). */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { POINTS = 600, MOST_EVENTS = 64 };
static const double RADIUS = 0.05, STEP = 2e-5;

typedef struct {
    double t, y, v;
    double floor; /* of the step below */
    bool is_contact;
    double events[MOST_EVENTS];
    int n_events, n_apexes;
    double least; /* distance */
} Reference;

static double slope(const Reference *r, double y, double v)
{
    const double distance = y - r->floor;
    if (!r->is_contact)
        return -9.81;
    return 125 / 0.05 * (RADIUS - distance) + 15 / 0.05 * (1 / distance - 1 / RADIUS) - 2.5 / 0.05 * v - 9.81;
}

static Reference stepped(const Reference *r, double h)
{
    Reference end = *r;
    const double k1 = slope(r, r->y, r->v), l1 = r->v;
    const double k2 = slope(r, r->y + h / 2 * l1, r->v + h / 2 * k1), l2 = r->v + h / 2 * k1;
    const double k3 = slope(r, r->y + h / 2 * l2, r->v + h / 2 * k2), l3 = r->v + h / 2 * k2;
    const double k4 = slope(r, r->y + h * l3, r->v + h * k3), l4 = r->v + h * k3;
    end.t += h;
    end.y += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    end.v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    return end;
}

static bool touches(const Reference *r)
{
    return r->y - r->floor < RADIUS;
}

/* To `goal` with the branch as it is, or to where the branch changes: true. */
static bool advance(Reference *r, double goal)
{
    while (goal - r->t > 1e-13) {
        const double h = fmin(STEP, goal - r->t);
        const Reference end = stepped(r, h);
        if (touches(&end) == r->is_contact) {
            r->n_apexes += r->v > 0 && end.v <= 0 && !r->is_contact;
            r->least = fmin(r->least, end.y - end.floor);
            r->t = end.t, r->y = end.y, r->v = end.v;
            continue;
        }
        double low = 0, high = h;
        while (high - low > 1e-13) {
            const Reference middle = stepped(r, (low + high) / 2);
            *(touches(&middle) == r->is_contact ? &low : &high) = (low + high) / 2;
        }
        *r = stepped(r, high);
        r->is_contact = !r->is_contact;
        return true;
    }
    return false;
}

static double floor_at(double t) /* just behind t */
{
    const double x = 0.3 * t + 1e-9;
    return x < 1.5 ? -0.2 * floor(x / 0.2) : -0.2 * 7;
}

static void go_to(Reference *r, double goal)
{
    for (int edge = 1; edge <= 8; edge++) { /* edges before the goal; 8 * 2/3 lies behind the end of the staircase */
        const double at = edge * 2.0 / 3;
        if (at <= r->t + 1e-12 || at > goal)
            continue;
        while (advance(r, at))
            r->events[r->n_events++] = r->t;
        r->floor = floor_at(at);
        r->is_contact = touches(r);
    }
    while (advance(r, goal))
        r->events[r->n_events++] = r->t;
}

static void check_ball(const RunResult *result)
{
    Reference r = { .y = 1, .least = 1 };
    for (int k = 1; k <= POINTS; k++) {
        go_to(&r, k * 0.01);
        expect_near(run_at(result, "Y", k * 0.01), r.y, 1e-6);
        expect_near(run_at(result, "Vy", k * 0.01), r.v, 1e-5 * (1 + fabs(slope(&r, r.y, r.v)) / 100));
        expect_near(run_at(result, "Y_Treppe", k * 0.01), floor_at(k * 0.01), 1e-12);
    }
    const uint32_t distance = run_column(result, "Abstand");
    int n = 0;
    for (uint32_t k = 0; k < result->n_rows; k++) {
        if (result->rows[k].kind != KOINE_POINT_LEFT || fabs(result->rows[k].values[distance] - RADIUS) > 1e-6)
            continue;
        assert_true(n < r.n_events);
        expect_near(result->rows[k].time, r.events[n++], 1e-6);
    }
    assert_int_equal(n, r.n_events);
    assert_int_equal(n, 18); /* nine contacts, each with its release */
    assert_int_equal(r.n_apexes, 8);
}

/* With points 0.1 ms apart the smallest of them is within (0.05 ms)^2/2 of 1,000 m/s^2 of the smallest distance. */
static void test_sx113_the_smallest_distance(void **state)
{
    (void)state;
    Reference r = { .y = 1, .least = 1 };
    go_to(&r, 6);
    RunResult *result = run_model(&(RunRequest){
        .path = KOINE_SOURCE_DIR "/examples/bouncing-ball/Ball.mdl", .stop = 6, .interval = 1e-4, .tolerance = 1e-10 });
    expect_done(result);
    const uint32_t distance = run_column(result, "Abstand");
    double least = 1;
    for (uint32_t k = 0; k < result->n_rows; k++)
        least = fmin(least, result->rows[k].values[distance]);
    assert_true(r.least < 0.04);
    expect_near(least, r.least, 2e-6);
    run_free(result);
}

static void test_sx113_the_ball_to_its_end(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/examples/bouncing-ball/Ball.mdl",
                                   .stop = 6,
                                   .interval = 0.01,
                                   .tolerance = 1e-10 },
                     check_ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx113_the_ball_to_its_end),
        cmocka_unit_test(test_sx113_the_smallest_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
