/* Printing a Model, element by element; see print.h.
 *
 * The body is printed first: only then is known which sources, enumerations and shapes it uses. Their
 * declarations are put before it at the end. They are numbered in the order of first use, so that
 * nothing in the text depends on numbers in the pool or among the sources. */
#include "ir/print.h"
#include "base/bug.h"
#include "ir/print_term.h"
#include <stdlib.h>

/* An element inside a region. */
typedef struct {
    uint32_t region, branch, index;
} Placed;

typedef struct {
    Placed *at;
    uint32_t n;
    uint32_t *first; /* per region, and one more: where its elements begin */
} PlacedList;

/* Elements of one kind in the order in which they are printed. */
typedef struct {
    Map seen; /* names that are taken */
    VEC(uint32_t) order;
} Numbering;

typedef struct {
    Printer p;
    PlacedList equations, transitions, regions;
    Numbering numbering[LABEL_COUNT];
} ModelPrinter;

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

static bool is_inside(const Model *model, RegionId region, uint32_t branch)
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
        const Model *const model_ = (mp)->p.model;                                                                     \
        (list)->at = NEW_ARRAY((mp)->p.arena, Placed, model_->array.n);                                                \
        for (uint32_t k_ = 0; k_ < model_->array.n; k_++)                                                              \
            if (is_inside(model_, model_->array.at[k_].region_field, model_->array.at[k_].branch_field))               \
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
static void each_placed(ModelPrinter *mp, const PlacedList *list, uint32_t region, uint32_t branch,
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
        each_placed(mp, &mp->equations, index, branch, number_equation);
        each_placed(mp, &mp->transitions, index, branch, number_transition);
        each_placed(mp, &mp->regions, index, branch, number_region);
    }
}

/* Equations outside regions, regions with what is in them, transitions outside regions. */
static void each_dynamic(ModelPrinter *mp, void (*equation)(ModelPrinter *, uint32_t),
                         void (*region)(ModelPrinter *, uint32_t), void (*transition)(ModelPrinter *, uint32_t))
{
    const Model *model = mp->p.model;
    for (uint32_t k = 0; k < model->equations.n; k++)
        if (!is_inside(model, model->equations.at[k].region, model->equations.at[k].branch))
            equation(mp, k);
    for (uint32_t k = 0; k < model->regions.n; k++)
        if (!is_inside(model, model->regions.at[k].parent, model->regions.at[k].parent_branch))
            region(mp, k);
    for (uint32_t k = 0; k < model->transitions.n; k++)
        if (!is_inside(model, model->transitions.at[k].region, model->transitions.at[k].branch))
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
    each_dynamic(mp, number_equation, number_region, number_transition);
}

/* ---- lines ---- */
static void begin_line(Printer *p, Word keyword)
{
    for (uint32_t k = 0; k < p->indent; k++)
        printer_put(p, "  ");
    printer_put(p, word_text(keyword));
}

static void begin_plain(Printer *p)
{
    for (uint32_t k = 0; k < p->indent; k++)
        printer_put(p, "  ");
}

static void end_line(Printer *p, Span span)
{
    printer_put_place(p, span);
    text_char(p->to, '\n');
}

static void put_space(Printer *p)
{
    text_char(p->to, ' ');
}

static void put_attribute(Printer *p, Word word, Term term)
{
    if (term_is_absent(term))
        return;
    printer_put_word(p, word);
    put_space(p);
    printer_put_term(p, term, BINDS_OR);
}

static void put_text_attribute(Printer *p, Word word, NameId text)
{
    if (name_is_empty(text))
        return;
    printer_put_word(p, word);
    put_space(p);
    printer_put_string(p, text);
}

static void put_choice(Printer *p, const WordList *list, uint32_t value)
{
    REQUIRE(value < list->n);
    printer_put_word(p, list->words[value]);
}

static void put_region(Printer *p, RegionId region, uint32_t branch)
{
    if (region.index == ID_NONE)
        return;
    printer_put_word(p, WORD_REGION);
    put_space(p);
    printer_put_label(p, LABEL_REGION, region.index);
    text_char(p->to, '.');
    printer_put_number(p, branch);
}

static void put_origin(Printer *p, const Origin *origin)
{
    if (origin->parent.index != ID_NONE) {
        printer_put_word(p, WORD_FROM);
        put_space(p);
        printer_put_label(p, LABEL_EQUATION, origin->parent.index);
    }
    if (origin->made_by) {
        printer_put_word(p, WORD_BY);
        put_space(p);
        printer_put_quoted(p, origin->made_by, strlen(origin->made_by), '"');
    }
}

