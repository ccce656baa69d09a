/* Equations, regions, transitions, relations and step functions; see read_reader.h. */
#include "ir/read_reader.h"

/* ---- what several elements have ---- */
NameId reader_stored_name(const Reader *r, LabelKind kind, NameId name)
{
    const bool is_number =
        generated_number(names_of(r->names, name), names_length(r->names, name), label_letter(kind)) != 0;
    return is_number ? (NameId){ 0 } : name;
}

bool reader_parse_region_ref(Reader *r, RegionId *region, uint16_t *branch)
{
    int64_t number;
    if (!reader_parse_label(r, LABEL_REGION, &region->index) ||
        !reader_expect(r, TOKEN_DOT, "'.' and the number of a branch") ||
        !reader_parse_integer(r, 0, UINT16_MAX, &number))
        return false;
    *branch = (uint16_t)number;
    return true;
}

bool reader_parse_origin_word(Reader *r, Origin *origin, bool *known)
{
    NameId pass;
    *known = true;
    if (reader_accept_word(r, WORD_FROM))
        return reader_parse_label(r, LABEL_EQUATION, &origin->parent.index);
    if (reader_accept_word(r, WORD_BY)) {
        if (!reader_parse_string(r, &pass))
            return false;
        origin->made_by = names_of(r->names, pass);
        return true;
    }
    *known = false;
    return true;
}

/* region, when and clock (of equations), from and by, in any order. */
static bool parse_tail(Reader *r, Where *where, Equation *e, Origin *origin)
{
    for (;;) {
        bool known = true;
        if (reader_accept_word(r, WORD_REGION)) {
            if (!reader_parse_region_ref(r, &where->region, &where->branch))
                return false;
        } else if (e && reader_accept_word(r, WORD_WHEN)) {
            if (!reader_parse_label(r, LABEL_TRANSITION, &e->when))
                return false;
            e->when++;
        } else if (e && reader_accept_word(r, WORD_CLOCK)) {
            if (!reader_parse_label(r, LABEL_CLOCK, &e->clock))
                return false;
            e->clock++;
        } else if (!reader_parse_origin_word(r, origin, &known)) {
            return false;
        }
        if (!known)
            return true;
    }
}

/* ---- equations ---- */
static bool parse_sides(Reader *r, Equation *e)
{
    const uint32_t begin = r->token.begin;
    const Expr *lhs, *rhs;
    if (!reader_parse_any_term(r, &lhs))
        return false;
    const Span lhs_span = reader_span_from(r, begin);
    if (e->kind != EQUATION_DROPPED)
        e->kind = r->token.kind == TOKEN_ASSIGN  ? EQUATION_EXPLICIT
                  : r->token.kind == TOKEN_TILDE ? EQUATION_ITERATION
                                                 : EQUATION_RESIDUAL;
    if ((e->kind == EQUATION_EXPLICIT || e->kind == EQUATION_ITERATION) && !reader_check_target(r, lhs, lhs_span))
        return false;
    e->lhs = reader_finish_term(r, lhs);
    if (e->kind == EQUATION_EXPLICIT || e->kind == EQUATION_ITERATION)
        reader_advance(r);
    else if (!reader_expect(r, TOKEN_IS, "'=', ':=' or '~' between the sides of the equation"))
        return false;
    if (!reader_parse_any_term(r, &rhs))
        return false;
    rhs = reader_convert(r, rhs, lhs->type);
    if (lhs->n_leaves == 0)
        e->lhs.shape = lhs = reader_convert(r, lhs, rhs->type);
    if (!type_equal(lhs->type, rhs->type)) {
        reader_report(r, DIAG_IR_TYPE, reader_span_from(r, begin), "the left side is %s, the right side %s",
                      reader_type_text(r, lhs->type), reader_type_text(r, rhs->type));
        HELP(r, "both sides must have one type: real(...) converts an Integer, itrunc(...) a Real");
        return false;
    }
    e->rhs = reader_finish_term(r, rhs);
    return true;
}

