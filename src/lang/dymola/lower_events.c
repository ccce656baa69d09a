/* when and init.
 *
 * The equations of a when hold in the steps of a transition that acts now; what they set is found later, by matching.
 * init(v) is the value of the state v after the event, so a transition that acts at the commit assigns it: directly
 * where the text says init(v) = ..., else by way of a discrete variable that stands for init(v) in the equations of the
 * when. Outside of whens init(v) is v in the initial system. */
#include "lang/dymola/equations.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

bool dym_has_init(const Node *node)
{
    if (node->kind == NODE_INIT)
        return true;
    for (uint32_t k = 0; k < node->n_args; k++)
        if (dym_has_init(node->args[k]))
            return true;
    return false;
}

/* init(v) = e or e = init(v) of a scalar v, and e has no init. */
static const Node *plain_init(Translation *translation, const EquationText *text, const Node **value)
{
    const bool is_left = text->left->kind == NODE_INIT;
    const Node *init = is_left ? text->left : text->right;
    *value = is_left ? text->right : text->left;
    if (init->kind != NODE_INIT || dym_has_init(*value))
        return NULL;
    const VarId var = dym_find_variable(translation, init->path, init->n_path);
    return model_var(translation->model, var)->type.rank == 0 ? init : NULL;
}

/* ---- init ---- */
static void note_init(Translation *translation, VarId var, Span span, bool is_at_start)
{
    const InitUse use = { var, span, is_at_start };
    vec_push(translation->arena, &translation->inits, use);
}

void dym_take_inits(Translation *translation, const ClassObject *object)
{
    for (uint32_t k = 0; k < object->translation->inits.n; k++) {
        InitUse use = object->translation->inits.at[k];
        use.var.index += object->first_var;
        vec_push(translation->arena, &translation->inits, use);
    }
}

/* next(v) := what stands for init(v), element by element. */
static void assign_elements(Translation *translation, VarId var, VarId stand_in, Span span)
{
    Model *m = translation->model;
    const Extent extent = dym_variable_extent(translation, var);
    const uint32_t rank = model_var(m, var)->type.rank;
    for (uint32_t k = 0; k < extent.rows * extent.columns; k++) {
        const Expr *const index[] = { expr_integer(m->pool, k / extent.columns + 1),
                                      expr_integer(m->pool, k % extent.columns + 1) };
        const VarId sides[] = { var, stand_in };
        Term terms[2];
        for (uint32_t j = 0; j < 2; j++) {
            TermBuilder builder = term_builder(m);
            const Ref ref = ref_now(sides[j]);
            terms[j] =
                term_finish(&builder, rank ? term_element(&builder, ref, rank, index) : term_leaf(&builder, ref));
        }
        const Assignment set = { .target = terms[0], .value = terms[1], .span = span };
        vec_push(translation->arena, &translation->when->inits, set);
    }
}

static VarId stand_in_for(Translation *translation, VarId var, Span span)
{
    Model *m = translation->model;
    const VarId v = model_add_generated(m, "v", m->variables.n + 1, REAL_TYPE, span);
    const Term zero = term_real(m, 0);
    model_var(m, v)->start = zero;
    if (model_var(m, var)->type.rank)
        dym_copy_size(translation, var, v);
    return v;
}

Ref dym_init_ref(Translation *translation, const Node *node, VarId var)
{
    uint32_t known;
    if (!translation->when) {
        note_init(translation, var, node->span, true);
        return ref_now(var);
    }
    if (!map_get(&translation->when->stand_ins, var.index, &known)) {
        known = stand_in_for(translation, var, node->span).index;
        map_put(&translation->when->stand_ins, var.index, known);
        assign_elements(translation, var, (VarId){ known }, node->span);
        note_init(translation, var, node->span, false);
    }
    return ref_now((VarId){ known });
}

void dym_lower_inits(Translation *translation)
{
    for (uint32_t k = 0; k < translation->inits.n; k++)
        if (translation->inits.at[k].is_at_start)
            model_var(translation->model, translation->inits.at[k].var)->is_fixed = false;
}

/* ---- when ---- */
static void lower_init(Translation *translation, const Node *init, const Node *value, Span span)
{
    const VarId var = dym_find_variable(translation, init->path, init->n_path);
    const Term right = dym_lower_term(translation, value);
    const Assignment set = { .target = term_ref(translation->model, ref_now(var)), .value = right, .span = span };
    vec_push(translation->arena, &translation->when->inits, set);
    note_init(translation, var, init->span, false);
}

static void lower_body(Translation *translation, const When *text)
{
    for (uint32_t k = 0; k < text->equations.n; k++) {
        const EquationText *equation = &text->equations.at[k];
        if (!dym_check_equation(translation, equation))
            continue;
        const Node *value, *init = plain_init(translation, equation, &value);
        if (init)
            lower_init(translation, init, value, equation->span);
        else
            dym_lower_equation(translation, equation);
    }
}

void dym_lower_when(Translation *translation, const When *text)
{
    Model *m = translation->model;
    if (!dym_check_condition(translation, text->condition))
        return;
    const Term condition = dym_lower_term(translation, text->condition);
    WhenUse when = { .transition = m->transitions.n };
    map_init(&when.stand_ins, translation->arena, 4);
    translation->when = &when;
    lower_body(translation, text);
    translation->when = NULL;
    Transition head = { .trigger = TRIGGER_EDGE,
                        .effect = EFFECT_NOW,
                        .form = FORM_SET,
                        .edge_start = EDGE_START_FALSE,
                        .region = REGION_NONE,
                        .origin = { .span = text->span, .parent = EQ_NONE } };
    model_add_transition(m, &head, 1, &condition, when.sets.n, when.sets.at, 0, NULL);
    head.effect = EFFECT_NEXT;
    if (when.inits.n)
        model_add_transition(m, &head, 1, &condition, when.inits.n, when.inits.at, 0, NULL);
}
