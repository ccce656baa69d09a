/* Components and connections as a text and as boxes of a diagram; see structure.h. */
#include "explain/structure.h"
#include "base/bug.h"
#include "base/map.h"

typedef VEC(uint32_t) Indices;

typedef struct { /* from a source to a sensor, or to the output above that stands for it */
    VarId from, to;
} Link;

typedef struct {
    const Model *model;
    Arena *arena;
    VEC(Link) links;
    Indices *children; /* instances of an instance */
    Indices *vars;     /* shown variables of an instance */
    Indices *inside;   /* links among the children and the frame of an instance */
    bool *is_source;   /* by variable: some link begins there */
    uint32_t *port;    /* by variable: its position among the inputs or outputs of its box */
    uint32_t n_boxes;
} Structure;

static bool is_input(const Variable *v)
{
    return v->definition == DEFINITION_INPUT || v->causality == CAUSALITY_INPUT;
}

/* An output of a component that stands for a quantity of one of its parts. */
static bool is_synonym(const Model *m, VarId var, Term source)
{
    if (term_is_absent(source) || source.shape->kind != EXPR_LEAF || term_refs(m, source)[0].kind != REF_NOW)
        return false;
    const InstanceId below = model_var(m, term_refs(m, source)[0].var)->owner;
    return m->instances.at[below.index].parent.index == model_var(m, var)->owner.index && below.index != 0;
}

static void add_link(Structure *s, VarId from, VarId to)
{
    const Model *m = s->model;
    const uint32_t a = model_var(m, from)->owner.index, b = model_var(m, to)->owner.index;
    const uint32_t above_a = m->instances.at[a].parent.index, above_b = m->instances.at[b].parent.index;
    uint32_t frame;
    if (a == above_b && b != 0)
        frame = a; /* down */
    else if (b == above_a && a != 0)
        frame = b; /* up */
    else if (above_a == above_b && a != 0 && b != 0)
        frame = above_a;
    else
        return; /* not between neighbours: no language here makes such */
    vec_push(s->arena, &s->inside[frame], s->links.n);
    vec_push(s->arena, &s->links, ((Link){ from, to }));
    s->is_source[from.index] = true;
}

static void collect_links(Structure *s)
{
    const Model *m = s->model;
    for (uint32_t k = 0; k < m->connections.n; k++)
        if (!m->connections.at[k].is_acausal)
            add_link(s, m->connections.at[k].from, m->connections.at[k].to);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->kind != EQUATION_EXPLICIT || e->lhs.shape->kind != EXPR_LEAF)
            continue;
        const Ref left = term_refs(m, e->lhs)[0];
        if (left.kind == REF_NOW && is_synonym(m, left.var, e->rhs))
            add_link(s, term_refs(m, e->rhs)[0].var, left.var);
    }
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (is_synonym(m, (VarId){ k }, m->variables.at[k].binding))
            add_link(s, term_refs(m, m->variables.at[k].binding)[0].var, (VarId){ k });
}

/* Sensors, and outputs that are connected; of the model itself all that others could see of it. */
static bool is_shown(const Structure *s, uint32_t k)
{
    const Variable *v = &s->model->variables.at[k];
    if (v->is_generated || v->is_protected)
        return false;
    return is_input(v) || s->is_source[k] || v->causality == CAUSALITY_OUTPUT ||
           (v->owner.index == 0 && v->variability > VARIABILITY_PARAMETER);
}

static Structure *collect(const Model *m, Arena *arena)
{
    Structure *s = NEW(arena, Structure);
    *s = (Structure){ .model = m,
                      .arena = arena,
                      .children = NEW_ARRAY(arena, Indices, m->instances.n),
                      .vars = NEW_ARRAY(arena, Indices, m->instances.n),
                      .inside = NEW_ARRAY(arena, Indices, m->instances.n),
                      .is_source = NEW_ARRAY(arena, bool, m->variables.n),
                      .port = NEW_ARRAY(arena, uint32_t, m->variables.n) };
    for (uint32_t k = 1; k < m->instances.n; k++)
        vec_push(arena, &s->children[m->instances.at[k].parent.index], k);
    collect_links(s);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (is_shown(s, k))
            vec_push(arena, &s->vars[m->variables.at[k].owner.index], k);
    return s;
}

static const char *name_of(const Structure *s, NameId name)
{
    return names_of(pool_names(s->model->pool), name);
}

static const char *instance_name(const Structure *s, uint32_t instance)
{
    return name_of(s, instance == 0 ? s->model->name : s->model->instances.at[instance].name);
}

/* The version of a class is the name of its file where that lies in a folder of the class's name. */
static const char *version_of(const Structure *s, uint32_t instance, const char *class)
{
    const Model *m = s->model;
    uint32_t source = instance == 0 ? m->span.source : SOURCE_NONE;
    for (uint32_t k = 0; k < s->vars[instance].n && source == SOURCE_NONE; k++)
        source = m->variables.at[s->vars[instance].at[k]].span.source;
    if (source == SOURCE_NONE)
        return "";
    const char *path = sources_get(m->sources, source)->path, *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const size_t n = strlen(class);
    if (!slash || !dot || dot < slash || (size_t)(slash - path) < n || strncmp(slash - n, class, n) != 0 ||
        ((size_t)(slash - path) > n && slash[-(ptrdiff_t)n - 1] != '/'))
        return "";
    return arena_text(s->arena, slash + 1, (size_t)(dot - slash - 1));
}

