/* Operands of the text form: names with their indices, literals, calls, reductions, arrays; see read_reader.h. */
#include "ir/read_reader.h"
#include "ir/routine.h"
#include <math.h>

enum { FEW_REFS = 16 };

/* ---- references ---- */
static uint32_t leaf_number(Reader *r, Ref ref)
{
    uint32_t known;
    if (r->term.refs.n <= FEW_REFS) {
        for (uint32_t k = 0; k < r->term.refs.n; k++)
            if (ref_equal(r->term.refs.at[k], ref))
                return k;
        if (r->term.refs.n == FEW_REFS) {
            map_init(&r->term.ref_numbers, r->arena, 4 * FEW_REFS);
            for (uint32_t k = 0; k < r->term.refs.n; k++)
                map_put(&r->term.ref_numbers, ref_key(r->term.refs.at[k]), k);
        }
    } else if (map_get(&r->term.ref_numbers, ref_key(ref), &known)) {
        return known;
    }
    if (r->term.refs.n >= FEW_REFS)
        map_put(&r->term.ref_numbers, ref_key(ref), r->term.refs.n);
    vec_push(r->arena, &r->term.refs, ref);
    return r->term.refs.n - 1;
}

Term reader_finish_term(Reader *r, const Expr *shape)
{
    const Term term = term_make(r->model, shape, r->term.refs.at);
    r->term.refs.n = 0;
    return term;
}

/* ---- operands ---- */
static bool find_loop(const Reader *r, NameId name, uint32_t *level)
{
    for (uint32_t k = r->term.loops.n; k-- > 0;)
        if (name_equal(r->term.loops.at[k].name, name)) {
            *level = r->term.loops.at[k].level;
            return true;
        }
    return false;
}

/* Integers, or vectors of them. */
static bool are_indices(Reader *r, const ExprList *index, Span span)
{
    for (uint32_t k = 0; k < index->n; k++) {
        const Type type = index->at[k]->type;
        if (type.kind != TYPE_INTEGER || type.rank > 1)
            return reader_type_error(r, span, "an index", type, "Integer") != NULL;
    }
    return !reader_is_too_deep(r, index->n, index->at, span);
}

/* A reference to the variable found last, with its indices, which follow. */
static const Expr *parse_indexed(Reader *r, Ref ref, uint32_t begin)
{
    Type type = r->name.found;
    if (!reader_accept(r, TOKEN_OPEN_INDEX))
        return expr_leaf(r->pool, leaf_number(r, ref), type);
    const uint32_t leaf = leaf_number(r, ref);
    ExprList index = { .n = 0 };
    if (!reader_parse_list(r, &index, TOKEN_CLOSE_INDEX, "',' or ']' after an index"))
        return NULL;
    const Span span = reader_span_from(r, begin);
    if (index.n != type.rank) {
        reader_report(r, DIAG_IR_RANK, span, "%u %s given for a variable with %u dimension%s", index.n,
                      index.n == 1 ? "index is" : "indices are", type.rank, type.rank == 1 ? "" : "s");
        HELP(r, "an element has one index for each dimension, the whole array has none");
        return NULL;
    }
    if (!are_indices(r, &index, span))
        return NULL;
    type.rank = 0;
    return expr_element(r->pool, leaf, type, index.n, index.at);
}

static const Expr *enum_literal(Reader *r, NameId label, NameId value)
{
    uint32_t enumeration, number;
    if (label.index == ID_NONE || value.index == ID_NONE ||
        !map_get(&r->head.labels.enumerations, label.index, &enumeration) ||
        !map_get(&r->head.labels.values, key_of(enumeration, value), &number))
        return NULL;
    return expr_enum(r->pool, enumeration, number);
}

