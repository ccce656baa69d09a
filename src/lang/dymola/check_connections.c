/* Cuts that are connected have the same variables. */
#include "lang/dymola/connections.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

static void check_pair(Translation *translation, const Point *a, const Point *b)
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
        return;
    REPORT(translation, DIAG_DYM_CONNECT_MEMBERS, b->joined_at, "the cuts `%s` and `%s` do not have the same variables",
           NAME(translation, a->name), NAME(translation, b->name));
    diag_note(translation->diag, x->span, "`%s` is declared here", NAME(translation, a->name));
    diag_note(translation->diag, y->span, "`%s` is declared here", NAME(translation, b->name));
    diag_help(translation->diag, "connected cuts have as many across and as many through variables, of equal sizes");
}

void dym_check_connections(Translation *translation)
{
    const Points *points = &translation->points;
    for (uint32_t k = 0; k < points->all.n; k++) {
        const Point *b = &points->all.at[k], *a = &points->all.at[points->joined.at[k]];
        if (a != b && a->port != ID_NONE && b->port != ID_NONE)
            check_pair(translation, a, b);
    }
}
