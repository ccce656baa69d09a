#include "experiment/start.h"
#include "formats/select.h"
#include "formats/store.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 16 * DBL_EPSILON * fmax(fabs(a), fabs(b));
}

static double time_of(const Series *series, uint64_t row)
{
    return series_value(&series->columns[0], row);
}

/* The last row at `time`; between two rows both. */
static bool find_row(StartState *start, double time)
{
    const uint64_t n = start->series->n_rows;
    uint64_t row = n;
    for (uint64_t k = 0; k < n; k++)
        if (time_of(start->series, k) <= time || is_near(time_of(start->series, k), time))
            row = k;
    if (row == n || (row + 1 == n && !is_near(time_of(start->series, row), time)))
        return false;
    start->row = row;
    start->next = is_near(time_of(start->series, row), time) ? row : row + 1;
    start->time = start->next == row ? time_of(start->series, row) : time;
    return true;
}

bool start_read(const Experiment *experiment, Arena *arena, Diag *diag, StartState *start)
{
    *start = (StartState){ .path = experiment->begin.start_from };
    const Span span = experiment->spans[EXPERIMENT_START_FROM];
    start->series = series_lazy(experiment->begin.start_from, arena, diag);
    if (!start->series)
        return false;
    const uint64_t n = start->series->n_rows;
    if (n == 0) {
        diag_error(diag, DIAG_START_STATE, span, "'%s' has no points to start from", start->path);
        return false;
    }
    if (!experiment->has[EXPERIMENT_START_FROM_TIME]) {
        start->row = start->next = n - 1;
        start->time = time_of(start->series, n - 1);
        return true;
    }
    if (find_row(start, experiment->begin.start_from_time))
        return true;
    diag_error(diag, DIAG_START_STATE, experiment->spans[EXPERIMENT_START_FROM_TIME],
               "'%s' holds nothing at time %.9g; it reaches from %.9g to %.9g", start->path,
               experiment->begin.start_from_time, time_of(start->series, 0), time_of(start->series, n - 1));
    return false;
}

/* Continuous values lie on a line between two rows, others keep the earlier one. */
static double value_at(const StartState *start, const SeriesColumn *column, bool is_continuous)
{
    const double before = series_at(start->series, column, start->row);
    if (start->next == start->row || !is_continuous)
        return before;
    const double from = time_of(start->series, start->row), to = time_of(start->series, start->next);
    return before + (series_at(start->series, column, start->next) - before) * ((start->time - from) / (to - from));
}

static bool is_set(const Experiment *experiment, const char *name)
{
    for (uint32_t k = 0; k < experiment->part.settings.n; k++)
        if (strcasecmp(experiment->part.settings.at[k].name, name) == 0)
            return true;
    return false;
}

static bool write_element(const StartState *start, const KoineVariable *variable, const char *name,
                          const SeriesColumn *column, unsigned char *to, Diag *diag)
{
    const double value = value_at(start, column, variable->variability == KOINE_VARIABILITY_CONTINUOUS);
    KoineSlot slot = { .r = value };
    const bool is_whole = value == floor(value) && fabs(value) < 9e18;
    if (!isfinite(value) || (variable->type != KOINE_REAL && !is_whole)) {
        diag_error(diag, DIAG_START_STATE, SPAN_NONE, "'%s' has no usable value of '%s' at time %.9g", start->path,
                   name, start->time);
        return false;
    }
    if (variable->type != KOINE_REAL)
        slot.i = (int64_t)value;
    memcpy(to, &slot, sizeof slot);
    return true;
}

/* What a run cannot start without: a state, or what only event steps change. */
static bool is_state(const KoineVariable *variable)
{
    return variable->state >= 0 ||
           (variable->variability == KOINE_VARIABILITY_DISCRETE && variable->causality != KOINE_CAUSALITY_INPUT);
}

/* What only events change and what nobody may set, as it begins with its start value: it goes on all the same. */
static bool is_remembered(const KoineVariable *variable)
{
    return !(variable->flags & KOINE_VARIABLE_SETTABLE) && variable->pre != KOINE_NO_OFFSET &&
           variable->variability == KOINE_VARIABILITY_DISCRETE && variable->causality != KOINE_CAUSALITY_INPUT;
}

/* Where a value that the run begins with is put; KOINE_NO_OFFSET: nowhere. What is hidden may be a state all the same.
 */
static uint64_t place_of(const KoineVariable *variable)
{
    const unsigned hidden = is_state(variable) ? 0 : KOINE_VARIABLE_HIDDEN;
    const unsigned closed = KOINE_VARIABLE_ALIAS | KOINE_VARIABLE_DERIVATIVE | hidden;
    if (variable->flags & closed)
        return KOINE_NO_OFFSET;
    return is_remembered(variable)                     ? variable->now
           : variable->flags & KOINE_VARIABLE_SETTABLE ? variable->set
                                                       : KOINE_NO_OFFSET;
}

