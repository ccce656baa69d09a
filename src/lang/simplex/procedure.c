/* See procedure.h. */
#include "lang/simplex/procedure.h"
#include "base/bug.h"
#include "ir/inline.h"

/* ---- parsing ---- */
/* Words that are keywords in functions only. */
static bool is_word(const Parser *parser, const char *word)
{
    return mdl_is_at(parser, TOKEN_NAME) && strcmp(names_of(parser->lexer.names, parser->token.name), word) == 0;
}

static bool accept_word(Parser *parser, const char *word)
{
    if (!is_word(parser, word))
        return false;
    mdl_advance(parser);
    return true;
}

/* REAL | INT | INTEGER | LOGICAL */
static bool parse_type(Parser *parser, Quantity *quantity)
{
    const Token token = parser->token;
    quantity->range = token.kind == TOKEN_REAL ? TYPE_REAL : token.kind == TOKEN_INT ? TYPE_INTEGER : TYPE_BOOLEAN;
    return mdl_accept(parser, TOKEN_REAL) || mdl_accept(parser, TOKEN_INT) || mdl_accept(parser, TOKEN_LOGICAL) ||
           mdl_syntax_error(parser, "REAL, INTEGER or LOGICAL");
}

static void add_field(Parser *parser, Procedure *procedure, Quantity quantity)
{
    quantity.use = USE_STATE;
    vec_push(parser->arena, &procedure->own.quantities, quantity);
}

/* '(' type ':' identifier { ',' type ':' identifier } '-->' type ')' */
static bool parse_head(Parser *parser, Procedure *procedure)
{
    if (!mdl_expect(parser, TOKEN_OPEN))
        return false;
    do {
        Quantity argument = { 0 };
        if (!parse_type(parser, &argument) || !mdl_expect(parser, TOKEN_COLON) ||
            !mdl_expect_name(parser, "the name of an argument", &argument.name))
            return false;
        add_field(parser, procedure, argument);
    } while (mdl_accept(parser, TOKEN_COMMA));
    procedure->n_inputs = procedure->own.quantities.n;
    Quantity result = { .name = { names_text(parser->lexer.names, "$result"), procedure->name.span } };
    if (!mdl_expect(parser, TOKEN_ARROW) || !parse_type(parser, &result) || !mdl_expect(parser, TOKEN_CLOSE))
        return false;
    add_field(parser, procedure, result);
    return true;
}

/* DECLARE identifier '(' type ')' { ',' identifier '(' type ')' } */
static bool parse_variables(Parser *parser, Procedure *procedure)
{
    if (!accept_word(parser, "DECLARE"))
        return true;
    do {
        Quantity variable = { 0 };
        if (!mdl_expect_name(parser, "the name of a variable", &variable.name) || !mdl_expect(parser, TOKEN_OPEN) ||
            !parse_type(parser, &variable) || !mdl_expect(parser, TOKEN_CLOSE))
            return false;
        add_field(parser, procedure, variable);
    } while (mdl_accept(parser, TOKEN_COMMA));
    return true;
}

static bool parse_steps(Parser *parser, ProcedureStep **first);

/* DO statements END */
static bool parse_block(Parser *parser, ProcedureStep **first)
{
    return mdl_expect(parser, TOKEN_DO) && parse_steps(parser, first) && mdl_expect(parser, TOKEN_END);
}

/* expression DO ... END { ELSIF expression DO ... END } [ ELSE DO ... END ] */
static bool parse_if(Parser *parser, ProcedureStep *step)
{
    step->value = mdl_parse_expression(parser);
    if (!step->value || !parse_block(parser, &step->inner))
        return false;
    if (mdl_accept(parser, TOKEN_ELSE))
        return parse_block(parser, &step->otherwise);
    const Span span = mdl_token_span(parser);
    if (!mdl_accept(parser, TOKEN_ELSIF))
        return true;
    ProcedureStep *next = NEW(parser->arena, ProcedureStep);
    next->kind = STEP_IF;
    next->span = span;
    step->otherwise = next;
    return parse_if(parser, next);
}

