#include "experiment/drive.h"
#include "base/names.h"
#include "base/vec.h"
#include "formats/select.h"
#include <math.h>
#include <strings.h>

typedef struct {
    uint32_t variable, element;
    uint64_t offset, set; /* of its slot; of its start value, or KOINE_NO_OFFSET */
    bool is_line;         /* continuous: straight lines; else it holds its value */
    uint8_t type;
    const double *values; /* one a row */
} Signal;

struct Drive {
    KoineModel model; /* first: the driven model; shares the block of `inner` */
    KoineModelKind kind;
    KoineModel *inner;
    Signal *signals;
    KoineChange *changes; /* n: what the signals are behind an instant */
    uint32_t n;
    double *times;  /* rows that matter */
    uint32_t *rows; /* their numbers in the table */
    uint32_t n_rows;
    uint32_t at;    /* row in force; UINT32_MAX: before the first */
    bool has_input; /* a row was passed at the present instant */
};

static Drive *drive_of(KoineModel *model)
{
    return (Drive *)(void *)model;
}

/* ---- Signals ---------------------------------------------------------------------------------------------------- */

static double value_at(const Drive *drive, const Signal *signal, double time)
{
    const uint32_t at = drive->at;
    if (at == UINT32_MAX)
        return signal->values[drive->rows[0]];
    const double here = signal->values[drive->rows[at]];
    if (!signal->is_line || at + 1 >= drive->n_rows)
        return here;
    const double from = drive->times[at], to = drive->times[at + 1], there = signal->values[drive->rows[at + 1]];
    return time == to ? there : here + (there - here) * ((time - from) / (to - from));
}

static KoineSlot slot_at(const Drive *drive, const Signal *signal, double time)
{
    KoineSlot slot = { .r = value_at(drive, signal, time) };
    if (signal->type != KOINE_REAL)
        slot.i = (int64_t)slot.r;
    return slot;
}

static void write_signals(Drive *drive, double time, bool lines_only)
{
    unsigned char *block = drive->model.block;
    for (uint32_t k = 0; k < drive->n; k++) {
        const Signal *signal = &drive->signals[k];
        if (lines_only && !signal->is_line)
            continue;
        const KoineSlot slot = slot_at(drive, signal, time);
        memcpy(block + signal->offset, &slot, sizeof slot);
    }
}

static double near_time(double time)
{
    return 16 * 2.220446049250313e-16 * fabs(time);
}

/* Is there another one up to `time`? */
static bool has_row(const Drive *drive, double time)
{
    return drive->at + 1 < drive->n_rows && drive->times[drive->at + 1] <= time + near_time(time);
}

static void pass_rows(Drive *drive, double time)
{
    while (has_row(drive, time))
        drive->at++; /* from UINT32_MAX to 0 */
}

/* ---- The model -------------------------------------------------------------------------------------------------- */

static KoineModel *inner_of(KoineModel *model)
{
    KoineModel *inner = drive_of(model)->inner;
    inner->block = model->block;
    inner->size = model->size;
    return inner;
}

static KoineStatus told(KoineModel *model, KoineStatus status)
{
    const KoineModel *inner = drive_of(model)->inner;
    model->block = inner->block; /* it may have grown */
    model->size = inner->size;
    if (status != KOINE_OK)
        model->fault = inner->fault;
    return status;
}

static KoineStatus drive_initialise(KoineModel *model, double time)
{
    Drive *drive = drive_of(model);
    KoineModel *inner = inner_of(model);
    drive->at = UINT32_MAX;
    pass_rows(drive, time);
    write_signals(drive, time, false);
    for (uint32_t k = 0; k < drive->n; k++) /* initialise makes the input from its start value */
        if (drive->signals[k].set != KOINE_NO_OFFSET)
            memcpy(model->block + drive->signals[k].set, model->block + drive->signals[k].offset, sizeof(KoineSlot));
    return told(model, inner->kind->initialise(inner, time));
}

static KoineStatus drive_evaluate(KoineModel *model, const KoineEvaluation *at)
{
    KoineModel *inner = inner_of(model);
    write_signals(drive_of(model), at->time, true);
    return told(model, inner->kind->evaluate(inner, at));
}

static KoineStatus drive_derivatives(KoineModel *model)
{
    KoineModel *inner = inner_of(model);
    double time;
    memcpy(&time, model->block + model->kind->tables->time, sizeof time);
    write_signals(drive_of(model), time, true);
    return told(model, inner->kind->derivatives(inner));
}