/* A text is no number of a column. */
static bool is_text_left(const StartState *start, const Experiment *experiment, const KoineVariable *variable,
                         Diag *diag)
{
    if (variable->type != KOINE_STRING || !is_state(variable) || place_of(variable) == KOINE_NO_OFFSET ||
        is_set(experiment, variable->name))
        return false;
    diag_error(diag, DIAG_START_STATE, experiment->spans[EXPERIMENT_START_FROM],
               "the text of '%s' cannot be taken from '%s'", variable->name, start->path);
    diag_help(diag, "give it with --set, or use 'phases' of an experiment");
    return true;
}

/* ---- what a model remembers besides its variables ---- */
void start_note_memory(KoineModel *model, double time, Text *json)
{
    const uint64_t n = model->kind->memory.store ? model->kind->memory.store(model, NULL, 0) : 0;
    size_t end = json->n;
    while (end > 0 && json->at[end - 1] != '}')
        end--;
    if (n == 0 || end == 0)
        return;
    KoineSlot *words = NEW_ARRAY(json->arena, KoineSlot, n);
    model->kind->memory.store(model, words, n);
    json->n = end - 1;
    text_format(json, ",\n  \"memory\": { \"time\": %.17g, \"words\": \"", time);
    for (uint64_t k = 0; k < n; k++)
        text_format(json, "%016llx", (unsigned long long)words[k].i);
    text_add(json, "\" }\n}\n");
}

/* The words in what a native result says about its end; 0: there are none for this time. */
static uint64_t find_memory(const StartState *start, Arena *arena, KoineSlot **words)
{
    const char *end = start->series->store ? store_info(start->series->store)->end : NULL;
    const char *at = end ? strstr(end, "\"memory\": { \"time\": ") : NULL;
    char *rest;
    if (!at || !is_near(strtod(at + strlen("\"memory\": { \"time\": "), &rest), start->time) ||
        start->next != start->row || start->row + 1 != start->series->n_rows || !(at = strchr(rest, ':')))
        return 0;
    at += strspn(at, ": \"");
    const uint64_t n = strspn(at, "0123456789abcdef") / 16;
    *words = NEW_ARRAY(arena, KoineSlot, n + 1);
    for (uint64_t k = 0; k < n; k++) {
        char digits[17] = { 0 };
        memcpy(digits, at + 16 * k, 16);
        (*words)[k].i = (int64_t)strtoull(digits, NULL, 16);
    }
    return n;
}

/* Random streams and dead times go on where they were, or it is said that they do not. */
static void recall(const StartState *start, const Experiment *experiment, KoineModel *model, Arena *arena, Diag *diag)
{
    KoineSlot *words = NULL;
    if (!model->kind->memory.store || model->kind->memory.store(model, NULL, 0) == 0)
        return;
    const uint64_t n = find_memory(start, arena, &words);
    if (n && model->kind->memory.recall(model, words, n) == KOINE_OK)
        return;
    diag_warning(diag, DIAG_START_MEMORY, experiment->spans[EXPERIMENT_START_FROM],
                 "'%s' does not hold what the model remembers at time %.9g: %s", start->path, start->time,
                 n ? "some random streams, dead times or messages begin anew"
                   : "random streams, dead times and messages begin anew");
    diag_help(diag, "a native result (--output NAME.h5) holds it, for the end of its run; another --seed gives other "
                    "random numbers");
}

/* The earlier run has executed the ticks of this instant, and of what is one instant with it (rule S7). */
static void tell_passed(const StartState *start, const Experiment *experiment, KoineModel *model)
{
    const KoineTables *tables = model->kind->tables;
    const KoineSlot passed = { .r = start->time + 16 * DBL_EPSILON * fabs(start->time) };
    const bool is_same = start->next == start->row && is_near(experiment->begin.start, start->time);
    for (uint32_t row = 0; row < tables->n_variables && is_same; row++)
        if (strcmp(tables->variables[row].name, "$passed") == 0)
            memcpy(model->block + tables->variables[row].now, &passed, sizeof passed);
}

/* False: the run cannot begin without it. What nobody may set may follow from others again. */
static bool begins_without(const StartState *start, const Experiment *experiment, const KoineVariable *variable,
                           const char *name, Diag *diag)
{
    const Span span = experiment->spans[EXPERIMENT_START_FROM];
    if (is_remembered(variable)) {
        diag_warning(diag, DIAG_START_MEMORY, span,
                     "'%s' does not hold what the model remembers at time %.9g: '%s' begins anew", start->path,
                     start->time, name);
        diag_help(diag, "record it in the earlier run, by --variables");
        return true;
    }
    diag_error(diag, DIAG_START_STATE, span, "'%s' holds no value of the state '%s'", start->path, name);
    diag_help(diag, "record it in the earlier run, or give it with --set");
    return false;
}

/* What no result shows: slopes of methods of clocks and whether they have begun, and ticks of clocks whose times are
 * not known before. */