/* FOR identifier FROM expression TO expression DO ... END */
static bool parse_for(Parser *parser, ProcedureStep *step)
{
    return mdl_expect_name(parser, "the variable of the loop", &step->target) && mdl_expect(parser, TOKEN_FROM) &&
           (step->value = mdl_parse_expression(parser)) && mdl_expect(parser, TOKEN_TO) &&
           (step->end = mdl_parse_expression(parser)) && parse_block(parser, &step->inner);
}

static bool parse_simple(Parser *parser, ProcedureStep *step)
{
    if (accept_word(parser, "BREAK")) {
        step->kind = STEP_BREAK;
    } else if (accept_word(parser, "RETURN")) {
        step->kind = STEP_RETURN;
        step->value = mdl_parse_expression(parser);
    } else {
        step->kind = STEP_ASSIGN;
        if (!mdl_expect_name(parser, "a statement", &step->target) || !mdl_expect(parser, TOKEN_ASSIGN))
            return false;
        step->value = mdl_parse_expression(parser);
    }
    const bool is_good = (step->kind == STEP_BREAK || step->value) && mdl_expect(parser, TOKEN_SEMICOLON);
    step->span = mdl_span_to_here(parser, step->span.begin);
    return is_good;
}

static bool parse_step(Parser *parser, ProcedureStep *step)
{
    step->span = mdl_token_span(parser);
    if (mdl_accept(parser, TOKEN_IF)) {
        step->kind = STEP_IF;
        return parse_if(parser, step);
    }
    if (mdl_accept(parser, TOKEN_FOR)) {
        step->kind = STEP_FOR;
        return parse_for(parser, step);
    }
    if (accept_word(parser, "WHILE")) {
        step->kind = STEP_WHILE;
        return (step->value = mdl_parse_expression(parser)) && parse_block(parser, &step->inner);
    }
    return parse_simple(parser, step);
}

static bool parse_steps(Parser *parser, ProcedureStep **first)
{
    if (parser->depth >= STATEMENT_DEPTH) {
        mdl_too_deep(parser, mdl_token_span(parser));
        return false;
    }
    parser->depth++;
    bool is_good = true;
    for (ProcedureStep **end = first; is_good && !mdl_is_at(parser, TOKEN_END); end = &(*end)->next) {
        *end = NEW(parser->arena, ProcedureStep);
        is_good = parse_step(parser, *end);
    }
    parser->depth--;
    return is_good;
}

/* [ variables ] BEGIN statements */
static bool parse_body(Parser *parser, Procedure *procedure)
{
    return parse_variables(parser, procedure) &&
           (accept_word(parser, "BEGIN") || mdl_syntax_error(parser, "DECLARE or BEGIN")) &&
           parse_steps(parser, &procedure->first);
}

/* FUNCTION identifier head [ variables ] BEGIN statements END
 * FUNCTION identifier [ OF CLASS identifier ]  of a file of its own */
bool mdl_parse_procedure(Parser *parser, Component *component)
{
    Procedure *procedure = NEW(parser->arena, Procedure);
    mdl_advance(parser);
    if (!mdl_expect_name(parser, "the name of the function", &procedure->name))
        return false;
    if (!mdl_is_at(parser, TOKEN_OPEN)) {
        procedure->class_name = procedure->name;
        if (mdl_accept(parser, TOKEN_OF) && (!mdl_expect(parser, TOKEN_CLASS) ||
                                             !mdl_expect_name(parser, "the name of a class", &procedure->class_name)))
            return false;
    } else if (!parse_head(parser, procedure) || !parse_body(parser, procedure) || !mdl_expect(parser, TOKEN_END)) {
        return false;
    }
    vec_push(parser->arena, &component->procedures, procedure);
    return true;
}

/* FUNCTION identifier head [ local_definitions ] [ variables ] BEGIN statements, then END OF identifier */
bool mdl_parse_function_file(Parser *parser, Component *component)
{
    Procedure *procedure = NEW(parser->arena, Procedure);
    const uint32_t begin = parser->token.begin;
    component->is_function = true;
    mdl_advance(parser);
    if (!mdl_expect_name(parser, "the name of the function", &procedure->name))
        return false;
    component->name = procedure->name;
    component->span = mdl_span_to_here(parser, begin);
    vec_push(parser->arena, &component->procedures, procedure);
    if (!parse_head(parser, procedure))
        return false;
    if (mdl_is_at(parser, TOKEN_LOCAL))
        mdl_parse_local_definitions(parser, component);
    return parse_body(parser, procedure);
}

