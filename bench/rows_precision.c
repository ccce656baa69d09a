/* C: `--solver auto` beside CVODE at equal true error.
 *
 * Errors are measured against references, over several starts, and averaged geometrically: one start alone may be
 * lucky. The time CVODE needs for the error that we reach is read from its own curve of time over error, by
 * interpolation between tolerances; where CVODE cannot reach it, the time of its most accurate run is taken, to
 * its advantage. The better of Adams and BDF counts. */
#include "bench.h"
#include "hand.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 100, MAX_STARTS = 8, MAX_CURVE = 21, N_OURS = 3 };
static const double OURS[N_OURS] = { 1e-6, 1e-8, 1e-10 };
static const double FLOOR = 1e-16; /* errors below are chance */

typedef struct {
    const Hand *hand;
    uint32_t starts;
    double loosest, tightest; /* tolerances of CVODE's curve */
} Case;

typedef struct {
    double tolerance, error, seconds; /* seconds: for all starts */
} Sample;

typedef struct {
    const Case *of;
    Subject subject;
    double starts[MAX_STARTS][MAX_STATES], ends[MAX_STARTS][MAX_STATES];
    Sample ours[N_OURS], curves[2][MAX_CURVE]; /* Adams, BDF */
    uint32_t n_curve;
} Comparison;

static void prepare(Comparison *c)
{
    const Hand *hand = c->of->hand;
    for (uint32_t k = 0; k < c->of->starts; k++) {
        for (uint32_t i = 0; i < hand->n; i++)
            c->starts[k][i] = hand->start ? hand->start[i] : 0;
        c->starts[k][0] += 1e-3 * k * c->starts[k][0];
        hand->reference(c->starts[k], hand->stop, c->ends[k]);
    }
    for (uint32_t k = 0; k < N_OURS; k++)
        c->ours[k] = (Sample){ OURS[k], 0, INFINITY };
    for (double tolerance = c->of->loosest; tolerance > 0.99 * c->of->tightest; tolerance /= sqrt(10)) {
        c->curves[0][c->n_curve] = c->curves[1][c->n_curve] = (Sample){ tolerance, 0, INFINITY };
        c->n_curve++;
    }
}

static double log_error(const Comparison *c, uint32_t start, const double *end)
{
    double error = 0, scale = 0;
    for (uint32_t i = 0; i < c->of->hand->n; i++) {
        error = fmax(error, fabs(end[i] - c->ends[start][i]));
        scale = fmax(scale, fabs(c->ends[start][i]));
    }
    return log(fmax(error / scale, FLOOR));
}

static bool sample_ours(Comparison *c, Sample *s)
{
    const Hand *hand = c->of->hand;
    double sum = 0, seconds = 0;
    for (uint32_t k = 0; k < c->of->starts; k++) {
        double end[MAX_STATES];
        SubjectRun run = { .solver = "auto",
                           .stop = hand->stop,
                           .tolerance = s->tolerance,
                           .n = hand->n,
                           .names = hand->names,
                           .start = hand->names ? c->starts[k] : NULL,
                           .end = end };
        const double begun = cpu_seconds();
        if (!subject_run(&c->subject, &run))
            return false;
        seconds += cpu_seconds() - begun;
        sum += log_error(c, k, end);
    }
    s->error = exp(sum / c->of->starts);
    s->seconds = fmin(s->seconds, seconds);
    return true;
}

static bool sample_theirs(Comparison *c, int method, Sample *s)
{
    const Hand *hand = c->of->hand;
    double sum = 0, seconds = 0;
    for (uint32_t k = 0; k < c->of->starts; k++) {
        double end[MAX_STATES];
        HandRun run = {
            .method = method, .stop = hand->stop, .tolerance = s->tolerance, .start = c->starts[k], .end = end
        };
        const double begun = cpu_seconds();
        if (!hand_run(hand, &run))
            return false;
        seconds += cpu_seconds() - begun;
        sum += log_error(c, k, end);
    }
    s->error = exp(sum / c->of->starts);
    s->seconds = fmin(s->seconds, seconds);
    return true;
}

