/* V14: a function is closed. Its statements read and write its own fields and nothing else, inputs keep
 * their values, fields begin with what is declared before them, and `break` stands in a loop. */
#include "ir/declared.h"
#include "ir/external.h"
#include "ir/verify_checks.h"

static void report(Verifier *v, Span span, const char *what, const char *help)
{
    diag_error(v->diag, DIAG_FUNCTION_BODY, span, "function %s %s",
               names_of(pool_names(v->model->pool), v->function->name), what);
    diag_help(v->diag, "%s", help);
    v->is_good = false;
}

static void check_reads(void *context, Term term, const TermPlace *place)
{
    Verifier *v = context;
    verify_calls(v, term, place);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (term_refs(v->model, term)[k].kind != REF_NOW) {
            report(v, place->span, "reads something else than its fields",
                   "time, derivatives and earlier values are given to it as arguments");
            return;
        }
}

static void check_list(Verifier *v, uint32_t first, uint32_t n_loops)
{
    for (uint32_t k = first; k; k = v->model->statements.at[k].next) {
        const Statement *s = &v->model->statements.at[k];
        if (s->kind == STATEMENT_ASSIGN && term_refs(v->model, s->target)[0].var.index < v->function->n_inputs)
            report(v, s->span, "assigns its input", "assign to a local variable");
        if (s->kind == STATEMENT_BREAK && n_loops == 0)
            report(v, s->span, "has a break outside of a loop", "use return to leave the function");
        if (s->kind == STATEMENT_SEND)
            report(v, s->span, "sends a message", "only what transitions execute sends");
        check_list(v, s->inner, n_loops + (s->kind == STATEMENT_FOR || s->kind == STATEMENT_WHILE));
        check_list(v, s->otherwise, n_loops);
    }
}

/* A binding is computed when the function begins: what it reads has its value by then. */
static void check_begins(Verifier *v)
{
    for (uint32_t k = 0; k < v->model->variables.n; k++) {
        const Variable *field = &v->model->variables.at[k];
        const Term begin = field->binding;
        for (uint32_t j = 0; begin.shape && j < begin.shape->n_leaves; j++)
            if (term_refs(v->model, begin)[j].var.index >= k)
                report(v, field->span, "has a field that begins with a later one", "declare the later one first");
    }
}

/* Only the sizes of inputs are open. */
static void check_sizes(Verifier *v)
{
    for (uint32_t k = v->function->n_inputs; k < v->model->variables.n; k++) {
        const Variable *field = &v->model->variables.at[k];
        for (uint32_t d = 0; d < field->type.rank; d++)
            if (v->model->dims.at[field->first_dim + d].term.shape->kind == EXPR_RANGE)
                report(v, field->span, "has a result or local array with an open size",
                       "say it, as in Real[size(x, 1)]");
    }
}

/* Only C makes objects, and only constructors give them. */
static void check_objects(Verifier *v)
{
    for (uint32_t k = v->function->n_inputs; k < v->model->variables.n && !v->function->external; k++)
        if (v->model->variables.at[k].type.kind == TYPE_OBJECT)
            report(v, v->model->variables.at[k].span, "has a result or local that is an external object",
                   "let it take the object as an input");
}

/* V20: what is declared of a function fits it. */
static void check_declared(Verifier *v)
{
    Span where = v->function->span;
    const char *help, *mistake = declared_mistake(v->function, &where, &help);
    if (!mistake)
        return;
    diag_error(v->diag, DIAG_FUNCTION_DECLARED, where, "function %s %s",
               names_of(pool_names(v->model->pool), v->function->name), mistake);
    diag_help(v->diag, "%s", help);
    v->is_good = false;
}

bool verify_function(Verifier *v)
{
    const char *help, *mistake = v->function->external ? external_mistake(v->function, &help) : NULL;
    if (mistake) {
        diag_error(v->diag, DIAG_EXTERNAL_FORM, v->function->span, "function %s %s",
                   names_of(pool_names(v->model->pool), v->function->name), mistake);
        diag_help(v->diag, "%s", help);
        v->is_good = false;
    }
    if (v->function->n_outputs == 0)
        report(v, v->function->span, "has no output", "give it one: what it computes, or that it is done");
    function_visit_terms(v->function, check_reads, v);
    check_list(v, v->function->first, 0);
    verify_results(v);
    check_begins(v);
    check_sizes(v);
    check_objects(v);
    check_declared(v);
    return v->is_good;
}