/* "Addi", "And · Logic"; nothing where the class has the name of the component. */
static const char *note_of(const Structure *s, uint32_t instance)
{
    const char *name = instance_name(s, instance);
    const char *class = instance == 0 ? name : name_of(s, s->model->instances.at[instance].class_name);
    const char *version = version_of(s, instance, class);
    const bool is_named = strcmp(name, class) != 0;
    return arena_format(s->arena, "%s%s%s", is_named ? class : "", is_named && version[0] ? " \xc2\xb7 " : "", version);
}

/* ---- the picture ---- */
static void fill_ports(Structure *s, uint32_t instance, DiagramBox *box)
{
    const Indices *vars = &s->vars[instance];
    box->inputs = NEW_ARRAY(s->arena, DiagramPort, vars->n);
    box->outputs = NEW_ARRAY(s->arena, DiagramPort, vars->n);
    for (uint32_t k = 0; k < vars->n; k++) {
        const Variable *v = &s->model->variables.at[vars->at[k]];
        const DiagramPort port = { .label = name_of(s, v->name) };
        uint32_t *n = is_input(v) ? &box->n_inputs : &box->n_outputs;
        s->port[vars->at[k]] = *n;
        (is_input(v) ? box->inputs : box->outputs)[(*n)++] = port;
    }
}

static void fill_box(Structure *s, uint32_t instance, uint32_t depth, DiagramBox *box)
{
    const Model *m = s->model;
    s->n_boxes++;
    box->name = instance_name(s, instance);
    box->note = note_of(s, instance);
    fill_ports(s, instance, box);
    if (depth == 0)
        return;
    const Indices *children = &s->children[instance];
    box->children = NEW_ARRAY(s->arena, DiagramBox, children->n);
    Map child_of;
    map_init(&child_of, s->arena, children->n);
    for (uint32_t k = 0; k < children->n; k++) {
        map_put(&child_of, children->at[k], k);
        fill_box(s, children->at[k], depth - 1, &box->children[k]);
    }
    box->n_children = children->n;
    const Indices *inside = &s->inside[instance];
    box->wires = NEW_ARRAY(s->arena, DiagramWire, inside->n);
    for (uint32_t k = 0; k < inside->n; k++) {
        const Link *link = &s->links.at[inside->at[k]];
        DiagramWire *wire = &box->wires[box->n_wires++];
        *wire =
            (DiagramWire){ DIAGRAM_FRAME, s->port[link->from.index], DIAGRAM_FRAME, s->port[link->to.index], { 0 } };
        map_get(&child_of, model_var(m, link->from)->owner.index, &wire->from);
        map_get(&child_of, model_var(m, link->to)->owner.index, &wire->to);
    }
}

DiagramBox *structure_diagram(const Model *model, uint32_t depth, uint32_t *n, Arena *arena)
{
    Structure *s = collect(model, arena);
    DiagramBox *box = NEW(arena, DiagramBox);
    fill_box(s, 0, depth, box);
    *n = s->n_boxes;
    return box;
}

/* ---- the text ---- */
/* As seen from within `frame`: its own quantities by their names. */
static const char *path_from(const Structure *s, VarId var, uint32_t frame)
{
    const Variable *v = model_var(s->model, var);
    if (v->owner.index == frame)
        return name_of(s, v->name);
    return arena_format(s->arena, "%s.%s", instance_name(s, v->owner.index), name_of(s, v->name));
}

static void print_component(const Structure *s, uint32_t instance, uint32_t level, uint32_t depth, Text *to)
{
    const Model *m = s->model;
    const char *note = note_of(s, instance);
    text_format(to, "%*s%s%s%s%s\n", (int)(2 * level), "", instance_name(s, instance), note[0] ? " (" : "", note,
                note[0] ? ")" : "");
    const uint32_t above = instance == 0 ? ID_NONE : m->instances.at[instance].parent.index;
    const Indices *vars = &s->vars[instance];
    for (uint32_t k = 0; k < vars->n; k++) {
        const VarId var = { vars->at[k] };
        const bool is_in = is_input(model_var(m, var));
        text_format(to, "%*s%s %s", (int)(2 * level + 2), "", is_in ? "\xe2\x96\xa1" : "\xe2\x96\xa0",
                    name_of(s, model_var(m, var)->name));
        /* outside: what comes in or goes out; for the model itself, inside */
        const uint32_t frame = instance == 0 ? 0 : above;
        uint32_t n = 0;
        for (uint32_t j = 0; j < s->inside[frame].n; j++) {
            const Link *link = &s->links.at[s->inside[frame].at[j]];
            if (link->from.index == var.index)
                text_format(to, "%s%s", n++ ? ", " : " --> ", path_from(s, link->to, frame));
            else if (link->to.index == var.index)
                text_format(to, "%s%s", n++ ? ", " : " <-- ", path_from(s, link->from, frame));
        }
        text_char(to, '\n');
    }
    for (uint32_t k = 0; depth > 0 && k < s->children[instance].n; k++)
        print_component(s, s->children[instance].at[k], level + 1, depth - 1, to);
}

void structure_text(const Model *model, uint32_t depth, Text *to)
{
    print_component(collect(model, to->arena), 0, 0, depth, to);
}

bool structure_svg(const Model *model, uint32_t depth, uint32_t most, Arena *arena, uint32_t *n, Text *to)
{
    DiagramBox *box = structure_diagram(model, depth, n, arena);
    if (*n > most)
        return false;
    diagram_layout(box, arena);
    *to = diagram_svg(box, arena);
    return true;
}
