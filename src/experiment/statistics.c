#include "experiment/statistics.h"
#include "experiment/failure.h"

typedef struct {
    const char *key;
    uint64_t value;
} Count;

const char *run_end_word(KoineRunEnd end)
{
    switch (end) {
    case KOINE_RUN_DONE: return "done";
    case KOINE_RUN_TERMINATED: return "terminated";
    case KOINE_RUN_INTERRUPTED: return "interrupted";
    case KOINE_RUN_FAILED: return "failed";
    case KOINE_RUN_SINK: return "sink";
    case KOINE_RUN_OPTIONS: return "options";
    }
    return "";
}

static void add_seconds(Text *text, double seconds)
{
    if (seconds < 1)
        text_format(text, "%d.%d ms", (int)(seconds * 1e3), (int)(seconds * 1e4) % 10);
    else
        text_format(text, "%d.%02d s", (int)seconds, (int)(seconds * 100) % 100);
}

static uint32_t held_shown(const KoineRunStatistics *s)
{
    return s->n_held < KOINE_MOST_HELD ? s->n_held : KOINE_MOST_HELD;
}

/* When which comparisons were held back because they chattered. */
static void add_held(Text *text, const KoineRunStatistics *s)
{
    for (uint32_t k = 0; k < held_shown(s); k++) {
        const KoineHeldBack *const held = &s->held[k];
        text_format(text, "  %s chattered from %.9g to %.9g", text_shown(held->text, text->arena), held->from,
                    held->to);
        if (held->times > 1)
            text_format(text, ", %llu times", (unsigned long long)held->times);
        text_format(text, ": there it changes up to %.3g beyond its border\n", held->width);
    }
    if (s->n_held > KOINE_MOST_HELD)
        text_format(text, "  and %u more comparisons chattered\n", (unsigned)(s->n_held - KOINE_MOST_HELD));
}

void statistics_text(const RunRecord *record, Text *text)
{
    const KoineRunStatistics *const s = &record->run.statistics;
    text_format(text, "%s: %llu points, %llu steps", text_shown(record->model, text->arena),
                (unsigned long long)s->points, (unsigned long long)s->steps);
    if (s->rejected_steps)
        text_format(text, " (%llu rejected)", (unsigned long long)s->rejected_steps);
    text_format(text, ", %llu state events, %llu time events", (unsigned long long)s->state_events,
                (unsigned long long)s->time_events);
    text_add(text, "\n  ");
    if (s->solver[0])
        text_format(text, "solver %s, ", s->solver);
    text_format(text, "tier %s; compiled in ", record->tier);
    add_seconds(text, record->compile_seconds);
    text_add(text, ", ran ");
    add_seconds(text, record->run_seconds);
    text_char(text, '\n');
    add_held(text, s);
}

static void add_key(Text *text, const char *key)
{
    text_format(text, ",\n  \"%s\": ", key);
}

/* JSON has neither infinities nor nan. */
static void add_real(Text *text, const char *key, double value)
{
    add_key(text, key);
    if (value - value == 0)
        text_real(text, value);
    else
        text_add(text, "null");
}

static void add_text(Text *text, const char *key, const char *value)
{
    add_key(text, key);
    if (value)
        text_json(text, value);
    else
        text_add(text, "null");
}

/* By the bounds of koine_bucket. */
static const char *const BUCKETS[KOINE_BUCKETS] = { "0", "1", "2", "3-4", "5-8", "9-16", "17-32", "33-" };

static void add_buckets(Text *text, const char *key, const uint64_t *buckets)
{
    add_key(text, key);
    for (int k = 0; k < KOINE_BUCKETS; k++)
        text_format(text, "%s\"%s\": %llu", k ? ", " : "{ ", BUCKETS[k], (unsigned long long)buckets[k]);
    text_add(text, " }");
}

