/* Printing statements, equations, transitions, regions, relations and step functions; see print_model.h. */
#include "base/bug.h"
#include "ir/print_model.h"

/* ---- statements ---- */
static void put_statements(Printer *p, uint32_t first);

static void put_target(Printer *p, Term target)
{
    printer_put_expr(p, target.shape, term_refs(p->model, target), BINDS_IF);
}

static void put_message(Printer *p, NameId literal, Term message)
{
    printer_put_space(p);
    if (term_is_absent(message))
        printer_put_string(p, literal);
    else
        printer_put_term(p, message, BINDS_IF);
}

static void put_inner(Printer *p, uint32_t first)
{
    p->indent++;
    put_statements(p, first);
    p->indent--;
}

static void put_if_statement(Printer *p, const Statement *s)
{
    printer_begin_line(p, WORD_IF);
    for (;;) {
        printer_put_space(p);
        printer_put_term(p, s->value, BINDS_OR);
        printer_put(p, " then");
        printer_end_line(p, s->span);
        put_inner(p, s->inner);
        const Statement *other = s->otherwise ? &p->model->statements.at[s->otherwise] : NULL;
        if (!other)
            break;
        if (other->kind != STATEMENT_IF || other->next) {
            printer_begin_line(p, WORD_ELSE);
            text_char(p->to, '\n');
            put_inner(p, s->otherwise);
            break;
        }
        printer_begin_line(p, WORD_ELSEIF);
        s = other;
    }
    printer_put_end(p, WORD_IF);
}

/* The call of which an assignment takes a result, with its first one. */
static Term first_result(Printer *p, const Statement *s)
{
    const Expr *e = s->value.shape;
    const Function *f = e->u.function;
    const Type type = f->body->variables.at[f->n_inputs].type;
    return (Term){ expr_function(p->model->pool, f, 0, type, e->n_args, e->args), s->value.first_ref };
}

/* (a, ., b) := f(x): the results in their order, a dot for one that nobody takes. */
static void put_together(Printer *p, const Statement *s)
{
    const Statement *all = p->model->statements.at;
    uint32_t result = 0;
    printer_begin_plain(p);
    for (uint32_t k = s->inner; k; k = all[k].next) {
        for (; result < all[k].value.shape->result; result++)
            printer_put(p, result ? ", ." : "(.");
        printer_put(p, result++ ? ", " : "(");
        put_target(p, all[k].target);
    }
    printer_put(p, ") := ");
    printer_put_term(p, first_result(p, &all[s->inner]), BINDS_IF);
    printer_end_line(p, s->span);
}

static void put_arguments(Printer *p, const Action *a)
{
    if (a->n_args == 0)
        return;
    printer_put(p, " (");
    for (uint32_t k = 0; k < a->n_args; k++) {
        if (k)
            printer_put(p, ", ");
        printer_put_term(p, p->model->conditions.at[a->first_arg + k], BINDS_IF);
    }
    text_char(p->to, ')');
}

/* Behind its guard. */
static void put_action(Printer *p, const Action *a)
{
    printer_put(p, word_text(action_words.words[a->kind]));
    if (a->kind == ACTION_SEND) {
        printer_put_space(p);
        printer_put_label(p, LABEL_CHANNEL, a->channel);
    }
    if (a->priority) {
        printer_put_word(p, WORD_PRIORITY);
        printer_put_space(p);
        text_integer(p->to, a->priority);
    }
    if (a->kind != ACTION_SEND || !name_is_empty(a->text)) {
        put_message(p, a->text, a->message);
    }
    put_arguments(p, a);
    printer_end_line(p, a->span);
}

