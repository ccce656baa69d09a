/* Potentials, flows, inputs, outputs and parameters of connected ports; see connect.h. */
#include "passes/connect/connect.h"
#include <stdlib.h>

typedef VEC(Part) Parts;

/* ---- potentials and flows ---- */
static int by_variable(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    if (x->var.index != y->var.index)
        return x->var.index < y->var.index ? -1 : 1;
    return x->element < y->element ? -1 : x->element > y->element;
}

/* In the order of variables, each once; flows that cancel are left out. */
static void collect(Parts *parts, bool is_flow)
{
    uint32_t n = 0;
    if (parts->n)
        qsort(parts->at, parts->n, sizeof *parts->at, by_variable);
    for (uint32_t j = 0; j < parts->n; j++)
        if (n && by_variable(&parts->at[n - 1], &parts->at[j]) == 0)
            parts->at[n - 1].factor += parts->at[j].factor;
        else
            parts->at[n++] = parts->at[j];
    parts->n = 0;
    for (uint32_t j = 0; j < n; j++)
        if (!is_flow || parts->at[j].factor != 0)
            parts->at[parts->n++] = parts->at[j];
}

static Term part_term(Model *m, const Part *part, uint32_t n_sets)
{
    TermBuilder builder = term_builder(m);
    return term_finish(&builder, part_leaf(&builder, part, REF_NOW, n_sets));
}

/* Whole arrays are equal as a whole, elements of arrays of ports one by one. */
static Term whole_term(Model *m, const Part *part, uint32_t n_sets)
{
    return part->rank ? part_term(m, part, n_sets) : term_ref(m, ref_now(part->var));
}

/* A balanced tree: a node can have any number of connections. */
static const Expr *sum_of(TermBuilder *builder, const Part *parts, uint32_t n, uint32_t n_sets)
{
    Pool *pool = builder->model->pool;
    if (n > 1) {
        const Expr *left = sum_of(builder, parts, n / 2, n_sets);
        return expr_binary(pool, OP_ADD, left, sum_of(builder, parts + n / 2, n - n / 2, n_sets));
    }
    const Expr *leaf = part_leaf(builder, parts, REF_NOW, n_sets);
    if (parts->factor == 1)
        return leaf;
    if (parts->factor == -1)
        return expr_unary(pool, OP_NEG, leaf);
    return expr_binary(pool, OP_MUL, expr_real(pool, (double)parts->factor), leaf);
}

static void make_zero(Connecting *k, const Part *part, Span span)
{
    const uint64_t key = (uint64_t)part->var.index << 32 | part->element;
    uint32_t known;
    if (map_get(&k->zeros, key, &known))
        return;
    map_put(&k->zeros, key, 1);
    connect_equation(k, part_term(k->m, part, 1), term_real(k->m, 0), span, part, 1);
}

static void balance(Connecting *k, const Parts *parts, uint32_t n_sets, Span span)
{
    Model *m = k->m;
    const Part *p = parts->at;
    if (parts->n == 1) {
        for (uint32_t j = 0; j < n_sets; j++) {
            Part one = p[0];
            one.element = (uint32_t)((int64_t)p[0].element + (int64_t)j * p[0].stride);
            make_zero(k, &one, span);
        }
    } else if (parts->n == 2 && p[0].factor == -p[1].factor) {
        connect_equation(k, whole_term(m, &p[0], n_sets), whole_term(m, &p[1], n_sets), span, &p[0], n_sets);
    } else if (parts->n == 2 && p[0].factor == p[1].factor) {
        TermBuilder builder = term_builder(m);
        const Expr *other = expr_unary(m->pool, OP_NEG, part_leaf(&builder, &p[1], REF_NOW, n_sets));
        const Term right = term_finish(&builder, other);
        connect_equation(k, part_term(m, &p[0], n_sets), right, span, &p[0], n_sets);
    } else if (parts->n) {
        TermBuilder builder = term_builder(m);
        const Term right = term_finish(&builder, sum_of(&builder, p, parts->n, n_sets));
        connect_equation(k, term_real(m, 0), right, span, &p[0], n_sets);
    }
}

static void join_flows(Connecting *k, const PointRun *run, uint32_t place, Parts *parts)
{
    bool is_open = false;
    for (uint32_t j = 0; j < run->n; j++) {
        const PortMember *member = point_member(k, run->point[j], place);
        Part part = point_part(k, run, j, place);
        part.factor = member->is_negated == point_is_inside(k, run->point[j]) ? 1 : -1;
        is_open |= var_is_none(member->var);
        if (!var_is_none(member->var))
            vec_push(k->c->scratch, parts, part);
    }
    collect(parts, true);
    if (!is_open)
        balance(k, parts, run->n_sets, k->m->connections.at[run->connection].span);
}

