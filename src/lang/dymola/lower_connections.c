/* Connections: the operators join points; what is joined becomes connections of ports. */
#include "lang/dymola/connections.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"
#include "graph/sets.h"

typedef struct { /* an operand: NULL where it has no such thing */
    const Shape *cut, *from, *to;
} Operand;

/* ---- points ---- */
static void join_points(Translation *translation, uint32_t a, uint32_t b, Span span)
{
    const uint32_t both[] = { a, b };
    for (uint32_t k = 0; k < 2; k++)
        if (translation->points.all.at[both[k]].joined_at.source == SOURCE_NONE)
            translation->points.all.at[both[k]].joined_at = span;
    sets_join_least(translation->points.joined.at, a, b);
}

static void join(Translation *translation, const Shape *a, const Shape *b, Span span)
{
    if (!a || !b || a->kind == SHAPE_EMPTY || b->kind == SHAPE_EMPTY)
        return;
    while (a->kind == SHAPE_LIST && a->n == 1 && b->kind == SHAPE_POINT)
        a = a->parts[0];
    while (b->kind == SHAPE_LIST && b->n == 1 && a->kind == SHAPE_POINT)
        b = b->parts[0];
    if (a->kind == SHAPE_POINT && b->kind == SHAPE_POINT) {
        join_points(translation, a->point, b->point, span);
        return;
    }
    if (a->kind == SHAPE_LIST && b->kind == SHAPE_LIST && a->n == b->n) {
        for (uint32_t k = 0; k < a->n; k++)
            join(translation, a->parts[k], b->parts[k], span);
        return;
    }
    REPORT(translation, DIAG_DYM_CONNECT_SHAPE, span, "cuts of %u and %u parts are connected",
           a->kind == SHAPE_LIST ? a->n : 1, b->kind == SHAPE_LIST ? b->n : 1);
    diag_help(translation->diag, "name as many nodes as the cut has parts; `.` leaves one open");
}

/* ---- operands ---- */
/* The shape of a cut of an object, in points of the class that uses it. */
static Shape *shape_of_object(Translation *translation, const ClassObject *object, const Shape *shape)
{
    Shape *own = NEW(translation->arena, Shape);
    *own = *shape;
    if (shape->kind == SHAPE_POINT) {
        const Point *inner = &object->translation->points.all.at[shape->point];
        const uint32_t port = object->first_port + inner->port;
        if (!map_get(&translation->points.of_port, port, &own->point)) {
            own->point = dym_add_point(translation, (Point){ .port = port, .name = inner->name });
            map_put(&translation->points.of_port, port, own->point);
        }
    } else if (shape->kind == SHAPE_LIST) {
        Shape **parts = NEW_ARRAY(translation->arena, Shape *, shape->n);
        for (uint32_t k = 0; k < shape->n; k++)
            parts[k] = shape_of_object(translation, object, shape->parts[k]);
        own->parts = parts;
    }
    return own;
}

static bool unknown(Translation *translation, Ident name, const char *what)
{
    REPORT(translation, DIAG_DYM_UNKNOWN_NAME, name.span, "there is no %s `%s`", what, NAME(translation, name));
    diag_help(translation->diag,
              "objects, cuts, nodes and paths can be connected; variables are set equal by equations");
    return false;
}

/* object:cut and object..path */
static bool find_part(Translation *translation, const Wire *wire, const ClassObject *object, Operand *operand)
{
    const Ident part = wire->path[1];
    const Translation *inner = object->translation;
    uint32_t k;
    if (wire->kind == WIRE_CUT) {
        if (!map_get(&inner->cuts.names, part.name.index, &k) ||
            (inner->cuts.all.at[k].shape->kind == SHAPE_POINT &&
             inner->points.all.at[inner->cuts.all.at[k].shape->point].is_node))
            return unknown(translation, part, "cut");
        operand->cut = shape_of_object(translation, object, inner->cuts.all.at[k].shape);
        return true;
    }
    if (!map_get(&inner->paths.names, part.name.index, &k))
        return unknown(translation, part, "path");
    operand->from = shape_of_object(translation, object, inner->paths.all.at[k].from);
    operand->to = shape_of_object(translation, object, inner->paths.all.at[k].to);
    return true;
}

