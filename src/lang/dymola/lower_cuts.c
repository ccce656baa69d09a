/* Cuts, nodes and paths: shapes of points, and ports of the Model. */
#include "lang/dymola/unit.h"

uint32_t dym_add_point(Unit *unit, Point point)
{
    const uint32_t number = unit->points.n;
    point.joined_at = SPAN_NONE;
    vec_push(unit->arena, &unit->points, point);
    vec_push(unit->arena, &unit->joined, number);
    return number;
}

Shape *dym_point_shape(Unit *unit, uint32_t point)
{
    Shape *shape = NEW(unit->arena, Shape);
    shape->kind = SHAPE_POINT;
    shape->point = point;
    return shape;
}

/* A variable that only a cut names is a terminal. */
static VarId cut_variable(Unit *unit, const CutItem *item)
{
    const Ident name = item->name;
    uint32_t k;
    if (map_get(&unit->var_names, name.name.index, &k)) {
        const VarId var = unit->vars.at[k].var;
        const Extent e = dym_variable_extent(unit, var);
        if (item->size.n && (item->size.n != model_var(unit->model, var)->type.rank || item->size.at[0] != e.rows ||
                             (item->size.n == 2 && item->size.at[1] != e.columns))) {
            REPORT(unit, DIAG_DYM_DIMENSION, item->size.span, "`%s` has another size", NAME(unit, name));
            diag_note(unit->diag, unit->vars.at[k].name.span, "it is %s here", dym_extent_text(unit, e));
        }
        return var;
    }
    UnitVar var = { .name = name, .kind = KIND_TERMINAL, .is_implicit = true, .type = dym_new_type(unit) };
    var.var = model_add_variable(unit->model, (InstanceId){ 0 }, name.name, REAL_TYPE, name.span);
    dym_set_size(unit, var.var, &item->size);
    map_put(&unit->var_names, name.name.index, unit->vars.n);
    map_put(&unit->var_types, var.var.index, var.type);
    vec_push(unit->arena, &unit->vars, var);
    return var.var;
}

/* A node is a place inside: its port belongs to an instance of its own, flows counted the other way. */
static InstanceId node_instance(Unit *unit, Ident name)
{
    Model *model = unit->model;
    const Instance instance = { .name = name.name,
                                .class_name = names_text(unit->load->names, "node"),
                                .parent = { 0 },
                                .language = model->language,
                                .span = name.span };
    vec_push(model->arena, &model->instances, instance);
    return (InstanceId){ model->instances.n - 1 };
}

static uint32_t add_port(Unit *unit, Ident name, const Cut *cut, bool is_node)
{
    Model *model = unit->model;
    Port port = { .name = name.name,
                  .connector = name.name,
                  .owner = is_node ? node_instance(unit, name) : (InstanceId){ 0 },
                  .n_members = cut->items.n,
                  .span = cut->span };
    for (uint32_t k = 0; k < cut->items.n; k++)
        if (!name_is_empty(cut->items.at[k].name.name))
            cut_variable(unit, &cut->items.at[k]);
    port.first_member = model->members.n;
    for (uint32_t k = 0; k < cut->items.n; k++) {
        const CutItem *item = &cut->items.at[k];
        const PortMember member = { .var = name_is_empty(item->name.name) ? VAR_NONE : cut_variable(unit, item),
                                    .role = item->is_through ? ROLE_FLOW : ROLE_POTENTIAL,
                                    .is_negated = item->is_through && item->is_negated != is_node };
        vec_push(model->arena, &model->members, member);
    }
    vec_push(model->arena, &model->ports, port);
    return model->ports.n - 1;
}

static Ident anonymous(Unit *unit, Span span)
{
    const char *text = arena_format(unit->arena, "$cut%u", unit->model->ports.n);
    return (Ident){ names_text(unit->load->names, text), span };
}