/* ---- checking ---- */
static Type type_of(uint8_t range)
{
    return range == TYPE_REAL ? REAL_TYPE : range == TYPE_INTEGER ? INTEGER_TYPE : BOOLEAN_TYPE;
}

/* Arguments and result of the function in a file of its own. */
static void import(Checker *checker, Procedure *p)
{
    const Model *from = checker->resolver->find(checker->resolver, names_of(checker->scope.names, p->class_name.name),
                                                p->class_name.span, checker->diag);
    *checker->errors += from == NULL;
    if (!from)
        return;
    if (from->functions.n == 0 || from->variables.n > 0) {
        REPORT(checker, DIAG_MDL_PROCEDURE, p->class_name.span, "`%s` is a component, not a function",
               names_of(checker->scope.names, p->class_name.name));
        diag_note(checker->diag, from->span, "it is here");
        diag_help(checker->diag, "the file of a function begins with FUNCTION and ends with END OF and its name");
        return;
    }
    const Function *function = from->functions.at[0];
    p->from = from;
    p->n_inputs = function->n_inputs;
    for (uint32_t k = 0; k <= function->n_inputs; k++) {
        const Variable *v = &function->body->variables.at[k];
        const Quantity field = { .name = { v->name, v->span }, .range = v->type.kind, .use = USE_STATE };
        vec_push(checker->arena, &p->own.quantities, field);
    }
}

void mdl_declare_procedures(Checker *checker)
{
    const Component *component = checker->component;
    for (uint32_t k = 0; k < component->procedures.n; k++) {
        Procedure *p = component->procedures.at[k];
        mdl_scope_declare(&checker->scope, (Symbol){ .kind = SYMBOL_FUNCTION, .object = k, .name = p->name });
        if (!name_is_empty(p->class_name.name))
            import(checker, p);
        for (uint32_t j = 0; j < p->own.quantities.n; j++)
            p->own.quantities.at[j].type = type_of(p->own.quantities.at[j].range);
    }
}

static void report(const Checker *checker, Span span, const char *what, const char *help)
{
    REPORT(checker, DIAG_MDL_PROCEDURE, span, "%s", what);
    diag_help(checker->diag, "%s", help);
}

static void check_target(Procedure *p, ProcedureStep *step)
{
    Checker *checker = &p->checker;
    const uint32_t symbol = mdl_scope_find(&checker->scope, step->target.name, step->target.span);
    const bool is_field = symbol != ID_NONE && checker->scope.list.at[symbol].kind == SYMBOL_QUANTITY;
    step->field = is_field ? checker->scope.list.at[symbol].object : ID_NONE;
    if (!is_field)
        report(checker, step->target.span, "this is no variable of the function", "declare it after DECLARE");
    else if (step->field < p->n_inputs)
        report(checker, step->target.span, "an argument keeps its value",
               "assign to a variable declared after DECLARE");
}

static void check_value(Procedure *p, uint32_t field, Node *value)
{
    mdl_check_expression(&p->checker, value);
    if (field != ID_NONE)
        mdl_check_assignable(&p->checker, &p->own.quantities.at[field], value);
}

static void check_for(Procedure *p, ProcedureStep *step)
{
    check_target(p, step);
    const bool is_integer = step->field != ID_NONE && p->own.quantities.at[step->field].type.kind == TYPE_INTEGER;
    if (step->field != ID_NONE && !is_integer)
        report(&p->checker, step->target.span, "the variable of a loop is INTEGER", "declare it as (INTEGER)");
    check_value(p, is_integer ? step->field : ID_NONE, step->value);
    check_value(p, is_integer ? step->field : ID_NONE, step->end);
}

