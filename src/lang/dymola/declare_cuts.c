/* Cuts, nodes and paths: shapes of points, and ports of the Model. */
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

uint32_t dym_add_point(Translation *translation, Point point)
{
    const uint32_t number = translation->points.all.n;
    point.joined_at = SPAN_NONE;
    vec_push(translation->arena, &translation->points.all, point);
    vec_push(translation->arena, &translation->points.joined, number);
    return number;
}

Shape *dym_point_shape(Translation *translation, uint32_t point)
{
    Shape *shape = NEW(translation->arena, Shape);
    shape->kind = SHAPE_POINT;
    shape->point = point;
    return shape;
}

/* A node is a place inside: its port belongs to an instance of its own, flows counted the other way. */
static InstanceId node_instance(Translation *translation, Ident name)
{
    Model *model = translation->model;
    const Instance instance = { .name = name.name,
                                .class_name = names_text(translation->load->names, "node"),
                                .parent = { 0 },
                                .language = model->language,
                                .span = name.span };
    vec_push(model->arena, &model->instances, instance);
    return (InstanceId){ model->instances.n - 1 };
}

static uint32_t add_port(Translation *translation, Ident name, const Cut *cut, bool is_node)
{
    Model *model = translation->model;
    Port port = { .name = name.name,
                  .connector = name.name,
                  .owner = is_node ? node_instance(translation, name) : (InstanceId){ 0 },
                  .n_members = cut->items.n,
                  .span = cut->span };
    for (uint32_t k = 0; k < cut->items.n; k++)
        if (!name_is_empty(cut->items.at[k].name.name))
            dym_declare_in_cut(translation, &cut->items.at[k]);
    port.first_member = model->members.n;
    for (uint32_t k = 0; k < cut->items.n; k++) {
        const CutItem *item = &cut->items.at[k];
        const PortMember member = { .var = name_is_empty(item->name.name) ? VAR_NONE
                                                                          : dym_declare_in_cut(translation, item),
                                    .role = item->is_through ? ROLE_FLOW : ROLE_POTENTIAL,
                                    .is_negated = item->is_through && item->is_negated != is_node };
        vec_push(model->arena, &model->members, member);
    }
    vec_push(model->arena, &model->ports, port);
    return model->ports.n - 1;
}

static Ident anonymous(Translation *translation, Span span)
{
    const char *text = arena_format(translation->arena, "$cut%u", translation->model->ports.n);
    return (Ident){ names_text(translation->load->names, text), span };
}

static Shape *shape_of(Translation *translation, const Cut *cut, Ident name, bool is_node)
{
    Shape *shape = NEW(translation->arena, Shape);
    switch ((CutKind)cut->kind) {
    case CUT_NAMED: {
        uint32_t k;
        if (map_get(&translation->cuts.names, cut->name.name.index, &k))
            return translation->cuts.all.at[k].shape;
        REPORT(translation, DIAG_DYM_UNKNOWN_NAME, cut->name.span, "there is no cut `%s`",
               NAME(translation, cut->name));
        diag_help(translation->diag, "a cut is declared before it is part of another one or of a path");
        shape->kind = SHAPE_EMPTY;
        return shape;
    }
    case CUT_EMPTY: shape->kind = SHAPE_EMPTY; return shape;
    case CUT_FLAT: {
        if (name_is_empty(name.name))
            name = anonymous(translation, cut->span);
        const Point point = {
            .port = add_port(translation, name, cut, is_node), .is_own = !is_node, .is_node = is_node, .name = name
        };
        return dym_point_shape(translation, dym_add_point(translation, point));
    }
    case CUT_BARE: {
        const Point point = {
            .port = ID_NONE, .is_own = !is_node, .is_node = is_node, .is_bare_cut = !is_node, .name = name
        };
        return dym_point_shape(translation, dym_add_point(translation, point));
    }
    case CUT_LIST: break;
    }
    Shape **parts = NEW_ARRAY(translation->arena, Shape *, cut->parts.n);
    for (uint32_t k = 0; k < cut->parts.n; k++)
        parts[k] = shape_of(translation, cut->parts.at[k], (Ident){ .span = cut->span }, is_node);
    *shape = (Shape){ .kind = SHAPE_LIST, .n = cut->parts.n, .parts = parts };
    return shape;
}

static bool is_second(Translation *translation, Map *names, Ident name, Span first, const char *what)
{
    uint32_t k;
    if (!map_get(names, name.name.index, &k))
        return false;
    REPORT(translation, DIAG_DYM_TWICE, name.span, "there are two %s `%s`", what, NAME(translation, name));
    diag_note(translation->diag, first, "the class");
    return true;
}

static void set_main(Translation *translation, Span *at, Span span, const char *what)
{
    if (at->source != SOURCE_NONE) {
        REPORT(translation, DIAG_DYM_MAIN, span, "the class has two main %s", what);
        diag_note(translation->diag, *at, "the first is here");
    }
    *at = span;
}

static void declare_cut(Translation *translation, const Class *class, const CutDecl *declared)
{
    if (is_second(translation, &translation->cuts.names, declared->name, class->name.span, "cuts or nodes"))
        return;
    ClassCut cut = { .name = declared->name };
    cut.shape = shape_of(translation, declared->cut, declared->name, declared->is_node);
    map_put(&translation->cuts.names, declared->name.name.index, translation->cuts.all.n);
    vec_push(translation->arena, &translation->cuts.all, cut);
    if (declared->is_main) {
        set_main(translation, &translation->cuts.main_at, declared->name.span, "cuts");
        translation->cuts.main = cut.shape;
    }
}

static void declare_path(Translation *translation, const Class *class, const PathDecl *declared)
{
    const bool has_name = !name_is_empty(declared->name.name);
    if (has_name && is_second(translation, &translation->paths.names, declared->name, class->name.span, "paths"))
        return;
    ClassPath path = { .name = declared->name };
    path.from = shape_of(translation, declared->from, (Ident){ .span = declared->from->span }, false);
    path.to = shape_of(translation, declared->to, (Ident){ .span = declared->to->span }, false);
    if (has_name)
        map_put(&translation->paths.names, declared->name.name.index, translation->paths.all.n);
    vec_push(translation->arena, &translation->paths.all, path);
    if (declared->is_main) {
        set_main(translation, &translation->paths.main_at, declared->name.span, "paths");
        translation->paths.main_from = path.from;
        translation->paths.main_to = path.to;
    }
}

void dym_declare_cuts(Translation *translation)
{
    for (uint32_t c = 0; c < translation->chain.n; c++) {
        const Class *class = translation->chain.at[c];
        for (uint32_t k = 0; k < class->cuts.n; k++)
            declare_cut(translation, class, &class->cuts.at[k]);
        for (uint32_t k = 0; k < class->paths.n; k++)
            declare_path(translation, class, &class->paths.at[k]);
    }
}