static Shape *lower_cut(Unit *unit, const Cut *cut, Ident name, bool is_node)
{
    Shape *shape = NEW(unit->arena, Shape);
    switch ((CutKind)cut->kind) {
    case CUT_NAMED: {
        uint32_t k;
        if (map_get(&unit->cut_names, cut->name.name.index, &k))
            return unit->cuts.at[k].shape;
        REPORT(unit, DIAG_DYM_UNKNOWN_NAME, cut->name.span, "there is no cut `%s`", NAME(unit, cut->name));
        diag_help(unit->diag, "a cut is declared before it is part of another one or of a path");
        shape->kind = SHAPE_EMPTY;
        return shape;
    }
    case CUT_EMPTY: shape->kind = SHAPE_EMPTY; return shape;
    case CUT_FLAT: {
        if (name_is_empty(name.name))
            name = anonymous(unit, cut->span);
        const Point point = {
            .port = add_port(unit, name, cut, is_node), .is_own = !is_node, .is_node = is_node, .name = name
        };
        return dym_point_shape(unit, dym_add_point(unit, point));
    }
    case CUT_BARE: {
        const Point point = {
            .port = ID_NONE, .is_own = !is_node, .is_node = is_node, .is_bare_cut = !is_node, .name = name
        };
        return dym_point_shape(unit, dym_add_point(unit, point));
    }
    case CUT_LIST: break;
    }
    Shape **parts = NEW_ARRAY(unit->arena, Shape *, cut->parts.n);
    for (uint32_t k = 0; k < cut->parts.n; k++)
        parts[k] = lower_cut(unit, cut->parts.at[k], (Ident){ .span = cut->span }, is_node);
    *shape = (Shape){ .kind = SHAPE_LIST, .n = cut->parts.n, .parts = parts };
    return shape;
}

static bool is_second(Unit *unit, Map *names, Ident name, Span first, const char *what)
{
    uint32_t k;
    if (!map_get(names, name.name.index, &k))
        return false;
    REPORT(unit, DIAG_DYM_TWICE, name.span, "there are two %s `%s`", what, NAME(unit, name));
    diag_note(unit->diag, first, "the class");
    return true;
}

static void set_main(Unit *unit, Span *at, Span span, const char *what)
{
    if (at->source != SOURCE_NONE) {
        REPORT(unit, DIAG_DYM_MAIN, span, "the class has two main %s", what);
        diag_note(unit->diag, *at, "the first is here");
    }
    *at = span;
}

static void lower_declared_cut(Unit *unit, const Class *class, const CutDecl *declared)
{
    if (is_second(unit, &unit->cut_names, declared->name, class->name.span, "cuts or nodes"))
        return;
    UnitCut cut = { .name = declared->name };
    cut.shape = lower_cut(unit, declared->cut, declared->name, declared->is_node);
    map_put(&unit->cut_names, declared->name.name.index, unit->cuts.n);
    vec_push(unit->arena, &unit->cuts, cut);
    if (declared->is_main) {
        set_main(unit, &unit->main_cut_at, declared->name.span, "cuts");
        unit->main_cut = cut.shape;
    }
}

static void lower_declared_path(Unit *unit, const Class *class, const PathDecl *declared)
{
    const bool has_name = !name_is_empty(declared->name.name);
    if (has_name && is_second(unit, &unit->path_names, declared->name, class->name.span, "paths"))
        return;
    UnitPath path = { .name = declared->name };
    path.from = lower_cut(unit, declared->from, (Ident){ .span = declared->from->span }, false);
    path.to = lower_cut(unit, declared->to, (Ident){ .span = declared->to->span }, false);
    if (has_name)
        map_put(&unit->path_names, declared->name.name.index, unit->paths.n);
    vec_push(unit->arena, &unit->paths, path);
    if (declared->is_main) {
        set_main(unit, &unit->main_path_at, declared->name.span, "paths");
        unit->main_from = path.from;
        unit->main_to = path.to;
    }
}

void dym_lower_cuts(Unit *unit)
{
    for (uint32_t c = 0; c < unit->chain.n; c++) {
        const Class *class = unit->chain.at[c];
        for (uint32_t k = 0; k < class->cuts.n; k++)
            lower_declared_cut(unit, class, &class->cuts.at[k]);
        for (uint32_t k = 0; k < class->paths.n; k++)
            lower_declared_path(unit, class, &class->paths.at[k]);
    }
}
