/* Comparisons of ARGESIM, in both languages, with every solver that controls its error (stiff ones with those for stiff
 * models): times of switching within 1,000 tolerances.
 *
 * C1 (lithium clusters), C5 (two states), C7 (constrained pendulum): the values known of them. C3 (class-E amplifier):
 * its two linear circuits by matrix exponentials of 60 digits; with a ramp, Radau IIA of scipy at 1e-11. C12 (spheres
 * in a row): straight lines between collisions in rational arithmetic. C13 (crane): DOP853 of scipy at 1e-13 from
 * sample to sample. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/published/"

static const char *const all[] = {
    "auto",
    "dopri5",
    "dop853",
    "cvode-bdf",
    "cvode-adams",
    "ida",
    "arkode-erk",
    "arkode-dirk",
    "simplex-fehlberg",
    "simplex-rk4",
    "simplex-bulirsch-stoer",
    "simplex-gauss",
    "simplex-rosenbrock",
    NULL,
};
static const char *const stiff[] = { "auto",          "cvode-bdf", "ida", "arkode-dirk", "simplex-rosenbrock",
                                     "simplex-gauss", NULL };

static RunResult *run(const RunRequest *request)
{
    RunRequest full = *request;
    full.tier = "interp";
    full.interval = full.stop / 10;
    RunResult *const r = run_model(&full);
    fail_if(!r->is_compiled || r->report.end != KOINE_RUN_DONE, "%s with %s at %g: %s", full.path, full.solver,
            full.tolerance, r->is_compiled ? r->report.text : r->messages);
    return r;
}

static void expect_within(double actual, double expected, double most, const RunRequest *request, const char *what)
{
    fail_if(!(fabs(actual - expected) <= most), "%s: %s with %s at %g: %.15g, expected %.15g within %g", request->path,
            what, request->solver, request->tolerance, actual, expected, most);
}

static void expect_last(const RunResult *r, const char *name, double expected, double most, const RunRequest *request)
{
    expect_within(run_last(r, name), expected, most, request, name);
}

/* --- C1: lithium clusters --- */

static void run_lithium(const char *path, const char *solver, double tolerance)
{
    const RunRequest request = { .path = path, .solver = solver, .stop = 20, .tolerance = tolerance };
    RunResult *const r = run(&request);
    expect_within(run_at(r, "R", 10), 163.429869, 1000 * tolerance * 163 + 5e-7, &request, "R(10)");
    expect_last(r, "R", 61.872208, 1000 * tolerance * 62 + 5e-7, &request);
    run_free(r);
}

static void test_c1_lithium_clusters(void **state)
{
    (void)state;
    for (int k = 0; stiff[k]; k++)
        for (double tolerance = 1e-6; tolerance > 1e-10; tolerance *= 1e-3) {
            run_lithium(MODELS "Lithium.mdl", stiff[k], tolerance);
            run_lithium(MODELS "lithium.dym", stiff[k], tolerance);
        }
}

/* --- C3: class-E amplifier --- */

static void prepare_ramp(KoineModel *model)
{
    set_value(model, "Ramp", 1e-7);
}

/* Values at 100 us, where the switch has been open for half a period. */
static void run_amplifier(const RunRequest *request, const char *const names[4], const double expected[4])
{
    RunResult *const r = run(request);
    for (int k = 0; k < 4; k++)
        expect_last(r, names[k], expected[k], 1000 * request->tolerance * fabs(expected[k]), request);
    run_free(r);
}

static void test_c3_class_e_amplifier(void **state)
{
    static const char *const states[] = { "X1", "X2", "X3", "X4" }, *const parts[] = { "L1.i", "C2.u", "L3.i", "C4.u" };
    static const double at_once[] = { -0.05115811184257429, 5.535644881927739, -0.05458204516379258,
                                      26.21181097520743 },
                        by_ramp[] = { -0.05115811161773, 5.535537172904, -0.05458204289028, 26.21181171698 };
    (void)state;
    for (int k = 0; stiff[k]; k++)
        for (double tolerance = 1e-6; tolerance > 1e-9; tolerance *= 1e-2) {
            RunRequest request = {
                .path = MODELS "ClassE.mdl", .solver = stiff[k], .stop = 1e-4, .tolerance = tolerance
            };
            run_amplifier(&request, states, at_once);
            request.prepare = prepare_ramp;
            run_amplifier(&request, states, by_ramp);
            request.prepare = NULL;
            request.path = MODELS "classe.dym";
            run_amplifier(&request, parts, at_once);
        }
}

