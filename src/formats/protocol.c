#include "formats/protocol.h"
#include "base/text.h"
#include "formats/csv_text.h"
#include "formats/output.h"
#include "formats/select.h"
#include <math.h>

enum { DEPTH_EVENTS = 1, DEPTH_STEPS, DEPTH_STATES };
enum { RECORD = 1 << 14 };

struct Protocol {
    KoineSink sink; /* first: the sink is the protocol */
    ProtocolOptions options;
    Arena *arena;
    Output output;
    Text line;   /* being made */
    double time; /* of the last heading */
    bool is_open, has_heading;
};

static double time_in(const KoineModel *model)
{
    double time;
    memcpy(&time, model->block + model->kind->tables->time, sizeof time);
    return time;
}

static bool is_inside(const Protocol *p, double time, int depth)
{
    return p->is_open && p->options.depth >= depth && time >= p->options.from && time <= p->options.to;
}

static void end_line(Protocol *p)
{
    text_char(&p->line, '\n');
    output_bytes(&p->output, p->line.at, p->line.n);
    output_record_end(&p->output);
    p->line.n = 0;
}

static void add_real(Protocol *p, double value)
{
    text_real(&p->line, value);
}

/* "T = 1.5" once for all that happens then. */
static void heading(Protocol *p, double time)
{
    if (p->has_heading && p->time == time)
        return;
    p->has_heading = true;
    p->time = time;
    text_add(&p->line, "T = ");
    add_real(p, time);
    end_line(p);
}

static void add_slot(Protocol *p, const KoineTables *tables, const KoineVariable *variable, KoineSlot slot)
{
    char text[REAL_TEXT_SIZE + 1];
    if (variable->type == KOINE_STRING) { /* the protocol does not ask for it */
        text_add(&p->line, "a text");
        return;
    }
    if (variable->type == KOINE_ENUMERATION && variable->enumeration < tables->types.n_enumerations && slot.i >= 1 &&
        (uint64_t)slot.i <= tables->types.enumerations[variable->enumeration].n) {
        text_add(&p->line, tables->types.enumerations[variable->enumeration].values[slot.i - 1]);
        return;
    }
    const bool is_negated = variable->flags & KOINE_VARIABLE_NEGATED;
    text_bytes(&p->line, text, csv_slot_text(variable->type, is_negated, slot, text));
}

/* " in Integ, Ball.mdl:40" */
static void add_origin(Protocol *p, const KoineTables *tables, const KoineOrigin *where)
{
    text_format(&p->line, " in %s", where->path[0] ? where->path : tables->name);
    if (where->place.line > 0 && where->place.source < tables->text.n_sources)
        text_format(&p->line, ", %s:%u", tables->text.sources[where->place.source], where->place.line);
}

void protocol_fired(Protocol *p, const KoineModel *model, const KoineFiring *firing)
{
    const KoineTables *tables = model->kind->tables;
    const double time = time_in(model);
    if (!is_inside(p, time, DEPTH_EVENTS))
        return;
    heading(p, time);
    if (firing->variable < 0) {
        text_format(&p->line, "  Takt %u: event", firing->event_step);
        add_origin(p, tables, &firing->where);
        end_line(p);
        return;
    }
    const KoineVariable *variable = &tables->variables[firing->variable];
    text_add(&p->line, "    ");
    column_name(tables, &(Column){ (uint32_t)firing->variable, firing->element, 0 }, &p->line);
    text_add(&p->line, ": ");
    add_slot(p, tables, variable, firing->before);
    text_add(&p->line, " -> ");
    add_slot(p, tables, variable, firing->after);
    end_line(p);
}