static void put_statement(Printer *p, const Statement *s)
{
    switch ((StatementKind)s->kind) {
    case STATEMENT_ASSIGN:
        printer_begin_plain(p);
        put_target(p, s->target);
        printer_put(p, " := ");
        printer_put_term(p, s->value, BINDS_IF);
        printer_end_line(p, s->span);
        return;
    case STATEMENT_TOGETHER: put_together(p, s); return;
    case STATEMENT_IF: put_if_statement(p, s); return;
    case STATEMENT_FOR:
        printer_begin_plain(p);
        printer_put_domain(p, s->domain);
        p->to->n--; /* the blank after the colon */
        p->to->at[p->to->n] = 0;
        printer_end_line(p, s->span);
        put_inner(p, s->inner);
        printer_leave_domain(p, s->domain);
        printer_put_end(p, WORD_FOR);
        return;
    case STATEMENT_WHILE:
        printer_begin_line(p, WORD_WHILE);
        printer_put_space(p);
        printer_put_term(p, s->value, BINDS_OR);
        printer_put_word(p, WORD_DO);
        printer_end_line(p, s->span);
        put_inner(p, s->inner);
        printer_put_end(p, WORD_WHILE);
        return;
    case STATEMENT_BREAK:
        printer_begin_line(p, WORD_BREAK);
        printer_end_line(p, s->span);
        return;
    case STATEMENT_RETURN:
        printer_begin_line(p, WORD_RETURN);
        printer_end_line(p, s->span);
        return;
    case STATEMENT_ASSERT:
        printer_begin_line(p, WORD_CHECK);
        printer_put_space(p);
        printer_put_term(p, s->value, BINDS_OR);
        printer_put(p, term_is_absent(s->message) ? "" : ",");
        put_message(p, s->text, s->message);
        printer_end_line(p, s->span);
        return;
    case STATEMENT_SEND:
        printer_begin_plain(p);
        put_action(p, &p->model->actions.at[s->action - 1]);
        return;
    }
    BUG("unknown StatementKind");
}

static void put_statements(Printer *p, uint32_t first)
{
    for (uint32_t k = first; k; k = p->model->statements.at[k].next)
        put_statement(p, &p->model->statements.at[k]);
}

/* "begin", the statements, "end". */
void printer_put_body(Printer *p, uint32_t first)
{
    printer_begin_line(p, WORD_BEGIN);
    text_char(p->to, '\n');
    put_inner(p, first);
    printer_begin_line(p, WORD_END);
    text_char(p->to, '\n');
}

/* ---- equations ---- */
static const char *equals_text(EquationKind kind)
{
    return kind == EQUATION_EXPLICIT ? " := " : kind == EQUATION_ITERATION ? " ~ " : " = ";
}

static void put_sides(Printer *p, const Equation *e)
{
    if (term_is_absent(e->lhs) || term_is_absent(e->rhs))
        return;
    if (e->kind == EQUATION_EXPLICIT || e->kind == EQUATION_ITERATION)
        put_target(p, e->lhs);
    else
        printer_put_term(p, e->lhs, BINDS_OR);
    printer_put(p, equals_text((EquationKind)e->kind));
    printer_put_term(p, e->rhs, BINDS_IF);
}

void printer_print_equation(ModelPrinter *mp, uint32_t index)
{
    static const Word keywords[] = { WORD_EQ, WORD_EQ, WORD_ALGORITHM, WORD_EQ, WORD_DROPPED };
    Printer *p = &mp->p;
    const Equation *e = &p->model->equations.at[index];
    printer_begin_line(p, keywords[e->kind]);
    if (e->when_valid != VALID_ALWAYS)
        printer_put_word(p, e->when_valid == VALID_INITIAL_ONLY ? WORD_INITIAL : WORD_RUNNING);
    printer_put_space(p);
    printer_put_label(p, LABEL_EQUATION, index);
    printer_put_space(p);
    printer_put_domain(p, e->domain);
    if (e->kind != EQUATION_ALGORITHM)
        put_sides(p, e);
    while (p->to->at[p->to->n - 1] == ' ')
        p->to->at[--p->to->n] = 0;
    if (!printer_is_inside(p->model, e->region, e->branch))
        printer_put_region_ref(p, e->region, e->branch);
    if (e->when) {
        printer_put_word(p, WORD_WHEN);
        printer_put_space(p);
        printer_put_label(p, LABEL_TRANSITION, e->when - 1);
    }
    printer_put_clock(p, e->clock);
    printer_put_origin(p, &e->origin);
    printer_end_line(p, e->origin.span);
    if (e->kind == EQUATION_ALGORITHM) {
        put_inner(p, e->body);
        printer_put_end_label(p, LABEL_EQUATION, index);
    }
    printer_leave_domain(p, e->domain);
}

/* ---- transitions ---- */
static void put_guard(Printer *p, Term guard)
{
    printer_begin_plain(p);
    if (term_is_absent(guard))
        return;
    printer_put(p, "if ");
    printer_put_term(p, guard, BINDS_OR);
    printer_put(p, " then ");
}

static void put_assignment(Printer *p, const Assignment *a, Effect effect)
{
    put_guard(p, a->guard);
    if (effect == EFFECT_NEXT)
        printer_put(p, "next(");
    put_target(p, a->target);
    printer_put(p, effect == EFFECT_NEXT ? ") := " : " := ");
    printer_put_term(p, a->value, BINDS_IF);
    printer_end_line(p, a->span);
}