/* --- C5: two states --- */

/* The last switch is closer to 5 than a tolerance of 1e-6 can tell. The state approaches its threshold with a slope of
 * 0.36 only: an error of 18 tolerances of it is one of 290 tolerances in the time. */
static void run_switches(const char *path, const char *solver, double tolerance)
{
    static const double switches[] = { 1.108306167771131, 2.129685355154714, 3.054152906995719, 4.075532094379302,
                                       4.999999646220308 };
    const RunRequest request = { .path = path, .solver = solver, .stop = 5.1, .tolerance = tolerance };
    RunResult *const r = run(&request);
    for (int j = 0; j < 5; j++) {
        const double behind = j < 4 ? (3 + 2 * j) * (request.stop / 10) : request.stop;
        expect_within(run_at(r, "N", behind), j + 1, 0, &request, "number of switches");
        expect_within(run_at(r, "Last", behind), switches[j], 1000 * tolerance, &request, "time of a switch");
    }
    run_free(r);
}

/* Y1 falls by 1.9e6 a second behind the last switch: what its time lacks is multiplied. */
static void run_to_five(const char *path, const char *solver)
{
    const RunRequest request = { .path = path, .solver = solver, .stop = 5, .tolerance = 1e-12 };
    RunResult *const r = run(&request);
    expect_last(r, "N", 5, 0, &request);
    expect_last(r, "Last", 4.999999646220308, 1000 * request.tolerance, &request);
    expect_last(r, "Y1", 5.369312124, 1000 * request.tolerance * 1.9e6, &request);
    run_free(r);
}

static void test_c5_two_states(void **state)
{
    (void)state;
    for (int k = 0; stiff[k]; k++) {
        for (double tolerance = 1e-6; tolerance > 1e-11; tolerance *= 1e-2) {
            run_switches(MODELS "TwoState.mdl", stiff[k], tolerance);
            run_switches(MODELS "twostate.dym", stiff[k], tolerance);
        }
        run_to_five(MODELS "TwoState.mdl", stiff[k]);
        run_to_five(MODELS "twostate.dym", stiff[k]);
    }
}

/* --- C7: constrained pendulum --- */

static void run_pendulum(const char *path, const char *solver, double tolerance)
{
    const RunRequest request = { .path = path, .solver = solver, .stop = 10, .tolerance = tolerance };
    RunResult *const r = run(&request);
    expect_last(r, "N", 8, 0, &request);
    expect_last(r, "Last", 6.720384168, 1000 * tolerance, &request);
    run_free(r);
}

static void test_c7_constrained_pendulum(void **state)
{
    (void)state;
    for (int k = 0; all[k]; k++)
        for (double tolerance = 1e-6; tolerance > 1e-10; tolerance *= 1e-3) {
            run_pendulum(MODELS "Pin.mdl", all[k], tolerance);
            run_pendulum(MODELS "pin.dym", all[k], tolerance);
        }
}

/* --- C12: spheres in a row --- */

typedef struct {
    double restitution;
    int hits[3];
    double last[3], velocities[4];
} Row;

static double restitution;

static void prepare_row(KoineModel *model)
{
    set_value(model, "E", restitution);
}

static void expect_row(const RunRequest *request, const char *const names[10], const Row *row)
{
    RunResult *const r = run(request);
    for (int k = 0; k < 3; k++) {
        expect_last(r, names[k], row->hits[k], 0, request);
        expect_last(r, names[3 + k], row->last[k], 1000 * request->tolerance, request);
    }
    for (int k = 0; k < 4; k++)
        expect_last(r, names[6 + k], row->velocities[k], 1e-14, request);
    run_free(r);
}