static KoineStatus drive_accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    KoineModel *inner = inner_of(model);
    write_signals(drive_of(model), time, true);
    return told(model, inner->kind->accept(inner, time, x, outcome));
}

static KoineStatus drive_arrive(KoineModel *model, const KoineArrival *arrival)
{
    Drive *drive = drive_of(model);
    KoineModel *inner = inner_of(model);
    KoineArrival inside = *arrival;
    drive->has_input = has_row(drive, arrival->time);
    write_signals(drive, arrival->time, false);
    if (drive->has_input) {
        pass_rows(drive, arrival->time);
        for (uint32_t k = 0; k < drive->n; k++)
            drive->changes[k] = (KoineChange){ drive->signals[k].variable, drive->signals[k].element,
                                               slot_at(drive, &drive->signals[k], arrival->time) };
        inside.cause |= KOINE_AT_INPUT;
        inside.changes = drive->changes;
        inside.n_changes = drive->n;
    }
    return told(model, inner->kind->arrive(inner, &inside));
}

static KoineStatus drive_step(KoineModel *model, KoineOutcome *outcome)
{
    KoineModel *inner = inner_of(model);
    return told(model, inner->kind->step(inner, outcome));
}

static KoineStatus drive_commit(KoineModel *model, KoineOutcome *outcome)
{
    KoineModel *inner = inner_of(model);
    return told(model, inner->kind->commit(inner, outcome));
}

static KoineStatus drive_leave(KoineModel *model, KoineOutcome *outcome)
{
    Drive *drive = drive_of(model);
    KoineModel *inner = inner_of(model);
    const KoineStatus status = told(model, inner->kind->leave(inner, outcome));
    if (drive->has_input) /* values or slopes are others now */
        outcome->flags |= KOINE_CHANGED | KOINE_RESTART;
    if (drive->at + 1 < drive->n_rows)
        outcome->next_time = fmin(outcome->next_time, drive->times[drive->at + 1]);
    return status;
}

static KoineStatus drive_jacobian(KoineModel *model, const KoineEvaluation *at, int by, double cj, double *values)
{
    KoineModel *inner = inner_of(model);
    write_signals(drive_of(model), at->time, true);
    return told(model, inner->kind->partial.jacobian(inner, at, by, cj, values));
}

static KoineStatus drive_directional(KoineModel *model, const KoineEvaluation *at, int by, const double *seed,
                                     double *result)
{
    KoineModel *inner = inner_of(model);
    write_signals(drive_of(model), at->time, true);
    return told(model, inner->kind->partial.directional(inner, at, by, seed, result));
}

static KoineStatus drive_adjoint(KoineModel *model, const KoineEvaluation *at, int by, const double *weights,
                                 double *result)
{
    KoineModel *inner = inner_of(model);
    write_signals(drive_of(model), at->time, true);
    return told(model, inner->kind->partial.adjoint(inner, at, by, weights, result));
}

static KoinePort drive_state(const KoineModel *model, uint32_t k)
{
    const KoineModel *inner = ((const Drive *)(const void *)model)->inner;
    return inner->kind->partial.state(inner, k);
}

static void drive_statistics(const KoineModel *model, KoineModelStatistics *out)
{
    const KoineModel *inner = ((const Drive *)(const void *)model)->inner;
    inner->kind->counts.statistics(inner, out);
}

static double drive_look_ahead(KoineModel *model, double until, double *searched)
{
    Drive *drive = drive_of(model);
    KoineModel *inner = inner_of(model);
    const double row = drive->at + 1 < drive->n_rows ? drive->times[drive->at + 1] : INFINITY;
    return fmin(inner->kind->time.look_ahead(inner, fmin(until, row), searched), row);
}

static uint32_t drive_extremes(KoineModel *model, double from, double to, double *times, uint32_t most)
{
    KoineModel *inner = inner_of(model);
    return inner->kind->time.extremes(inner, from, to, times, most);
}

static double drive_longest_step(KoineModel *model)
{
    KoineModel *inner = inner_of(model);
    return inner->kind->signals.longest_step(inner);
}

static KoineStatus drive_sample(KoineModel *model, double time, const double *x, double *signals)
{
    KoineModel *inner = inner_of(model);
    write_signals(drive_of(model), time, true);
    return told(model, inner->kind->signals.sample(inner, time, x, signals));
}

static KoineStatus drive_remember(KoineModel *model, double time, const double *signals)
{
    KoineModel *inner = inner_of(model);
    return told(model, inner->kind->signals.remember(inner, time, signals));
}

