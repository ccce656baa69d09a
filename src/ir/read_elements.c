/* Variables, instances and all other elements that are no dynamics; see read_reader.h. */
#include "ir/read_reader.h"

/* ---- lines and blocks ---- */
bool reader_is_element_word(const Reader *r)
{
    return r->token.kind == TOKEN_NAME && r->token.word >= WORD_MODEL && r->token.word <= WORD_SPANS;
}

bool reader_parse_element_end(Reader *r, uint32_t begin, Span *span)
{
    *span = reader_span_from(r, begin);
    if (r->token.kind == TOKEN_PLACE) {
        const Token place = r->token;
        reader_advance(r);
        if (!reader_place_span(r, &place, span))
            return false;
    }
    return reader_is_element_end(r) || reader_syntax_error(r, "the end of the line or ';'");
}

void reader_recover(Reader *r)
{
    if (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_END)
        return;
    r->lexer.at = r->token.end; /* a token does not reach over the end of its line */
    lexer_skip_line(&r->lexer);
    r->token = lexer_next(&r->lexer);
}

static const char *label_text(const Reader *r, const Label *label)
{
    return names_of(r->names, label->name);
}

bool reader_wrong_end(Reader *r, const Label *label, Span span, Span opened)
{
    const char *name = label ? label_text(r, label) : "";
    if (r->token.kind == TOKEN_END) {
        reader_report(r, DIAG_IR_BLOCK, opened, "the block %s is not closed", name);
        HELP(r, "add a line: end %s", name);
        r->mistakes.gave_up = true; /* the blocks around it are not closed either */
        return false;
    }
    reader_report(r, DIAG_IR_BLOCK, span, "the block %s is open here and is not closed by this", name);
    NOTE(r, opened, "it begins here");
    HELP(r, "write end %s", name);
    return false;
}

bool reader_parse_block_end(Reader *r, const Label *label, Span opened)
{
    const uint32_t begin = r->token.begin;
    if (!reader_has_word(r, WORD_END))
        return reader_wrong_end(r, label, reader_token_span(r), opened);
    reader_advance(r);
    Label found;
    if (reader_is_element_end(r))
        return reader_wrong_end(r, label, reader_span_from(r, begin), opened);
    if (!reader_parse_new_label(r, &found))
        return false;
    if (label && (found.owner.index != label->owner.index || !name_equal(found.name, label->name)))
        return reader_wrong_end(r, label, reader_span_from(r, begin), opened);
    return reader_is_element_end(r) || reader_syntax_error(r, "the end of the line");
}

/* ---- variables ---- */
typedef enum {
    HAS_VARIABILITY = 1,
    HAS_DEFINITION = 1 << 1,
    HAS_CAUSALITY = 1 << 2,
    HAS_BINDING = 1 << 3,
    HAS_START = 1 << 4,
    HAS_FIXED = 1 << 5,
    HAS_NOMINAL = 1 << 6,
    HAS_MIN = 1 << 7,
    HAS_MAX = 1 << 8,
    HAS_SELECT = 1 << 9,
    HAS_UNIT = 1 << 10,
    HAS_DISPLAY_UNIT = 1 << 11,
    HAS_QUANTITY = 1 << 12,
    HAS_COMMENT = 1 << 13,
    HAS_PROTECTED = 1 << 14,
    HAS_GENERATED = 1 << 15,
    HAS_ORIGIN = 1 << 16,
    HAS_KEEP = 1 << 17,
    HAS_TEAR = 1 << 18,
    HAS_RESIDUAL = 1 << 19,
    HAS_CLOCK = 1 << 20,
    HAS_FREE = 1 << 21
} Has;

bool reader_list_has(const WordList *list, uint32_t word)
{
    for (uint32_t k = 0; k < list->n; k++)
        if (list->words[k] == word)
            return true;
    return false;
}