/* f(x)[2]: of the array that a call gives the second element in the order of rows. */
static const Expr *parse_result_element(Reader *r, const Expr *call, uint32_t begin)
{
    const Function *f = call->u.function;
    Type type = call->type;
    int64_t number;
    reader_advance(r);
    if (!reader_parse_integer(r, 1, UINT32_MAX, &number) || !reader_expect(r, TOKEN_CLOSE_INDEX, "']' after a number"))
        return NULL;
    const uint64_t count = function_field_count(f, f->n_inputs + call->result);
    if (count && (uint64_t)number > count) { /* shapes are read before the sizes are known: verify sees them */
        reader_report(r, DIAG_IR_RANK, reader_span_from(r, begin), "element %lld of a result with %llu elements",
                      (long long)number, (unsigned long long)count);
        HELP(r, "elements are numbered in the order of rows");
        return NULL;
    }
    type.rank = 0;
    return expr_function_element(r->pool, call, (uint32_t)number - 1, type);
}

/* Of a model that was analysed, also the derivative der(f) that was made for it. NULL: there is none. */
static const Function *find_function(Reader *r, NameId name)
{
    uint32_t index;
    if (map_get(&r->top->labels[LABEL_FUNCTION], key_of(0, name), &index))
        return r->top->model->functions.at[index];
    const char *text = names_of(r->names, name);
    NameId of;
    if (strncmp(text, "der(", 4) != 0 || !text_ends_with(text, ")") ||
        !names_find(r->names, text + 4, strlen(text) - 5, &of))
        return NULL;
    const Function *f = find_function(r, of);
    return f && f->derivative && !f->derivative->has_no_value ? f->derivative : NULL;
}

static const Expr *parse_call(Reader *r, uint32_t begin)
{
    const NameId name = r->name.path.at[r->name.path.n - 1];
    const Function *f = r->name.path.n == 1 && name.index != ID_NONE ? find_function(r, name) : NULL;
    if (!f) {
        reader_unknown_name(r, begin, "function");
        return NULL;
    }
    reader_advance(r);
    ExprList args = { .n = 0 };
    if (!reader_parse_list(r, &args, TOKEN_CLOSE, "',' or ')' after an argument"))
        return NULL;
    int64_t result = 1;
    if (reader_accept(r, TOKEN_DOT) && !reader_parse_integer(r, 0, UINT32_MAX, &result))
        return NULL;
    const Span span = reader_span_from(r, begin);
    if (args.n != f->n_inputs || result > f->n_outputs) {
        reader_report(r, DIAG_IR_ARGUMENTS, span,
                      "%s has %u inputs and %u outputs, here are %u arguments for output %lld",
                      names_of(r->names, name), f->n_inputs, f->n_outputs, args.n, (long long)result);
        HELP(r, "give one argument for each input; f(x).2 is the second output");
        return NULL;
    }
    for (uint32_t k = 0; k < args.n; k++) {
        const Type wanted = f->body->variables.at[k].type;
        args.at[k] = reader_convert(r, args.at[k], wanted);
        if (!type_equal(args.at[k]->type, wanted))
            return reader_type_error(r, span, "an argument", args.at[k]->type, reader_type_text(r, wanted));
    }
    if (reader_is_too_deep(r, args.n, args.at, span))
        return NULL;
    if (result == 0)
        return expr_function(r->pool, f, RESULT_ALL, (Type){ TYPE_REAL, 1, 0 }, args.n, args.at);
    const Type type = f->body->variables.at[f->n_inputs + result - 1].type;
    const Expr *call = expr_function(r->pool, f, (uint32_t)result - 1, type, args.n, args.at);
    return type.rank > 0 && r->token.kind == TOKEN_OPEN_INDEX ? parse_result_element(r, call, begin) : call;
}

/* $i3 is the loop variable of level 2. In shapes it needs no loop around it. */
static bool numbered_loop(const Reader *r, uint32_t begin, uint32_t *level)
{
    const uint32_t number = generated_number(r->lexer.text + begin, r->last_end - begin, 'i');
    *level = number - 1;
    return number && r->term.in_shape;
}