static bool tell_clock(const StartState *start, const Experiment *experiment, const KoineVariable *variable, Diag *diag)
{
    const bool is_method = strstr(variable->name, "$begun "), is_counted = strstr(variable->name, "$count ");
    if (!is_method && !is_counted && !strstr(variable->name, "$next "))
        return false;
    diag_warning(diag, DIAG_START_MEMORY, experiment->spans[EXPERIMENT_START_FROM],
                 "'%s' does not hold what the model remembers at time %.9g: %s", start->path, start->time,
                 is_method    ? "methods of clocks begin anew"
                 : is_counted ? "counts of ticks begin anew"
                              : "a clock whose interval changes begins anew");
    diag_help(diag, "'phases' of an experiment go on with them");
    return true;
}

bool start_write(const StartState *start, const Experiment *experiment, KoineModel *model, Arena *arena, Diag *diag)
{
    const KoineTables *tables = model->kind->tables;
    const unsigned closed = KOINE_VARIABLE_ALIAS | KOINE_VARIABLE_HIDDEN | KOINE_VARIABLE_DERIVATIVE;
    bool is_good = true;
    Text name = { .arena = arena };
    for (uint32_t row = 0; row < tables->n_variables; row++) {
        const KoineVariable *variable = &tables->variables[row];
        if (tell_clock(start, experiment, variable, diag))
            continue;
        const bool is_computed = !(variable->flags & (KOINE_VARIABLE_SETTABLE | closed)) &&
                                 variable->flags & KOINE_VARIABLE_FIXED && is_state(variable);
        if (is_computed) {
            diag_error(diag, DIAG_START_STATE, experiment->spans[EXPERIMENT_START_FROM],
                       "the start value of '%s' is computed from others: it cannot be taken from a result",
                       variable->name);
            diag_help(diag, "write it as a number in the model, or use 'phases' of an experiment");
            is_good = false;
        }
        const uint64_t place = place_of(variable);
        is_good &= !is_text_left(start, experiment, variable, diag);
        if (place == KOINE_NO_OFFSET || variable->type == KOINE_STRING)
            continue;
        for (uint32_t k = 0; k < variable->count; k++) {
            name.n = 0;
            column_name(tables, &(Column){ row, k, 0 }, &name);
            const SeriesColumn *column = series_find(start->series, name.at);
            if (column) {
                is_good &= write_element(start, variable, name.at, column,
                                         model->block + place + sizeof(KoineSlot) * (size_t)k, diag);
            } else if (is_state(variable) && !is_set(experiment, name.at)) {
                is_good &= begins_without(start, experiment, variable, name.at, diag);
            }
        }
    }
    tell_passed(start, experiment, model);
    if (is_good)
        recall(start, experiment, model, arena, diag);
    return is_good;
}

void start_compare(const StartState *start, const Experiment *experiment, const KoineModel *model, Arena *arena,
                   Diag *diag)
{
    const double rounding = 1e-6; /* of a state that follows from others */
    const KoineTables *tables = model->kind->tables;
    Text name = { .arena = arena };
    for (uint32_t row = 0; row < tables->n_variables; row++) {
        const KoineVariable *variable = &tables->variables[row];
        for (uint32_t k = 0; variable->state >= 0 && place_of(variable) != KOINE_NO_OFFSET && k < variable->count;
             k++) {
            KoineSlot now;
            name.n = 0;
            column_name(tables, &(Column){ row, k, 0 }, &name);
            const SeriesColumn *column = series_find(start->series, name.at);
            const double given = column ? value_at(start, column, true) : 0;
            memcpy(&now, model->block + variable->now + sizeof now * (size_t)k, sizeof now);
            if (!column || is_set(experiment, name.at) || fabs(now.r - given) <= rounding * fmax(1, fabs(given)))
                continue;
            diag_warning(diag, DIAG_START_ANEW, experiment->spans[EXPERIMENT_START_FROM],
                         "'%s' begins with %.9g: '%s' ends with %.9g, but the start of the model has changed it",
                         name.at, now.r, start->path, given);
            diag_help(diag,
                      "initial equations and events of the start are executed again; 'phases' of an experiment go "
                      "on without them");
            return;
        }
    }
}

static double largest_until(const Series *series, const SeriesColumn *column, uint64_t row)
{
    double largest = 0;
    for (uint64_t k = 0; k <= row && k < series->n_rows; k++) {
        const double value = fabs(series_at(series, column, k));
        if (isfinite(value) && value > largest)
            largest = value;
    }
    return largest;
}

void start_scales(const StartState *start, const KoineTables *tables, Arena *arena, double *scales)
{
    Text name = { .arena = arena };
    for (uint32_t row = 0; row < tables->n_variables; row++) {
        const KoineVariable *variable = &tables->variables[row];
        for (uint32_t k = 0; variable->state >= 0 && k < variable->count; k++) {
            name.n = 0;
            column_name(tables, &(Column){ row, k, 0 }, &name);
            const SeriesColumn *column = series_find(start->series, name.at);
            const uint32_t at = (uint32_t)variable->state + k;
            if (column)
                scales[at] = scales[tables->n_x + at] =
                    fmax(scales[at], largest_until(start->series, column, start->row));
        }
    }
}
