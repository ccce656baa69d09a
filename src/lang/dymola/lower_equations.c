/* Equations and expressions. */
#include "base/bug.h"
#include "lang/dymola/equations.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/functions.h"
#include "lang/dymola/matrix.h"
#include "lang/dymola/translation.h"

static const Expr *lower_call(Translation *translation, TermBuilder *builder, const Node *node, Op op)
{
    const Expr *args[2];
    for (uint32_t k = 0; k < node->n_args; k++)
        args[k] = dym_lower_scalar(translation, builder, node->args[k]);
    return expr_call(translation->load->pool, op, node->n_args, args);
}

/* A variable under der starts at its value, or at 0 unless something else says where. */
static Ref derivative(Translation *translation, VarId var)
{
    Variable *v = model_var(translation->model, var);
    v->is_fixed = !term_is_absent(v->start);
    return ref_der(var);
}

/* What the text calls v was v before this event step if there is a new(v). */
Ref dym_reference(Translation *translation, const Node *node, VarId var)
{
    if (node->kind == NODE_DER)
        return derivative(translation, var);
    if (node->kind == NODE_INIT)
        return dym_init_ref(translation, node, var);
    return node->kind == NODE_VARIABLE && dym_is_remembered(translation, var) ? ref_pre(var) : ref_now(var);
}

const Expr *dym_lower_scalar(Translation *translation, TermBuilder *builder, const Node *node)
{
    Pool *pool = translation->load->pool;
    if (dym_is_from_matrix(translation, node))
        return dym_lower_from_matrix(translation, builder, node);
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER: return expr_real(pool, node->number);
    case NODE_BOOLEAN: return expr_boolean(pool, node->number != 0);
    case NODE_CALL: return lower_call(translation, builder, node, node->op);
    case NODE_FUNCTION: {
        if (dym_is_literal(translation,
                           node)) { /* what is continuous only keeps its events: a kink is met better by one */
            const Expr *e = dym_lower_scalar(translation, builder, node->args[node->n_args - 1]);
            return node->n_args == 2 && node->args[0]->number < 1 ? e : expr_no_event(pool, e);
        }
        const FunctionText *function = dym_find_user_function(translation->load, node);
        return function ? dym_lower_user_call(translation, builder, node, function)
                        : lower_call(translation, builder, node, dym_find_function(translation, node)->op);
    }
    case NODE_IF: {
        const Expr *condition = dym_lower_scalar(translation, builder, node->args[0]);
        const Expr *then = dym_lower_scalar(translation, builder, node->args[1]);
        return expr_if(pool, condition, then, dym_lower_scalar(translation, builder, node->args[2]));
    }
    case NODE_VARIABLE:
    case NODE_DER:
    case NODE_NEW:
    case NODE_INIT: break;
    case NODE_ROW:
    case NODE_MATRIX:
    case NODE_TRANSPOSE:
    case NODE_RANGE: BUG("a matrix is no scalar");
    }
    if (dym_is_time(translation, node))
        return term_leaf(builder, ref_time());
    return term_leaf(builder,
                     dym_reference(translation, node, dym_find_variable(translation, node->path, node->n_path)));
}

Term dym_lower_term(Translation *translation, const Node *node)
{
    TermBuilder builder = term_builder(translation->model);
    const Expr *shape = dym_lower_scalar(translation, &builder, node);
    return term_finish(&builder, shape);
}

/* An equation between Booleans has a direction: the variable alone on one side is what it defines. */
static bool direct(Translation *translation, const EquationText *text, Term *left, Term *right)
{
    const bool is_left = dym_is_bare(translation, text->left), is_right = dym_is_bare(translation, text->right);
    if (left->shape->type.kind != TYPE_BOOLEAN || (is_left && is_right))
        return false;
    if (!is_left) {
        const Term t = *left;
        *left = *right;
        *right = t;
    }
    return true;
}

/* Without events an if is what it is wherever the integrator looks. */
static void make_literal(Translation *translation, Term *side, Span span)
{
    const Expr *literal = expr_no_event(translation->load->pool, side->shape);
    if (literal != side->shape && !translation->load->has_warned) {
        translation->load->has_warned = true;
        diag_warning(translation->diag, DIAG_DYM_EVENTS_OFF, span,
                     "events are off: this and other ifs change inside of steps");
        diag_help(translation->diag,
                  "step control relies on smooth equations; `set Events on` makes each change an event");
    }
    side->shape = literal;
}

/* Equations of a when hold in its steps, those with init at the start. */
void dym_add_equation(Translation *translation, const EquationText *text, bool is_directed, Term left, Term right,
                      DomainId domain)
{
    Model *model = translation->model;
    if (translation->load->has_no_events && !translation->when && left.shape->type.kind == TYPE_REAL) {
        make_literal(translation, &left, text->span);
        make_literal(translation, &right, text->span);
    }
    if (is_directed && translation->when && domain.index == 0) {
        const Assignment set = { .target = left, .value = right, .span = text->span };
        vec_push(translation->arena, &translation->when->sets, set);
        return;
    }
    const EquationKind kind = is_directed && !translation->when ? EQUATION_EXPLICIT : EQUATION_RESIDUAL;
    const EqId e = model_add_equation(model, kind, left, right, text->span);
    model->equations.at[e.index].domain = domain;
    if (translation->when)
        model->equations.at[e.index].when = translation->when->transition + 1;
    else if (dym_has_init(text->left) || dym_has_init(text->right))
        model->equations.at[e.index].when_valid = VALID_INITIAL_ONLY;
}

void dym_lower_equation(Translation *translation, const EquationText *text)
{
    if (dym_is_of_arrays(translation, text)) {
        dym_lower_matrix_equation(translation, text);
        return;
    }
    Term left = dym_lower_term(translation, text->left), right = dym_lower_term(translation, text->right);
    const bool is_directed = direct(translation, text, &left, &right);
    dym_add_equation(translation, text, is_directed, left, right, (DomainId){ 0 });
}

void dym_lower_equations(Translation *translation)
{
    for (uint32_t c = 0; c < translation->chain.n; c++) {
        const Class *class = translation->chain.at[c];
        for (uint32_t k = 0; k < class->equations.n; k++)
            if (dym_check_equation(translation, &class->equations.at[k]))
                dym_lower_equation(translation, &class->equations.at[k]);
        for (uint32_t k = 0; k < class->whens.n; k++)
            dym_lower_when(translation, class->whens.at[k]);
    }
}