/* The attribute that begins here, or 0. */
static Has attribute_of(const Reader *r)
{
    if (r->token.kind == TOKEN_IS)
        return HAS_BINDING;
    if (r->token.kind != TOKEN_NAME)
        return 0;
    switch (r->token.word) {
    case WORD_CAUSALITY: return HAS_CAUSALITY;
    case WORD_START: return HAS_START;
    case WORD_FIXED: return HAS_FIXED;
    case WORD_NOMINAL: return HAS_NOMINAL;
    case WORD_MIN: return HAS_MIN;
    case WORD_MAX: return HAS_MAX;
    case WORD_SELECT: return HAS_SELECT;
    case WORD_UNIT: return HAS_UNIT;
    case WORD_DISPLAYUNIT: return HAS_DISPLAY_UNIT;
    case WORD_QUANTITY: return HAS_QUANTITY;
    case WORD_COMMENT: return HAS_COMMENT;
    case WORD_PROTECTED: return HAS_PROTECTED;
    case WORD_GENERATED: return HAS_GENERATED;
    case WORD_KEEP: return HAS_KEEP;
    case WORD_FREE: return HAS_FREE;
    case WORD_ORIGIN: return HAS_ORIGIN;
    case WORD_TEAR: return HAS_TEAR;
    case WORD_RESIDUAL: return HAS_RESIDUAL;
    case WORD_CLOCK: return HAS_CLOCK;
    default:
        return reader_list_has(&variability_words, r->token.word)  ? HAS_VARIABILITY
               : reader_list_has(&definition_words, r->token.word) ? HAS_DEFINITION
                                                                   : 0;
    }
}

bool reader_has_attribute(const Reader *r)
{
    return attribute_of(r) != 0;
}

static bool parse_select(Reader *r, Variable *row)
{
    return r->token.kind == TOKEN_OPEN_SET
               ? reader_parse_wishes(r, row, &select_words)
               : reader_choose(r, &select_words, "a wish for state selection", &row->select);
}

/* The value of an attribute goes to the row; its word is taken already. */
static bool parse_attribute_value(Reader *r, Has has, Variable *row)
{
    switch (has) {
    case HAS_CAUSALITY: return reader_choose(r, &causality_words, "a causality", &row->causality);
    case HAS_BINDING: return reader_parse_value(r, row->type, &row->binding);
    case HAS_START: return reader_parse_value(r, row->type, &row->start);
    case HAS_NOMINAL: return reader_parse_value(r, row->type, &row->nominal);
    case HAS_MIN: return reader_parse_value(r, row->type, &row->min);
    case HAS_MAX: return reader_parse_value(r, row->type, &row->max);
    case HAS_SELECT: return parse_select(r, row);
    case HAS_UNIT: return reader_parse_string(r, &row->unit);
    case HAS_DISPLAY_UNIT: return reader_parse_string(r, &row->display_unit);
    case HAS_QUANTITY: return reader_parse_string(r, &row->quantity);
    case HAS_COMMENT: return reader_parse_string(r, &row->comment);
    case HAS_ORIGIN: return reader_parse_variable_name(r, &row->origin);
    case HAS_RESIDUAL: return reader_parse_variable_name(r, &row->residual);
    case HAS_CLOCK: return reader_parse_label(r, LABEL_CLOCK, &row->clock) && ++row->clock;
    case HAS_TEAR: row->is_torn = true; return true;
    case HAS_FIXED: return reader_parse_fixed(r, row);
    case HAS_PROTECTED: row->is_protected = true; return true;
    case HAS_GENERATED: row->is_generated = true; return true;
    case HAS_KEEP: row->is_kept = true; return true;
    case HAS_FREE: row->is_free = true; return true;
    case HAS_VARIABILITY:
    case HAS_DEFINITION: break;
    }
    return false;
}

static bool parse_attribute(Reader *r, Has has, Variable *row)
{
    if (has == HAS_VARIABILITY)
        return reader_choose(r, &variability_words, "a variability", &row->variability);
    if (has == HAS_DEFINITION)
        return reader_choose(r, &definition_words, "a definition", &row->definition);
    reader_advance(r);
    return parse_attribute_value(r, has, row);
}

/* All attributes that follow, for one row or several. The rows change when the model grows: a copy is filled. */
bool reader_parse_attributes(Reader *r, const VarId *vars, uint32_t n)
{
    uint32_t seen = 0;
    Variable row = *model_var(r->model, vars[0]);
    for (Has has = attribute_of(r); has; has = attribute_of(r)) {
        if (seen & has) {
            reader_report(r, DIAG_IR_ATTRIBUTE_TWICE, reader_token_span(r), "the attribute is given twice");
            HELP(r, "remove one of the two");
            return false;
        }
        seen |= has;
        if (!parse_attribute(r, has, &row))
            return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        Variable *to = model_var(r->model, vars[k]);
        const Variable own = *to;
        *to = row;
        to->name = own.name;
        to->owner = own.owner;
        to->span = own.span;
        to->type = own.type;
        to->first_dim = own.first_dim;
    }
    return true;
}

