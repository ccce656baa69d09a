/* Observers; see observer.h. */
#include "formats/observer.h"
#include "base/bug.h"
#include "formats/csv_text.h"
#include "formats/output.h"
#include "formats/select.h"
#include <float.h>
#include <math.h>

typedef struct { /* a variable of the table */
    uint64_t offset;
    KoineSlot last; /* the value recorded or seen last */
    uint8_t type;
    bool is_negated;
    /* COMPRESSED: of the interval that is open */
    double low, high;
    double base, integral;    /* of value - base, so that a value that stays gives itself as mean */
    double value;             /* the last one, as a number */
    double low_now, high_now; /* of the entries at the last time: they belong to the next interval as well */
    bool is_entered;          /* there are such entries */
} Watched;

/* COMPRESSED: the interval that is open. */
typedef struct {
    uint64_t number; /* from 1 on */
    double end;
    double time;    /* of the last point */
    double covered; /* the time that counts for the mean */
} OpenInterval;

/* The last point before an instant. */
typedef struct {
    bool is_waiting; /* it becomes a row if something happens there */
    int kind;        /* START, LEFT, STOP */
    double time;
    KoineSlot *slots;
} LeftPoint;

typedef struct {
    KoineSink sink; /* first: the sink is the observer */
    ObserverOptions options;
    Arena *arena;
    Output output;
    Watched *watched;
    uint32_t n;
    uint64_t sample; /* number of the next sample */
    OpenInterval interval;
    LeftPoint left;
    bool is_begun; /* the row at `from` was made */
    bool is_over;  /* the row at `to` was made */
    bool is_open;
    bool has_point; /* the run has recorded something, whether it is of interest or not */
    KoineSlot *now; /* values of this point */
    double *values; /* `now` as numbers */
} Observer;

enum { TIME_AND_EVENT_STEP = 2 };

/* Times this close are one instant; as the runtime has it. */
static double near_time(double time)
{
    return 16 * DBL_EPSILON * fabs(time);
}

static bool is_compressed(const Observer *o)
{
    return o->options.kind >= OBSERVER_COMPRESSED_CONTINUOUS;
}

