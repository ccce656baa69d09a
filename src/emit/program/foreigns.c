/* Foreign components: the blocks that they compute, and what they have in common with the block of the whole. */
#include "emit/program/event_layout.h"
#include "emit/foreign.h"

/* ---- systems ---- */
static uint32_t output_number(const Model *m, const Foreign *f, VarId var, ForeignRole role)
{
    uint32_t number = 0;
    for (uint32_t k = 0; k < f->n_ports; k++) {
        const ForeignPort *port = &m->foreign_ports.at[f->first_port + k];
        if (port->role == role && port->var.index == var.index)
            break;
        number += port->role == role;
    }
    return number;
}

static uint8_t what_it_gives(const Foreign *f, Ref unknown)
{
    return unknown.kind == REF_DER               ? KOINE_GIVES_DERIVATIVES
           : unknown.var.index == f->steps.index ? KOINE_GIVES_STEPS
                                                 : KOINE_GIVES_OUTPUTS;
}

uint32_t lay_foreign_system(Systems *ss, uint32_t index)
{
    const Block *b = &ss->schedule->blocks.at[index];
    const Model *m = ss->ks->model;
    Arena *arena = ss->ks->arena;
    const SystemRow *rows = &ss->schedule->rows.at[b->u.system.first_row];
    const uint32_t n = b->u.system.n_rows, component = term_foreign(rows[0].rhs)->foreign - 1;
    const Foreign *f = &m->foreigns.at[component];
    uint32_t *unknowns = NEW_ARRAY(arena, uint32_t, n), *seeds = NEW_ARRAY(arena, uint32_t, n),
             *cells = NEW_ARRAY(arena, uint32_t, n), *at = NEW_ARRAY(arena, uint32_t, n);
    uint8_t *types = NEW_ARRAY(arena, uint8_t, n);
    const char **names = NEW_ARRAY(arena, const char *, n);
    for (uint32_t k = 0; k < n; k++) {
        const Ref u = rows[k].unknown;
        const bool is_der = u.kind == REF_DER;
        unknowns[k] = slot_of(ss->ks->slots, u);
        seeds[k] = !ss->has_seeds ? KOINE_NONE
                   : is_der       ? ss->ks->slots->seed_der[u.var.index]
                                  : ss->ks->slots->seed[u.var.index];
        cells[k] = is_der ? m->variables.n + u.var.index : u.var.index;
        types[k] = ref_type(m, u).kind;
        names[k] = variable_path(m, u.var, arena);
        at[k] = output_number(m, f, u.var, is_der ? FOREIGN_STATE : FOREIGN_OUT);
    }
    const KoineSystem system = { .kind = KOINE_SYSTEM_FOREIGN,
                                 .n = n,
                                 .unknowns = unknowns,
                                 .cells = cells,
                                 .names = names,
                                 .types = types,
                                 .prepared_section = KOINE_NONE,
                                 .residual_section = KOINE_NONE,
                                 .exact_section = KOINE_NONE,
                                 .jacobian = { .section = KOINE_NONE, .basis = KOINE_NONE },
                                 .tangent = { .section = KOINE_NONE, .unknowns = seeds },
                                 .origin = ss->first_origin + index,
                                 .u.foreign = { component, what_it_gives(f, rows[0].unknown), at } };
    vec_push(arena, &ss->systems, system);
    vec_push(arena, &ss->tangent_entries, (Entries){ 0 });
    return ss->systems.n - 1;
}

/* ---- links ---- */
typedef struct {
    const Schedule *schedule;
    const Slots *slots;
    Arena *arena;
    const Foreign *foreign;
} Linking;

static KoineForeignLink link_of(const Linking *l, const ForeignPort *port)
{
    const Model *m = l->schedule->model;
    const KoineTables *tables = l->foreign->kind->tables;
    const char *name = foreign_port_name(m, port);
    const ForeignPlace place = foreign_place(tables, name);
    const KoineVariable *v = &tables->variables[place.row];
    const uint64_t at = port->role == FOREIGN_SET ? v->set : v->now;
    return (KoineForeignLink){ .slot = slot_of(l->slots, ref_now(port->var)),
                               .seed = l->slots->seed[port->var.index],
                               .at = port->role == FOREIGN_STATE && v->set == KOINE_NO_OFFSET
                                         ? KOINE_NO_OFFSET
                                         : (port->role == FOREIGN_STATE ? v->set : at) +
                                               place.element * sizeof(KoineSlot),
                               .variable = place.row,
                               .element = place.element,
                               .type = v->type,
                               .is_negated = v->flags & KOINE_VARIABLE_NEGATED,
                               .start = v->start,
                               .cell = port->var.index,
                               .name = name };
}