static void join_potentials(Connecting *k, const PointRun *run, uint32_t place, Parts *parts)
{
    const Span span = k->m->connections.at[run->connection].span;
    for (uint32_t j = 0; j < run->n; j++) {
        const Part part = point_part(k, run, j, place);
        if (!var_is_none(part.var))
            vec_push(k->c->scratch, parts, part);
    }
    collect(parts, false);
    for (uint32_t j = 1; j < parts->n; j++) {
        const Part *a = &parts->at[j - 1], *b = &parts->at[j];
        const bool is_whole = !a->rank && !b->rank;
        const Term left = is_whole ? whole_term(k->m, a, run->n_sets) : part_term(k->m, a, run->n_sets);
        const Term right = is_whole ? whole_term(k->m, b, run->n_sets) : part_term(k->m, b, run->n_sets);
        connect_equation(k, left, right, span, a, run->n_sets);
    }
}

/* ---- inputs and outputs ---- */
static void define(Connecting *k, Term left, Term right, Span span, const Part *part, uint32_t n_sets)
{
    const EqId e = connect_equation(k, left, right, span, part, n_sets);
    k->m->equations.at[e.index].kind = EQUATION_EXPLICIT;
}

/* What gives its value to the others: an output of an object beside, or an input of the object around. */
static bool is_source(const Connecting *k, uint32_t point, uint32_t place)
{
    const bool is_input = point_member(k, point, place)->role == ROLE_IN;
    return is_input == point_is_inside(k, point);
}

static bool two_sources(Connecting *k, const PointRun *run, const Part *a, const Part *b)
{
    Diag *diag = k->c->diag;
    Arena *arena = k->c->scratch;
    diag_error(diag, DIAG_FAN_IN, k->m->connections.at[run->connection].span, "'%s' and '%s' give one input its value",
               variable_path(k->m, a->var, arena), variable_path(k->m, b->var, arena));
    diag_note(diag, model_var(k->m, a->var)->span, "the one is declared here");
    diag_note(diag, model_var(k->m, b->var)->span, "the other is declared here");
    diag_help(diag, "an input takes its value from one place: remove a connection");
    return false;
}

static bool join_signals(Connecting *k, const PointRun *run, uint32_t place)
{
    Model *m = k->m;
    const Span span = m->connections.at[run->connection].span;
    uint32_t source = ID_NONE, first = ID_NONE;
    for (uint32_t j = 0; j < run->n; j++) {
        const Part part = point_part(k, run, j, place);
        if (var_is_none(part.var))
            continue;
        first = first == ID_NONE ? j : first;
        if (!is_source(k, run->point[j], place))
            continue;
        if (source != ID_NONE) {
            const Part other = point_part(k, run, source, place);
            return two_sources(k, run, &other, &part);
        }
        source = j;
    }
    source = source == ID_NONE ? first : source; /* inputs that nothing leads to are one input */
    for (uint32_t j = 0; j < run->n; j++) {
        const Part part = point_part(k, run, j, place);
        if (j == source || var_is_none(part.var))
            continue;
        const Part from = point_part(k, run, source, place);
        const bool is_whole = !part.rank && !from.rank;
        const Term left = is_whole ? whole_term(m, &part, run->n_sets) : part_term(m, &part, run->n_sets);
        const Term right = is_whole ? whole_term(m, &from, run->n_sets) : part_term(m, &from, run->n_sets);
        model_var(m, part.var)->definition = DEFINITION_NOW;
        define(k, left, right, span, &part, run->n_sets);
    }
    return true;
}

/* ---- parameters ---- */
static const Expr *differs(TermBuilder *builder, const Part *a, const Part *b, uint32_t n_sets)
{
    const Expr *x = part_leaf(builder, a, REF_NOW, n_sets), *y = part_leaf(builder, b, REF_NOW, n_sets);
    return expr_literal_relation(builder->model->pool, OP_NE, x, y);
}