/* ---- variables ---- */
static void put_dims(Printer *p, const Variable *v)
{
    if (v->type.rank == 0)
        return;
    text_char(p->to, '[');
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const Dim *dim = &p->model->dims.at[v->first_dim + k];
        if (k)
            printer_put(p, ", ");
        printer_put_term(p, dim->term, BINDS_OR);
        if (dim->extent >= 0 && dim->term.shape->kind != EXPR_INTEGER)
            text_format(p->to, " = %lld", (long long)dim->extent);
    }
    text_char(p->to, ']');
}

static bool is_parameter(const Variable *v)
{
    return v->variability <= VARIABILITY_PARAMETER;
}

static uint8_t usual_variability(Type type)
{
    return type.kind == TYPE_REAL ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE;
}

/* From the type to the end of the line. */
static void put_variable_row(Printer *p, const Variable *v, bool is_field)
{
    put_space(p);
    printer_put_type(p, v->type);
    put_dims(p, v);
    if (v->variability == VARIABILITY_STRUCTURAL)
        printer_put_word(p, WORD_STRUCTURAL);
    if (is_field ? v->variability != usual_variability(v->type) : !is_parameter(v))
        put_choice(p, &variability_words, v->variability);
    if (v->definition != (is_parameter(v) && !is_field ? DEFINITION_BINDING : DEFINITION_NONE))
        put_choice(p, &definition_words, v->definition);
    if (v->causality != CAUSALITY_LOCAL) {
        printer_put_word(p, WORD_CAUSALITY);
        put_choice(p, &causality_words, v->causality);
    }
    if (!term_is_absent(v->binding)) {
        printer_put(p, " = ");
        printer_put_term(p, v->binding, BINDS_OR);
    }
    put_attribute(p, WORD_START, v->start);
    if (v->is_fixed)
        printer_put_word(p, WORD_FIXED);
    put_attribute(p, WORD_NOMINAL, v->nominal);
    put_attribute(p, WORD_MIN, v->min);
    put_attribute(p, WORD_MAX, v->max);
    if (v->select != SELECT_DEFAULT) {
        printer_put_word(p, WORD_SELECT);
        put_choice(p, &select_words, v->select);
    }
    put_text_attribute(p, WORD_UNIT, v->unit);
    put_text_attribute(p, WORD_DISPLAYUNIT, v->display_unit);
    put_text_attribute(p, WORD_QUANTITY, v->quantity);
    put_text_attribute(p, WORD_COMMENT, v->comment);
    if (v->is_protected)
        printer_put_word(p, WORD_PROTECTED);
    if (v->is_generated)
        printer_put_word(p, WORD_GENERATED);
    if (!var_is_none(v->origin)) {
        printer_put_word(p, WORD_ORIGIN);
        put_space(p);
        printer_put_variable(p, v->origin);
    }
    end_line(p, v->span);
}

static void print_variables(Printer *p)
{
    for (uint32_t k = 0; k < p->model->variables.n; k++) {
        const Variable *v = &p->model->variables.at[k];
        if (p->function_of && p->function_of[k])
            continue;
        begin_line(p, v->variability == VARIABILITY_CONSTANT ? WORD_CONST : is_parameter(v) ? WORD_PARAM : WORD_VAR);
        put_space(p);
        printer_put_path(p, v->owner, v->name);
        put_variable_row(p, v, false);
    }
}

static void print_aliases(Printer *p)
{
    for (uint32_t k = 0; k < p->model->variables.n; k++) {
        const Variable *v = &p->model->variables.at[k];
        if (var_is_none(v->alias))
            continue;
        begin_line(p, WORD_ALIAS);
        put_space(p);
        printer_put_variable(p, (VarId){ k });
        printer_put(p, " = ");
        if (v->is_negated)
            printer_put(p, v->type.kind == TYPE_BOOLEAN ? "not " : "-");
        printer_put_variable(p, v->alias);
        end_line(p, SPAN_NONE);
    }
}

/* ---- statements ---- */
static void put_statements(Printer *p, uint32_t first);

static void put_target(Printer *p, Term target)
{
    printer_put_expr(p, target.shape, term_refs(p->model, target), BINDS_IF);
}

static void put_end(Printer *p, Word what)
{
    begin_line(p, WORD_END);
    printer_put_word(p, what);
    text_char(p->to, '\n');
}

static void put_inner(Printer *p, uint32_t first)
{
    p->indent++;
    put_statements(p, first);
    p->indent--;
}

static void put_if_statement(Printer *p, const Statement *s)
{
    begin_line(p, WORD_IF);
    for (;;) {
        put_space(p);
        printer_put_term(p, s->value, BINDS_OR);
        printer_put(p, " then");
        end_line(p, s->span);
        put_inner(p, s->inner);
        const Statement *other = s->otherwise ? &p->model->statements.at[s->otherwise] : NULL;
        if (!other)
            break;
        if (other->kind != STATEMENT_IF || other->next) {
            begin_line(p, WORD_ELSE);
            text_char(p->to, '\n');
            put_inner(p, s->otherwise);
            break;
        }
        begin_line(p, WORD_ELSEIF);
        s = other;
    }
    put_end(p, WORD_IF);
}