static const Expr *parse_named(Reader *r)
{
    const uint32_t begin = r->token.begin;
    const bool is_absolute = reader_accept(r, TOKEN_DOT);
    uint32_t level;
    VarId var;
    if (!reader_parse_path(r) || !reader_path_to_element(r))
        return NULL;
    if (!is_absolute && r->name.path.n == 1) {
        const bool is_loop = r->name.path.at[0].index != ID_NONE && find_loop(r, r->name.path.at[0], &level);
        if (is_loop || numbered_loop(r, begin, &level))
            return expr_iterator(r->pool, level);
    }
    if (r->token.kind == TOKEN_OPEN) {
        WholeOp op;
        const bool is_plain = !is_absolute && r->lexer.text[begin] != '\'';
        if (is_plain && whole_by_text(r->lexer.text + begin, r->last_end - begin, &op))
            return reader_parse_whole(r, op, begin);
        return parse_call(r, begin);
    }
    if (reader_accept(r, TOKEN_COLONS)) {
        const NameId label = r->name.path.at[0];
        if (!reader_parse_path(r))
            return NULL;
        const Expr *literal = enum_literal(r, label, r->name.path.at[0]);
        if (!literal)
            reader_unknown_name(r, begin, "value");
        return literal;
    }
    if (!r->term.in_shape && reader_find_variable(r, &var))
        return parse_indexed(r, ref_now(var), begin);
    const Expr *literal = r->name.path.n == 2 ? enum_literal(r, r->name.path.at[0], r->name.path.at[1]) : NULL;
    if (!literal)
        reader_unknown_name(r, begin, r->name.path.n == 2 ? "variable or value" : "variable");
    return literal;
}

/* pre(v), der(v), last(v), start(v), seed(v), seed(der(v)): behind the opening parenthesis. */
static const Expr *parse_ref_of(Reader *r, RefKind kind)
{
    const uint32_t begin = r->token.begin;
    VarId var;
    if (kind == REF_SEED && reader_accept_word(r, WORD_DER)) {
        const Expr *e = reader_expect(r, TOKEN_OPEN, "'('") ? parse_ref_of(r, REF_SEED_DER) : NULL;
        return e && reader_expect(r, TOKEN_CLOSE, "')'") ? e : NULL;
    }
    if (!reader_parse_variable_name(r, &var))
        return NULL;
    const Expr *e = parse_indexed(r, (Ref){ var, (uint8_t)kind }, begin);
    return e && reader_expect(r, TOKEN_CLOSE, "')' after the variable") ? e : NULL;
}

static LabelKind label_kind_of(RefKind kind)
{
    return kind == REF_FIRED ? LABEL_TRANSITION : kind == REF_IS_ROOT || kind == REF_ROOTED ? LABEL_PORT : LABEL_CLOCK;
}

static const Expr *parse_label_ref(Reader *r, RefKind kind)
{
    Ref ref = { .kind = (uint8_t)kind };
    if (!reader_expect(r, TOKEN_OPEN, "'('") || !reader_parse_label(r, label_kind_of(kind), &ref.var.index) ||
        !reader_expect(r, TOKEN_CLOSE, "')'"))
        return NULL;
    return expr_leaf(r->pool, leaf_number(r, ref), kind == REF_INTERVAL ? REAL_TYPE : BOOLEAN_TYPE);
}

static const Expr *parse_plain_ref(Reader *r, RefKind kind, Type type)
{
    return expr_leaf(r->pool, leaf_number(r, (Ref){ VAR_NONE, (uint8_t)kind }), type);
}

static const Expr *parse_literal_relation(Reader *r)
{
    const Span span = reader_token_span(r);
    const Expr *e = reader_expect(r, TOKEN_OPEN, "'('") ? reader_parse_expr(r, BINDS_IF) : NULL;
    if (!e || !reader_expect(r, TOKEN_CLOSE, "')'"))
        return NULL;
    if (e->kind == EXPR_CALL && op_is_relation((Op)e->op))
        return expr_literal_relation(r->pool, (Op)e->op, e->args[0], e->args[1]);
    reader_report(r, DIAG_IR_TYPE, span, "literal(...) holds a single comparison");
    HELP(r, "noEvent(...) marks all comparisons in an expression");
    return NULL;
}