static void add_states(Protocol *p, const KoineModel *model)
{
    const KoineTables *tables = model->kind->tables;
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *variable = &tables->variables[k];
        if (variable->state < 0 || variable->flags & (KOINE_VARIABLE_ALIAS | KOINE_VARIABLE_DERIVATIVE))
            continue;
        for (uint32_t e = 0; e < variable->count; e++) {
            KoineSlot slot;
            memcpy(&slot, model->block + variable->now + sizeof slot * (size_t)e, sizeof slot);
            text_add(&p->line, "    ");
            column_name(tables, &(Column){ k, e, 0 }, &p->line);
            text_add(&p->line, " = ");
            add_slot(p, tables, variable, slot);
            end_line(p);
        }
    }
}

void protocol_step(Protocol *p, const KoineModel *model, const KoineIntegrationStep *step)
{
    if (!is_inside(p, step->to, DEPTH_STEPS))
        return;
    text_add(&p->line, "step from ");
    add_real(p, step->from);
    text_add(&p->line, " to ");
    add_real(p, step->to);
    if (step->error > 0)
        text_format(&p->line, ", relative error %.3g", step->error);
    end_line(p);
    if (p->options.depth >= DEPTH_STATES)
        add_states(p, model);
}

void protocol_message(Protocol *p, const KoineModel *model, int level, const char *text)
{
    const double time = time_in(model);
    if (level != KOINE_MESSAGE_ERROR && !is_inside(p, time, 0))
        return;
    heading(p, time);
    while (*text) { /* a message may have several lines */
        const size_t n = strcspn(text, "\n");
        text_add(&p->line, level == KOINE_MESSAGE_OUTPUT    ? "  DISPLAY: "
                           : level == KOINE_MESSAGE_WARNING ? "  warning: "
                                                            : "  error: ");
        text_bytes(&p->line, text, n);
        end_line(p);
        text += n + (text[n] == '\n');
    }
}

static KoineStatus protocol_begin(KoineSink *sink, const KoineModel *model)
{
    Protocol *p = (Protocol *)sink;
    if (!output_open(&p->output, p->options.path, true, p->options.is_confined)) {
        output_failure(&p->output, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    p->is_open = true;
    output_buffer(&p->output, p->arena, RECORD);
    text_format(&p->line, "# %s, depth %d, from ", model->kind->tables->name, p->options.depth);
    add_real(p, p->options.from);
    text_add(&p->line, " to ");
    add_real(p, p->options.to);
    end_line(p);
    return KOINE_OK;
}

static KoineStatus protocol_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    Protocol *p = (Protocol *)sink;
    (void)model;
    if (point->kind == KOINE_POINT_REGION && is_inside(p, point->time, DEPTH_EVENTS)) {
        heading(p, point->time);
        text_add(&p->line, "  change of region");
        end_line(p);
    }
    if (!p->output.failure)
        return KOINE_OK;
    output_failure(&p->output, sink->error, sizeof sink->error);
    return KOINE_FAILED;
}

static KoineStatus protocol_end(KoineSink *sink, const KoineModel *model)
{
    (void)sink; /* the end of the run is still to be written: protocol_close */
    (void)model;
    return KOINE_OK;
}

bool protocol_wants_steps(const Protocol *p)
{
    return p->options.depth >= DEPTH_STEPS;
}

bool protocol_close(Protocol *p, const KoineRunReport *report)
{
    if (!p->is_open)
        return true;
    text_format(&p->line, "end at T = ");
    add_real(p, report->time);
    text_format(&p->line, "%s%s", report->text[0] ? ": " : "", report->text);
    end_line(p);
    p->is_open = false;
    if (output_close(&p->output))
        return true;
    output_failure(&p->output, p->sink.error, sizeof p->sink.error);
    return false;
}

Protocol *protocol_create(const ProtocolOptions *options, Arena *arena)
{
    Protocol *p = NEW(arena, Protocol);
    p->options = *options;
    p->arena = arena;
    p->line = (Text){ .arena = arena };
    p->sink = (KoineSink){ .has_own_grid = true, .next_time = INFINITY };
    p->sink.begin = protocol_begin;
    p->sink.point = protocol_point;
    p->sink.end = protocol_end;
    return p;
}

KoineSink *protocol_sink(Protocol *p)
{
    return &p->sink;
}