static bool is_sampled(const Observer *o)
{
    return o->options.kind == OBSERVER_SAMPLED || o->options.kind == OBSERVER_COMPRESSED_CONTINUOUS;
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

static KoineStatus fail(Observer *o)
{
    output_failure(&o->output, o->sink.error, sizeof o->sink.error);
    return KOINE_FAILED;
}

static void write_header(Observer *o, const KoineTables *tables, const Selection *selection)
{
    static const char *const parts[] = { "min", "max", "mean" };
    Text line = { .arena = o->arena }, name = { .arena = o->arena };
    text_add(&line, is_compressed(o) ? "time" : "time,Takt");
    for (uint32_t k = 0; k < selection->n; k++) {
        for (uint32_t part = 0; part < (is_compressed(o) ? 3 : 1); part++) {
            name.n = 0;
            if (is_compressed(o))
                text_format(&name, "%s(", parts[part]);
            column_name(tables, &selection->at[k], &name);
            if (is_compressed(o))
                text_char(&name, ')');
            text_char(&line, ',');
            csv_add_name(&line, name.at);
        }
    }
    text_char(&line, '\n');
    const size_t cells = TIME_AND_EVENT_STEP + (size_t)selection->n * (is_compressed(o) ? 3 : 1);
    const size_t row = cells * (REAL_TEXT_SIZE + 1) + 1;
    output_buffer(&o->output, o->arena, line.n > row ? line.n : row);
    memcpy(output_room(&o->output), line.at, line.n);
    o->output.used += line.n;
}

static KoineStatus end_row(Observer *o, char *at)
{
    *at++ = '\n';
    o->output.used = (size_t)(at - o->output.buffer);
    return output_record_end(&o->output) ? KOINE_OK : fail(o);
}

static char *begin_row(Observer *o, double time, int event_step)
{
    char *at = output_room(&o->output);
    at += real_to_text(time, at);
    *at++ = ',';
    return at + csv_slot_text(KOINE_INTEGER, false, (KoineSlot){ .i = event_step }, at);
}

static KoineStatus write_row(Observer *o, double time, int event_step, const KoineSlot *slots)
{
    char *at = begin_row(o, time, event_step);
    for (uint32_t k = 0; k < o->n; k++) {
        Watched *w = &o->watched[k];
        *at++ = ',';
        at += csv_slot_text(w->type, w->is_negated, slots[k], at);
        w->last = slots[k];
    }
    return end_row(o, at);
}

/* A not-a-number equals itself here, and 0 equals -0: what did not change is not written. */
static bool is_same(const Watched *w, KoineSlot a, KoineSlot b)
{
    return a.i == b.i || (w->type == KOINE_REAL && a.r == b.r);
}

static bool has_changed(const Observer *o, const KoineSlot *slots)
{
    for (uint32_t k = 0; k < o->n; k++)
        if (!is_same(&o->watched[k], slots[k], o->watched[k].last))
            return true;
    return false;
}

/* Only what changed has a value; nothing changed: no row. */
static KoineStatus write_changes(Observer *o, double time, int event_step, const KoineSlot *slots)
{
    if (!has_changed(o, slots))
        return KOINE_OK;
    char *at = begin_row(o, time, event_step);
    for (uint32_t k = 0; k < o->n; k++) {
        Watched *w = &o->watched[k];
        *at++ = ',';
        if (is_same(w, slots[k], w->last))
            continue;
        at += csv_slot_text(w->type, w->is_negated, slots[k], at);
        w->last = slots[k];
    }
    return end_row(o, at);
}

/* ---- Compressed ------------------------------------------------------------------------------------------------- */

static KoineStatus write_interval(Observer *o, double time)
{
    char *at = output_room(&o->output);
    at += real_to_text(time, at);
    for (uint32_t k = 0; k < o->n; k++) {
        const Watched *w = &o->watched[k];
        const double parts[] = { w->low, w->high,
                                 o->interval.covered > 0 ? w->base + w->integral / o->interval.covered : w->value };
        for (int part = 0; part < 3; part++) {
            *at++ = ',';
            at += real_to_text(parts[part], at);
        }
    }
    return end_row(o, at);
}

static bool is_discrete(const Observer *o)
{
    return o->options.kind == OBSERVER_COMPRESSED_DISCRETE;
}

static void open_interval(Observer *o)
{
    const double width = is_discrete(o) ? o->options.width : o->options.samples * o->options.every;
    o->interval.end = fmin(o->options.from + (double)++o->interval.number * width, o->options.to);
    o->interval.covered = 0;
    for (uint32_t k = 0; k < o->n; k++) {
        Watched *w = &o->watched[k];
        w->base = w->value;
        w->integral = 0;
        w->low = w->is_entered ? w->low_now : w->value;
        w->high = w->is_entered ? w->high_now : w->value;
    }
}

/* The time goes on; NULL: to where no point is, all values hold. A cell that is a region change does not count. */
static void move_to(Observer *o, double time, const double *values, bool is_cell)
{
    const double length = time - o->interval.time;
    o->interval.time = time;
    if (is_cell)
        o->interval.covered += length;
    for (uint32_t k = 0; k < o->n; k++) {
        Watched *w = &o->watched[k];
        w->is_entered = false;
        if (is_cell)
            w->integral += length * ((!values || is_discrete(o) ? w->value : 0.5 * (w->value + values[k])) - w->base);
    }
}

/* Ends all intervals that lie before `time`. */
static KoineStatus close_intervals(Observer *o, double time)
{
    while (o->interval.end < time - near_time(time)) {
        if (o->interval.end > o->interval.time + near_time(o->interval.time))
            move_to(o, o->interval.end, NULL, true);
        const KoineStatus status = write_interval(o, o->interval.end);
        if (status != KOINE_OK)
            return status;
        if (o->interval.end >= o->options.to) {
            o->is_over = true;
            return KOINE_OK;
        }
        open_interval(o);
    }
    return KOINE_OK;
}

static KoineStatus compress(Observer *o, double time, int event_step, const KoineSlot *slots)
{
    double *values = o->values;
    for (uint32_t k = 0; k < o->n; k++) {
        const Watched *w = &o->watched[k];
        const KoineVariable as = { .type = w->type, .flags = w->is_negated ? KOINE_VARIABLE_NEGATED : 0 };
        values[k] = column_value(&as, slots[k]);
    }
    if (!o->is_begun) {
        o->interval.time = time;
        for (uint32_t k = 0; k < o->n; k++)
            o->watched[k].value = values[k];
        open_interval(o);
    }
    const KoineStatus status = close_intervals(o, time);
    if (status != KOINE_OK || o->is_over)
        return status;
    if (time > o->interval.time + near_time(o->interval.time))
        move_to(o, time, values, event_step != -1);
    for (uint32_t k = 0; k < o->n; k++) {
        Watched *w = &o->watched[k];
        if (is_discrete(o) && values[k] == w->value)
            continue;
        w->low_now = w->is_entered ? fmin(w->low_now, values[k]) : values[k];
        w->high_now = w->is_entered ? fmax(w->high_now, values[k]) : values[k];
        w->low = fmin(w->low, values[k]);
        w->high = fmax(w->high, values[k]);
        w->value = values[k];
        w->is_entered = true;
    }
    return KOINE_OK;
}

/* ---- Points ----------------------------------------------------------------------------------------------------- */

/* An entry of the table of a complete observer, or what a compressed one sees. */
static KoineStatus enter(Observer *o, double time, int event_step, const KoineSlot *slots)
{
    KoineStatus status = KOINE_OK;
    if (is_compressed(o))
        status = compress(o, time, event_step, slots);
    else if (o->options.kind == OBSERVER_SAMPLED || !o->is_begun)
        status = write_row(o, time, event_step, slots);
    else
        status = write_changes(o, time, event_step, slots);
    o->is_begun = true;
    return status;
}

/* The next time without event at which there must be a row. */
static void plan(Observer *o, double time)
{
    const ObserverOptions *options = &o->options;
    const double passed = time + near_time(time);
    double next = options->from;
    if (is_sampled(o)) {
        while (options->from + (double)o->sample * options->every <= passed)
            o->sample++;
        next = options->from + (double)o->sample * options->every;
        if (next > options->to) /* not >=: sums that miss `to` by rounding are caught below */
            next = options->to;
    }
    o->sink.next_time = next > passed && next <= options->to ? next : INFINITY;
}

/* A row at `time` belongs to the samples, whatever happens there. */
static bool is_due(const Observer *o, double time)
{
    return !o->is_begun || (is_sampled(o) && o->sink.next_time <= time + near_time(time));
}

static KoineStatus enter_left(Observer *o)
{
    if (!o->left.is_waiting)
        return KOINE_OK;
    o->left.is_waiting = false;
    return enter(o, o->left.time, 0, o->left.slots);
}

/* Before an instant: a row if a sample is due, or else if something happens. */
static KoineStatus left_side(Observer *o, const KoinePoint *point)
{
    o->left.time = point->time;
    o->left.kind = point->kind;
    memcpy(o->left.slots, o->now, o->n * sizeof *o->now);
    const bool is_end = point->kind == KOINE_POINT_STOP && is_sampled(o);
    o->left.is_waiting = is_sampled(o) && !is_end && !is_due(o, point->time);
    return o->left.is_waiting ? KOINE_OK : enter(o, point->time, 0, o->now);
}

/* Event step 0: no event has happened, the change is one of region. */
static KoineStatus right_side(Observer *o, const KoinePoint *point)
{
    const bool is_region = point->kind == KOINE_POINT_REGION || point->event_step == 0;
    const bool is_passing = point->kind == KOINE_POINT_STEP || o->left.kind == KOINE_POINT_START;
    if (is_region && is_passing && memcmp(o->left.slots, o->now, o->n * sizeof *o->now) == 0)
        return KOINE_OK;
    const KoineStatus status = enter_left(o);
    return status == KOINE_OK ? enter(o, point->time, is_region ? -1 : (int)point->event_step, o->now) : status;
}

static KoineStatus observe(Observer *o, const KoinePoint *point)
{
    switch (point->kind) {
    case KOINE_POINT_START:
    case KOINE_POINT_LEFT:
    case KOINE_POINT_STOP: return left_side(o, point);
    case KOINE_POINT_GRID: return enter(o, point->time, 0, o->now);
    case KOINE_POINT_STEP:
    case KOINE_POINT_RIGHT:
    case KOINE_POINT_REGION: return right_side(o, point);
    default: BUG("unknown kind of point");
    }
}

static KoineStatus observer_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    Observer *o = (Observer *)sink;
    ObserverOptions *options = &o->options;
    const double time = point->time;
    o->has_point = true;
    if (o->is_over || time < options->from - near_time(options->from))
        return KOINE_OK;
    if (time > options->to + near_time(options->to)) {
        sink->next_time = INFINITY;
        return is_compressed(o) && o->is_begun ? close_intervals(o, time) : KOINE_OK;
    }
    if (!o->is_begun && is_compressed(o))
        options->from = fmax(options->from, time);
    for (uint32_t k = 0; k < o->n; k++)
        memcpy(&o->now[k], model->block + o->watched[k].offset, sizeof *o->now);
    const KoineStatus status = observe(o, point);
    plan(o, time);
    return status;
}