static KoineForeignLinks links_of(const Linking *l, ForeignRole role)
{
    const Model *m = l->schedule->model;
    VEC(KoineForeignLink) links = { 0 };
    for (uint32_t k = 0; k < l->foreign->n_ports; k++) {
        const ForeignPort *port = &m->foreign_ports.at[l->foreign->first_port + k];
        if (port->role == role)
            vec_push(l->arena, &links, link_of(l, port));
    }
    return (KoineForeignLinks){ links.n, links.at };
}

/* The number of a port among those of its role. */
static uint32_t place_among(const Model *m, const Foreign *f, uint32_t port)
{
    uint32_t place = 0;
    for (uint32_t k = 0; k < port; k++)
        place += m->foreign_ports.at[f->first_port + k].role == m->foreign_ports.at[f->first_port + port].role;
    return place;
}

static const uint8_t *paths_of(const Linking *l, uint32_t n_outputs, uint32_t n_inputs)
{
    const Model *m = l->schedule->model;
    const Foreign *f = l->foreign;
    if (!f->has_paths || f->step > 0)
        return NULL;
    uint8_t *paths = NEW_ARRAY(l->arena, uint8_t, (size_t)n_outputs * n_inputs + 1);
    for (uint32_t k = 0; k < f->n_paths; k++) {
        const ForeignPath path = m->foreign_paths.at[f->first_path + k];
        paths[place_among(m, f, path.output) * n_inputs + place_among(m, f, path.input)] = 1;
    }
    return paths;
}

static void list_nodes(KoineForeign *to, uint32_t component, const Systems *ss, const KoineGraph *graph, Arena *arena)
{
    VEC(uint32_t) nodes = { 0 };
    for (uint32_t k = 0; k < graph->n_nodes; k++) {
        const KoineNode *node = &graph->nodes[k];
        const KoineSystem *s = node->kind == KOINE_NODE_SYSTEM ? &ss->systems.at[node->object] : NULL;
        if (s && s->kind == KOINE_SYSTEM_FOREIGN && s->u.foreign.component == component)
            vec_push(arena, &nodes, k);
    }
    to->nodes = nodes.at;
    to->n_nodes = nodes.n;
}

static KoinePlace place_of(const Model *m, Span span)
{
    if (span.source == SOURCE_NONE)
        return (KoinePlace){ 0, 0, 0 };
    const LineColumn at = span_begin(m->sources, span);
    return (KoinePlace){ span.source, at.line, at.column };
}

KoineForeigns lay_foreigns(const Schedule *schedule, const Slots *slots, const Systems *ss, const Events *events,
                           Arena *arena)
{
    const Model *m = schedule->model;
    KoineForeign *at = NEW_ARRAY(arena, KoineForeign, m->foreigns.n + 1);
    KoineForeigns to = { .n = m->foreigns.n, .at = at };
    for (uint32_t k = 0; k < m->foreigns.n; k++) {
        const Foreign *f = &m->foreigns.at[k];
        const Linking l = { schedule, slots, arena, f };
        const KoineModelKind **kind = NEW(arena, const KoineModelKind *);
        *kind = f->kind;
        const char *path = instance_path(m, f->owner, arena), *name = names_of(pool_names(m->pool), f->name);
        at[k] = (KoineForeign){ .kind = kind,
                                .file = foreign_path(m, f, arena),
                                .symbol = names_of(pool_names(m->pool), f->symbol),
                                .is_apart = f->is_apart,
                                .n_roots = f->n_roots,
                                .step = f->step,
                                .name = *path ? arena_format(arena, "%s.%s", path, name) : name,
                                .inputs = links_of(&l, FOREIGN_IN),
                                .outputs = links_of(&l, FOREIGN_OUT),
                                .parameters = links_of(&l, FOREIGN_SET),
                                .states = links_of(&l, FOREIGN_STATE),
                                .first_root = events->data.decisions.n_roots + to.n_roots,
                                .place = place_of(m, f->span) };
        at[k].paths = paths_of(&l, at[k].outputs.n, at[k].inputs.n);
        list_nodes(&at[k], k, ss, &events->data.graph, arena);
        to.n_roots += f->n_roots;
    }
    return to;
}

/* ---- root functions ---- */
void add_foreign_roots(EventLayout *e)
{
    const Model *m = e->m;
    Arena *arena = e->ks->arena;
    for (uint32_t k = 0; k < m->foreigns.n; k++) {
        const Foreign *f = &m->foreigns.at[k];
        const KoineOrigin *roots = f->kind->tables->roots.at;
        for (uint32_t j = 0; j < f->n_roots; j++) {
            const char *text = roots && roots[j].text && *roots[j].text ? roots[j].text : "a condition";
            const KoineOrigin origin = { .text = arena_format(arena, "%s (in %s)", text,
                                                              names_of(pool_names(m->pool), f->name)),
                                         .path = path_of(e, f->owner),
                                         .place = place_of(m, f->span) };
            vec_push(arena, &e->decisions.roots, origin);
        }
    }
}