static void add_equation(Reader *r, const Equation *e, Where where, const Label *label)
{
    const EqId id = model_add_equation(r->model, (EquationKind)e->kind, e->lhs, e->rhs, e->origin.span);
    Equation *row = &r->model->equations.at[id.index];
    row->when_valid = e->when_valid;
    row->body = e->body;
    row->domain = e->domain;
    row->origin = e->origin;
    row->when = e->when;
    row->clock = e->clock;
    row->region = where.region;
    row->branch = where.branch;
    row->owner = label->owner;
    row->name = reader_stored_name(r, LABEL_EQUATION, label->name);
}

/* (a, b) = f(x) is an equation for each result; those behind the first have no name and come last, since the numbers of
 * those that have one are known before they are read. */
static bool parse_results(Reader *r, Where where, uint32_t begin, Equation *e, const Label *label)
{
    Results results = { 0 };
    TokenKind sign = TOKEN_IS;
    if (!reader_parse_results(r, false, &sign, &results) || !parse_tail(r, &where, e, &e->origin) ||
        !reader_parse_element_end(r, begin, &e->origin.span))
        return false;
    e->kind = sign == TOKEN_ASSIGN ? EQUATION_EXPLICIT : EQUATION_RESIDUAL;
    for (uint32_t k = 0; k < results.places.n; k++) {
        e->lhs = results.places.at[k];
        e->rhs = results.values.at[k];
        if (k == 0) {
            add_equation(r, e, where, label);
            continue;
        }
        e->region = where.region;
        e->branch = where.branch;
        e->owner = label->owner;
        vec_push(r->arena, &r->scope->later, *e);
    }
    return true;
}

void reader_add_later(Reader *r)
{
    for (uint32_t k = 0; k < r->scope->later.n; k++) {
        const Equation *e = &r->scope->later.at[k];
        add_equation(r, e, (Where){ e->region, e->branch }, &(Label){ .owner = e->owner });
    }
    r->scope->later.n = 0;
}

/* Behind the label and the domain. */
static bool parse_equation_rest(Reader *r, Where where, uint32_t begin, Equation *e, const Label *label)
{
    const bool has_sides =
        e->kind == EQUATION_RESIDUAL ||
        (e->kind == EQUATION_DROPPED && !reader_is_element_end(r) && r->token.kind != TOKEN_PLACE &&
         !reader_has_word(r, WORD_REGION) && !reader_has_word(r, WORD_WHEN) && !reader_has_word(r, WORD_CLOCK) &&
         !reader_has_word(r, WORD_FROM) && !reader_has_word(r, WORD_BY));
    if (e->kind == EQUATION_RESIDUAL && reader_begins_results(r))
        return parse_results(r, where, begin, e, label);
    if (has_sides && !parse_sides(r, e))
        return false;
    if (!parse_tail(r, &where, e, &e->origin) || !reader_parse_element_end(r, begin, &e->origin.span))
        return false;
    if (e->kind == EQUATION_ALGORITHM &&
        (!reader_parse_statements(r, &e->body) || !reader_parse_block_end(r, label, e->origin.span)))
        return false;
    add_equation(r, e, where, label);
    return true;
}

static bool parse_equation(Reader *r, Where where, uint32_t begin, EquationKind kind)
{
    Equation e = { .kind = (uint8_t)kind, .origin = { .parent = EQ_NONE } };
    Label label;
    if (reader_accept_word(r, WORD_INITIAL))
        e.when_valid = VALID_INITIAL_ONLY;
    else if (reader_accept_word(r, WORD_RUNNING))
        e.when_valid = VALID_NOT_INITIAL;
    if (!reader_parse_new_label(r, &label))
        return false;
    const uint32_t n_loops = r->term.loops.n;
    bool is_good = true;
    if (reader_accept_word(r, WORD_FOR))
        is_good = reader_parse_domain(r, &e.domain) && reader_expect(r, TOKEN_COLON, "':' after the ranges");
    is_good = is_good && parse_equation_rest(r, where, begin, &e, &label);
    reader_leave_loops(r, n_loops);
    return is_good;
}