/* Seconds of CVODE for this error. *is_reached: it can be so accurate at all. */
static double seconds_for(const Sample *curve, uint32_t n, double error, bool *is_reached)
{
    const Sample *best = &curve[0];
    *is_reached = true;
    for (uint32_t k = 0; k < n; k++) {
        if (curve[k].error <= error) {
            if (k == 0 || curve[k].error >= curve[k - 1].error)
                return curve[k].seconds;
            const double share = log(error / curve[k - 1].error) / log(curve[k].error / curve[k - 1].error);
            const double from = log(curve[k - 1].seconds), to = log(curve[k].seconds);
            return exp(from + fmin(fmax(share, 0), 1) * (to - from));
        }
        if (curve[k].error < best->error)
            best = &curve[k];
    }
    *is_reached = false;
    return best->seconds;
}

static bool sample_all(const Bench *bench, Comparison *c)
{
    const int rounds = bench->is_quick ? 3 : 7;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t k = 0; k < N_OURS; k++)
            for (int again = 0; again < 3; again++)
                if (!sample_ours(c, &c->ours[k]))
                    return false;
        for (uint32_t k = 0; k < c->n_curve; k++) {
            if (!c->of->hand->is_stiff && !sample_theirs(c, CV_ADAMS, &c->curves[0][k]))
                return false;
            if (!sample_theirs(c, CV_BDF, &c->curves[1][k]))
                return false;
        }
    }
    return true;
}

static void compare(const Comparison *c, Figure *figure)
{
    figure->value = 0;
    figure->is_known = true;
    for (uint32_t k = 0; k < N_OURS; k++) {
        const Sample *ours = &c->ours[k];
        double best = INFINITY;
        bool is_reached = false;
        const char *name = "";
        for (int method = c->of->hand->is_stiff; method < 2; method++) {
            bool reaches;
            const double seconds = seconds_for(c->curves[method], c->n_curve, ours->error, &reaches);
            if ((reaches && !is_reached) || (reaches == is_reached && seconds < best)) {
                best = seconds;
                is_reached = reaches;
                name = method ? "bdf" : "adams";
            }
        }
        figure->value = fmax(figure->value, ours->seconds / best);
        note(figure, "%s%.0e: %.3f (err %.1e, %.3g ms, %s %s%.3g ms)", k ? "; " : "", ours->tolerance,
             ours->seconds / best, ours->error, 1e3 * ours->seconds / c->of->starts, name, is_reached ? "" : ">",
             1e3 * best / c->of->starts);
    }
}

static void measure(const Bench *bench, const Row *row, Figure *figure)
{
    Comparison *c = calloc(1, sizeof *c);
    char path[PATH_SIZE];
    c->of = row->subject;
    model_path(bench, c->of->hand->file, path);
    if (subject_open(&c->subject, path, row->tier, figure)) {
        prepare(c);
        if (sample_all(bench, c))
            compare(c, figure);
        else
            no_figure(figure, "a run failed");
        subject_close(&c->subject);
    }
    free(c);
}

static const Case lorenz = { &hand_lorenz, 8, 1e-4, 1e-13 }, arenstorf = { &hand_arenstorf, 4, 1e-4, 1e-13 },
                  ball = { &hand_ball, 1, 1e-4, 1e-12 }, van_der_pol = { &hand_van_der_pol, 3, 1e-3, 1e-12 },
                  heat = { &hand_heat_100, 1, 1e-3, 1e-11 };

static const Row rows[] = {
    { "auto/lorenz/cc", AT_MOST, 0.15, "x", measure, &lorenz, "cc" },
    { "auto/lorenz/interp", AT_MOST, 0.3, "x", measure, &lorenz, "interp" },
    { "auto/arenstorf/cc", AT_MOST, 0.15, "x", measure, &arenstorf, "cc" },
    { "auto/arenstorf/interp", AT_MOST, 0.3, "x", measure, &arenstorf, "interp" },
    { "auto/ball/cc", AT_MOST, 0.15, "x", measure, &ball, "cc" },
    { "auto/ball/interp", AT_MOST, 0.3, "x", measure, &ball, "interp" },
    { "auto/vanderpol/cc", AT_MOST, 1.1, "x", measure, &van_der_pol, "cc" },
    { "auto/vanderpol/interp", AT_MOST, 1.1, "x", measure, &van_der_pol, "interp" },
    { "auto/heat100/cc", AT_MOST, 1.1, "x", measure, &heat, "cc" },
    { "auto/heat100/interp", AT_MOST, 1.1, "x", measure, &heat, "interp" },
};
const Group group_precision = { "C. auto beside CVODE at equal true error (worst of three tolerances)", rows,
                                sizeof rows / sizeof rows[0] };