/* [N = 5, 3]: the extents, for each of the variables. */
static bool parse_dims(Reader *r, const VarId *vars, uint32_t n)
{
    VEC(Term) terms = { 0 };
    VEC(int64_t) extents = { 0 };
    if (!reader_accept(r, TOKEN_OPEN_INDEX))
        return true;
    do {
        Term term;
        int64_t extent = -1;
        if (reader_accept(r, TOKEN_COLON)) /* open: of an input of a function */
            term = term_expr(r->model, expr_all(r->pool));
        else if (!reader_parse_term(r, INTEGER_TYPE, &term) ||
                 (reader_accept(r, TOKEN_IS) && !reader_parse_integer(r, 0, INT64_MAX, &extent)))
            return false;
        if (term.shape->kind == EXPR_INTEGER)
            extent = term.shape->u.integer;
        vec_push(r->arena, &terms, term);
        vec_push(r->arena, &extents, extent);
    } while (reader_accept(r, TOKEN_COMMA));
    if (!reader_expect(r, TOKEN_CLOSE_INDEX, "',' or ']' after an extent"))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        model_set_dims(r->model, vars[k], terms.n, terms.at);
        for (uint32_t d = 0; d < terms.n; d++)
            r->model->dims.at[model_var(r->model, vars[k])->first_dim + d].extent = extents.at[d];
    }
    return true;
}

/* What follows the names: type, dimensions, attributes, place. */
bool reader_parse_variable_rest(Reader *r, uint32_t begin, const VarId *vars, uint32_t n)
{
    Type type;
    Span span;
    if (!reader_parse_type(r, &type) || !parse_dims(r, vars, n) || !reader_parse_attributes(r, vars, n) ||
        !reader_parse_element_end(r, begin, &span))
        return false;
    for (uint32_t k = 0; k < n; k++)
        model_var(r->model, vars[k])->span = span;
    return true;
}

static void set_defaults(Variable *row, Word word)
{
    if (word == WORD_VAR)
        return;
    row->variability = word == WORD_CONST ? VARIABILITY_CONSTANT : VARIABILITY_PARAMETER;
    row->definition = DEFINITION_BINDING;
}

/* A variable that this line declares; not found: reported when it was declared. */
bool reader_parse_declared(Reader *r, VarId *var)
{
    reader_accept(r, TOKEN_DOT);
    return reader_parse_path(r) && (reader_find_variable(r, var) || !(r->mistakes.failed = true));
}

/* x[:] is only for fields of functions. */
static bool has_sizes(Reader *r, uint32_t begin, VarId var)
{
    const Variable *v = model_var(r->model, var);
    if (v->first_dim + v->type.rank > r->model->dims.n) /* those of an earlier line of this name could not be read */
        return true;
    for (uint32_t d = 0; d < v->type.rank; d++)
        if (r->model->dims.at[v->first_dim + d].term.shape->kind == EXPR_RANGE)
            return reader_report(r, DIAG_SYNTAX, reader_span_from(r, begin),
                                 "only inputs of functions have open sizes; write a number or a parameter");
    return true;
}

static bool is_as_declared(Reader *r, uint32_t begin, VarId var)
{
    return has_sizes(r, begin, var) && reader_may_be_free(r, begin, var);
}

static bool parse_variables(Reader *r, uint32_t begin, Word word)
{
    VEC(VarId) vars = { 0 };
    VarId one;
    if (!reader_parse_declared(r, &one))
        return false;
    set_defaults(model_var(r->model, one), word);
    if (r->token.kind != TOKEN_COMMA)
        return reader_parse_variable_rest(r, begin, &one, 1) && is_as_declared(r, begin, one);
    vec_push(r->arena, &vars, one);
    while (reader_accept(r, TOKEN_COMMA)) {
        if (!reader_parse_declared(r, &one))
            return false;
        set_defaults(model_var(r->model, one), word);
        vec_push(r->arena, &vars, one);
    }
    return reader_parse_variable_rest(r, begin, vars.at, vars.n) && is_as_declared(r, begin, one);
}

