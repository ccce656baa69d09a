/* The order in which a Model is printed, and what its elements are called; see print_model.h. */
#include "ir/print_model.h"
#include <stdlib.h>

/* ---- what lies where ---- */
static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    if (x->branch != y->branch)
        return x->branch < y->branch ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

bool printer_is_inside(const Model *model, RegionId region, uint32_t branch)
{
    if (region.index >= model->regions.n)
        return false;
    const Region *r = &model->regions.at[region.index];
    return branch >= 1 && branch <= r->n_conditions + r->has_else;
}

static void sort_placed(const Printer *p, PlacedList *list)
{
    const uint32_t n_regions = p->model->regions.n;
    if (list->n > 1)
        qsort(list->at, list->n, sizeof *list->at, compare_placed);
    list->first = NEW_ARRAY(p->arena, uint32_t, n_regions + 1);
    uint32_t k = 0;
    for (uint32_t region = 0; region <= n_regions; region++) {
        while (k < list->n && list->at[k].region < region)
            k++;
        list->first[region] = k;
    }
}

#define PLACE_ALL(mp, list, array, region_field, branch_field)                                                         \
    do {                                                                                                               \
        const Model *model_ = (mp)->p.model;                                                                           \
        (list)->at = NEW_ARRAY((mp)->p.arena, Placed, model_->array.n);                                                \
        for (uint32_t k_ = 0; k_ < model_->array.n; k_++)                                                              \
            if (printer_is_inside(model_, model_->array.at[k_].region_field, model_->array.at[k_].branch_field))       \
                (list)->at[(list)->n++] =                                                                              \
                    (Placed){ model_->array.at[k_].region_field.index, model_->array.at[k_].branch_field, k_ };        \
        sort_placed(&(mp)->p, list);                                                                                   \
    } while (0)

static void find_places(ModelPrinter *mp)
{
    if (mp->p.model->regions.n == 0)
        return;
    PLACE_ALL(mp, &mp->equations, equations, region, branch);
    PLACE_ALL(mp, &mp->transitions, transitions, region, branch);
    PLACE_ALL(mp, &mp->regions, regions, parent, parent_branch);
}

/* Calls `visit` for the elements of a branch, in order. */
void printer_each_placed(ModelPrinter *mp, const PlacedList *list, uint32_t region, uint32_t branch,
                         void (*visit)(ModelPrinter *, uint32_t))
{
    uint32_t low = list->first[region], high = list->first[region + 1];
    const uint32_t end = high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->at[middle].branch < branch)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && list->at[low].branch == branch; low++)
        visit(mp, list->at[low].index);
}

/* ---- labels ---- */
/* Decides whether the element is called by its name or by a number; in the order of printing. */
static void number_label(ModelPrinter *mp, LabelKind kind, uint32_t index)
{
    Printer *p = &mp->p;
    Numbering *numbering = &mp->numbering[kind];
    const Label label = label_of(p->model, kind, index);
    const char *text = names_of(p->names, label.name);
    const uint64_t key = (uint64_t)label.owner.index << 32 | label.name.index;
    uint32_t ignored;
    const bool is_called_as_model = label.owner.index == 0 && name_equal(label.name, p->model->name);
    vec_push(p->arena, &numbering->order, index);
    if (name_is_empty(label.name) || is_called_as_model || map_get(&numbering->seen, key, &ignored) ||
        generated_number(text, names_length(p->names, label.name), label_letter(kind)))
        p->numbers[kind][index] = numbering->order.n;
    else
        map_put(&numbering->seen, key, index);
}

static void number_equation(ModelPrinter *mp, uint32_t index)
{
    number_label(mp, LABEL_EQUATION, index);
}

static void number_transition(ModelPrinter *mp, uint32_t index)
{
    number_label(mp, LABEL_TRANSITION, index);
}

static void number_region(ModelPrinter *mp, uint32_t index)
{
    const Region *region = &mp->p.model->regions.at[index];
    number_label(mp, LABEL_REGION, index);
    for (uint32_t branch = 1; branch <= region->n_conditions + region->has_else; branch++) {
        printer_each_placed(mp, &mp->equations, index, branch, number_equation);
        printer_each_placed(mp, &mp->transitions, index, branch, number_transition);
        printer_each_placed(mp, &mp->regions, index, branch, number_region);
    }
}

/* Equations outside regions, regions with what is in them, transitions outside regions. */
void printer_each_dynamic(ModelPrinter *mp, void (*equation)(ModelPrinter *, uint32_t),
                          void (*region)(ModelPrinter *, uint32_t), void (*transition)(ModelPrinter *, uint32_t))
{
    const Model *model = mp->p.model;
    for (uint32_t k = 0; k < model->equations.n; k++)
        if (!printer_is_inside(model, model->equations.at[k].region, model->equations.at[k].branch))
            equation(mp, k);
    for (uint32_t k = 0; k < model->regions.n; k++)
        if (!printer_is_inside(model, model->regions.at[k].parent, model->regions.at[k].parent_branch))
            region(mp, k);
    for (uint32_t k = 0; k < model->transitions.n; k++)
        if (!printer_is_inside(model, model->transitions.at[k].region, model->transitions.at[k].branch))
            transition(mp, k);
}

static void number_all(ModelPrinter *mp)
{
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++) {
        const uint32_t n = label_count(mp->p.model, kind);
        mp->p.numbers[kind] = NEW_ARRAY(mp->p.arena, uint32_t, n);
        map_init(&mp->numbering[kind].seen, mp->p.arena, n);
        for (uint32_t k = 0; k < n && kind >= LABEL_CHANNEL; k++)
            number_label(mp, kind, k);
    }
    printer_each_dynamic(mp, number_equation, number_region, number_transition);
}

void printer_find_order(ModelPrinter *mp)
{
    find_places(mp);
    number_all(mp);
}