static const char *drive_text(KoineModel *model, KoineSlot value, size_t *n)
{
    KoineModel *inner = inner_of(model);
    return inner->kind->texts.get(inner, value, n);
}

static KoineStatus drive_put_text(KoineModel *model, const char *text, size_t n, KoineSlot *value)
{
    KoineModel *inner = inner_of(model);
    return told(model, inner->kind->texts.put(inner, text, n, value));
}

KoineModel *drive_model(Drive *drive, KoineModel *inner)
{
    const KoineModelKind *kind = inner->kind;
    drive->inner = inner;
    drive->kind = (KoineModelKind){
        .version = kind->version,
        .size = sizeof drive->kind,
        .tables = kind->tables,
        .initialise = drive_initialise,
        .evaluate = drive_evaluate,
        .accept = drive_accept,
        .arrive = drive_arrive,
        .step = drive_step,
        .commit = drive_commit,
        .leave = drive_leave,
        .derivatives = kind->derivatives ? drive_derivatives : NULL,
        .partial.jacobian = kind->partial.jacobian ? drive_jacobian : NULL,
        .partial.directional = kind->partial.directional ? drive_directional : NULL,
        .partial.adjoint = kind->partial.adjoint ? drive_adjoint : NULL,
        .partial.state = kind->partial.state ? drive_state : NULL,
        .counts.statistics = kind->counts.statistics ? drive_statistics : NULL,
        .signals.longest_step = kind->signals.longest_step ? drive_longest_step : NULL,
        .signals.sample = kind->signals.sample ? drive_sample : NULL,
        .signals.remember = kind->signals.remember ? drive_remember : NULL,
        .texts.get = kind->texts.get ? drive_text : NULL,
        .texts.put = kind->texts.put ? drive_put_text : NULL,
        .time.extremes = kind->time.extremes ? drive_extremes : NULL,
        .time.look_ahead = kind->time.look_ahead ? drive_look_ahead : NULL,
    };
    drive->model = *inner;
    drive->model.kind = &drive->kind;
    return &drive->model;
}

/* ---- From the table --------------------------------------------------------------------------------------------- */

typedef struct {
    const Series *series;
    const KoineTables *tables;
    const char *path;
    Span span;
    Arena *arena;
    Diag *diag;
} Matcher;

static bool is_input(const KoineVariable *variable)
{
    return variable->causality == KOINE_CAUSALITY_INPUT && variable->type != KOINE_STRING &&
           variable->now != KOINE_NO_OFFSET && !(variable->flags & KOINE_VARIABLE_ALIAS);
}

/* The input most like a name, and a list of them. */
static void help_with_inputs(const Matcher *m, const char *column)
{
    enum { MOST_LISTED = 8 };
    const char *nearest = NULL;
    uint32_t best = 4, inputs = 0;
    Text list = { .arena = m->arena };
    for (uint32_t row = 0; row < m->tables->n_variables; row++) {
        const KoineVariable *variable = &m->tables->variables[row];
        if (!is_input(variable))
            continue;
        if (inputs++ < MOST_LISTED)
            text_format(&list, "%s'%s'", inputs > 1 ? ", " : "", variable->name);
        const uint32_t distance = edit_distance(column, variable->name, best);
        if (distance < best && distance < strlen(variable->name)) {
            best = distance;
            nearest = variable->name;
        }
    }
    if (nearest)
        diag_help(m->diag, "did you mean '%s'?", nearest);
    else if (inputs == 0)
        diag_help(m->diag, "the model has no open inputs: no sensor is without a connection");
    else
        diag_help(m->diag, "its open inputs are %s%s", list.at, inputs > MOST_LISTED ? ", ..." : "");
}

static bool report_column(const Matcher *m, const char *column)
{
    diag_error(m->diag, DIAG_INPUT_SIGNAL, m->span,
               "'%s' has a column '%.80s', but '%s' has no open input of that name", m->path, column, m->tables->name);
    help_with_inputs(m, column);
    return false;
}

static bool report_none(const Matcher *m)
{
    diag_error(m->diag, DIAG_INPUT_SIGNAL, m->span, "no column of '%s' has the name of an open input of '%s'", m->path,
               m->tables->name);
    help_with_inputs(m, "");
    return false;
}