/* ---- regions ---- */
static bool parse_region_head(Reader *r, uint32_t begin, Region *region, Label *label, bool *has_label)
{
    Where where = { region->parent, region->parent_branch };
    Origin origin = { .parent = EQ_NONE };
    *has_label = reader_parse_new_label(r, label);
    if (!*has_label || !reader_choose(r, &region_words, "the kind of the region", &region->kind) ||
        (reader_accept_word(r, WORD_SELECTOR) && !reader_parse_variable_name(r, &region->selector)) ||
        !parse_tail(r, &where, NULL, &origin))
        return false;
    region->parent = where.region;
    region->parent_branch = where.branch;
    return reader_parse_element_end(r, begin, &region->span);
}

typedef struct {
    RegionId id;
    VEC(Term) conditions;
    bool has_else;
} Branches;

/* case or else, with what is in it. */
static bool parse_branch(Reader *r, Branches *branches)
{
    const Span span = reader_token_span(r);
    if (branches->has_else || branches->conditions.n >= UINT16_MAX - 2) {
        reader_report(r, DIAG_IR_MISPLACED, span, "no branch can follow else");
        HELP(r, "put it before the else");
        branches->has_else = false;
    }
    Term condition = TERM_NONE;
    bool is_good = true;
    if (reader_accept_word(r, WORD_ELSE)) {
        branches->has_else = true;
    } else {
        reader_advance(r);
        is_good = reader_parse_term(r, BOOLEAN_TYPE, &condition);
        if (!is_good)
            condition = term_boolean(r->model, true);
        vec_push(r->arena, &branches->conditions, condition);
    }
    if (!is_good || !reader_expect(r, TOKEN_COLON, "':' after the condition"))
        reader_recover(r);
    reader_parse_elements(r, (Where){ branches->id, (uint16_t)(branches->conditions.n + branches->has_else) });
    return is_good;
}

static bool parse_region(Reader *r, Where where, uint32_t begin)
{
    Region region = { .parent = where.region,
                      .parent_branch = where.branch,
                      .selector = VAR_NONE,
                      .span = { r->source, begin, begin + 1 } };
    Label label = { .owner = { 0 } };
    bool has_label;
    const bool is_good = parse_region_head(r, begin, &region, &label, &has_label);
    if (!is_good)
        reader_recover(r);
    if (!reader_enter(r, BLOCK_DEPTH)) {
        reader_give_up(r);
        return false;
    }
    Branches branches = { .id = model_add_region(r->model, (RegionKind)region.kind, region.parent, region.parent_branch,
                                                 0, NULL, false, region.span) };
    for (;;) {
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        if (!reader_has_word(r, WORD_CASE) && !reader_has_word(r, WORD_ELSE))
            break;
        parse_branch(r, &branches);
    }
    r->depth--;
    Region *row = &r->model->regions.at[branches.id.index];
    row->selector = region.selector;
    row->owner = label.owner;
    row->name = has_label ? reader_stored_name(r, LABEL_REGION, label.name) : (NameId){ 0 };
    row->has_else = branches.has_else;
    row->n_conditions = branches.conditions.n;
    row->first_condition = model_add_terms(r->model, branches.conditions.n, branches.conditions.at);
    return reader_parse_block_end(r, has_label ? &label : NULL, region.span) && is_good;
}

/* ---- transitions ---- */
typedef struct {
    Transition head;
    Label label;
    bool has_label;
    VEC(Term) conditions;
    VEC(Assignment) assignments;
    VEC(Action) actions;
} NewTransition;

static bool parse_trigger(Reader *r, Transition *t)
{
    int64_t entry;
    if (!reader_choose(r, &trigger_words, "the trigger of the transition", &t->trigger))
        return false;
    if (t->trigger == TRIGGER_TICK)
        return reader_parse_label(r, LABEL_CLOCK, &t->object);
    if (t->trigger == TRIGGER_MESSAGE)
        return reader_parse_label(r, LABEL_CHANNEL, &t->object);
    if (t->trigger != TRIGGER_ENTRY)
        return true;
    if (!reader_parse_integer(r, 0, UINT32_MAX - 1, &entry))
        return false;
    t->object = (uint32_t)entry;
    return true;
}