static const Expr *parse_no_event(Reader *r)
{
    if (!reader_expect(r, TOKEN_OPEN, "'('"))
        return NULL;
    r->term.literal++;
    const Expr *e = reader_parse_expr(r, BINDS_IF);
    r->term.literal--;
    return e && reader_expect(r, TOKEN_CLOSE, "')'") ? e : NULL;
}

/* smooth(p, e): p times continuously differentiable. Where p is 0 the comparisons in e are corners, and events. */
static const Expr *parse_smooth(Reader *r, Span span)
{
    int64_t order;
    if (!reader_expect(r, TOKEN_OPEN, "'('") || !reader_parse_integer(r, 0, UINT8_MAX, &order) ||
        !reader_expect(r, TOKEN_COMMA, "',' after the order"))
        return NULL;
    r->term.literal += order > 0;
    const Expr *e = reader_parse_expr(r, BINDS_IF);
    r->term.literal -= order > 0;
    if (e && e->type.kind != TYPE_REAL) {
        reader_report(r, DIAG_IR_TYPE, span, "smooth(...) is about Reals: others jump where they change");
        HELP(r, "use noEvent(...) if that shall make no events");
        return NULL;
    }
    return e && reader_expect(r, TOKEN_CLOSE, "')'") ? e : NULL;
}

const Expr *reader_parse_operation(Reader *r, Op op, Span span)
{
    ExprList args = { .n = 0 };
    if (!reader_expect(r, TOKEN_OPEN, "'(' after the name of an operation") ||
        !reader_parse_list(r, &args, TOKEN_CLOSE, "',' or ')' after an argument"))
        return NULL;
    if (args.n != op_arity(op)) {
        reader_report(r, DIAG_IR_ARGUMENTS, span, "%s takes %u argument%s, here are %u", op_text(op), op_arity(op),
                      op_arity(op) == 1 ? "" : "s", args.n);
        HELP(r, "the operations and their arguments are listed in docs/ir.md");
        return NULL;
    }
    return reader_build(r, op, args.n, args.at, span);
}

/* %3, %3:Integer, %3:Real^2, %3[1]: a leaf of a shape. */
static const Expr *parse_leaf(Reader *r)
{
    const uint32_t begin = r->token.begin;
    int64_t leaf, rank = 0;
    Type type = REAL_TYPE;
    reader_advance(r);
    if (!r->term.in_shape) {
        reader_report(r, DIAG_IR_SHAPE, reader_span_from(r, begin), "%%0, %%1 ... stand in shapes only");
        HELP(r, "write the name of the variable");
        return NULL;
    }
    if (!reader_parse_integer(r, 0, LARGEST_LEAF, &leaf))
        return NULL;
    if (reader_accept(r, TOKEN_COLON) &&
        (!reader_parse_type(r, &type) ||
         (reader_accept(r, TOKEN_CARET) && !reader_parse_integer(r, 1, LARGEST_RANK, &rank))))
        return NULL;
    type.rank = (uint8_t)rank;
    if (r->token.kind != TOKEN_OPEN_INDEX)
        return expr_leaf(r->pool, (uint32_t)leaf, type);
    ExprList index = { .n = 0 };
    reader_advance(r);
    if (!reader_parse_list(r, &index, TOKEN_CLOSE_INDEX, "',' or ']' after an index"))
        return NULL;
    if (!are_indices(r, &index, reader_span_from(r, begin)))
        return NULL;
    if (index.n == 0 || rank) {
        reader_report(r, DIAG_IR_RANK, reader_span_from(r, begin),
                      "an element of a leaf has one index or more, and no rank");
        return NULL;
    }
    return expr_element(r->pool, (uint32_t)leaf, type, index.n, index.at);
}

const Expr *reader_integer_literal(Reader *r, bool is_negative)
{
    const uint64_t limit = (uint64_t)INT64_MAX + is_negative;
    const uint64_t size = r->token.u.integer;
    if (size > limit) {
        reader_report(r, DIAG_NUMBER_RANGE, reader_token_span(r), "the number is outside the range of Integer");
        HELP(r, "an Integer has 64 bits; write a Real with a point or an exponent, as 1e30");
        return NULL;
    }
    reader_advance(r);
    return expr_integer(r->pool, is_negative ? (int64_t)(0 - size) : (int64_t)size);
}