static bool find_operand(Translation *translation, const Wire *wire, Operand *operand)
{
    const Ident name = wire->path[0];
    uint32_t k;
    if (wire->n_path > 2 || (wire->kind == WIRE_NAME && wire->n_path > 1)) {
        REPORT(translation, DIAG_DYM_UNKNOWN_NAME, wire->path[1].span,
               "`%s` is inside of `%s` and cannot be connected from here", NAME(translation, wire->path[1]),
               NAME(translation, name));
        diag_help(translation->diag, "give the class of `%s` a cut, and connect that inside with `%s`",
                  NAME(translation, name), NAME(translation, wire->path[1]));
        return false;
    }
    if (map_get(&translation->objects.names, name.name.index, &k)) {
        const ClassObject *object = &translation->objects.all.at[k];
        if (wire->kind != WIRE_NAME)
            return find_part(translation, wire, object, operand);
        if (object->translation->cuts.main)
            operand->cut = shape_of_object(translation, object, object->translation->cuts.main);
        if (object->translation->paths.main_from) {
            operand->from = shape_of_object(translation, object, object->translation->paths.main_from);
            operand->to = shape_of_object(translation, object, object->translation->paths.main_to);
        }
        if (operand->cut || operand->from)
            return true;
        REPORT(translation, DIAG_DYM_MAIN, name.span, "the class of `%s` has neither a main cut nor a main path",
               NAME(translation, name));
        diag_help(translation->diag, "name a cut of it: %s:cut", NAME(translation, name));
        return false;
    }
    if (wire->kind != WIRE_NAME)
        return unknown(translation, name, "object");
    if (map_get(&translation->cuts.names, name.name.index, &k)) {
        operand->cut = translation->cuts.all.at[k].shape;
        return true;
    }
    if (!map_get(&translation->paths.names, name.name.index, &k))
        return unknown(translation, name, "object, cut, node or path");
    operand->from = translation->paths.all.at[k].from;
    operand->to = translation->paths.all.at[k].to;
    return true;
}

/* A path as a cut: its two ends. */
static const Shape *as_cut(Translation *translation, const Operand *operand)
{
    if (operand->cut || !operand->from)
        return operand->cut;
    Shape *shape = NEW(translation->arena, Shape);
    Shape **parts = NEW_ARRAY(translation->arena, Shape *, 2);
    parts[0] = (Shape *)operand->from;
    parts[1] = (Shape *)operand->to;
    *shape = (Shape){ .kind = SHAPE_LIST, .n = 2, .parts = parts };
    return shape;
}

/* A cut as a path: it begins and ends there. */
static void make_path(Operand *operand)
{
    if (!operand->from)
        operand->from = operand->to = operand->cut;
}

static bool evaluate(Translation *translation, const Wire *wire, Operand *operand);

static bool evaluate_join(Translation *translation, const Wire *wire, Operand *operand)
{
    Operand a = { 0 }, b = { 0 };
    if (!evaluate(translation, wire->left, &a) || !evaluate(translation, wire->right, &b))
        return false;
    if (wire->join == JOIN_AT) {
        join(translation, as_cut(translation, &a), as_cut(translation, &b), wire->span);
        *operand = a;
        return true;
    }
    make_path(&a);
    make_path(&b);
    switch ((Join)wire->join) {
    case JOIN_TO:
        join(translation, a.to, b.from, wire->span);
        *operand = (Operand){ .from = a.from, .to = b.to };
        break;
    case JOIN_FROM:
        join(translation, a.from, b.to, wire->span);
        *operand = (Operand){ .from = b.from, .to = a.to };
        break;
    case JOIN_PAR:
        join(translation, a.from, b.from, wire->span);
        join(translation, a.to, b.to, wire->span);
        *operand = (Operand){ .from = a.from, .to = a.to };
        break;
    case JOIN_LOOP: /* a ring of the two */
        join(translation, a.to, b.from, wire->span);
        join(translation, b.to, a.from, wire->span);
        *operand = (Operand){ .from = a.from, .to = a.to };
        break;
    case JOIN_AT: break;
    }
    return true;
}

static bool evaluate(Translation *translation, const Wire *wire, Operand *operand)
{
    bool is_good = true;
    if (wire->kind == WIRE_JOIN) {
        is_good = evaluate_join(translation, wire, operand);
    } else if (wire->kind == WIRE_LIST || wire->kind == WIRE_EMPTY) {
        Shape *shape = NEW(translation->arena, Shape);
        Shape **parts = NEW_ARRAY(translation->arena, Shape *, wire->parts.n + 1);
        for (uint32_t k = 0; is_good && k < wire->parts.n; k++) {
            Operand part = { 0 };
            is_good = evaluate(translation, wire->parts.at[k], &part);
            parts[k] = (Shape *)as_cut(translation, &part);
        }
        *shape =
            (Shape){ .kind = wire->kind == WIRE_LIST ? SHAPE_LIST : SHAPE_EMPTY, .n = wire->parts.n, .parts = parts };
        operand->cut = shape;
    } else {
        is_good = find_operand(translation, wire, operand);
    }
    if (is_good && wire->is_reversed) {
        make_path(operand);
        *operand = (Operand){ .from = operand->to, .to = operand->from };
    }
    return is_good;
}

