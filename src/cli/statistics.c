#include "cli/statistics.h"

typedef struct {
    const char *key;
    uint64_t value;
} Count;

static const char *end_word(KoineRunEnd end)
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

void statistics_text(const RunRecord *record, Text *text)
{
    const KoineRunStatistics *const s = &record->run.statistics;
    text_format(text, "%s: %llu points, %llu steps", record->model.model, (unsigned long long)s->points,
                (unsigned long long)s->steps);
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

void statistics_json(const RunRecord *record, Text *text)
{
    const KoineRunStatistics *const s = &record->run.statistics;
    text_format(text, "{\n  \"koine\": \"%s\"", KOINE_VERSION);
    add_text(text, "model", record->model.model);
    add_text(text, "file", record->file);
    add_text(text, "experiment", record->experiment);
    add_text(text, "output", record->output);
    add_text(text, "end", end_word(record->run.end));
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
        { "solver_changes", s->solver_changes },
        { "node_evaluations", s->model.node_evaluations },
        { "transitions_fired", s->model.transitions },
        { "newton_iterations", s->model.newton_iterations },
        { "iterations", s->model.iterations },
        { "iteration_cycles", s->model.cycles },
        { "most_cycles", s->model.most_cycles },
        { "linear_solves", s->model.linear_solves },
        { "step_halvings", s->halvings },
        { "step_doublings", s->doublings },
        { "crossing_searches", s->crossing_searches },
        { "crossing_search_steps", s->crossing_search_steps },
        { "region_searches", s->region_searches },
        { "region_search_steps", s->region_search_steps },
        { "steps_cut_at_times", s->cut_at_times },
        { "steps_cut_at_outputs", s->cut_at_outputs },
        { "steps_cut_at_crossings", s->cut_at_crossings },
        { "steps_cut_at_regions", s->cut_at_regions },
        { "compiler_bytes", record->model.bytes },
    };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        add_key(text, counts[k].key);
        text_integer(text, (int64_t)counts[k].value);
    }
    add_real(text, "largest_error", s->largest_error);
    add_text(text, "largest_error_state", s->largest_error_state[0] ? s->largest_error_state : NULL);
    add_real(text, "compile_seconds", record->compile_seconds);
    add_real(text, "run_seconds", record->run_seconds);
    add_real(text, "model_cpu_seconds", s->model_seconds);
    add_real(text, "solver_cpu_seconds", s->solver_seconds);
    add_real(text, "total_cpu_seconds", s->total_seconds);
    text_add(text, "\n}\n");
}
