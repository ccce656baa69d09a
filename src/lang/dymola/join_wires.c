/* Wires, the operators of a `connect`, join points: operands are found, their forms compared. */
#include "graph/sets.h"
#include "lang/dymola/connections.h"
#include "lang/dymola/translation.h"

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

void dym_join_wires(Translation *translation)
{
    for (uint32_t c = 0; c < translation->chain.n; c++)
        for (uint32_t k = 0; k < translation->chain.at[c]->wires.n; k++) {
            Operand ignored = { 0 };
            evaluate(translation, translation->chain.at[c]->wires.at[k], &ignored);
        }
}