static bool check_values(const Matcher *m, const double *values, const KoineVariable *variable)
{
    for (uint64_t row = 0; row < m->series->n_rows; row++) {
        const double value = values[row];
        const bool is_good = variable->type == KOINE_REAL      ? isfinite(value)
                             : variable->type == KOINE_BOOLEAN ? value == 0 || value == 1
                             : variable->type == KOINE_INTEGER
                                 ? value == floor(value) && fabs(value) < 9e15
                                 : value == floor(value) && value >= 1 &&
                                       value <= m->tables->types.enumerations[variable->enumeration].n;
        if (is_good)
            continue;
        diag_error(m->diag, DIAG_INPUT_SIGNAL, m->span, "'%s', point %llu: %.9g is no value of '%s'", m->path,
                   (unsigned long long)row + 1, value, variable->name);
        return false;
    }
    return true;
}

/* One value a row, also of what is constant. */
static const double *column_values(const Matcher *m, const SeriesColumn *column)
{
    const double *values = series_fetch(m->series, (uint32_t)(column - m->series->columns), m->arena);
    if (!column->is_constant)
        return values;
    double *all = NEW_ARRAY(m->arena, double, m->series->n_rows);
    for (uint64_t row = 0; row < m->series->n_rows; row++)
        all[row] = values[0];
    return all;
}

/* The number of a value of a set, or of true and false. */
static bool number_of(const Matcher *m, const KoineVariable *variable, const char *word, double *number)
{
    static const char *const truths[] = { "false", "true" };
    const bool is_set = variable->type == KOINE_ENUMERATION;
    if (!is_set && variable->type != KOINE_BOOLEAN)
        return false;
    const KoineEnumeration *set = is_set ? &m->tables->types.enumerations[variable->enumeration] : NULL;
    const uint32_t n = is_set ? set->n : 2;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < n; k++)
            if ((pass == 0 ? strcmp : strcasecmp)(is_set ? set->values[k] : truths[k], word) == 0) {
                *number = is_set ? k + 1 : k;
                return true;
            }
    return false;
}

static bool report_word(const Matcher *m, const SeriesWord *word, const KoineVariable *variable)
{
    Text list = { .arena = m->arena };
    diag_error(m->diag, DIAG_INPUT_SIGNAL, m->span, "'%s', point %llu: '%.60s' is no value of '%s'", m->path,
               (unsigned long long)word->row + 1, word->text, variable->name);
    if (variable->type == KOINE_ENUMERATION) {
        const KoineEnumeration *set = &m->tables->types.enumerations[variable->enumeration];
        for (uint32_t k = 0; k < set->n; k++)
            text_format(&list, "%s%s", k == 0 ? "" : k + 1 < set->n ? ", " : " or ", set->values[k]);
        diag_help(m->diag, "it is %s, or their number from 1 on", list.at ? list.at : "a value of its set");
    } else {
        diag_help(m->diag, "it is %s", variable->type == KOINE_BOOLEAN ? "true or false, or 1 or 0" : "a number");
    }
    return false;
}

/* Words of a column become the numbers of what they name. */
static bool take_words(const Matcher *m, uint32_t column, const KoineVariable *variable, const double **values)
{
    double *all = NULL;
    for (uint64_t k = 0; k < m->series->n_words; k++) {
        const SeriesWord *word = &m->series->words[k];
        double number;
        if (word->column != column)
            continue;
        if (!number_of(m, variable, word->text, &number))
            return report_word(m, word, variable);
        if (!all) {
            all = NEW_ARRAY(m->arena, double, m->series->n_rows);
            memcpy(all, *values, m->series->n_rows * sizeof *all);
            *values = all;
        }
        all[word->row] = number;
    }
    return true;
}

static bool add_signal(const Matcher *m, const SeriesColumn *column, const KoineVariable *variable, uint32_t k,
                       Drive *drive)
{
    const uint64_t element = sizeof(KoineSlot) * (uint64_t)k;
    Signal signal = { .variable = (uint32_t)(variable - m->tables->variables),
                      .element = k,
                      .offset = variable->now + element,
                      .set = variable->set == KOINE_NO_OFFSET ? KOINE_NO_OFFSET : variable->set + element,
                      .is_line = variable->variability == KOINE_VARIABILITY_CONTINUOUS,
                      .type = variable->type,
                      .values = column_values(m, column) };
    const bool is_known = take_words(m, (uint32_t)(column - m->series->columns), variable, &signal.values);
    drive->signals[drive->n++] = signal;
    return is_known && check_values(m, signal.values, variable);
}