static void add_held_json(Text *text, const KoineRunStatistics *s)
{
    add_key(text, "held_back");
    text_char(text, '[');
    for (uint32_t k = 0; k < held_shown(s); k++) {
        const KoineHeldBack *const held = &s->held[k];
        text_add(text, k ? ", { \"comparison\": " : "{ \"comparison\": ");
        text_json(text, held->text);
        text_add(text, ", \"from\": ");
        text_real(text, held->from);
        text_add(text, ", \"to\": ");
        text_real(text, held->to);
        text_add(text, ", \"width\": ");
        text_real(text, held->width);
        text_format(text, ", \"times\": %llu, \"crossings\": %llu }", (unsigned long long)held->times,
                    (unsigned long long)held->crossings);
    }
    text_char(text, ']');
}

void statistics_json(const RunRecord *record, Text *text)
{
    const KoineRunStatistics *const s = &record->run.statistics;
    text_format(text, "{\n  \"koine\": \"%s\"", KOINE_VERSION);
    add_text(text, "model", record->model);
    add_text(text, "file", record->file);
    add_text(text, "experiment", record->experiment);
    add_text(text, "output", record->output);
    add_text(text, "end", run_end_word(record->run.end));
    char code[16];
    snprintf(code, sizeof code, "KN%u", (unsigned)failure_code(&record->run));
    add_text(text, "code", record->run.end == KOINE_RUN_FAILED ? code : NULL);
    add_text(text, "message", record->run.text[0] ? record->run.text : NULL);
    add_real(text, "start", record->start);
    add_real(text, "stop", record->stop);
    add_real(text, "time", record->run.time);
    add_text(text, "solver", s->solver);
    add_text(text, "solver_choice", s->choice);
    add_text(text, "tier", record->tier);
    add_text(text, "tier_note", record->tier_note);
    const Count counts[] = {
        { "points", s->points },
        { "steps", s->steps },
        { "rejected_steps", s->rejected_steps },
        { "pulses", s->pulses },
        { "evaluations", s->evaluations },
        { "root_evaluations", s->root_evaluations },
        { "jacobians", s->jacobians },
        { "factorisations", s->factorisations },
        { "nonlinear_iterations", s->nonlinear_iterations },
        { "instants", s->instants },
        { "event_steps", s->event_steps },
        { "state_events", s->state_events },
        { "time_events", s->time_events },
        { "restarts", s->restarts },
        { "chatterings", s->chatterings },
        { "chattering_events", s->chattering_events },
        { "solver_changes", s->solver_changes },
        { "node_evaluations", s->model.node_evaluations },
        { "transitions_fired", s->model.transitions },
        { "newton_iterations", s->model.newton_iterations },
        { "newton_updates", s->model.newton_updates },
        { "solved_from_start", s->model.solved_from_start },
        { "solved_by_kinsol", s->model.solved_by_kinsol },
        { "solved_by_homotopy", s->model.solved_by_homotopy },
        { "iterations", s->model.iterations },
        { "iteration_cycles", s->model.cycles },
        { "most_cycles", s->model.most_cycles },
        { "linear_solves", s->model.linear_solves },
        { "mixed_flips", s->model.mixed_flips },
        { "mixed_combinations", s->model.mixed_combinations },
        { "factorizations", s->model.factorizations },
        { "factors_found", s->model.factors_found },
        { "step_halvings", s->control.halvings },
        { "step_doublings", s->control.doublings },
        { "crossing_searches", s->crossing_searches },
        { "crossing_search_steps", s->crossing_search_steps },
        { "region_searches", s->control.region_searches },
        { "region_search_steps", s->control.region_search_steps },
        { "steps_cut_at_times", s->cut_at_times },
        { "steps_cut_at_outputs", s->cut_at_outputs },
        { "steps_cut_at_crossings", s->cut_at_crossings },
        { "steps_cut_at_regions", s->control.cut_at_regions },
        { "compiler_bytes", record->compiler_bytes },
    };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        add_key(text, counts[k].key);
        text_integer(text, (int64_t)counts[k].value);
    }
    add_held_json(text, s);
    add_buckets(text, "instants_by_event_steps", s->by_event_steps);
    add_buckets(text, "systems_by_iterations", s->model.by_cycles);
    add_real(text, "largest_error", s->control.largest_error);
    add_real(text, "largest_condition", s->model.largest_condition);
    add_text(text, "largest_error_state", s->control.largest_error_state[0] ? s->control.largest_error_state : NULL);
    add_real(text, "compile_seconds", record->compile_seconds);
    add_real(text, "run_seconds", record->run_seconds);
    add_real(text, "model_cpu_seconds", s->model_seconds);
    add_real(text, "solver_cpu_seconds", s->solver_seconds);
    add_real(text, "total_cpu_seconds", s->total_seconds);
    text_add(text, "\n}\n");
}