const Expr *reader_real_literal(Reader *r, double value)
{
    reader_advance(r);
    return expr_real(r->pool, value);
}

static const Expr *operand_expected(Reader *r)
{
    reader_syntax_error(r, "an operand");
    if (r->token.kind == TOKEN_NAME)
        HELP(r, "a name that is a word of the text form stands in quotes: '%.*s'", (int)(r->token.end - r->token.begin),
             r->lexer.text + r->token.begin);
    else
        HELP(r, "an operand is a number, a name, a call, or an expression in parentheses");
    return NULL;
}

/* table(tb1, x), table(tb1, x, i): in the frozen interval i, table(tb1, x).1: its first derivative. */
static const Expr *parse_table(Reader *r, Span span)
{
    const Table *table;
    ExprList args = { .n = 0 };
    int64_t order = 0;
    reader_advance(r);
    if (!reader_expect(r, TOKEN_OPEN, "'('") || !reader_parse_table_name(r, &table) ||
        !reader_expect(r, TOKEN_COMMA, "','") ||
        !reader_parse_list(r, &args, TOKEN_CLOSE, "',' or ')' after an argument"))
        return NULL;
    if (reader_accept(r, TOKEN_DOT) && !reader_parse_integer(r, 1, TABLE_ORDERS - 1, &order))
        return NULL;
    if (args.n != 1 && args.n != 2) {
        reader_report(r, DIAG_IR_ARGUMENTS, span, "a table has one argument, here are %u", args.n);
        HELP(r, "write table(NAME, x)");
        return NULL;
    }
    args.at[0] = reader_convert(r, args.at[0], REAL_TYPE);
    if (!type_equal(args.at[0]->type, REAL_TYPE))
        return reader_type_error(r, span, "the argument of a table", args.at[0]->type, "Real");
    if (args.n == 2 && (!type_equal(args.at[1]->type, INTEGER_TYPE) || expr_is_constant(args.at[1])))
        return reader_type_error(r, span, "the interval of a table", args.at[1]->type, "an Integer variable");
    return reader_is_too_deep(r, args.n, args.at, span)
               ? NULL
               : expr_table(r->pool, table, (uint32_t)order, args.at[0], args.n == 2 ? args.at[1] : NULL);
}

/* String(x), String(x, "6.3f"), String.length(s), ... */
static const Expr *parse_text_op(Reader *r, Span span)
{
    ExprList args = { .n = 0 };
    TextOp op = TEXT_FORMAT;
    NameId name;
    reader_advance(r);
    if (reader_accept(r, TOKEN_DOT)) {
        if (!reader_parse_name(r, &name))
            return NULL;
        for (op = 0; op < TEXT_OPS && strcmp(text_op_name(op), names_of(r->names, name)) != 0;)
            op++;
        if (op == TEXT_OPS) {
            reader_report(r, DIAG_IR_UNKNOWN_NAME, span, "String has no operation '%s'", names_of(r->names, name));
            HELP(r, "there are String.compare, String.length, String.substring, a + b and String(x, \"6.3f\")");
            return NULL;
        }
    }
    if (!reader_expect(r, TOKEN_OPEN, "'('") ||
        !reader_parse_list(r, &args, TOKEN_CLOSE, "',' or ')' after an argument"))
        return NULL;
    return reader_build_text(r, op, args.n, args.at, span);
}

static const Expr *parse_opened_ref(Reader *r, RefKind kind)
{
    reader_advance(r);
    return reader_expect(r, TOKEN_OPEN, "'('") ? parse_ref_of(r, kind) : NULL;
}

