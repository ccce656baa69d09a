#include "experiment/statistics.h"
#include "experiment/failure.h"
#include <math.h>
#include <string.h>

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

/* ---- The sum over phases ----------------------------------------------------------------------------------------- */

static uint32_t held_shown(const KoineRunStatistics *s)
{
    return s->n_held < KOINE_MOST_HELD ? s->n_held : KOINE_MOST_HELD;
}

/* A comparison that was held back before, or a further one. */
static void add_held_back(KoineRunStatistics *sum, const KoineHeldBack *held)
{
    for (uint32_t k = 0; k < held_shown(sum); k++) {
        KoineHeldBack *same = &sum->held[k];
        if (strcmp(same->text, held->text) != 0)
            continue;
        same->to = held->to;
        same->width = fmax(same->width, held->width);
        same->times += held->times;
        same->crossings += held->crossings;
        return;
    }
    if (sum->n_held < KOINE_MOST_HELD)
        sum->held[sum->n_held] = *held;
    sum->n_held++;
}

static uint64_t sum_ADD(uint64_t a, uint64_t b)
{
    return a + b;
}

static uint64_t sum_MOST(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_distribution(uint64_t *sum, const uint64_t *part)
{
    for (uint32_t k = 0; k < KOINE_BUCKETS; k++)
        sum[k] += part[k];
}

void statistics_add(KoineRunStatistics *sum, const KoineRunStatistics *part)
{
#define KOINE_COUNTER(of, name, how, ...) sum->of.name = sum_##how(sum->of.name, part->of.name);
#define KOINE_DISTRIBUTION(of, name, ...) add_distribution(sum->of.name, part->of.name);
#include "koine/statistics.def"
    for (uint32_t k = 0; k < held_shown(part); k++)
        add_held_back(sum, &part->held[k]);
    sum->n_held += part->n_held - held_shown(part);
    if (!(part->model.largest_condition <= sum->model.largest_condition)) /* a nan counts, too */
        sum->model.largest_condition = part->model.largest_condition;
    if (part->control.largest_error >= sum->control.largest_error) {
        sum->control.largest_error = part->control.largest_error;
        memcpy(sum->control.largest_error_state, part->control.largest_error_state,
               sizeof sum->control.largest_error_state);
    }
    sum->total_seconds += part->total_seconds;
    sum->model_seconds += part->model_seconds;
    sum->solver_seconds += part->solver_seconds;
    memcpy(sum->solver, part->solver, sizeof sum->solver);
    memcpy(sum->choice, part->choice, sizeof sum->choice);
}

/* ---- A few lines for people -------------------------------------------------------------------------------------- */

static void add_seconds(Text *text, double seconds)
{
    if (seconds < 1)
        text_format(text, "%d.%d ms", (int)(seconds * 1e3), (int)(seconds * 1e4) % 10);
    else
        text_format(text, "%d.%02d s", (int)seconds, (int)(seconds * 100) % 100);
}

/* When which comparisons were held back because they chattered. */
static void add_held(Text *text, const KoineRunStatistics *s)
{
    for (uint32_t k = 0; k < held_shown(s); k++) {
        const KoineHeldBack *held = &s->held[k];
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
    const KoineRunStatistics *s = &record->run.statistics;
    text_format(text, "%s: %llu points, %llu steps", text_shown(record->model, text->arena),
                (unsigned long long)s->events.points, (unsigned long long)s->integration.steps);
    if (s->integration.rejected_steps)
        text_format(text, " (%llu rejected)", (unsigned long long)s->integration.rejected_steps);
    text_format(text, ", %llu state events, %llu time events", (unsigned long long)s->events.state_events,
                (unsigned long long)s->events.time_events);
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

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

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

static void add_count(Text *text, const char *key, uint64_t count)
{
    add_key(text, key);
    text_integer(text, (int64_t)count);
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
        const KoineHeldBack *held = &s->held[k];
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
    const KoineRunStatistics *s = &record->run.statistics;
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
#define KOINE_COUNTER(part, name, ...)             add_count(text, #name, s->part.name);
#define KOINE_OLD_KEY(part, name, key)             add_count(text, key, s->part.name);
#define KOINE_DISTRIBUTION(part, name, key, title) add_buckets(text, key, s->part.name);
#include "koine/statistics.def"
    add_count(text, "compiler_bytes", record->compiler_bytes);
    add_held_json(text, s);
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

/* The KOINE_LINES of statistics.def. */

static void lines_held_back(Text *text, const KoineRunStatistics *s)
{
    if (s->events.chatterings)
        add_held(text, s);
}

static void lines_largest_error(Text *text, const KoineRunStatistics *s)
{
    if (s->control.largest_error > 0)
        text_format(text, "  %-44s %12.3g (%s)\n", "largest relative error", s->control.largest_error,
                    s->control.largest_error_state);
}

static void lines_searched(Text *text, const KoineRunStatistics *s)
{
    const uint64_t searched = s->model.solved_from_start + s->model.solved_by_kinsol + s->model.solved_by_homotopy;
    if (searched)
        line(text, "nonlinear systems that needed a search", searched);
}

void statistics_table(const RunRecord *record, Text *text)
{
    const KoineRunStatistics *s = &record->run.statistics;
    text_format(text, "%s, %s at T = %.9g, solver %s, tier %s\n", record->model, run_end_word(record->run.end),
                record->run.time, s->solver[0] ? s->solver : "none", record->tier);
#define KOINE_SECTION(title) text_add(text, title "\n");
#define KOINE_COUNTER(part, name, how, shown, title)                                                                   \
    if (shown)                                                                                                         \
        line(text, title, s->part.name);
#define KOINE_RATIO(over, under, title)            mean(text, title, s->over, s->under);
#define KOINE_DISTRIBUTION(part, name, key, title) distribution(text, title, s->part.name);
#define KOINE_LINES(name)                          lines_##name(text, s);
#include "koine/statistics.def"
    text_add(text, "time\n");
    text_format(text, "  %-44s %12.6f s\n", "compiling", record->compile_seconds);
    text_format(text, "  %-44s %12.6f s\n", "running", record->run_seconds);
}