static bool match_column(const Matcher *m, const SeriesColumn *column, Drive *drive)
{
    Text name = { .arena = m->arena };
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t row = 0; row < m->tables->n_variables; row++) {
            const KoineVariable *variable = &m->tables->variables[row];
            for (uint32_t k = 0; is_input(variable) && k < variable->count; k++) {
                name.n = 0;
                column_name(m->tables, &(Column){ row, k, 0 }, &name);
                if ((pass == 0 ? strcmp : strcasecmp)(name.at, column->name) == 0)
                    return add_signal(m, column, variable, k, drive);
            }
        }
    return report_column(m, column->name);
}

/* Every column of a table is meant as a signal. */
static bool match_columns(const Matcher *m, Drive *drive)
{
    bool is_good = true;
    drive->signals = NEW_ARRAY(m->arena, Signal, m->series->n_columns);
    for (uint32_t k = 1; k < m->series->n_columns; k++)
        is_good &= match_column(m, &m->series->columns[k], drive);
    return is_good;
}

/* A native result has columns for much else: what has the name of an input is read, the rest stays in the file. */
static bool match_inputs(const Matcher *m, Drive *drive)
{
    Text name = { .arena = m->arena };
    uint64_t n_inputs = 0;
    bool is_good = true;
    for (uint32_t row = 0; row < m->tables->n_variables; row++)
        n_inputs += is_input(&m->tables->variables[row]) ? m->tables->variables[row].count : 0;
    drive->signals = NEW_ARRAY(m->arena, Signal, n_inputs + 1);
    for (uint32_t row = 0; row < m->tables->n_variables; row++) {
        const KoineVariable *variable = &m->tables->variables[row];
        for (uint32_t k = 0; is_input(variable) && k < variable->count; k++) {
            name.n = 0;
            column_name(m->tables, &(Column){ row, k, 0 }, &name);
            const SeriesColumn *column = series_find(m->series, name.at);
            if (column)
                is_good &= add_signal(m, column, variable, k, drive);
        }
    }
    return drive->n > 0 ? is_good : report_none(m);
}

static bool check_times(const Matcher *m)
{
    for (uint64_t row = 0; row < m->series->n_rows; row++) {
        const double time = series_value(&m->series->columns[0], row);
        if (isfinite(time) && (row == 0 || time >= series_value(&m->series->columns[0], row - 1)))
            continue;
        diag_error(m->diag, DIAG_INPUT_SIGNAL, m->span, "'%s', point %llu: the times do not rise", m->path,
                   (unsigned long long)row + 1);
        return false;
    }
    if (m->series->n_rows > 0 && m->series->n_rows < UINT32_MAX && m->series->n_columns > 1)
        return true;
    diag_error(m->diag, DIAG_INPUT_SIGNAL, m->span,
               "'%s' holds no signals: it needs a column for the time and one for "
               "an input",
               m->path);
    return false;
}

/* Whether something changes at `row`: a held value, or the slope of a line. `from` is the last row that matters. */
static bool matters(const Drive *drive, const double *times, uint32_t from, uint32_t row)
{
    for (uint32_t k = 0; k < drive->n; k++) {
        const double *v = drive->signals[k].values;
        const double before = times[row] - times[from], after = times[row + 1] - times[row];
        if (!drive->signals[k].is_line ? v[row] != v[from]
                                       : (v[row] - v[from]) * after != (v[row + 1] - v[row]) * before)
            return true;
    }
    return false;
}

static void choose_rows(Drive *drive, const double *times, uint32_t n, Arena *arena)
{
    VEC(uint32_t) rows = { 0 };
    for (uint32_t row = 0; row < n; row++)
        if (row == 0 || row + 1 == n || matters(drive, times, rows.at[rows.n - 1], row))
            vec_push(arena, &rows, row);
    drive->rows = rows.at;
    drive->n_rows = rows.n;
    drive->times = NEW_ARRAY(arena, double, rows.n);
    for (uint32_t k = 0; k < rows.n; k++)
        drive->times[k] = times[rows.at[k]];
}

Drive *drive_create(const Series *signals, const KoineTables *tables, const char *path, Span span, Arena *arena,
                    Diag *diag)
{
    const Matcher m = { signals, tables, path, span, arena, diag };
    if (!check_times(&m))
        return NULL;
    Drive *drive = NEW(arena, Drive);
    if (!(signals->store ? match_inputs : match_columns)(&m, drive))
        return NULL;
    drive->at = UINT32_MAX;
    drive->changes = NEW_ARRAY(arena, KoineChange, drive->n + 1);
    choose_rows(drive, signals->columns[0].values, (uint32_t)signals->n_rows, arena);
    return drive;
}
