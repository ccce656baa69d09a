/* check_events COUNT SEED FOLDER [few]: COUNT random hybrid models, the first of this seed, with every solver that
 * controls its error and two output intervals, against references in long double. No comparison may change when it
 * should not, nor fail to, nor at another time than the tolerance explains.
 *
 * few: each model with two of the solvers, in turn. Models that fail stay in the folder. */
#include "corpus.h"
#include "run.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double TOLERANCE = 1e-6; /* what `koine run` has without a choice */
static const char *const SOLVERS[] = { "auto",
                                       "dopri5",
                                       "dop853",
                                       "cvode-bdf",
                                       "cvode-adams",
                                       "ida",
                                       "arkode-erk",
                                       "arkode-dirk",
                                       "simplex-rk4",
                                       "simplex-fehlberg",
                                       "simplex-gauss",
                                       "simplex-bulirsch-stoer",
                                       "simplex-rosenbrock" };
enum { N_SOLVERS = sizeof SOLVERS / sizeof *SOLVERS, FEW_SOLVERS = 2, N_INTERVALS = 2 };

typedef struct {
    const Plan *plan;
    const char *path;
    char why[400]; /* empty: right */
} Trial;

static void say(Trial *trial, const char *format, ...)
{
    va_list arguments;
    if (trial->why[0])
        return;
    va_start(arguments, format);
    vsnprintf(trial->why, sizeof trial->why, format, arguments);
    va_end(arguments);
}

static int column_of(Trial *trial, const RunResult *r, char letter, uint32_t number)
{
    char name[20];
    snprintf(name, sizeof name, "%c%u", letter, (unsigned)number);
    for (uint32_t k = 0; k < r->n_columns; k++)
        if (strcmp(r->names[k], name) == 0)
            return (int)k;
    say(trial, "no column %s", name);
    return -1;
}

/* What the value at the time of an event may be: of a function of the time, rounding. */
static Wide most_off(const Trial *trial, const Comparison *c, Wide t)
{
    return c->of_time ? 1e-11L * c->range : allowed(trial->plan, c, t);
}

/* An event where a ball bounces is as late as the ball: 1000 tolerances of its height, at its speed. One where the
 * first comparison makes a state jump is as late as that, which hardly crosses its limit. */
static Wide most_late(const Plan *plan, Wide t)
{
    const Wide near = 1e-14L * (1 + t); /* steep flanks */
    for (uint32_t k = 0; plan->comparisons[0].of_time && k < plan->comparisons[0].n_events; k++)
        if (fabsl(plan->comparisons[0].events[k].time - t) <= near)
            return 1e-10L * plan->stop;
    for (uint32_t k = 0; k < plan->n_motions; k++) {
        const Motion *m = &plan->motions[k];
        for (uint32_t j = 1; m->kind == MOTION_BALL && j < m->n_pieces; j++)
            if (fabsl(m->pieces[j].from - t) <= near)
                return 1000 * TOLERANCE * plan->size[m->first_state] / m->pieces[j].x[1];
    }
    return near;
}

static void judge_event(Trial *trial, uint32_t number, uint32_t k, double time, bool to)
{
    const Comparison *c = &trial->plan->comparisons[number];
    if (k >= c->n_events || c->events[k].to != to) {
        say(trial, "c%u: event %u at %.15g (of %u) is none", (unsigned)number, (unsigned)k, time,
            (unsigned)c->n_events);
        return;
    }
    const Wide right = c->events[k].time, distance = fabsl(right - time), most = most_off(trial, c, right);
    const Wide off = fabsl(node_at(trial->plan, c->value, time) - c->limit);
    if (off > most && distance > most_late(trial->plan, right))
        say(trial, "c%u: event %u at %.15g should be at %.15Lg: the value is off by %.3Lg, allowed are %.3Lg",
            (unsigned)number, (unsigned)k, time, right, off, most);
    if ((k > 0 && fabsl(c->events[k - 1].time - time) < distance) ||
        (k + 1 < c->n_events && fabsl(c->events[k + 1].time - time) < distance))
        say(trial, "c%u: event %u is expected at %.15Lg, not at %.15g", (unsigned)number, (unsigned)k, right, time);
}