static void put_statement(Printer *p, const Statement *s)
{
    switch ((StatementKind)s->kind) {
    case STATEMENT_ASSIGN:
        begin_plain(p);
        put_target(p, s->target);
        printer_put(p, " := ");
        printer_put_term(p, s->value, BINDS_IF);
        end_line(p, s->span);
        return;
    case STATEMENT_IF: put_if_statement(p, s); return;
    case STATEMENT_FOR:
        begin_plain(p);
        printer_put_domain(p, s->domain);
        p->to->n--; /* the blank after the colon */
        p->to->at[p->to->n] = 0;
        end_line(p, s->span);
        put_inner(p, s->inner);
        printer_leave_domain(p, s->domain);
        put_end(p, WORD_FOR);
        return;
    case STATEMENT_WHILE:
        begin_line(p, WORD_WHILE);
        put_space(p);
        printer_put_term(p, s->value, BINDS_OR);
        printer_put_word(p, WORD_DO);
        end_line(p, s->span);
        put_inner(p, s->inner);
        put_end(p, WORD_WHILE);
        return;
    case STATEMENT_BREAK:
        begin_line(p, WORD_BREAK);
        end_line(p, s->span);
        return;
    case STATEMENT_RETURN:
        begin_line(p, WORD_RETURN);
        end_line(p, s->span);
        return;
    case STATEMENT_ASSERT:
        begin_line(p, WORD_CHECK);
        put_space(p);
        printer_put_term(p, s->value, BINDS_OR);
        put_space(p);
        printer_put_string(p, s->text);
        end_line(p, s->span);
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
static void put_body(Printer *p, uint32_t first)
{
    begin_line(p, WORD_BEGIN);
    text_char(p->to, '\n');
    put_inner(p, first);
    begin_line(p, WORD_END);
    text_char(p->to, '\n');
}

static void put_end_label(Printer *p, LabelKind kind, uint32_t index)
{
    begin_line(p, WORD_END);
    put_space(p);
    printer_put_label(p, kind, index);
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

static void print_equation(ModelPrinter *mp, uint32_t index)
{
    static const Word keywords[] = { WORD_EQ, WORD_EQ, WORD_ALGORITHM, WORD_EQ, WORD_DROPPED };
    Printer *p = &mp->p;
    const Equation *e = &p->model->equations.at[index];
    begin_line(p, keywords[e->kind]);
    if (e->when_valid != VALID_ALWAYS)
        printer_put_word(p, e->when_valid == VALID_INITIAL_ONLY ? WORD_INITIAL : WORD_RUNNING);
    put_space(p);
    printer_put_label(p, LABEL_EQUATION, index);
    put_space(p);
    printer_put_domain(p, e->domain);
    if (e->kind != EQUATION_ALGORITHM)
        put_sides(p, e);
    while (p->to->at[p->to->n - 1] == ' ')
        p->to->at[--p->to->n] = 0;
    if (!is_inside(p->model, e->region, e->branch))
        put_region(p, e->region, e->branch);
    put_origin(p, &e->origin);
    end_line(p, e->origin.span);
    if (e->kind == EQUATION_ALGORITHM) {
        put_inner(p, e->body);
        put_end_label(p, LABEL_EQUATION, index);
    }
    printer_leave_domain(p, e->domain);
}

/* ---- transitions ---- */
static void put_guard(Printer *p, Term guard)
{
    begin_plain(p);
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
    end_line(p, a->span);
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

static void put_action(Printer *p, const Action *a)
{
    put_guard(p, a->guard);
    printer_put(p, word_text(action_words.words[a->kind]));
    if (a->kind == ACTION_SEND) {
        put_space(p);
        printer_put_label(p, LABEL_CHANNEL, a->channel);
    }
    if (a->priority) {
        printer_put_word(p, WORD_PRIORITY);
        put_space(p);
        text_integer(p->to, a->priority);
    }
    if (a->kind != ACTION_SEND || !name_is_empty(a->text)) {
        put_space(p);
        printer_put_string(p, a->text);
    }
    put_arguments(p, a);
    end_line(p, a->span);
}

static void put_trigger(Printer *p, const Transition *t)
{
    put_choice(p, &trigger_words, t->trigger);
    switch ((Trigger)t->trigger) {
    case TRIGGER_TICK:
        put_space(p);
        printer_put_label(p, LABEL_CLOCK, t->object);
        return;
    case TRIGGER_MESSAGE:
        put_space(p);
        printer_put_label(p, LABEL_CHANNEL, t->object);
        return;
    case TRIGGER_ENTRY:
        put_space(p);
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
        text_format(p->to, " group %u %u", printer_use(p, &p->groups, t->group) + 1, t->rank);
    if (t->edge_start == EDGE_START_FALSE)
        printer_put(p, " start false");
    if (!is_inside(p->model, t->region, t->branch))
        put_region(p, t->region, t->branch);
    put_origin(p, &t->origin);
    if (t->domain.index) {
        put_space(p);
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

static void print_transition(ModelPrinter *mp, uint32_t index)
{
    Printer *p = &mp->p;
    const Model *model = p->model;
    const Transition *t = &model->transitions.at[index];
    begin_line(p, WORD_TRANS);
    put_space(p);
    printer_put_label(p, LABEL_TRANSITION, index);
    put_transition_head(p, t);
    end_line(p, t->origin.span);
    p->indent++;
    for (uint32_t k = 0; k < t->n_assignments; k++)
        put_assignment(p, &model->assignments.at[t->first_assignment + k], (Effect)t->effect);
    if (t->body)
        put_body(p, t->body);
    for (uint32_t k = 0; k < t->n_actions; k++)
        put_action(p, &model->actions.at[t->first_action + k]);
    p->indent--;
    printer_leave_domain(p, t->domain);
    put_end_label(p, LABEL_TRANSITION, index);
}

/* ---- regions ---- */
static void print_region(ModelPrinter *mp, uint32_t index)
{
    Printer *p = &mp->p;
    const Region *r = &p->model->regions.at[index];
    begin_line(p, WORD_REGION);
    put_space(p);
    printer_put_label(p, LABEL_REGION, index);
    put_choice(p, &region_words, r->kind);
    if (!var_is_none(r->selector)) {
        printer_put_word(p, WORD_SELECTOR);
        put_space(p);
        printer_put_variable(p, r->selector);
    }
    if (!is_inside(p->model, r->parent, r->parent_branch))
        put_region(p, r->parent, r->parent_branch);
    end_line(p, r->span);
    for (uint32_t branch = 1; branch <= r->n_conditions + r->has_else; branch++) {
        if (branch <= r->n_conditions) {
            begin_line(p, WORD_CASE);
            put_space(p);
            printer_put_term(p, p->model->conditions.at[r->first_condition + branch - 1], BINDS_OR);
        } else {
            begin_line(p, WORD_ELSE);
        }
        printer_put(p, " :\n");
        p->indent++;
        each_placed(mp, &mp->equations, index, branch, print_equation);
        each_placed(mp, &mp->transitions, index, branch, print_transition);
        each_placed(mp, &mp->regions, index, branch, print_region);
        p->indent--;
    }
    put_end_label(p, LABEL_REGION, index);
}

/* ---- relations and step functions ---- */
static void print_relations(Printer *p)
{
    for (uint32_t k = 0; k < p->model->relations.n; k++) {
        const Relation *r = &p->model->relations.at[k];
        begin_line(p, WORD_RELATION);
        text_format(p->to, " k%u ", k + 1);
        printer_put_term(p, r->left, BINDS_SUM);
        printer_put(p, r->is_strict ? " > " : " >= ");
        printer_put_term(p, r->right, BINDS_SUM);
        put_choice(p, &relation_words, r->kind);
        put_attribute(p, WORD_SLOPE, r->slope);
        put_attribute(p, WORD_FLIP, r->flip);
        if (!var_is_none(r->bit)) {
            printer_put_word(p, WORD_BIT);
            put_space(p);
            printer_put_variable(p, r->bit);
        }
        put_region(p, r->region, r->branch);
        put_origin(p, &r->origin);
        end_line(p, r->origin.span);
    }
}

static void print_steps(Printer *p)
{
    for (uint32_t k = 0; k < p->model->steps.n; k++) {
        const StepFunction *s = &p->model->steps.at[k];
        begin_line(p, WORD_STEPFN);
        text_format(p->to, " s%u %s(", k + 1, op_text(step_ops[s->op]));
        printer_put_term(p, s->argument, BINDS_IF);
        text_char(p->to, ')');
        put_choice(p, &relation_words, s->kind);
        put_attribute(p, WORD_SLOPE, s->slope);
        put_attribute(p, WORD_OFFSET, s->offset);
        if (!var_is_none(s->value)) {
            printer_put_word(p, WORD_VALUE);
            put_space(p);
            printer_put_variable(p, s->value);
        }
        put_region(p, s->region, s->branch);
        put_origin(p, &s->origin);
        end_line(p, s->origin.span);
    }
}

/* ---- time-driven elements ---- */
static void begin_labelled(Printer *p, Word keyword, LabelKind kind, uint32_t index)
{
    begin_line(p, keyword);
    put_space(p);
    printer_put_label(p, kind, index);
}

static void print_channels(Printer *p)
{
    for (uint32_t k = 0; k < p->model->channels.n; k++) {
        const Channel *c = &p->model->channels.at[k];
        begin_labelled(p, WORD_CHANNEL, LABEL_CHANNEL, k);
        printer_put_word(p, WORD_CAPACITY);
        put_space(p);
        printer_put_number(p, c->capacity);
        if (c->by_priority)
            printer_put_word(p, WORD_PRIORITY);
        if (c->keep)
            printer_put_word(p, WORD_KEEP);
        if (c->n_fields)
            printer_put(p, " (");
        for (uint32_t f = 0; f < c->n_fields; f++) {
            if (f)
                printer_put(p, ", ");
            printer_put_variable(p, p->model->fields.at[c->first_field + f]);
        }
        if (c->n_fields)
            text_char(p->to, ')');
        end_line(p, c->span);
    }
}

static void put_ratio(Printer *p, int64_t numerator, int64_t denominator)
{
    put_space(p);
    text_integer(p->to, numerator);
    if (denominator == 1)
        return;
    text_char(p->to, '/');
    text_integer(p->to, denominator);
}

static void print_clocks(Printer *p)
{
    for (uint32_t k = 0; k < p->model->clocks.n; k++) {
        const Clock *c = &p->model->clocks.at[k];
        begin_labelled(p, WORD_CLOCK, LABEL_CLOCK, k);
        put_choice(p, &clock_words, c->kind);
        if (c->kind >= CLOCK_SUB) {
            put_space(p);
            printer_put_label(p, LABEL_CLOCK, c->base);
        }
        if (c->kind == CLOCK_PERIODIC || c->kind >= CLOCK_SUB)
            put_ratio(p, c->numerator, c->denominator);
        put_attribute(p, WORD_START, c->start);
        put_attribute(p, WORD_INTERVAL, c->interval);
        end_line(p, c->span);
    }
}

static void print_delays(Printer *p)
{
    for (uint32_t k = 0; k < p->model->delays.n; k++) {
        const Delay *d = &p->model->delays.at[k];
        begin_labelled(p, WORD_DELAY, LABEL_DELAY, k);
        put_space(p);
        printer_put_variable(p, d->output);
        put_attribute(p, WORD_OF, d->input);
        put_attribute(p, WORD_BY, d->amount);
        put_attribute(p, WORD_MAX, d->max);
        end_line(p, d->span);
    }
}

static void print_streams(Printer *p)
{
    for (uint32_t k = 0; k < p->model->streams.n; k++) {
        begin_labelled(p, WORD_STREAM, LABEL_STREAM, k);
        end_line(p, p->model->streams.at[k].span);
    }
}

static void print_tables(Printer *p)
{
    for (uint32_t k = 0; k < p->model->tables.n; k++) {
        const Table *t = &p->model->tables.at[k];
        begin_labelled(p, WORD_TABLE, LABEL_TABLE, k);
        put_choice(p, &table_words, t->method);
        put_choice(p, &outside_words, t->outside);
        for (uint32_t i = 0; i < t->n; i++) {
            printer_put(p, " (");
            text_real_point(p->to, t->x[i]);
            printer_put(p, ", ");
            text_real_point(p->to, t->y[i]);
            text_char(p->to, ')');
        }
        end_line(p, t->span);
    }
}

static void print_assertions(Printer *p)
{
    for (uint32_t k = 0; k < p->model->assertions.n; k++) {
        const Assertion *a = &p->model->assertions.at[k];
        begin_labelled(p, WORD_ASSERT, LABEL_ASSERTION, k);
        put_space(p);
        printer_put_term(p, a->condition, BINDS_OR);
        put_space(p);
        printer_put_string(p, a->message);
        if (a->level == ASSERT_WARNING)
            printer_put_word(p, WORD_WARNING);
        end_line(p, a->span);
    }
}

/* ---- functions ---- */
/* x for a variable called "function.x", .x for another one of the top instance, a path else. */
static void put_field_name(Printer *p, VarId var)
{
    const Variable *v = model_var(p->model, var);
    if (v->owner.index == 0 && !function_local_name(p->model, printer_function_label(p, p->function - 1), var)) {
        text_char(p->to, '.');
        printer_put_name(p, v->name);
    } else {
        printer_put_variable(p, var);
    }
}

static void print_function(Printer *p, uint32_t index)
{
    const Function *f = &p->model->functions.at[index];
    p->function = index + 1;
    begin_labelled(p, WORD_FUNCTION, LABEL_FUNCTION, index);
    if (!f->is_pure)
        printer_put_word(p, WORD_IMPURE);
    put_text_attribute(p, WORD_EXTERNAL, f->external);
    end_line(p, f->span);
    p->indent++;
    for (uint32_t k = 0; k < f->n_inputs + f->n_outputs + f->n_locals; k++) {
        const VarId var = p->model->fields.at[f->first_parameter + k];
        begin_line(p, k < f->n_inputs ? WORD_INPUT : k < f->n_inputs + f->n_outputs ? WORD_OUTPUT : WORD_LOCAL);
        put_space(p);
        put_field_name(p, var);
        put_variable_row(p, model_var(p->model, var), true);
    }
    if (f->body)
        put_body(p, f->body);
    p->indent--;
    put_end_label(p, LABEL_FUNCTION, index);
    p->function = 0;
}

static void find_function_fields(Printer *p)
{
    if (p->model->functions.n == 0)
        return;
    p->function_of = NEW_ARRAY(p->arena, uint32_t, p->model->variables.n);
    for (uint32_t k = 0; k < p->model->functions.n; k++) {
        const Function *f = &p->model->functions.at[k];
        for (uint32_t i = 0; i < f->n_inputs + f->n_outputs + f->n_locals; i++)
            p->function_of[p->model->fields.at[f->first_parameter + i].index] = k + 1;
    }
}

/* ---- structure ---- */
static const char *source_language(const Printer *p, Span span)
{
    if (span.source == SOURCE_NONE || p->options.no_places || !p->model->sources)
        return TEXT_FORM;
    const char *language = sources_get(p->model->sources, span.source)->language;
    return language ? language : TEXT_FORM;
}

static void put_language(Printer *p, const char *language, const char *usual)
{
    if (!language || strcmp(language, usual) == 0)
        return;
    printer_put_word(p, WORD_LANGUAGE);
    put_space(p);
    printer_put_plain_or_string(p, language);
}

static const char *language_of(const Printer *p, InstanceId instance)
{
    while (instance.index != ID_NONE) {
        const Instance *node = &p->model->instances.at[instance.index];
        if (node->language && instance.index != 0)
            return node->language;
        instance = node->parent;
    }
    return p->model->language ? p->model->language : source_language(p, p->model->span);
}

static void print_instances(Printer *p)
{
    for (uint32_t k = 1; k < p->model->instances.n; k++) {
        const Instance *instance = &p->model->instances.at[k];
        begin_line(p, WORD_INSTANCE);
        put_space(p);
        printer_put_path(p, instance->parent, instance->name);
        put_space(p);
        printer_put_name(p, instance->class_name);
        put_language(p, instance->language, language_of(p, instance->parent));
        end_line(p, instance->span);
    }
}

/* Potentials, then flows: (Va, Vb / i, -j). */
static bool is_physical(const Printer *p, const Port *port, uint32_t *n_potentials)
{
    uint32_t k = 0;
    while (k < port->n_members && p->model->members.at[port->first_member + k].role == ROLE_POTENTIAL)
        k++;
    *n_potentials = k;
    while (k < port->n_members && p->model->members.at[port->first_member + k].role == ROLE_FLOW)
        k++;
    return k == port->n_members && *n_potentials > 0 && *n_potentials < k;
}

static void print_ports(Printer *p)
{
    for (uint32_t k = 0; k < p->model->ports.n; k++) {
        const Port *port = &p->model->ports.at[k];
        uint32_t n_potentials;
        const bool physical = is_physical(p, port, &n_potentials);
        begin_labelled(p, WORD_PORT, LABEL_PORT, k);
        put_space(p);
        printer_put_name(p, port->connector);
        printer_put(p, " (");
        for (uint32_t i = 0; i < port->n_members; i++) {
            const PortMember *member = &p->model->members.at[port->first_member + i];
            if (i)
                printer_put(p, physical && i == n_potentials ? " / " : ", ");
            if (!physical) {
                printer_put(p, word_text(role_words.words[member->role]));
                put_space(p);
            }
            if (member->is_negated)
                text_char(p->to, '-');
            printer_put_variable(p, member->var);
        }
        text_char(p->to, ')');
        end_line(p, port->span);
    }
}

static void print_connections(Printer *p)
{
    Map ports;
    map_init(&ports, p->arena, p->model->ports.n);
    for (uint32_t k = 0; k < p->model->ports.n; k++) {
        const Port *port = &p->model->ports.at[k];
        map_put(&ports, (uint64_t)port->owner.index << 32 | port->name.index, k);
    }
    for (uint32_t k = 0; k < p->model->connections.n; k++) {
        const Connection *c = &p->model->connections.at[k];
        begin_line(p, WORD_CONNECT);
        if (c->is_acausal) {
            put_space(p);
            printer_put_label(p, LABEL_PORT, c->port_a);
            put_space(p);
            printer_put_label(p, LABEL_PORT, c->port_b);
        } else {
            const Variable *from = model_var(p->model, c->from), *to = model_var(p->model, c->to);
            uint32_t ignored;
            if (map_get(&ports, (uint64_t)from->owner.index << 32 | from->name.index, &ignored) &&
                map_get(&ports, (uint64_t)to->owner.index << 32 | to->name.index, &ignored))
                printer_put_word(p, WORD_CAUSAL); /* both could be ports */
            put_space(p);
            printer_put_variable(p, c->from);
            put_space(p);
            printer_put_variable(p, c->to);
        }
        end_line(p, c->span);
    }
}

/* ---- occurrence trees ---- */
/* Number of the argument of `above` that is `node`, or n_args. */
static uint32_t argument_number(const Expr *above, const Expr *node)
{
    uint32_t k = 0;
    while (k < above->n_args && above->args[k] != node)
        k++;
    return k;
}

/* The node is written as seen from the occurrence above it (. itself, .2 its second argument), as a side of the
 * equation (lhs, rhs), or in full. */
static void put_node(Printer *p, const Expr *node, const Expr *above, const Expr *lhs, const Expr *rhs)
{
    if (!node)
        text_char(p->to, '-');
    else if (above && node == above)
        text_char(p->to, '.');
    else if (above && argument_number(above, node) < above->n_args)
        text_format(p->to, ".%u", argument_number(above, node) + 1);
    else if (node == lhs)
        printer_put(p, "lhs");
    else if (node == rhs)
        printer_put(p, "rhs");
    else
        printer_put_expr(p, node, NULL, BINDS_OR);
}

typedef struct {
    uint32_t end;
    const Expr *node;
} Above;

static void put_spans(Printer *p, Word keyword, const Origin *origin, const char *label, const Expr *lhs,
                      const Expr *rhs)
{
    VEC(Above) above = { 0 };
    begin_line(p, WORD_OF);
    printer_put_word(p, keyword);
    text_format(p->to, " %s\n", label);
    for (uint32_t k = 0; k < origin->n_occurrences; k++) {
        const Occurrence *o = &p->model->occurrences.at[origin->first_occurrence + k];
        while (above.n && above.at[above.n - 1].end <= k)
            above.n--;
        begin_line(p, WORD_SPAN);
        text_format(p->to, " %u ", o->n_below);
        put_node(p, o->node, above.n ? above.at[above.n - 1].node : NULL, lhs, rhs);
        end_line(p, o->span);
        const Above next = { k + 1 + o->n_below, o->node };
        vec_push(p->arena, &above, next);
    }
}

static const char *label_text(Printer *p, LabelKind kind, uint32_t index)
{
    Text text = { .arena = p->arena };
    Text *const to = p->to;
    p->to = &text;
    printer_put_label(p, kind, index);
    p->to = to;
    return text.at;
}

static void print_spans(ModelPrinter *mp)
{
    Printer *p = &mp->p;
    const Model *model = p->model;
    if (p->options.no_places || model->occurrences.n == 0)
        return;
    const size_t before = p->to->n;
    begin_line(p, WORD_SPANS);
    text_char(p->to, '\n');
    const size_t empty = p->to->n;
    p->indent++;
    for (uint32_t k = 0; k < mp->numbering[LABEL_EQUATION].order.n; k++) {
        const uint32_t index = mp->numbering[LABEL_EQUATION].order.at[k];
        const Equation *e = &model->equations.at[index];
        if (e->origin.n_occurrences)
            put_spans(p, WORD_EQ, &e->origin, label_text(p, LABEL_EQUATION, index), e->lhs.shape, e->rhs.shape);
    }
    for (uint32_t k = 0; k < mp->numbering[LABEL_TRANSITION].order.n; k++) {
        const uint32_t index = mp->numbering[LABEL_TRANSITION].order.at[k];
        const Transition *t = &model->transitions.at[index];
        if (t->origin.n_occurrences)
            put_spans(p, WORD_TRANS, &t->origin, label_text(p, LABEL_TRANSITION, index), NULL, NULL);
    }
    for (uint32_t k = 0; k < model->relations.n; k++)
        if (model->relations.at[k].origin.n_occurrences)
            put_spans(p, WORD_RELATION, &model->relations.at[k].origin, arena_format(p->arena, "k%u", k + 1),
                      model->relations.at[k].left.shape, model->relations.at[k].right.shape);
    for (uint32_t k = 0; k < model->steps.n; k++)
        if (model->steps.at[k].origin.n_occurrences)
            put_spans(p, WORD_STEPFN, &model->steps.at[k].origin, arena_format(p->arena, "s%u", k + 1),
                      model->steps.at[k].argument.shape, NULL);
    p->indent--;
    if (p->to->n == empty)
        p->to->at[p->to->n = before] = 0;
    else
        put_end(p, WORD_SPANS);
}

/* ---- the whole ---- */
static void fill_paths(Printer *p)
{
    const Model *model = p->model;
    const char **paths = NEW_ARRAY(p->arena, const char *, model->instances.n);
    map_init(&p->top_instances, p->arena, 16);
    for (uint32_t k = 0; k < model->instances.n; k++) {
        const Instance *instance = &model->instances.at[k];
        if (instance->parent.index == ID_NONE) {
            paths[k] = "";
            continue;
        }
        REQUIRE(instance->parent.index < k);
        Text path = { .arena = p->arena };
        Text *const to = p->to;
        p->to = &path;
        printer_put(p, paths[instance->parent.index]);
        printer_put_name(p, instance->name);
        text_char(p->to, '.');
        p->to = to;
        paths[k] = path.at;
        if (instance->parent.index == 0)
            map_put(&p->top_instances, instance->name.index, k);
    }
    p->paths = paths;
}

static void print_model(ModelPrinter *mp)
{
    Printer *p = &mp->p;
    const Model *model = p->model;
    printer_put(p, "model ");
    printer_put_name(p, model->name);
    put_language(p, model->language, source_language(p, model->span));
    end_line(p, model->span);
    if (model->facts)
        text_format(p->to, "facts %u\n", model->facts);
    print_instances(p);
    print_variables(p);
    print_ports(p);
    print_channels(p);
    print_clocks(p);
    print_streams(p);
    print_tables(p);
    for (uint32_t k = 0; k < model->functions.n; k++)
        print_function(p, k);
    each_dynamic(mp, print_equation, print_region, print_transition);
    print_delays(p);
    print_relations(p);
    print_steps(p);
    print_assertions(p);
    print_connections(p);
    print_aliases(p);
    print_spans(mp);
    printer_put(p, "end ");
    printer_put_name(p, model->name);
    text_char(p->to, '\n');
}

static void print_sources(Printer *p)
{
    for (uint32_t k = 0; k < p->sources.items.n; k++) {
        const Source *source = sources_get(p->model->sources, p->sources.items.at[k]);
        text_format(p->to, "source %u ", k);
        printer_put_quoted(p, source->path, strlen(source->path), '"');
        if (source->language) {
            put_space(p);
            printer_put_plain_or_string(p, source->language);
        }
        text_char(p->to, '\n');
    }
}

static void print_enumerations(Printer *p)
{
    for (uint32_t k = 0; k < p->enumerations.items.n; k++) {
        const Enumeration *e = pool_get_enumeration(p->model->pool, p->enumerations.items.at[k]);
        const char *label = printer_enumeration_label(p, p->enumerations.items.at[k]);
        printer_put(p, "enum ");
        if (label == names_of(p->names, e->name)) {
            printer_put_name(p, e->name);
        } else {
            printer_put(p, label);
            printer_put_word(p, WORD_NAMED);
            put_space(p);
            printer_put_name(p, e->name);
        }
        printer_put(p, e->is_ordered ? " ordered (" : " (");
        for (uint32_t v = 0; v < e->n; v++) {
            if (v)
                printer_put(p, ", ");
            printer_put_name(p, e->values[v]);
        }
        printer_put(p, ")\n");
    }
}

static void print_shapes(Printer *p)
{
    for (uint32_t k = 0; k < p->shapes.items.n; k++) {
        text_format(p->to, "shape s%u = ", k + 1);
        printer_put_expr(p, pool_node(p->model->pool, p->shapes.items.at[k]), NULL, BINDS_IF);
        text_char(p->to, '\n');
    }
}

/* Moves what was added to the text since `middle` in front of what was added since `begin`. */
static void move_to_front(Printer *p, size_t begin, size_t middle)
{
    Text *to = p->to;
    const size_t size = to->n - middle;
    char *copy = arena_text(p->arena, to->at + middle, size);
    memmove(to->at + begin + size, to->at + begin, middle - begin);
    memcpy(to->at + begin, copy, size);
}

void model_print(const Model *model, Text *to, PrintOptions options)
{
    ModelPrinter mp = { .p = printer_create(model, to, options) };
    Printer *p = &mp.p;
    p->words = words_create(p->arena);
    p->spelling = NEW_ARRAY(p->arena, uint8_t, names_count(p->names));
    fill_paths(p);
    find_places(&mp);
    number_all(&mp);
    find_function_fields(p);
    const size_t begin = to->n;
    print_model(&mp);
    /* Shapes may use enumerations that nothing else does: so they come first, then move behind them. */
    const size_t body_end = to->n;
    print_shapes(p);
    const size_t shapes_end = to->n;
    printer_put(p, TEXT_FORM " 1\n");
    print_sources(p);
    print_enumerations(p);
    move_to_front(p, body_end, shapes_end);
    move_to_front(p, begin, body_end);
}
