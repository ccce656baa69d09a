#include "explain/segments.h"
#include "ir/segments.h"

typedef struct {
    const Schedule *schedule;
    Segments segments;
    Text *to;
    Arena *arena;
} Report;

static const char *port_name(const Report *r, PortScalar port)
{
    const Model *m = r->schedule->model;
    const Variable *v = &m->variables.at[port.var.index];
    const char *path = variable_path(m, port.var, r->arena);
    uint32_t number = port.element, index[8] = { 0 };
    Text text = { .arena = r->arena };
    if (v->type.rank == 0 || v->type.rank > 8)
        return path;
    for (uint32_t k = v->type.rank; k-- > 0;) {
        const uint32_t extent = (uint32_t)m->dims.at[v->first_dim + k].extent;
        index[k] = number % extent + 1;
        number /= extent;
    }
    text_add(&text, path);
    for (uint32_t k = 0; k < v->type.rank; k++)
        text_format(&text, "%c%u", k ? ',' : '[', index[k]);
    text_add(&text, "]");
    return text.at;
}

static void add_ports(const Report *r, const PortScalar *ports, const uint32_t *numbers, const char *none)
{
    for (uint32_t k = 0; numbers[k] != UINT32_MAX; k++) {
        text_add(r->to, k ? ", " : "");
        if (none)
            text_add(r->to, port_name(r, ports[numbers[k]]));
        else
            text_json(r->to, port_name(r, ports[numbers[k]]));
    }
    if (none && numbers[0] == UINT32_MAX)
        text_add(r->to, none);
}

/* "state", "algebraic 2": its kind, and a number where there are several. */
static const char *segment_name(const Report *r, uint32_t number)
{
    uint32_t before = 0, all = 0;
    const Segment *own = &r->segments.at[number];
    for (uint32_t k = 0; k < r->segments.n; k++) {
        all += r->segments.at[k].kind == own->kind;
        before += r->segments.at[k].kind == own->kind && k < number;
    }
    return all > 1 ? arena_format(r->arena, "%s %u", segment_kind_name(own->kind), before + 1)
                   : segment_kind_name(own->kind);
}

static void add_segment(const Report *r, uint32_t number)
{
    const Segment *s = &r->segments.at[number];
    const Ports *ports = &r->schedule->ports;
    text_add(r->to, number ? ",{\"name\":" : "{\"name\":");
    text_json(r->to, segment_name(r, number));
    text_format(r->to, ",\"kind\":\"%s\",\"inputs\":[", segment_kind_name(s->kind));
    add_ports(r, ports->inputs.at, s->inputs, NULL);
    text_add(r->to, "],\"outputs\":[");
    add_ports(r, ports->outputs.at, s->outputs, NULL);
    text_add(r->to, "],\"blocks\":[");
    for (uint32_t k = 0; k < s->n_blocks; k++)
        text_format(r->to, "%s\"b%u\"", k ? "," : "", s->blocks[k] + 1);
    text_add(r->to, "],\"after\":[");
    for (uint32_t k = 0; k < s->n_after; k++) {
        text_add(r->to, k ? "," : "");
        text_json(r->to, segment_name(r, s->after[k]));
    }
    text_add(r->to, "]}");
}

static void add_feedthrough(const Report *r, const char *key, const uint32_t *const *rows)
{
    const Ports *ports = &r->schedule->ports;
    text_format(r->to, ",\"%s\":{", key);
    for (uint32_t k = 0; rows && k < ports->outputs.n; k++) {
        text_add(r->to, k ? "," : "");
        text_json(r->to, port_name(r, ports->outputs.at[k]));
        text_add(r->to, ":[");
        add_ports(r, ports->inputs.at, rows[k], NULL);
        text_add(r->to, "]");
    }
    text_add(r->to, "}");
}

static void add_table(const Report *r)
{
    const Ports *ports = &r->schedule->ports;
    for (uint32_t k = 0; k < r->segments.n; k++) {
        const Segment *s = &r->segments.at[k];
        text_format(r->to, "%-14s  blocks %-6u inputs ", segment_name(r, k), s->n_blocks);
        add_ports(r, ports->inputs.at, s->inputs, "none");
        text_add(r->to, "; outputs ");
        add_ports(r, ports->outputs.at, s->outputs, "none");
        for (uint32_t j = 0; j < s->n_after; j++)
            text_format(r->to, "%s%s", j ? ", " : "; after ", segment_name(r, s->after[j]));
        text_add(r->to, "\n");
    }
    for (uint32_t k = 0; r->segments.run && k < ports->outputs.n; k++) {
        text_format(r->to, "%s depends on ", port_name(r, ports->outputs.at[k]));
        add_ports(r, ports->inputs.at, r->segments.run[k], "no input");
        text_add(r->to, "; at the start on ");
        add_ports(r, ports->inputs.at, r->segments.initial[k], "no input");
        text_add(r->to, "\n");
    }
}

void report_segments(const Schedule *schedule, bool is_json, Text *to)
{
    const Report r = {
        .schedule = schedule, .segments = segments_find(schedule, to->arena), .to = to, .arena = to->arena
    };
    if (!is_json) {
        add_table(&r);
        return;
    }
    text_add(to, "{\"segments\":[");
    for (uint32_t k = 0; k < r.segments.n; k++)
        add_segment(&r, k);
    text_add(to, "]");
    add_feedthrough(&r, "feedthrough", r.segments.run);
    add_feedthrough(&r, "initial_feedthrough", r.segments.initial);
    text_add(to, "}");
}
