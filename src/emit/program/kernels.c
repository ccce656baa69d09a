/* The builder of kernels and rows; see kernels.h. */
#include "emit/program/kernels.h"
#include "base/bug.h"
#include "ir/routine.h"

/* ---- slots ---- */
uint32_t take_slots(Kernels *ks, uint64_t n)
{
    const uint32_t first = ks->n_slots;
    REQUIRE(n <= UINT32_MAX / 4 && first <= UINT32_MAX / 4);
    ks->n_slots += (uint32_t)n;
    return first;
}

void add_constant(Kernels *ks, uint32_t slot, uint32_t n, KoineSlot value)
{
    const KoineConstant constant = { slot, n, value };
    vec_push(ks->arena, &ks->constants, constant);
}

bool constant_value(const Kernels *ks, const Expr *e, KoineSlot *value)
{
    if (e->kind != EXPR_STRING)
        return literal_value(e, value);
    value->i = literal_number(ks->literals, e->u.text);
    return true;
}

/* Values of variables that are numbers or texts. */
static void fill_constants(Kernels *ks)
{
    const Model *m = ks->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (!var_is_none(v->alias))
            continue;
        const Term term = v->definition == DEFINITION_BINDING ? v->binding : v->start;
        const uint32_t n = (uint32_t)variable_count(m, (VarId){ k });
        KoineSlot value = { .i = 0 };
        if (v->type.kind == TYPE_ENUM)
            value.i = 1;
        if (term.shape && term.shape->kind == EXPR_ARRAY) {
            for (uint32_t j = 0; j < n; j++)
                if (constant_value(ks, expr_array_element(term.shape, j), &value))
                    add_constant(ks, ks->slots->now[k] + j, 1, value);
            continue;
        }
        if (term.shape)
            constant_value(ks, term.shape, &value);
        if (value.i != 0)
            add_constant(ks, ks->slots->now[k], n, value);
    }
}

/* Places for start values hold none until one is given. They were taken in the order of the rows. */
static void fill_given_starts(Kernels *ks)
{
    const Slots *slots = ks->slots;
    uint32_t last = 0;
    for (uint32_t k = 0; k < slots->n_rows; k++) {
        const VarId own = { slots->variable_of[k] }, alias = model_var(ks->model, own)->alias;
        const uint32_t given = slots->given[var_is_none(alias) ? own.index : alias.index];
        if (given > last)
            add_constant(ks, last = given, (uint32_t)variable_count(ks->model, own),
                         (KoineSlot){ .i = KOINE_NOT_GIVEN });
    }
}

Kernels *kernels_create(const Schedule *schedule, const Slots *slots, Arena *arena)
{
    Kernels *ks = NEW(arena, Kernels);
    *ks = (Kernels){ .model = model_overlay(schedule->model, arena),
                     .slots = slots,
                     .literals = literals_list(schedule->model, arena),
                     .arena = arena,
                     .scratch = arena_create_like(arena),
                     .n_slots = slots->n };
    map_init(&ks->index, arena, 64);
    fill_constants(ks);
    fill_given_starts(ks);
    return ks;
}

/* ---- kernels ---- */
static bool is_kernel(const Kernel *k, uint32_t n_outputs, const Expr *const *outputs, uint32_t n_leaves,
                      const int32_t *strides, const int32_t *iterator_stride)
{
    if (k->n_outputs != n_outputs || k->n_leaves != n_leaves || (k->strides != NULL) != (strides != NULL) ||
        k->has_iterator != (iterator_stride != NULL) || (iterator_stride && k->iterator_stride != *iterator_stride) ||
        memcmp(k->outputs, outputs, n_outputs * sizeof *outputs) != 0)
        return false;
    return !strides || memcmp(k->strides, strides, k->width * sizeof *strides) == 0;
}

/* The outputs with their calls as tiers evaluate them. */
static const Expr *const *with_parts(Kernels *ks, uint32_t n, const Expr *const *outputs)
{
    bool has_call = false;
    for (uint32_t k = 0; k < n; k++)
        has_call |= outputs[k]->has_call;
    if (!has_call)
        return outputs;
    const Expr **made = NEW_ARRAY(ks->scratch, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        made[k] = texts_lazy(ks->model->pool, expr_parts(ks->model->pool, outputs[k]));
    return made;
}

uint32_t kernel_for(Kernels *ks, uint32_t n_outputs, const Expr *const *outputs, uint32_t n_leaves,
                    const int32_t *strides, const int32_t *iterator_stride)
{
    const uint32_t width = n_outputs + n_leaves;
    uint64_t hash = hash_mix(n_outputs, n_leaves);
    outputs = with_parts(ks, n_outputs, outputs);
    for (uint32_t k = 0; k < n_outputs; k++)
        hash = hash_mix(hash, outputs[k]->id);
    for (uint32_t k = 0; strides && k < width; k++)
        hash = hash_mix(hash, (uint64_t)strides[k] + 1);
    uint32_t first;
    const bool found = map_get(&ks->index, hash, &first);
    for (uint32_t k = found ? first : KOINE_NONE; k != KOINE_NONE; k = ks->next.at[k])
        if (is_kernel(&ks->kernels.at[k], n_outputs, outputs, n_leaves, strides, iterator_stride))
            return k;
    const Expr **own = NEW_ARRAY(ks->arena, const Expr *, n_outputs);
    memcpy(own, outputs, n_outputs * sizeof *own);
    int32_t *own_strides = strides ? NEW_ARRAY(ks->arena, int32_t, width) : NULL;
    if (strides)
        memcpy(own_strides, strides, width * sizeof *own_strides);
    const Kernel kernel = { .n_outputs = n_outputs,
                            .n_leaves = n_leaves,
                            .width = width,
                            .outputs = own,
                            .strides = own_strides,
                            .has_iterator = iterator_stride != NULL,
                            .iterator_stride = iterator_stride ? *iterator_stride : 0 };
    vec_push(ks->arena, &ks->kernels, kernel);
    vec_push(ks->arena, &ks->next, found ? first : KOINE_NONE);
    map_put(&ks->index, hash, ks->kernels.n - 1);
    return ks->kernels.n - 1;
}

uint32_t output_values(const Kernel *kernel, uint32_t output)
{
    const Expr *e = kernel->outputs[output];
    return e->type.rank > 0 ? expr_extent(e) : 1;
}

/* ---- rows ---- */
uint32_t put_row(Kernels *ks, const uint32_t *row, uint32_t n)
{
    const uint32_t first = ks->rows.n;
    vec_reserve(ks->arena, &ks->rows, ks->rows.n + n);
    memcpy(ks->rows.at + ks->rows.n, row, n * sizeof *row);
    ks->rows.n += n;
    return first;
}