static void put_trigger(Printer *p, const Transition *t)
{
    printer_put_choice(p, &trigger_words, t->trigger);
    switch ((Trigger)t->trigger) {
    case TRIGGER_TICK:
        printer_put_space(p);
        printer_put_label(p, LABEL_CLOCK, t->object);
        return;
    case TRIGGER_MESSAGE:
        printer_put_space(p);
        printer_put_label(p, LABEL_CHANNEL, t->object);
        return;
    case TRIGGER_ENTRY:
        printer_put_space(p);
        printer_put_number(p, t->object);
        return;
    case TRIGGER_LEVEL:
    case TRIGGER_EDGE:
    case TRIGGER_STEP:
    case TRIGGER_INITIAL:
    case TRIGGER_TERMINAL: return;
    }
    BUG("unknown Trigger");
}

static void put_transition_head(Printer *p, const Transition *t)
{
    put_trigger(p, t);
    printer_put_word(p, t->effect == EFFECT_NEXT ? WORD_NEXT : WORD_NOW);
    printer_put_word(p, t->form == FORM_PROCEDURE ? WORD_PROCEDURE : WORD_SET);
    if (t->group)
        text_format(p->to, " group %u %u", printer_use(p, &p->used.groups, t->group) + 1, t->rank);
    if (t->edge_start == EDGE_START_FALSE)
        printer_put(p, " start false");
    if (!printer_is_inside(p->model, t->region, t->branch))
        printer_put_region_ref(p, t->region, t->branch);
    printer_put_origin(p, &t->origin);
    if (t->domain.index) {
        printer_put_space(p);
        printer_put_domain(p, t->domain);
        p->to->at[p->to->n -= 2] = 0; /* ": " */
    }
    if (t->n_conditions)
        printer_put(p, " when ");
    for (uint32_t k = 0; k < t->n_conditions; k++) {
        if (k)
            printer_put(p, ", ");
        printer_put_term(p, p->model->conditions.at[t->first_condition + k], BINDS_OR);
    }
    printer_put(p, " :");
}

void printer_print_transition(ModelPrinter *mp, uint32_t index)
{
    Printer *p = &mp->p;
    const Model *model = p->model;
    const Transition *t = &model->transitions.at[index];
    printer_begin_line(p, WORD_TRANS);
    printer_put_space(p);
    printer_put_label(p, LABEL_TRANSITION, index);
    put_transition_head(p, t);
    printer_end_line(p, t->origin.span);
    p->indent++;
    for (uint32_t k = 0; k < t->n_assignments; k++)
        put_assignment(p, &model->assignments.at[t->first_assignment + k], (Effect)t->effect);
    if (t->body)
        printer_put_body(p, t->body);
    for (uint32_t k = t->first_action; k < t->first_action + t->n_actions; k++) {
        put_guard(p, model->actions.at[k].guard);
        put_action(p, &model->actions.at[k]);
    }
    p->indent--;
    printer_leave_domain(p, t->domain);
    printer_put_end_label(p, LABEL_TRANSITION, index);
}

/* ---- regions ---- */
void printer_print_region(ModelPrinter *mp, uint32_t index)
{
    Printer *p = &mp->p;
    const Region *r = &p->model->regions.at[index];
    printer_begin_line(p, WORD_REGION);
    printer_put_space(p);
    printer_put_label(p, LABEL_REGION, index);
    printer_put_choice(p, &region_words, r->kind);
    if (!var_is_none(r->selector)) {
        printer_put_word(p, WORD_SELECTOR);
        printer_put_space(p);
        printer_put_variable(p, r->selector);
    }
    if (!printer_is_inside(p->model, r->parent, r->parent_branch))
        printer_put_region_ref(p, r->parent, r->parent_branch);
    printer_end_line(p, r->span);
    for (uint32_t branch = 1; branch <= r->n_conditions + r->has_else; branch++) {
        if (branch <= r->n_conditions) {
            printer_begin_line(p, WORD_CASE);
            printer_put_space(p);
            printer_put_term(p, p->model->conditions.at[r->first_condition + branch - 1], BINDS_OR);
        } else {
            printer_begin_line(p, WORD_ELSE);
        }
        printer_put(p, " :\n");
        p->indent++;
        printer_each_placed(mp, &mp->equations, index, branch, printer_print_equation);
        printer_each_placed(mp, &mp->transitions, index, branch, printer_print_transition);
        printer_each_placed(mp, &mp->regions, index, branch, printer_print_region);
        p->indent--;
    }
    printer_put_end_label(p, LABEL_REGION, index);
}

