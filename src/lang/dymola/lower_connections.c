/* Sets of joined points become connections of ports. */
#include "graph/sets.h"
#include "lang/dymola/connections.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

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

/* Each set of points gets a hub, the first with variables: `joined` leads to it from then on. */
static void choose_hubs(Translation *translation)
{
    Points *points = &translation->points;
    uint32_t *first = NEW_ARRAY(translation->arena, uint32_t, points->all.n + 1); /* per root: 1 + the hub */
    for (uint32_t k = points->all.n; k-- > 0;)
        if (points->all.at[k].port != ID_NONE)
            first[points->joined.at[k]] = k + 1;
    for (uint32_t k = 0; k < points->all.n; k++)
        points->joined.at[k] = first[points->joined.at[k]] ? first[points->joined.at[k]] - 1 : k;
}

void dym_fill_bare_cuts(Translation *translation)
{
    Points *points = &translation->points;
    uint32_t *with_port =
        NEW_ARRAY(translation->arena, uint32_t, points->all.n + 1); /* per root: 1 + a point with variables */
    for (uint32_t k = points->all.n; k-- > 0;) {
        points->joined.at[k] = sets_root(points->joined.at, k);
        if (points->all.at[k].port != ID_NONE)
            with_port[points->joined.at[k]] = k + 1;
    }
    for (uint32_t k = 0; k < points->all.n; k++)
        if (points->all.at[k].is_bare_cut) {
            const uint32_t like = with_port[points->joined.at[k]];
            fill_bare_cut(translation, k, like ? points->all.at[like - 1].port : ID_NONE);
        }
    choose_hubs(translation);
}

/* ---- connections of the Model ---- */
void dym_lower_connections(Translation *translation)
{
    const Points *points = &translation->points;
    for (uint32_t k = 0; k < points->all.n; k++) {
        const Point *b = &points->all.at[k], *a = &points->all.at[points->joined.at[k]];
        if (a == b || a->port == ID_NONE || b->port == ID_NONE)
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