/* An operand that begins with a word of the text form. */
static const Expr *parse_word(Reader *r)
{
    const Span span = reader_token_span(r);
    const uint32_t word = r->token.word;
    switch (word) {
    case WORD_TRUE:
    case WORD_FALSE: reader_advance(r); return expr_boolean(r->pool, word == WORD_TRUE);
    case WORD_INF: return reader_real_literal(r, (double)INFINITY);
    case WORD_NAN: return reader_real_literal(r, (double)NAN);
    case WORD_MIN: return reader_parse_reduction(r, OP_MIN, WHOLE_LEAST);
    case WORD_MAX: return reader_parse_reduction(r, OP_MAX, WHOLE_LARGEST);
    case WORD_SUM: return reader_parse_reduction(r, OP_ADD, WHOLE_SUM);
    case WORD_PROD: return reader_parse_reduction(r, OP_MUL, WHOLE_PROD);
    case WORD_ALL: return reader_parse_reduction(r, OP_AND, WHOLE_ALL);
    case WORD_ANY: return reader_parse_reduction(r, OP_OR, WHOLE_ANY);
    case WORD_NOEVENT: reader_advance(r); return parse_no_event(r);
    case WORD_SMOOTH: reader_advance(r); return parse_smooth(r, span);
    case WORD_LITERAL: reader_advance(r); return parse_literal_relation(r);
    case WORD_TABLE: return parse_table(r, span);
    case WORD_STRING: return parse_text_op(r, span);
    default: break;
    }
    if (word >= WORD_OPERATION) {
        reader_advance(r);
        return reader_parse_operation(r, (Op)(word - WORD_OPERATION), span);
    }
    if (r->term.in_shape)
        return operand_expected(r);
    switch (word) {
    case WORD_TIME: reader_advance(r); return parse_plain_ref(r, REF_TIME, REAL_TYPE);
    case WORD_INITIAL: reader_advance(r); return parse_plain_ref(r, REF_INITIAL, BOOLEAN_TYPE);
    case WORD_TERMINAL: reader_advance(r); return parse_plain_ref(r, REF_TERMINAL, BOOLEAN_TYPE);
    case WORD_PRE: return parse_opened_ref(r, REF_PRE);
    case WORD_DER: return parse_opened_ref(r, REF_DER);
    case WORD_LAST: return parse_opened_ref(r, REF_LAST);
    case WORD_START: return parse_opened_ref(r, REF_START);
    case WORD_SEED: return parse_opened_ref(r, REF_SEED);
    case WORD_INSTREAM: return parse_opened_ref(r, REF_INFLOW);
    case WORD_ACTUALSTREAM: return parse_opened_ref(r, REF_PASSING);
    case WORD_ISROOT: reader_advance(r); return parse_label_ref(r, REF_IS_ROOT);
    case WORD_ROOTED: reader_advance(r); return parse_label_ref(r, REF_ROOTED);
    case WORD_FIRED: reader_advance(r); return parse_label_ref(r, REF_FIRED);
    case WORD_TICK: reader_advance(r); return parse_label_ref(r, REF_TICK);
    case WORD_INTERVAL: reader_advance(r); return parse_label_ref(r, REF_INTERVAL);
    default: return operand_expected(r);
    }
}

const Expr *reader_parse_operand(Reader *r)
{
    const Expr *e;
    NameId text;
    switch ((TokenKind)r->token.kind) {
    case TOKEN_NAME:
        if (r->token.word == WORD_NO ||
            !words_is_reserved(r->words, r->lexer.text + r->token.begin, r->token.end - r->token.begin))
            return parse_named(r);
        return parse_word(r);
    case TOKEN_QUOTED:
    case TOKEN_DOT: return parse_named(r);
    case TOKEN_INTEGER: return reader_integer_literal(r, false);
    case TOKEN_REAL: return reader_real_literal(r, r->token.u.real);
    case TOKEN_STRING: return reader_parse_string(r, &text) ? expr_string(r->pool, text) : NULL;
    case TOKEN_PERCENT: return parse_leaf(r);
    case TOKEN_OPEN_SET: return reader_parse_array(r);
    case TOKEN_OPEN:
        reader_advance(r);
        e = reader_parse_item(r, false);
        return e && reader_expect(r, TOKEN_CLOSE, "')'") ? e : NULL;
    default: return operand_expected(r);
    }
}