static KoineStatus observer_begin(KoineSink *sink, const KoineModel *model)
{
    Observer *o = (Observer *)sink;
    const KoineTables *tables = model->kind->tables;
    Selection selection;
    SelectionMiss miss;
    if (!select_columns(tables, o->options.globs, o->options.n_globs, 0, o->arena, &selection, &miss)) {
        selection_miss_text(&miss, o->options.globs, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    if (!output_open(&o->output, o->options.path, true, o->options.is_confined))
        return fail(o);
    o->is_open = true;
    o->n = selection.n;
    o->watched = NEW_ARRAY(o->arena, Watched, selection.n);
    o->now = NEW_ARRAY(o->arena, KoineSlot, selection.n);
    o->left.slots = NEW_ARRAY(o->arena, KoineSlot, selection.n);
    o->values = NEW_ARRAY(o->arena, double, selection.n);
    for (uint32_t k = 0; k < selection.n; k++) {
        const KoineVariable *variable = &tables->variables[selection.at[k].variable];
        o->watched[k] = (Watched){ .offset = selection.at[k].offset,
                                   .type = variable->type,
                                   .is_negated = variable->flags & KOINE_VARIABLE_NEGATED };
    }
    sink->next_time = o->options.from;
    write_header(o, tables, &selection);
    return KOINE_OK;
}

/* The interval that is open ends where the run ends. */
static KoineStatus finish_intervals(Observer *o)
{
    const double width = is_discrete(o) ? o->options.width : o->options.samples * o->options.every;
    const double begin = o->options.from + (double)(o->interval.number - 1) * width;
    if (!o->is_begun || o->is_over || !(o->interval.time > begin + near_time(begin)))
        return KOINE_OK;
    return write_interval(o, fmin(o->interval.time, o->interval.end));
}

static KoineStatus observer_end(KoineSink *sink, const KoineModel *model)
{
    (void)model;
    Observer *o = (Observer *)sink;
    if (!o->is_open)
        return KOINE_OK;
    o->is_open = false;
    const KoineStatus status = is_compressed(o) ? finish_intervals(o) : KOINE_OK;
    if (!o->has_point)
        output_forget(&o->output);
    return output_close(&o->output) && status == KOINE_OK ? KOINE_OK : fail(o);
}

KoineSink *observer_sink(const ObserverOptions *options, Arena *arena)
{
    Observer *o = NEW(arena, Observer);
    o->options = *options;
    o->arena = arena;
    o->sink = (KoineSink){ .context = o, .wants_event_steps = true, .has_own_grid = true };
    o->sink.begin = observer_begin;
    o->sink.point = observer_point;
    o->sink.end = observer_end;
    return &o->sink;
}