static void check_steps(Procedure *p, ProcedureStep *first, uint32_t n_loops)
{
    for (ProcedureStep *step = first; step; step = step->next) {
        const bool is_loop = step->kind == STEP_WHILE || step->kind == STEP_FOR;
        switch ((ProcedureStepKind)step->kind) {
        case STEP_ASSIGN:
            check_target(p, step);
            check_value(p, step->field, step->value);
            break;
        case STEP_RETURN: check_value(p, p->n_inputs, step->value); break;
        case STEP_IF:
        case STEP_WHILE: mdl_check_condition(&p->checker, step->value, step->kind == STEP_IF ? "IF" : "WHILE"); break;
        case STEP_FOR: check_for(p, step); break;
        case STEP_BREAK:
            if (n_loops == 0)
                report(&p->checker, step->span, "BREAK stands in a loop", "RETURN leaves the function");
            break;
        }
        check_steps(p, step->inner, n_loops + is_loop);
        check_steps(p, step->otherwise, n_loops);
    }
}

/* Whether every way through the statements ends with RETURN. */
static bool returns(const ProcedureStep *first)
{
    for (const ProcedureStep *step = first; step; step = step->next)
        if (step->kind == STEP_RETURN || (step->kind == STEP_IF && returns(step->inner) && returns(step->otherwise)))
            return true;
    return false;
}

static void check_procedure(Checker *outer, Procedure *p)
{
    Scope scope = outer->scope;
    memset(&scope.list, 0, sizeof scope.list);
    p->own.tables = outer->component->tables;
    p->own.procedures = outer->component->procedures;
    p->checker = *outer;
    p->checker.scope = mdl_scope_begin(scope);
    p->checker.component = &p->own;
    p->checker.is_in_event = true;
    for (uint32_t k = 0; k < p->own.tables.n; k++)
        mdl_scope_declare(&p->checker.scope,
                          (Symbol){ .kind = SYMBOL_TABLE, .object = k, .name = p->own.tables.at[k].name });
    for (uint32_t k = 0; k < p->own.procedures.n; k++)
        mdl_scope_declare(&p->checker.scope,
                          (Symbol){ .kind = SYMBOL_FUNCTION, .object = k, .name = p->own.procedures.at[k]->name });
    for (uint32_t k = 0; k < p->own.quantities.n; k++)
        if (k != p->n_inputs)
            mdl_scope_declare(&p->checker.scope,
                              (Symbol){ .kind = SYMBOL_QUANTITY, .object = k, .name = p->own.quantities.at[k].name });
    check_steps(p, p->first, 0);
    if (!returns(p->first))
        report(&p->checker, p->name.span, "not every way through the function ends with RETURN",
               "write RETURN expression; as its last statement");
}

void mdl_check_procedures(Checker *checker)
{
    for (uint32_t k = 0; k < checker->component->procedures.n; k++)
        if (name_is_empty(checker->component->procedures.at[k]->class_name.name))
            check_procedure(checker, checker->component->procedures.at[k]);
}

void mdl_check_procedure_call(Checker *checker, Node *node, const Procedure *p)
{
    const char *name = names_of(checker->scope.names, p->name.name);
    if (!name_is_empty(p->class_name.name) && !p->from) {
        node->is_bad = true; /* reported where it is declared */
        return;
    }
    node->type = p->own.quantities.at[p->n_inputs].type;
    for (uint32_t k = 0; k < node->u.call.n; k++) {
        Node *arg = node->u.call.args[k];
        mdl_check_expression(checker, arg);
        node->is_bad |= arg->is_bad;
        node->has_time |= arg->has_time;
        if (arg->course > node->course)
            node->course = arg->course;
        const Type wanted = k < p->n_inputs ? p->own.quantities.at[k].type : arg->type;
        if (arg->is_bad || type_equal(arg->type, wanted) ||
            (wanted.kind == TYPE_REAL && arg->type.kind == TYPE_INTEGER))
            continue;
        REPORT(checker, DIAG_MDL_ARGUMENT_SET, arg->span, "an argument of %s is %s, not %s", name,
               mdl_set_text(checker->pool, wanted, checker->arena),
               mdl_set_text(checker->pool, arg->type, checker->arena));
        diag_note(checker->diag, p->own.quantities.at[k].name.span, "declared here");
        node->is_bad = true;
    }
    if (node->u.call.n != p->n_inputs) {
        REPORT(checker, DIAG_MDL_ARGUMENT_COUNT, node->span, "%s takes %u argument%s, not %u", name, p->n_inputs,
               p->n_inputs == 1 ? "" : "s", node->u.call.n);
        diag_note(checker->diag, p->name.span, "declared here");
        node->is_bad = true;
    }
    if (!node->is_bad && node->course == COURSE_CONTINUOUS && node->type.kind != TYPE_REAL) {
        report(checker, node->span, "a function without REAL result of a continuous argument makes no events",
               "call it inside of an event, or use a REAL function and a comparison");
        node->is_bad = true;
    }
}