/* They are compared when the run begins. */
static void compare_parameters(Connecting *k, const PointRun *run, uint32_t place)
{
    Model *m = k->m;
    const Span span = m->connections.at[run->connection].span;
    Part before = { .var = VAR_NONE };
    for (uint32_t j = 0; j < run->n; j++) {
        const Part part = point_part(k, run, j, place);
        if (var_is_none(part.var))
            continue;
        if (!var_is_none(before.var)) {
            TermBuilder builder = term_builder(m);
            const Term condition = term_finish(&builder, differs(&builder, &before, &part, run->n_sets));
            Arena *arena = k->c->scratch;
            const char *text = arena_format(arena, "'%s' and '%s' are connected and differ",
                                            variable_path(m, before.var, arena), variable_path(m, part.var, arena));
            const Action fail = { .kind = ACTION_FAIL,
                                  .text = names_text(pool_names(m->pool), text),
                                  .channel = ID_NONE,
                                  .guard = condition,
                                  .span = span };
            const Transition head = { .trigger = TRIGGER_INITIAL,
                                      .effect = EFFECT_NEXT,
                                      .form = FORM_SET,
                                      .domain = part_domain(k, &part, run->n_sets),
                                      .region = REGION_NONE,
                                      .owner = { 0 },
                                      .origin = { .span = span, .made_by = "expand-connections", .parent = EQ_NONE } };
            model_add_transition(m, &head, 0, NULL, 0, NULL, 1, &fail);
        }
        before = part;
    }
}

/* ---- all places of a run ---- */
static void expand_run(Connecting *k, const PointRun *run)
{
    const Port *port = &k->m->ports.at[k->port[run->point[0]]];
    for (uint32_t place = 0; place < port->n_members; place++) {
        Parts parts = { 0 };
        switch ((Role)point_member(k, run->point[0], place)->role) {
        case ROLE_FLOW: join_flows(k, run, place, &parts); break;
        case ROLE_POTENTIAL: join_potentials(k, run, place, &parts); break;
        case ROLE_IN:
        case ROLE_OUT: k->is_good &= join_signals(k, run, place); break;
        case ROLE_PARAMETER: compare_parameters(k, run, place); break;
        case ROLE_STREAM: /* connect_streams */
        case ROLE_PORT: break;
        }
    }
}

/* ---- what is not connected in its surroundings ---- */
static Term start_of(Connecting *k, VarId var, uint32_t element)
{
    Model *m = k->m;
    const Variable *v = model_var(m, var);
    if (v->start.shape) {
        const Expr *e = expr_array_element(v->start.shape, element);
        return term_make(m, e, term_refs(m, v->start));
    }
    switch ((TypeKind)v->type.kind) {
    case TYPE_REAL: return term_real(m, 0);
    case TYPE_INTEGER: return term_integer(m, 0);
    case TYPE_BOOLEAN: return term_boolean(m, false);
    case TYPE_ENUM: return term_expr(m, expr_enum(m->pool, v->type.enumeration, 1));
    case TYPE_STRING:
    case TYPE_OBJECT: break;
    }
    return term_expr(m, expr_string(m->pool, names_text(pool_names(m->pool), "")));
}

/* Flows are zero; elements of inputs keep their start values. */
static void close_point(Connecting *k, uint32_t point, bool is_whole)
{
    Model *m = k->m;
    const Port *port = &m->ports.at[k->port[point]];
    const int32_t still = 0;
    const PointRun run = { 1, 1, &point, &still, ID_NONE };
    for (uint32_t place = 0; place < port->n_members; place++) {
        const PortMember *member = point_member(k, point, place);
        Part part = point_part(k, &run, 0, place);
        if (is_whole)
            part.rank = part.element = 0;
        if (var_is_none(member->var))
            continue;
        if (member->role == ROLE_FLOW)
            make_zero(k, &part, port->span);
        else if (member->role == ROLE_IN && !is_whole && model_var(m, part.var)->type.rank == part.rank)
            define(k, part_term(m, &part, 1), start_of(k, part.var, part.element), port->span, &part, 1);
    }
}

static void close_ports(Connecting *k)
{
    for (uint32_t p = 0; p < k->m->ports.n; p++) {
        const uint32_t n = port_count(k, p), first = k->first[p];
        uint32_t n_open = 0;
        for (uint32_t e = 0; e < n; e++)
            n_open += !k->at[first + e];
        if (n_open && n_open == n)
            close_point(k, first, true);
        for (uint32_t e = 0; e < n && n_open < n; e++)
            if (!k->at[first + e])
                close_point(k, first + e, false);
    }
}

bool connect_members(Connecting *k)
{
    map_init(&k->zeros, k->c->scratch, 16);
    k->is_good = true;
    connect_each_run(k, expand_run);
    close_ports(k);
    return k->is_good;
}