/* alias b = -a */
static bool parse_alias(Reader *r, uint32_t begin)
{
    VarId var, alias;
    Span span;
    if (!reader_parse_variable_name(r, &var) || !reader_expect(r, TOKEN_IS, "'='"))
        return false;
    const bool is_negated = reader_accept(r, TOKEN_MINUS) || reader_accept_word(r, WORD_NOT);
    if (!reader_parse_variable_name(r, &alias) || !reader_parse_element_end(r, begin, &span))
        return false;
    model_var(r->model, var)->alias = alias;
    model_var(r->model, var)->is_negated = is_negated;
    return true;
}

/* ---- time-driven elements ---- */
static bool parse_channel(Reader *r, uint32_t begin)
{
    Channel channel = { .head = VAR_NONE };
    VEC(VarId) fields = { 0 };
    Label label;
    int64_t capacity;
    if (!reader_parse_new_label(r, &label) || !reader_expect_word(r, WORD_CAPACITY) ||
        !reader_parse_integer(r, 0, UINT32_MAX - 1, &capacity))
        return false;
    channel.capacity = (uint32_t)capacity;
    channel.by_priority = reader_accept_word(r, WORD_PRIORITY);
    channel.keep = reader_accept_word(r, WORD_KEEP);
    if (reader_accept(r, TOKEN_OPEN)) {
        do {
            VarId field;
            if (!reader_parse_variable_name(r, &field))
                return false;
            vec_push(r->arena, &fields, field);
        } while (reader_accept(r, TOKEN_COMMA));
        if (!reader_expect(r, TOKEN_CLOSE, "',' or ')' after a field"))
            return false;
    }
    if ((reader_accept_word(r, WORD_HEAD) && !reader_parse_variable_name(r, &channel.head)) ||
        !reader_parse_element_end(r, begin, &channel.span))
        return false;
    channel.first_field = r->model->fields.n;
    channel.n_fields = fields.n;
    for (uint32_t k = 0; k < fields.n; k++)
        vec_push(r->arena, &r->model->fields, fields.at[k]);
    channel.owner = label.owner;
    channel.name = reader_stored_name(r, LABEL_CHANNEL, label.name);
    vec_push(r->arena, &r->model->channels, channel);
    return true;
}

static bool parse_ratio(Reader *r, int64_t *numerator, int64_t *denominator)
{
    *denominator = 1;
    return reader_parse_integer(r, INT64_MIN, INT64_MAX, numerator) &&
           (!reader_accept(r, TOKEN_SLASH) || reader_parse_integer(r, INT64_MIN, INT64_MAX, denominator));
}

static bool parse_clock(Reader *r, uint32_t begin)
{
    Clock clock = { .base = ID_NONE };
    Label label;
    if (!reader_parse_new_label(r, &label) || !reader_choose(r, &clock_words, "the kind of the clock", &clock.kind) ||
        (clock.kind >= CLOCK_SUB && !reader_parse_label(r, LABEL_CLOCK, &clock.base)) ||
        ((clock.kind == CLOCK_PERIODIC || clock.kind >= CLOCK_SUB) &&
         !parse_ratio(r, &clock.numerator, &clock.denominator)) ||
        (reader_accept_word(r, WORD_WHEN) && !reader_parse_term(r, BOOLEAN_TYPE, &clock.condition)) ||
        (reader_accept_word(r, WORD_START) && !reader_parse_term(r, REAL_TYPE, &clock.start)) ||
        (reader_accept_word(r, WORD_INTERVAL) &&
         !reader_parse_term(r, clock.kind == CLOCK_PERIODIC ? INTEGER_TYPE : REAL_TYPE, &clock.interval)) ||
        (reader_accept_word(r, WORD_METHOD) && !reader_choose(r, &method_words, "a method", &clock.method)) ||
        !reader_parse_element_end(r, begin, &clock.span))
        return false;
    clock.owner = label.owner;
    clock.name = reader_stored_name(r, LABEL_CLOCK, label.name);
    vec_push(r->arena, &r->model->clocks, clock);
    return true;
}