/* ---- lowering ---- */
typedef struct {
    Lower lower;
    const Procedure *procedure;
} Writer;

static bool wants_real(const Writer *w, uint32_t field)
{
    return w->procedure->own.quantities.at[field].type.kind == TYPE_REAL;
}

static uint32_t add(Writer *w, StatementKind kind, Term target, Term value, Span span)
{
    const Statement s = { .kind = (uint8_t)kind, .target = target, .value = value, .span = span };
    Model *body = w->lower.model;
    vec_push(body->arena, &body->statements, s);
    return body->statements.n - 1;
}

static uint32_t assign(Writer *w, uint32_t field, const Node *value, Span span)
{
    const Term target = term_ref(w->lower.model, ref_now((VarId){ field }));
    return add(w, STATEMENT_ASSIGN, target, mdl_lower_term(&w->lower, value, wants_real(w, field)), span);
}

static uint32_t write_steps(Writer *w, const ProcedureStep *first);

static void chain(Writer *w, uint32_t first, uint32_t next)
{
    w->lower.model->statements.at[first].next = next;
}

/* k := from; limit := to; while k <= limit do ... k := k + 1: the variable is one of the function, as it is in the
 * source, and keeps its value when the loop is left. */
static uint32_t write_for(Writer *w, const ProcedureStep *step)
{
    Model *body = w->lower.model;
    Pool *pool = body->pool;
    const VarId limit = model_add_variable(
        body, (InstanceId){ 0 }, names_text(pool_names(pool), arena_format(body->arena, "$limit%u", body->variables.n)),
        INTEGER_TYPE, step->span);
    w->procedure->function->n_locals++;
    const uint32_t start = assign(w, step->field, step->value, step->span);
    const Term end = mdl_lower_term(&w->lower, step->end, false);
    const uint32_t bound = add(w, STATEMENT_ASSIGN, term_ref(body, ref_now(limit)), end, step->span);
    TermBuilder builder = term_builder(body);
    const Expr *k = term_leaf(&builder, ref_now((VarId){ step->field })), *to = term_leaf(&builder, ref_now(limit));
    const Term condition = term_finish(&builder, expr_literal_relation(pool, OP_LE, k, to));
    k = term_leaf(&builder, ref_now((VarId){ step->field }));
    const Term next = term_finish(&builder, expr_binary(pool, OP_ADD, k, expr_integer(pool, 1)));
    const uint32_t loop = add(w, STATEMENT_WHILE, TERM_NONE, condition, step->span);
    const uint32_t inner = write_steps(w, step->inner);
    const uint32_t advance =
        add(w, STATEMENT_ASSIGN, term_ref(body, ref_now((VarId){ step->field })), next, step->span);
    uint32_t tail = inner;
    while (tail && body->statements.at[tail].next)
        tail = body->statements.at[tail].next;
    if (tail)
        chain(w, tail, advance);
    body->statements.at[loop].inner = inner ? inner : advance;
    chain(w, start, bound);
    chain(w, bound, loop);
    return start;
}