/* group 3 1 or group w 1: groups are numbered as they appear. */
static bool parse_group(Reader *r, Transition *t)
{
    NameId name;
    int64_t number = 0, rank;
    uint64_t key;
    if (r->token.kind == TOKEN_INTEGER) {
        if (!reader_parse_integer(r, 1, UINT32_MAX, &number))
            return false;
        key = (uint64_t)number;
    } else {
        if (!reader_parse_name(r, &name))
            return false;
        key = (uint64_t)1 << 32 | name.index;
    }
    if (!reader_parse_integer(r, 0, UINT16_MAX, &rank))
        return false;
    if (!map_get(&r->groups, key, &t->group))
        map_put(&r->groups, key, t->group = ++r->model->n_groups);
    t->rank = (uint16_t)rank;
    return true;
}

static bool parse_conditions(Reader *r, NewTransition *new)
{
    do {
        Term condition;
        if (!reader_parse_term(r, BOOLEAN_TYPE, &condition))
            return false;
        vec_push(r->arena, &new->conditions, condition);
    } while (reader_accept(r, TOKEN_COMMA));
    return true;
}

/* One property of the head. */
static bool parse_property(Reader *r, NewTransition *new)
{
    Transition *t = &new->head;
    bool known;
    if (reader_accept_word(r, WORD_NEXT)) {
        t->effect = EFFECT_NEXT;
        return true;
    }
    if (reader_accept_word(r, WORD_NOW) || reader_accept_word(r, WORD_SET))
        return true;
    if (reader_accept_word(r, WORD_PROCEDURE)) {
        t->form = FORM_PROCEDURE;
        return true;
    }
    if (reader_accept_word(r, WORD_GROUP))
        return parse_group(r, t);
    if (reader_accept_word(r, WORD_START)) {
        t->edge_start = reader_has_word(r, WORD_FALSE) ? EDGE_START_FALSE : EDGE_START_CURRENT;
        return reader_accept_word(r, WORD_FALSE) || reader_accept_word(r, WORD_CURRENT) ||
               reader_syntax_error(r, "'current' or 'false' after 'start'");
    }
    if (reader_accept_word(r, WORD_REGION))
        return reader_parse_region_ref(r, &t->region, &t->branch);
    if (reader_accept_word(r, WORD_FOR))
        return reader_parse_domain(r, &t->domain);
    if (reader_accept_word(r, WORD_WHEN))
        return parse_conditions(r, new);
    return reader_parse_origin_word(r, &t->origin, &known) &&
           (known || reader_syntax_error(r, "a property of the transition, or ':' before its body"));
}

static bool parse_guard(Reader *r, Term *guard)
{
    *guard = TERM_NONE;
    return !reader_accept_word(r, WORD_IF) ||
           (reader_parse_term(r, BOOLEAN_TYPE, guard) && reader_expect_word(r, WORD_THEN));
}

static bool parse_assignment(Reader *r, NewTransition *new, uint32_t begin, Term guard)
{
    Assignment a = { .guard = guard };
    Type type;
    const Span span = reader_token_span(r);
    const bool is_next = reader_accept_word(r, WORD_NEXT);
    if (is_next != (new->head.effect == EFFECT_NEXT)) {
        reader_report(r, DIAG_IR_TARGET, span,
                      is_next ? "next(v) in a transition that acts now"
                              : "an assignment without next() in a transition that acts at the next step");
        HELP(r, is_next ? "write v := ..., or trans ... next" : "write next(v) := ..., or trans ... now");
        return false;
    }
    if ((is_next && !reader_expect(r, TOKEN_OPEN, "'('")) || !reader_parse_target(r, &a.target, &type) ||
        (is_next && !reader_expect(r, TOKEN_CLOSE, "')'")) || !reader_expect(r, TOKEN_ASSIGN, "':='") ||
        !reader_parse_term(r, type, &a.value))
        return false;
    a.span = reader_span_from(r, begin);
    vec_push(r->arena, &new->assignments, a);
    return true;
}