static bool parse_stream(Reader *r, uint32_t begin)
{
    Stream stream = { .key = VAR_NONE, .count = VAR_NONE };
    Label label;
    if (!reader_parse_new_label(r, &label) ||
        (reader_accept_word(r, WORD_KEY) && !reader_parse_variable_name(r, &stream.key)) ||
        (reader_accept_word(r, WORD_COUNT) && !reader_parse_variable_name(r, &stream.count)) ||
        !reader_parse_element_end(r, begin, &stream.span))
        return false;
    stream.owner = label.owner;
    stream.name = reader_stored_name(r, LABEL_STREAM, label.name);
    vec_push(r->arena, &r->model->streams, stream);
    return true;
}

/* Behind the label. */
static bool parse_assertion(Reader *r, Assertion *a)
{
    if (reader_accept_word(r, WORD_FOR) &&
        (!reader_parse_domain(r, &a->domain) || !reader_expect(r, TOKEN_COLON, "':' after the ranges")))
        return false;
    if (!reader_parse_term(r, BOOLEAN_TYPE, &a->condition))
        return false;
    reader_accept(r, TOKEN_COMMA);
    if (!reader_parse_term(r, STRING_TYPE, &a->message))
        return false;
    if (reader_accept_word(r, WORD_WARNING)) {
        const bool is_chosen = reader_accept_word(r, WORD_IF);
        if (is_chosen && !reader_parse_term(r, BOOLEAN_TYPE, &a->warns))
            return false;
        a->level = is_chosen ? ASSERT_ERROR : ASSERT_WARNING;
    }
    return !reader_accept_word(r, WORD_REGION) || reader_parse_region_ref(r, &a->region, &a->branch);
}

bool reader_parse_assert(Reader *r, Where where, uint32_t begin)
{
    Assertion assertion = { .level = ASSERT_ERROR, .region = where.region, .branch = where.branch };
    Label label;
    const uint32_t n_loops = r->term.loops.n;
    const bool is_good = reader_parse_new_label(r, &label) && parse_assertion(r, &assertion);
    reader_leave_loops(r, n_loops);
    if (!is_good || !reader_parse_element_end(r, begin, &assertion.span))
        return false;
    assertion.owner = label.owner;
    assertion.name = reader_stored_name(r, LABEL_ASSERTION, label.name);
    vec_push(r->arena, &r->model->assertions, assertion);
    return true;
}

static bool parse_task(Reader *r, uint32_t begin)
{
    Task task = { 0 };
    if (reader_accept_word(r, WORD_KNOWN))
        task.kind = TASK_KNOWN;
    else if (reader_accept_word(r, WORD_REST))
        task.kind = TASK_REST;
    else if (!reader_expect_word(r, WORD_UNKNOWN))
        return false;
    const bool is_derivative = task.kind == TASK_KNOWN && reader_accept_word(r, WORD_DER);
    if ((is_derivative && !reader_expect(r, TOKEN_OPEN, "a '(' after der")) ||
        !reader_parse_variable_name(r, &task.ref.var) ||
        (is_derivative && !reader_expect(r, TOKEN_CLOSE, "a ')' after the variable")))
        return false;
    task.ref.kind = is_derivative ? REF_DER : REF_NOW;
    if (task.kind == TASK_KNOWN && reader_accept(r, TOKEN_IS) && !reader_parse_term(r, REAL_TYPE, &task.value))
        return false;
    if (!reader_parse_element_end(r, begin, &task.span))
        return false;
    vec_push(r->arena, &r->model->tasks, task);
    return true;
}

/* ---- relations and step functions, as passes make them ---- */
static bool parse_found_tail(Reader *r, RegionId *region, uint16_t *branch, Origin *origin)
{
    for (;;) {
        bool known = true;
        if (reader_accept_word(r, WORD_REGION)) {
            if (!reader_parse_region_ref(r, region, branch))
                return false;
        } else if (!reader_parse_origin_word(r, origin, &known)) {
            return false;
        }
        if (!known)
            return true;
    }
}