static void judge_comparison(Trial *trial, const RunResult *r, uint32_t number)
{
    const Comparison *c = &trial->plan->comparisons[number];
    const int bit = column_of(trial, r, 'c', number), sum = column_of(trial, r, 'q', number);
    const int up = column_of(trial, r, 'n', number);
    const int down = trial->plan->is_dymola ? column_of(trial, r, 'm', number) : -1;
    uint32_t n = 0;
    bool is = c->at_start;
    Wide late = 0, duration = 0, from = 0;
    if (trial->why[0] || r->n_rows == 0)
        return;
    for (uint32_t k = 0; k < r->n_rows && !trial->why[0]; k++) {
        const bool now = r->rows[k].values[bit] != 0;
        if (now == is)
            continue;
        judge_event(trial, number, n, r->rows[k].time, now);
        if (n < c->n_events)
            late += fabsl(c->events[n].time - r->rows[k].time);
        is = now;
        n++;
    }
    if (n != c->n_events)
        say(trial, "c%u: %u events, expected %u; the first that lacks is at %.15Lg", (unsigned)number, (unsigned)n,
            (unsigned)c->n_events, c->events[n].time);
    const double *last = r->rows[r->n_rows - 1].values;
    const double counted = last[up] + (down >= 0 ? last[down] : 0);
    if (counted != n)
        say(trial, "c%u: %g changes were counted, there were %u", (unsigned)number, counted, (unsigned)n);
    for (uint32_t k = 0; k <= c->n_events; k++) {
        const Wide to = k < c->n_events ? c->events[k].time : trial->plan->stop;
        duration += (k % 2 == 0) == c->at_start ? to - from : 0;
        from = to;
    }
    if (!(fabsl(last[sum] - duration) <= late + 100 * TOLERANCE * trial->plan->stop))
        say(trial, "c%u: true for %.12g, expected %.12Lg", (unsigned)number, last[sum], duration);
}

static bool run_trial(Trial *trial, const char *solver, double interval)
{
    const RunRequest request = {
        .path = trial->path, .stop = trial->plan->stop, .interval = interval, .tolerance = TOLERANCE, .solver = solver
    };
    RunResult *r = run_model(&request);
    trial->why[0] = 0;
    if (!r->is_compiled)
        say(trial, "%s", r->messages);
    else if (r->report.end != KOINE_RUN_DONE)
        say(trial, "%s", r->report.text);
    for (uint32_t k = 0; k < trial->plan->n_comparisons && !trial->why[0]; k++)
        judge_comparison(trial, r, k);
    run_free(r);
    return !trial->why[0];
}

/* ---- all ---- */
typedef struct {
    uint32_t models, none, runs, wrong_models, wrong_runs;
    uint64_t events, close, dropped;
    uint32_t wrong_of[N_SOLVERS];
} Count;

static double interval_of(const Plan *plan, uint32_t k)
{
    static const double share[] = { 1, 0.0173, 0.1, 0.002 };
    return plan->stop * share[k % 4];
}

static void run_plan(const Plan *plan, const char *folder, bool few, Count *count)
{
    char path[400];
    snprintf(path, sizeof path, "%s/M%llu.%s", folder, (unsigned long long)plan->seed, plan->is_dymola ? "dym" : "mdl");
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(2);
    }
    plan_write(plan, file);
    fclose(file);
    Trial trial = { .plan = plan, .path = path };
    const uint32_t n = few ? FEW_SOLVERS : N_SOLVERS, wrong = count->wrong_runs;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < N_INTERVALS; j++) {
            const uint32_t solver = few ? (uint32_t)(plan->seed * FEW_SOLVERS + k) % N_SOLVERS : k;
            const double interval = interval_of(plan, (uint32_t)plan->seed + k + 2 * j + 1);
            count->runs++;
            if (run_trial(&trial, SOLVERS[solver], interval))
                continue;
            count->wrong_runs++;
            count->wrong_of[solver]++;
            printf("%s --solver %s --stop %.9g --interval %.9g: %s\n", path, SOLVERS[solver], plan->stop, interval,
                   trial.why);
            fflush(stdout);
        }
    if (count->wrong_runs > wrong)
        count->wrong_models++;
    else
        unlink(path);
}

int main(int n_arguments, char **arguments)
{
    static Plan plan;
    if (n_arguments < 4) {
        fprintf(stderr, "check_events COUNT SEED FOLDER [few]\n");
        return 2;
    }
    const uint32_t n = (uint32_t)strtoul(arguments[1], NULL, 10);
    const uint64_t first = strtoull(arguments[2], NULL, 10);
    const char *folder = arguments[3];
    const bool few = n_arguments > 4;
    Count count = { 0 };
    for (uint64_t seed = first; count.models < n; seed++) {
        if (!plan_make(&plan, seed)) {
            count.none++;
            continue;
        }
        count.models++;
        count.dropped += plan.n_dropped;
        for (uint32_t k = 0; k < plan.n_comparisons; k++) {
            count.events += plan.comparisons[k].n_events;
            count.close += plan.comparisons[k].is_close;
        }
        run_plan(&plan, folder, few, &count);
    }
    printf(
        "%u models (%u more were none), %llu events, %llu limits close to an extreme (%llu too close were dropped)\n",
        count.models, count.none, (unsigned long long)count.events, (unsigned long long)count.close,
        (unsigned long long)count.dropped);
    printf("%u runs, %u wrong, of %u models\n", count.runs, count.wrong_runs, count.wrong_models);
    for (uint32_t k = 0; k < N_SOLVERS; k++)
        if (count.wrong_of[k])
            printf("  %s: %u\n", SOLVERS[k], count.wrong_of[k]);
    return count.wrong_runs != 0;
}