static bool parse_arguments(Reader *r, Action *a)
{
    VEC(Term) args = { 0 };
    if (!reader_accept(r, TOKEN_OPEN))
        return true;
    while (!reader_accept(r, TOKEN_CLOSE)) {
        const Expr *shape;
        if (!reader_parse_any_term(r, &shape))
            return false;
        const Term term = reader_finish_term(r, shape);
        vec_push(r->arena, &args, term);
        if (!reader_accept(r, TOKEN_COMMA) && r->token.kind != TOKEN_CLOSE)
            return reader_syntax_error(r, "',' or ')' after an argument");
    }
    a->n_args = args.n;
    a->first_arg = model_add_terms(r->model, args.n, args.at);
    return true;
}

bool reader_parse_action(Reader *r, uint32_t begin, Term guard, Action *a)
{
    *a = (Action){ .guard = guard };
    int64_t priority = 0;
    if (!reader_choose(r, &action_words, "an assignment or an action", &a->kind) ||
        (a->kind == ACTION_SEND && !reader_parse_label(r, LABEL_CHANNEL, &a->channel)) ||
        (reader_accept_word(r, WORD_PRIORITY) && !reader_parse_integer(r, INT32_MIN, INT32_MAX, &priority)) ||
        (a->kind == ACTION_SEND && r->token.kind == TOKEN_STRING && !reader_parse_string(r, &a->text)) ||
        (a->kind != ACTION_SEND && !reader_parse_message(r, &a->text, &a->message)) ||
        (term_is_absent(a->message) && !parse_arguments(r, a)))
        return false;
    a->priority = (int32_t)priority;
    a->span = reader_span_from(r, begin);
    return true;
}

static bool parse_action(Reader *r, NewTransition *new, uint32_t begin, Term guard)
{
    Action a;
    if (!reader_parse_action(r, begin, guard, &a))
        return false;
    vec_push(r->arena, &new->actions, a);
    return true;
}

static bool has_action(const Reader *r)
{
    return reader_has_word(r, WORD_DISPLAY) || reader_has_word(r, WORD_TERMINATE) || reader_has_word(r, WORD_WARNING) ||
           reader_has_word(r, WORD_SEND) || reader_has_word(r, WORD_FAIL);
}

/* begin ... end: behind the begin. */
static bool parse_procedure(Reader *r, NewTransition *new, uint32_t begin)
{
    uint32_t first;
    if (!reader_parse_statements(r, &first))
        return false;
    if (!reader_has_word(r, WORD_END)) {
        reader_report(r, DIAG_IR_BLOCK, (Span){ r->source, begin, begin + 5 }, "'begin' is not closed");
        HELP(r, "add a line: end");
        r->mistakes.gave_up = r->token.kind == TOKEN_END;
        return false;
    }
    reader_advance(r);
    new->head.body = first;
    return true;
}

/* An assignment, an action or a procedure; the place behind it goes to what was added. */
static bool parse_item(Reader *r, NewTransition *new)
{
    const uint32_t begin = r->token.begin;
    const uint32_t n_assignments = new->assignments.n, n_actions = new->actions.n;
    Term guard;
    Span span;
    if (reader_accept_word(r, WORD_BEGIN)) {
        if (!parse_procedure(r, new, begin))
            return false;
    } else if (!parse_guard(r, &guard) ||
               !(has_action(r) ? parse_action(r, new, begin, guard) : parse_assignment(r, new, begin, guard))) {
        return false;
    }
    if (r->token.kind == TOKEN_PLACE) {
        const Token place = r->token;
        reader_advance(r);
        if (!reader_place_span(r, &place, &span))
            return false;
        if (new->assignments.n > n_assignments)
            new->assignments.at[n_assignments].span = span;
        if (new->actions.n > n_actions)
            new->actions.at[n_actions].span = span;
    }
    return reader_is_element_end(r) || reader_syntax_error(r, "the end of the line or ';'");
}