/* ---- relations and step functions ---- */
void printer_print_relations(Printer *p)
{
    for (uint32_t k = 0; k < p->model->relations.n; k++) {
        const Relation *r = &p->model->relations.at[k];
        printer_begin_line(p, WORD_RELATION);
        text_format(p->to, " k%u ", k + 1);
        printer_put_domain(p, r->domain);
        printer_put_term(p, r->left, BINDS_SUM);
        printer_put(p, r->is_strict ? " > " : " >= ");
        printer_put_term(p, r->right, BINDS_SUM);
        printer_put_choice(p, &relation_words, r->kind);
        if (r->is_guarded)
            printer_put_word(p, WORD_GUARDED);
        printer_put_attribute(p, WORD_SLOPE, r->slope);
        printer_put_attribute(p, WORD_FLIP, r->flip);
        if (!var_is_none(r->bit)) {
            printer_put_word(p, WORD_BIT);
            printer_put_space(p);
            printer_put_variable(p, r->bit);
        }
        printer_leave_domain(p, r->domain);
        printer_put_region_ref(p, r->region, r->branch);
        printer_put_origin(p, &r->origin);
        printer_end_line(p, r->origin.span);
    }
}

void printer_put_step(Printer *p, const StepFunction *s)
{
    if (s->op == STEP_INTERVAL) {
        printer_put(p, "interval(");
        printer_put_table(p, s->table);
        printer_put(p, ", ");
    } else
        text_format(p->to, "%s(", op_text(step_ops[s->op]));
    printer_put_term(p, s->argument, BINDS_IF);
    text_char(p->to, ')');
}

void printer_print_steps(Printer *p)
{
    for (uint32_t k = 0; k < p->model->steps.n; k++) {
        const StepFunction *s = &p->model->steps.at[k];
        printer_begin_line(p, WORD_STEPFN);
        text_format(p->to, " s%u ", k + 1);
        printer_put_step(p, s);
        printer_put_choice(p, &relation_words, s->kind);
        if (s->is_guarded)
            printer_put_word(p, WORD_GUARDED);
        printer_put_attribute(p, WORD_SLOPE, s->slope);
        printer_put_attribute(p, WORD_OFFSET, s->offset);
        if (!var_is_none(s->value)) {
            printer_put_word(p, WORD_VALUE);
            printer_put_space(p);
            printer_put_variable(p, s->value);
        }
        printer_put_region_ref(p, s->region, s->branch);
        printer_put_origin(p, &s->origin);
        printer_end_line(p, s->origin.span);
    }
}

/* ---- state sets ---- */
static void put_set_columns(Printer *p, const StateSet *s)
{
    for (uint32_t k = 0; k < s->n_columns; k++) {
        printer_put_word(p, WORD_COLUMN);
        printer_put_word(p, WORD_WEIGHT);
        printer_put_space(p);
        text_real_point(p->to, s->weight[k]);
        printer_put(p, " (");
        for (uint32_t level = 0; level < s->height[k]; level++) {
            printer_put(p, level ? ", " : "");
            printer_put_variable(p, s->candidate[level * s->n_columns + k]);
        }
        printer_put(p, ")");
    }
}

static void put_set_rows(Printer *p, const StateSet *s)
{
    for (uint32_t k = 0, entry = 0; k < s->n_rows; k++) {
        printer_put_word(p, WORD_ROW);
        text_format(p->to, " %u (", s->depth[k]);
        for (uint32_t first = entry; entry < s->n_entries && s->row[entry] == k; entry++) {
            text_format(p->to, "%s%u ", entry == first ? "" : ", ", s->column[entry] + 1);
            printer_put_term(p, s->entry[entry], BINDS_IF);
        }
        printer_put(p, ")");
    }
}

void printer_print_state_sets(Printer *p)
{
    for (uint32_t k = 0; k < p->model->state_sets.n; k++) {
        const StateSet *s = &p->model->state_sets.at[k];
        printer_begin_line(p, WORD_STATESET);
        text_format(p->to, " z%u", k + 1);
        put_set_columns(p, s);
        put_set_rows(p, s);
        for (uint32_t level = 0, at = 0; level < s->n_levels; level++) {
            printer_put_word(p, WORD_LEVEL);
            printer_put(p, " (");
            for (uint32_t j = 0; j < s->n_states[level]; j++, at++) {
                printer_put(p, j ? ", " : "");
                printer_put_variable(p, s->state[at]);
                if (var_is_none(s->choice[at]))
                    continue;
                printer_put_space(p);
                printer_put_variable(p, s->choice[at]);
            }
            printer_put(p, ")");
        }
        printer_end_line(p, s->span);
    }
}
