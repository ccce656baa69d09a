/* A: `--solver cvode-bdf` beside the same CVODE called by hand: equal tolerance, equal Jacobian treatment. */
#include "bench.h"
#include "hand.h"

static const double TOLERANCE = 1e-6;

typedef struct {
    Subject subject;
    SubjectRun run;
} Ours;

static bool run_ours(void *context)
{
    Ours *ours = context;
    return subject_run(&ours->subject, &ours->run);
}

typedef struct {
    const Hand *hand;
    HandRun run;
} Theirs;

static bool run_theirs(void *context)
{
    Theirs *theirs = context;
    return hand_run(theirs->hand, &theirs->run);
}

static void measure(const Bench *bench, const Row *row, Figure *figure)
{
    const Hand *hand = row->subject;
    Ours ours = { .run = { .solver = "cvode-bdf", .stop = hand->stop, .tolerance = TOLERANCE } };
    Theirs theirs = { hand, { .method = CV_BDF, .stop = hand->stop, .tolerance = TOLERANCE } };
    char path[PATH_SIZE];
    double seconds[2];
    model_path(bench, hand->file, path);
    if (!subject_open(&ours.subject, path, row->tier, figure))
        return;
    if (measure_both(bench, &(Work){ run_ours, &ours }, &(Work){ run_theirs, &theirs }, seconds)) {
        figure->value = seconds[0] / seconds[1];
        figure->is_known = true;
        note(figure, "%.3g ms, hand %.3g ms; steps %llu, hand %ld", 1e3 * seconds[0], 1e3 * seconds[1],
             (unsigned long long)ours.run.counts.integration.steps, theirs.run.steps);
        if (hand->root)
            note(figure, "; events %llu, hand %u", (unsigned long long)ours.run.counts.events.state_events,
                 theirs.run.events);
    } else {
        no_figure(figure, "failed: %s", ours.run.text);
    }
    subject_close(&ours.subject);
}

static const Row rows[] = {
    { "cvode/vanderpol/cc", AT_MOST, 1.1, "x", measure, &hand_van_der_pol, "cc" },
    { "cvode/vanderpol/interp", AT_MOST, 1.3, "x", measure, &hand_van_der_pol, "interp" },
    { "cvode/lorenz/cc", AT_MOST, 1.1, "x", measure, &hand_lorenz, "cc" },
    { "cvode/lorenz/interp", AT_MOST, 1.3, "x", measure, &hand_lorenz, "interp" },
    { "cvode/heat100/cc", AT_MOST, 1.1, "x", measure, &hand_heat_100, "cc" },
    { "cvode/heat100/interp", AT_MOST, 1.3, "x", measure, &hand_heat_100, "interp" },
    { "cvode/ball/cc", AT_MOST, 1.1, "x", measure, &hand_ball, "cc" },
    { "cvode/ball/interp", AT_MOST, 1.3, "x", measure, &hand_ball, "interp" },
};
const Group group_cvode = { "A. cvode-bdf beside CVODE called by hand", rows, sizeof rows / sizeof rows[0] };