/* Items in lines of their own, up to end LABEL. */
static bool parse_block_body(Reader *r, NewTransition *new)
{
    for (;;) {
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        if (r->token.kind == TOKEN_END || reader_is_element_word(r))
            return reader_parse_block_end(r, new->has_label ? &new->label : NULL, new->head.origin.span);
        if (!parse_item(r, new))
            reader_recover(r);
    }
}

/* Items behind the colon, in the same line. */
static bool parse_line_body(Reader *r, NewTransition *new)
{
    while (r->token.kind != TOKEN_LINE && r->token.kind != TOKEN_END && !reader_is_element_word(r)) {
        if (!reader_accept(r, TOKEN_SEMICOLON) && !parse_item(r, new))
            return false;
    }
    if (new->assignments.n)
        new->head.origin.span = new->assignments.at[new->assignments.n - 1].span;
    else if (new->actions.n)
        new->head.origin.span = new->actions.at[new->actions.n - 1].span;
    return true;
}

static bool parse_transition_head(Reader *r, uint32_t begin, NewTransition *new)
{
    Transition *t = &new->head;
    new->has_label = reader_parse_new_label(r, &new->label);
    if (!new->has_label || !parse_trigger(r, t))
        return false;
    while (!reader_accept(r, TOKEN_COLON))
        if (reader_is_element_end(r) ? !reader_syntax_error(r, "':' before the body of the transition")
                                     : !parse_property(r, new))
            return false;
    t->owner = new->label.owner;
    t->name = reader_stored_name(r, LABEL_TRANSITION, new->label.name);
    t->origin.span = reader_span_from(r, begin);
    if (r->token.kind != TOKEN_PLACE)
        return true;
    const Token place = r->token;
    reader_advance(r);
    return reader_place_span(r, &place, &t->origin.span);
}

/* After a mistake in the head: the lines of the body, if there are any. */
static void skip_body(Reader *r, const NewTransition *new)
{
    for (;;) {
        reader_recover(r);
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        if (reader_has_word(r, WORD_BEGIN)) {
            uint32_t first;
            reader_advance(r);
            if (!reader_parse_statements(r, &first))
                return;
            reader_accept_word(r, WORD_END);
            continue;
        }
        if (reader_has_word(r, WORD_END) && new->has_label) {
            const Lexer lexer = r->lexer;
            const Token token = r->token;
            reader_advance(r);
            if (reader_parse_path(r) && r->name.path.at[r->name.path.n - 1].index == new->label.name.index)
                return;
            r->lexer = lexer;
            r->token = token;
            return;
        }
        if (r->token.kind == TOKEN_END || reader_is_element_word(r))
            return;
    }
}

static bool parse_transition(Reader *r, Where where, uint32_t begin)
{
    NewTransition new = { .head = { .region = where.region, .branch = where.branch, .origin = { .parent = EQ_NONE } } };
    const uint32_t n_loops = r->term.loops.n;
    bool is_good = parse_transition_head(r, begin, &new);
    if (is_good)
        is_good = r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_END ? parse_block_body(r, &new)
                                                                            : parse_line_body(r, &new);
    else
        skip_body(r, &new);
    reader_leave_loops(r, n_loops);
    if (is_good)
        model_add_transition(r->model, &new.head, new.conditions.n, new.conditions.at, new.assignments.n,
                             new.assignments.at, new.actions.n, new.actions.at);
    return is_good;
}

bool reader_parse_dynamic(Reader *r, Where where, uint32_t begin, Word word)
{
    switch (word) {
    case WORD_EQ: return parse_equation(r, where, begin, EQUATION_RESIDUAL);
    case WORD_ALGORITHM: return parse_equation(r, where, begin, EQUATION_ALGORITHM);
    case WORD_DROPPED: return parse_equation(r, where, begin, EQUATION_DROPPED);
    case WORD_REGION: return parse_region(r, where, begin);
    case WORD_ASSERT: return reader_parse_assert(r, where, begin);
    default: return parse_transition(r, where, begin);
    }
}