/* ---- A table for people ----------------------------------------------------------------------------------------- */

static void line(Text *text, const char *what, uint64_t n)
{
    text_format(text, "  %-44s %12llu\n", what, (unsigned long long)n);
}

static void mean(Text *text, const char *what, uint64_t sum, uint64_t n)
{
    if (n > 0)
        text_format(text, "  %-44s %12.2f\n", what, (double)sum / (double)n);
}

static void distribution(Text *text, const char *what, const uint64_t *buckets)
{
    for (int k = 0; k < KOINE_BUCKETS; k++)
        if (buckets[k])
            text_format(text, "  %s %-*s %12llu\n", what, 43 - (int)strlen(what), BUCKETS[k],
                        (unsigned long long)buckets[k]);
}

void statistics_table(const RunRecord *record, Text *text)
{
    const KoineRunStatistics *const s = &record->run.statistics;
    text_format(text, "%s, %s at T = %.9g, solver %s, tier %s\n", record->model, run_end_word(record->run.end),
                record->run.time, s->solver[0] ? s->solver : "none", record->tier);
    text_add(text, "events\n");
    line(text, "instants", s->instants);
    line(text, "  because of time", s->time_events);
    line(text, "  because of a crossing", s->state_events);
    if (s->chatterings) {
        line(text, "comparisons found to chatter", s->chatterings);
        line(text, "  crossings while held back", s->chattering_events);
        add_held(text, s);
    }
    line(text, "transitions fired", s->model.transitions);
    line(text, "event steps (Takte)", s->event_steps);
    distribution(text, "instants with event steps:", s->by_event_steps);
    mean(text, "event graph nodes per event step", s->model.node_evaluations, s->event_steps);
    text_add(text, "integration\n");
    line(text, "steps", s->steps);
    line(text, "steps rejected", s->rejected_steps);
    line(text, "steps made again because of a pulse of a source", s->pulses);
    line(text, "steps halved because of the error", s->control.halvings);
    line(text, "steps doubled", s->control.doublings);
    line(text, "steps cut at time events", s->cut_at_times);
    line(text, "steps cut at output points", s->cut_at_outputs);
    line(text, "steps cut at crossings", s->cut_at_crossings);
    line(text, "steps cut at region changes", s->control.cut_at_regions);
    line(text, "evaluations of the derivatives", s->evaluations);
    line(text, "restarts of the solver", s->restarts);
    if (s->control.largest_error > 0)
        text_format(text, "  %-44s %12.3g (%s)\n", "largest relative error", s->control.largest_error,
                    s->control.largest_error_state);
    mean(text, "search steps per crossing", s->crossing_search_steps, s->crossing_searches);
    mean(text, "search steps per region change", s->control.region_search_steps, s->control.region_searches);
    text_add(text, "iterations\n");
    line(text, "linear systems solved", s->model.linear_solves);
    line(text, "matrices of systems factored", s->model.factorizations);
    if (s->model.factors_found)
        line(text, "matrices whose factors were kept", s->model.factors_found);
    line(text, "iterations of nonlinear systems", s->model.newton_iterations);
    line(text, "  steps that updated a Jacobian", s->model.newton_updates);
    const uint64_t rescued = s->model.solved_from_start + s->model.solved_by_kinsol + s->model.solved_by_homotopy;
    if (rescued)
        line(text, "nonlinear systems that needed a search", rescued);
    distribution(text, "systems with iterations:", s->model.by_cycles);
    if (s->model.mixed_flips) {
        line(text, "flips of comparisons inside systems", s->model.mixed_flips);
        line(text, "combinations of them that were tried", s->model.mixed_combinations);
    }
    text_add(text, "time\n");
    text_format(text, "  %-44s %12.6f s\n", "compiling", record->compile_seconds);
    text_format(text, "  %-44s %12.6f s\n", "running", record->run_seconds);
}