/* At 0.18 the last two of 25 collisions have relative velocities of 1e-6. With 2^(2/3) - 1 the last sphere goes on with
 * half of the velocity of the first. */
static void test_c12_spheres_in_a_row(void **state)
{
    static const Row rows[] = {
        { 1, { 1, 1, 1 }, { 1, 2, 3 }, { 0, 0, 0, 1 } },
        { 0.5, { 3, 2, 1 }, { 17.8, 47.0 / 3, 37.0 / 9 }, { 0.173828125, 0.193359375, 0.2109375, 0.421875 } },
        { 0.2,
          { 5, 5, 3 },
          { 14.9108966445966, 14.7374593754416, 9.72685185185185 },
          { 0.24974780416, 0.24993030144, 0.2501074944, 0.2502144 } },
        { 0.18,
          { 8, 9, 8 },
          { 16.5167454423108, 23.6603758364441, 34.9806678393339 },
          { 0.249999806607748, 0.249999967696361, 0.250000080344603, 0.250000145351288 } },
    };
    static const char *const elements[] = { "Hits[1]", "Hits[2]", "Hits[3]", "Last[1]", "Last[2]",
                                            "Last[3]", "V[1]",    "V[2]",    "V[3]",    "V[4]" },
                             *const scalars[] = { "n1", "n2", "n3", "last1", "last2", "last3", "v1", "v2", "v3", "v4" };
    (void)state;
    for (int k = 0; all[k]; k++)
        for (double tolerance = 1e-6; tolerance > 1e-10; tolerance *= 1e-3) {
            RunRequest request = { .solver = all[k], .stop = 40, .tolerance = tolerance, .prepare = prepare_row };
            for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
                restitution = rows[j].restitution;
                request.path = MODELS "Spheres.mdl";
                expect_row(&request, elements, &rows[j]);
                request.path = MODELS "spheres.dym";
                expect_row(&request, scalars, &rows[j]);
            }
            restitution = cbrt(4) - 1;
            RunResult *const half = run(&request);
            expect_last(half, "v4", 0.5, 1e-14, &request);
            run_free(half);
        }
}

/* --- C13: crane and embedded control --- */

static void run_crane(const RunRequest *request, const char *const names[7])
{
    static const double expected[] = { -0.307737128365322, -0.128150697952445, -0.00698216965953281,
                                       0.00377969203859095, 7.54672378645319 },
                        sizes[] = { 3, 0.7, 0.04, 0.03, 40 };
    RunResult *const r = run(request);
    expect_last(r, names[0], 4.88625904722739, 1000 * request->tolerance, request); /* X = 2 */
    expect_last(r, names[1], 12.65, 1e-12, request);                                /* the brake holds: a sample */
    for (int k = 0; k < 5; k++)
        expect_last(r, names[2 + k], expected[k], 1000 * request->tolerance * sizes[k], request);
    run_free(r);
}

static void test_c13_crane_and_embedded_control(void **state)
{
    static const char *const upper[] = { "Reached", "Braked", "X", "V", "Phi", "Omega", "Force" }, *const lower[] = {
        "reached", "braked", "x", "v", "phi", "omega", "motor.f"
    };
    (void)state;
    for (int k = 0; all[k]; k++)
        for (double tolerance = 1e-6; tolerance > 1e-10; tolerance *= 1e-3) {
            RunRequest request = {
                .path = MODELS "Crane.mdl", .solver = all[k], .stop = 24, .tolerance = tolerance, .keeps_last = true
            };
            run_crane(&request, upper);
            request.path = MODELS "crane.dym";
            run_crane(&request, lower);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c1_lithium_clusters),  cmocka_unit_test(test_c3_class_e_amplifier),
        cmocka_unit_test(test_c5_two_states),        cmocka_unit_test(test_c7_constrained_pendulum),
        cmocka_unit_test(test_c12_spheres_in_a_row), cmocka_unit_test(test_c13_crane_and_embedded_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