/* ---- cuts without variables ---- */
/* The cut gets variables like those of what it is connected to, in an instance of its name. */
static void fill_bare_cut(Translation *translation, uint32_t index, uint32_t like)
{
    Model *model = translation->model;
    const Point point = translation->points.all.at[index];
    ClassCut *cut = NULL;
    uint32_t k;
    if (map_get(&translation->cuts.names, point.name.name.index, &k))
        cut = &translation->cuts.all.at[k];
    const Instance instance = { .name = point.name.name,
                                .class_name = names_text(translation->load->names, "cut"),
                                .parent = { 0 },
                                .language = model->language,
                                .span = point.name.span };
    Port port = { .name = point.name.name, .connector = point.name.name, .owner = { 0 }, .span = point.name.span };
    vec_push(model->arena, &model->instances, instance);
    const InstanceId owner = { model->instances.n - 1 };
    if (cut) {
        map_init(&cut->members, translation->arena, 8);
        cut->has_members = true;
    }
    const uint32_t first = like == ID_NONE ? 0 : model->ports.at[like].first_member;
    port.n_members = like == ID_NONE ? 0 : model->ports.at[like].n_members;
    port.first_member = model->members.n;
    for (uint32_t j = 0; j < port.n_members; j++) {
        PortMember member = { .var = VAR_NONE, .role = model->members.at[first + j].role };
        const VarId from = model->members.at[first + j].var;
        if (!var_is_none(from)) {
            const NameId name = model_var(model, from)->name;
            uint32_t earlier;
            if (cut && map_get(&cut->members, name.index, &earlier)) {
                member.var = (VarId){ earlier };
            } else {
                member.var = model_add_variable(model, owner, name, REAL_TYPE, point.name.span);
                dym_copy_size(translation, from, member.var);
                map_put(&translation->types.of_variable, member.var.index, dym_new_type(translation));
                if (cut)
                    map_put(&cut->members, name.index, member.var.index);
            }
        }
        vec_push(model->arena, &model->members, member);
    }
    vec_push(model->arena, &model->ports, port);
    translation->points.all.at[index].port = model->ports.n - 1;
}

void dym_join_wires(Translation *translation)
{
    for (uint32_t c = 0; c < translation->chain.n; c++)
        for (uint32_t k = 0; k < translation->chain.at[c]->wires.n; k++) {
            Operand ignored = { 0 };
            evaluate(translation, translation->chain.at[c]->wires.at[k], &ignored);
        }
    uint32_t *with_port = NEW_ARRAY(translation->arena, uint32_t,
                                    translation->points.all.n + 1); /* per root: 1 + a point with variables */
    for (uint32_t k = translation->points.all.n; k-- > 0;) {
        translation->points.joined.at[k] = sets_root(translation->points.joined.at, k);
        if (translation->points.all.at[k].port != ID_NONE)
            with_port[translation->points.joined.at[k]] = k + 1;
    }
    for (uint32_t k = 0; k < translation->points.all.n; k++)
        if (translation->points.all.at[k].is_bare_cut) {
            const uint32_t like = with_port[translation->points.joined.at[k]];
            fill_bare_cut(translation, k, like ? translation->points.all.at[like - 1].port : ID_NONE);
        }
    /* the first with variables stands for its set */
    uint32_t *first = NEW_ARRAY(translation->arena, uint32_t, translation->points.all.n + 1);
    for (uint32_t k = translation->points.all.n; k-- > 0;)
        if (translation->points.all.at[k].port != ID_NONE)
            first[translation->points.joined.at[k]] = k + 1;
    uint32_t *hub = NEW_ARRAY(translation->arena, uint32_t, translation->points.all.n + 1);
    for (uint32_t k = 0; k < translation->points.all.n; k++)
        hub[k] = first[translation->points.joined.at[k]] ? first[translation->points.joined.at[k]] - 1 : k;
    for (uint32_t k = 0; k < translation->points.all.n; k++)
        translation->points.joined.at[k] = hub[k];
}

/* ---- connections of the Model ---- */
static bool fits(Translation *translation, const Point *a, const Point *b)
{
    const Model *model = translation->model;
    const Port *x = &model->ports.at[a->port], *y = &model->ports.at[b->port];
    bool is_good = x->n_members == y->n_members;
    for (uint32_t k = 0; is_good && k < x->n_members; k++) {
        const PortMember *p = &model->members.at[x->first_member + k], *q = &model->members.at[y->first_member + k];
        is_good = p->role == q->role &&
                  (var_is_none(p->var) || var_is_none(q->var) ||
                   extent_equal(dym_variable_extent(translation, p->var), dym_variable_extent(translation, q->var)));
    }
    if (is_good)
        return true;
    REPORT(translation, DIAG_DYM_CONNECT_MEMBERS, b->joined_at, "the cuts `%s` and `%s` do not have the same variables",
           NAME(translation, a->name), NAME(translation, b->name));
    diag_note(translation->diag, x->span, "`%s` is declared here", NAME(translation, a->name));
    diag_note(translation->diag, y->span, "`%s` is declared here", NAME(translation, b->name));
    diag_help(translation->diag, "connected cuts have as many across and as many through variables, of equal sizes");
    return false;
}

void dym_emit_connections(Translation *translation)
{
    for (uint32_t k = 0; k < translation->points.all.n; k++) {
        const Point *b = &translation->points.all.at[k],
                    *a = &translation->points.all.at[translation->points.joined.at[k]];
        if (a == b || a->port == ID_NONE || b->port == ID_NONE || !fits(translation, a, b))
            continue;
        const Connection connection = { .is_acausal = true,
                                        .is_inside = a->is_own && b->is_own,
                                        .from = VAR_NONE,
                                        .to = VAR_NONE,
                                        .port_a = a->port,
                                        .port_b = b->port,
                                        .span = b->joined_at };
        vec_push(translation->model->arena, &translation->model->connections, connection);
    }
}