static uint32_t write_step(Writer *w, const ProcedureStep *step)
{
    switch ((ProcedureStepKind)step->kind) {
    case STEP_ASSIGN: return assign(w, step->field, step->value, step->span);
    case STEP_BREAK: return add(w, STATEMENT_BREAK, TERM_NONE, TERM_NONE, step->span);
    case STEP_FOR: return write_for(w, step);
    case STEP_RETURN: {
        const uint32_t result = assign(w, w->procedure->n_inputs, step->value, step->span);
        const uint32_t leave = add(w, STATEMENT_RETURN, TERM_NONE, TERM_NONE, step->span);
        chain(w, result, leave);
        return result;
    }
    case STEP_IF:
    case STEP_WHILE: {
        const Term condition = mdl_lower_term(&w->lower, step->value, false);
        const uint32_t made =
            add(w, step->kind == STEP_IF ? STATEMENT_IF : STATEMENT_WHILE, TERM_NONE, condition, step->span);
        const uint32_t inner = write_steps(w, step->inner), otherwise = write_steps(w, step->otherwise);
        w->lower.model->statements.at[made].inner = inner;
        w->lower.model->statements.at[made].otherwise = otherwise;
        return made;
    }
    }
    BUG("unknown ProcedureStepKind");
}

static uint32_t write_steps(Writer *w, const ProcedureStep *first)
{
    uint32_t begin = 0, last = 0;
    for (const ProcedureStep *step = first; step; step = step->next) {
        const uint32_t made = write_step(w, step);
        if (last)
            chain(w, last, made);
        else
            begin = made;
        for (last = made; w->lower.model->statements.at[last].next;)
            last = w->lower.model->statements.at[last].next;
    }
    return begin;
}

/* A function of another file, with those it calls. */
static void take_function(Lower *lower, Procedure *p)
{
    Model *model = lower->model;
    p->function = p->from->functions.at[0];
    for (uint32_t k = 0; k < p->from->functions.n; k++) {
        uint32_t at = 0;
        while (at < model->functions.n && model->functions.at[at] != p->from->functions.at[k])
            at++;
        if (at == model->functions.n)
            vec_push(model->arena, &model->functions, p->from->functions.at[k]);
    }
}

static void add_function(Lower *lower, Procedure *p)
{
    if (p->from) {
        take_function(lower, p);
        return;
    }
    p->function = model_add_function(lower->model, p->name.name, p->name.span);
    for (uint32_t k = 0; k < p->own.quantities.n; k++) {
        Quantity *q = &p->own.quantities.at[k];
        q->var = model_add_variable(p->function->body, (InstanceId){ 0 }, q->name.name, q->type, q->name.span);
    }
    p->function->n_inputs = p->n_inputs;
    p->function->n_outputs = 1;
    p->function->n_locals = p->own.quantities.n - p->n_inputs - 1;
    function_begin_with_zero(p->function, p->n_inputs);
}

void mdl_lower_procedures(Lower *lower)
{
    const Component *component = lower->checker->component;
    for (uint32_t k = 0; k < component->procedures.n; k++)
        add_function(lower, component->procedures.at[k]);
    for (uint32_t k = 0; k < component->procedures.n; k++) {
        Procedure *p = component->procedures.at[k];
        Arena *arena = lower->model->arena;
        if (p->from)
            continue;
        Writer w = { .procedure = p };
        w.lower.checker = &p->checker;
        w.lower.model = p->function->body;
        w.lower.is_in_event = true;
        w.lower.tables.at = lower->tables.at;
        w.lower.tables.n = lower->tables.n;
        w.lower.stamps = NEW_ARRAY(arena, uint32_t, p->own.quantities.n + 1);
        w.lower.leaves = NEW_ARRAY(arena, uint32_t, p->own.quantities.n + 1);
        p->function->first = write_steps(&w, p->first);
    }
}

const Expr *mdl_lower_procedure_call(Lower *lower, const Node *node, const Procedure *p)
{
    const Expr **args = NEW_ARRAY(lower->model->arena, const Expr *, node->u.call.n + 1u);
    for (uint32_t k = 0; k < node->u.call.n; k++)
        args[k] = mdl_lower_expression(lower, node->u.call.args[k], p->own.quantities.at[k].type.kind == TYPE_REAL);
    /* Where the arguments move, its comparisons and kinks are events, if it can be written as an expression. */
    const Expr *seen = !lower->is_in_event && node->course == COURSE_CONTINUOUS
                           ? function_inline(lower->model->pool, p->function, 0, args)
                           : NULL;
    return seen ? seen
                : expr_function(lower->model->pool, p->function, 0, p->own.quantities.at[p->n_inputs].type,
                                node->u.call.n, args);
}