/* left > right */
static bool parse_sides(Reader *r, Relation *relation)
{
    const Expr *shape;
    const uint32_t first = r->token.begin;
    if (!reader_parse_operand_term(r, BINDS_SUM, &shape))
        return false;
    const Expr *left = shape;
    const Term left_term = reader_finish_term(r, left);
    relation->is_strict = r->token.kind == TOKEN_GT;
    if (!reader_accept(r, TOKEN_GT) && !reader_expect(r, TOKEN_GE, "'>' or '>='"))
        return false;
    if (!reader_parse_operand_term(r, BINDS_SUM, &shape))
        return false;
    shape = reader_convert(r, shape, left->type);
    relation->left = left_term;
    if (left->n_leaves == 0)
        relation->left.shape = left = reader_convert(r, left, shape->type);
    if (!type_equal(left->type, shape->type) || left->type.rank || left->type.kind == TYPE_STRING) {
        reader_report(r, DIAG_IR_TYPE, reader_span_from(r, first), "the relation compares %s with %s",
                      reader_type_text(r, left->type), reader_type_text(r, shape->type));
        HELP(r, "both sides must be scalars of one type");
        return false;
    }
    relation->right = reader_finish_term(r, shape);
    return true;
}

/* What it is, and when it changes: also over the ranges. */
static bool parse_kind(Reader *r, Relation *relation)
{
    if (!reader_choose(r, &relation_words, "the kind of the relation", &relation->kind))
        return false;
    relation->is_guarded = reader_accept_word(r, WORD_GUARDED);
    return (!reader_accept_word(r, WORD_SLOPE) || reader_parse_term(r, REAL_TYPE, &relation->slope)) &&
           (!reader_accept_word(r, WORD_FLIP) || reader_parse_term(r, REAL_TYPE, &relation->flip));
}

/* relation k1 left > right state, or for i in 1:9: left > right state: the name only helps the reader's eye. */
static bool parse_relation(Reader *r, uint32_t begin)
{
    Relation relation = { .region = REGION_NONE, .bit = VAR_NONE, .origin = { .parent = EQ_NONE } };
    NameId name;
    if (!reader_parse_name(r, &name))
        return false;
    const uint32_t n_loops = r->term.loops.n;
    bool is_good = true;
    if (reader_accept_word(r, WORD_FOR))
        is_good = reader_parse_domain(r, &relation.domain) && reader_expect(r, TOKEN_COLON, "':' after the ranges");
    is_good = is_good && parse_sides(r, &relation) && parse_kind(r, &relation);
    reader_leave_loops(r, n_loops);
    if (!is_good || (reader_accept_word(r, WORD_BIT) && !reader_parse_variable_name(r, &relation.bit)) ||
        !parse_found_tail(r, &relation.region, &relation.branch, &relation.origin) ||
        !reader_parse_element_end(r, begin, &relation.origin.span))
        return false;
    vec_push(r->arena, &r->model->relations, relation);
    return true;
}

/* trunc(x), or interval(tb1, x). */
bool reader_parse_step_head(Reader *r, StepFunction *step)
{
    step->op = 0;
    while (step->op < STEP_INTERVAL &&
           !(r->token.kind == TOKEN_NAME && r->token.word == WORD_OPERATION + step_ops[step->op]))
        step->op++;
    if (step->op == STEP_INTERVAL && !reader_has_word(r, WORD_INTERVAL))
        return reader_syntax_error(r, "floor, ceil, trunc, round or interval");
    reader_advance(r);
    return reader_expect(r, TOKEN_OPEN, "'('") &&
           (step->op != STEP_INTERVAL ||
            (reader_parse_table_name(r, &step->table) && reader_expect(r, TOKEN_COMMA, "','"))) &&
           reader_parse_term(r, REAL_TYPE, &step->argument) && reader_expect(r, TOKEN_CLOSE, "')'");
}

static bool parse_step(Reader *r, uint32_t begin)
{
    StepFunction step = { .region = REGION_NONE, .value = VAR_NONE, .origin = { .parent = EQ_NONE } };
    NameId name;
    if (!reader_parse_name(r, &name))
        return false;
    if (!reader_parse_step_head(r, &step) ||
        !reader_choose(r, &relation_words, "the kind of the step function", &step.kind))
        return false;
    step.is_guarded = reader_accept_word(r, WORD_GUARDED);
    if ((reader_accept_word(r, WORD_SLOPE) && !reader_parse_term(r, REAL_TYPE, &step.slope)) ||
        (reader_accept_word(r, WORD_OFFSET) && !reader_parse_term(r, REAL_TYPE, &step.offset)) ||
        (reader_accept_word(r, WORD_VALUE) && !reader_parse_variable_name(r, &step.value)) ||
        !parse_found_tail(r, &step.region, &step.branch, &step.origin) ||
        !reader_parse_element_end(r, begin, &step.origin.span))
        return false;
    vec_push(r->arena, &r->model->steps, step);
    return true;
}

/* ---- dispatch ---- */
static bool parse_facts(Reader *r, uint32_t begin)
{
    int64_t facts;
    Span span;
    if (!reader_parse_integer(r, 0, UINT32_MAX, &facts) || !reader_parse_element_end(r, begin, &span))
        return false;
    r->model->facts = (uint32_t)facts;
    return true;
}

static bool misplaced(Reader *r, uint32_t begin, Word word)
{
    reader_report(r, DIAG_IR_MISPLACED, reader_span_from(r, begin), "'%s' cannot stand here", word_text(word));
    switch (word) {
    case WORD_SOURCE:
    case WORD_ENUM:
    case WORD_OBJECT:
    case WORD_TABLE:
    case WORD_SHAPE:
    case WORD_CONNECTOR:
    case WORD_CLASS: HELP(r, "it belongs to the head of the file, before the model"); break;
    case WORD_INPUT:
    case WORD_OUTPUT:
    case WORD_LOCAL: HELP(r, "it belongs to a function"); break;
    case WORD_CASE:
    case WORD_ELSE: HELP(r, "it belongs to a region"); break;
    default: HELP(r, "it belongs to a model or a class"); break;
    }
    return false;
}

bool reader_parse_static(Reader *r, uint32_t begin, Word word)
{
    switch (word) {
    case WORD_CONST:
    case WORD_PARAM:
    case WORD_VAR: return parse_variables(r, begin, word);
    case WORD_FACTS: return parse_facts(r, begin);
    case WORD_ALIAS: return parse_alias(r, begin);
    case WORD_INSTANCE: return reader_parse_instance(r, begin);
    case WORD_PORT: return reader_parse_port(r, begin);
    case WORD_CONNECT: return reader_parse_connect(r, begin);
    case WORD_ANCHOR: return reader_parse_anchor(r, begin);
    case WORD_CHANNEL: return parse_channel(r, begin);
    case WORD_CLOCK: return parse_clock(r, begin);
    case WORD_DELAY: return reader_parse_delay(r, begin);
    case WORD_FOREIGN: return reader_parse_foreign(r, begin);
    case WORD_STREAM: return parse_stream(r, begin);
    case WORD_FUNCTION: return reader_parse_function(r, begin);
    case WORD_TASK: return parse_task(r, begin);
    case WORD_RELATION: return parse_relation(r, begin);
    case WORD_STEPFN: return parse_step(r, begin);
    case WORD_STATESET: return reader_parse_state_set(r, begin);
    case WORD_SPANS: return reader_parse_spans(r, begin);
    default: return misplaced(r, begin, word);
    }
}

static bool is_dynamic(Word word)
{
    return word == WORD_EQ || word == WORD_ALGORITHM || word == WORD_DROPPED || word == WORD_REGION ||
           word == WORD_TRANS || word == WORD_ASSERT;
}

static void unknown_element(Reader *r)
{
    if (r->token.kind == TOKEN_BAD) {
        r->mistakes.failed = true;
        return;
    }
    const int length = r->token.end - r->token.begin > 40 ? 40 : (int)(r->token.end - r->token.begin);
    reader_report(r, DIAG_IR_ELEMENT, reader_token_span(r), "no element begins with %.*s", length,
                  r->lexer.text + r->token.begin);
    HELP(r, "elements begin with a keyword, as var, param, eq, region, trans; see docs/ir.md");
}

void reader_parse_elements(Reader *r, Where where)
{
    for (;;) {
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        if (r->token.kind == TOKEN_END || reader_has_word(r, WORD_END))
            return;
        const bool is_region = where.region.index != ID_NONE;
        if (is_region && (reader_has_word(r, WORD_CASE) || reader_has_word(r, WORD_ELSE)))
            return;
        const uint32_t begin = r->token.begin;
        const Word word = (Word)r->token.word;
        if (!reader_is_element_word(r) && !reader_has_word(r, WORD_ELSE)) {
            unknown_element(r);
            reader_recover(r);
            continue;
        }
        reader_advance(r);
        const bool is_good = is_dynamic(word) ? reader_parse_dynamic(r, where, begin, word)
                             : is_region      ? misplaced(r, begin, word)
                                              : reader_parse_static(r, begin, word);
        if (!is_good)
            reader_recover(r);
    }
}
