/* Expressions and the statements around them; see expression.h. */
#include "emit/c/expression.h"
#include "base/bug.h"
#include "emit/c/model_text.h"
#include "emit/c/routine.h"
#include "emit/runs.h"
#include "emit/texts.h"
#include <stdarg.h>

enum {
    LINE_WIDTH = 100,
    MOST_NESTING = 30, /* compilers limit the depth of brackets (clang: 256) */
    MOST_SIZE = 300    /* nodes in one expression */
};

/* Binding strength of C operators, weakest first. */
typedef enum {
    BIND_ANY,
    BIND_IF,
    BIND_OR,
    BIND_AND,
    BIND_EQUAL,
    BIND_LESS,
    BIND_ADD,
    BIND_MUL,
    BIND_SIGN,
    BIND_TIGHT
} Binding;

void printer_init(Printer *p, const Code *code, Arena *arena, Arena *line)
{
    *p = (Printer){ .code = code, .arena = arena, .line = line };
    placement_init(&p->placement, code->pool, arena);
    identifiers_init(&p->identifiers, code, arena);
}

/* ---- lines ---- */
/* Every blank of the code may become a line break; those of the comment behind it do not. */
static void wrap(Printer *p, const Text *line, size_t n_code)
{
    const size_t margin = 4u * p->indent;
    for (size_t start = 0, left = margin; start < line->n; left = margin + 8) {
        size_t end = line->n;
        if (left + (line->n - start) > LINE_WIDTH) {
            const size_t limit = start + (LINE_WIDTH > left + 20 ? LINE_WIDTH - left : 20);
            for (size_t k = start + 1; k < n_code && (k <= limit || end == line->n); k++)
                if (line->at[k] == ' ')
                    end = k;
        }
        text_format(p->out, "%*s", (int)left, "");
        text_bytes(p->out, line->at + start, end - start);
        text_char(p->out, '\n');
        start = end + (end < line->n);
    }
}

void print_line(Printer *p, const char *comment, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    REQUIRE(n >= 0);
    char *formatted = arena_alloc(p->line, (size_t)n + 1, 1);
    vsnprintf(formatted, (size_t)n + 1, format, again);
    va_end(again);
    Text line = { .arena = p->line };
    text_bytes(&line, formatted, (size_t)n);
    if (comment) {
        text_char(&line, ' ');
        model_comment(&line, comment);
    }
    wrap(p, &line, (size_t)n);
}

/* ---- what becomes a temporary ---- */
/* Text of an argument inside its user's: brackets it may need, except along chains to the left. */
static uint32_t nesting_inside(const Printer *p, const Expr *user, uint32_t k, uint32_t number)
{
    const Expr *arg = p->placement.nodes.at[number].expr;
    const bool is_chain = user->kind == EXPR_CALL && k == 0 && user->n_args == 2 && arg->kind == EXPR_CALL &&
                          arg->n_args == 2 && user->op >= OP_ADD && user->op <= OP_DIV && arg->op >= OP_ADD &&
                          arg->op <= OP_DIV;
    return p->temporaries.nesting.at[number] + !is_chain;
}

/* Whether a compiler may find a truth value at compile time: it, or a part that decides it, is a literal. */
static bool may_fold(const Printer *p, const Expr *e)
{
    if (expr_is_constant(e))
        return true;
    bool some = false;
    for (uint32_t k = 0; k < e->n_args && e->type.kind == TYPE_BOOLEAN; k++)
        some |= p->temporaries.may_fold.at[placement_number(&p->placement, e->args[k])];
    return some;
}

/* libtcc 0.9.27 takes (c ? 0 : x) for false when it is a condition itself. As a value it is right. */
static bool confuses_tcc(const Printer *p, const Expr *e)
{
    return e->kind == EXPR_IF && e->type.kind == TYPE_BOOLEAN && may_fold(p, e);
}

static void plan_temporaries(Printer *p)
{
    const Placement *placement = &p->placement;
    const uint32_t n = placement->nodes.n;
    vec_reserve(p->arena, &p->temporaries.is_temporary, n);
    vec_reserve(p->arena, &p->temporaries.number, n);
    vec_reserve(p->arena, &p->temporaries.nesting, n);
    vec_reserve(p->arena, &p->temporaries.size, n);
    vec_reserve(p->arena, &p->temporaries.may_fold, n);
    vec_reserve(p->arena, &p->temporaries.has_temporaries, placement->regions.n);
    memset(p->temporaries.number.at, 0, n * sizeof *p->temporaries.number.at);
    memset(p->temporaries.has_temporaries.at, 0, placement->regions.n);
    p->temporaries.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const PlacedNode *node = &placement->nodes.at[i];
        uint32_t nesting = 0, size = 1;
        for (uint32_t k = 0; k < node->expr->n_args; k++) {
            const uint32_t argument = placement_number(placement, node->expr->args[k]);
            if (p->temporaries.is_temporary.at[argument]) {
                size++;
                continue;
            }
            const uint32_t inside = nesting_inside(p, node->expr, k, argument);
            nesting = inside > nesting ? inside : nesting;
            size += p->temporaries.size.at[argument];
        }
        p->temporaries.nesting.at[i] = nesting;
        p->temporaries.size.at[i] = size;
        p->temporaries.may_fold.at[i] = may_fold(p, node->expr);
        const bool is_statement = node->expr->kind == EXPR_IF && (p->temporaries.has_temporaries.at[node->side] ||
                                                                  p->temporaries.has_temporaries.at[node->side + 1]);
        p->temporaries.is_temporary.at[i] =
            node->expr->kind >= EXPR_CALL && (node->uses > 1 || is_statement || confuses_tcc(p, node->expr) ||
                                              nesting > MOST_NESTING || size > MOST_SIZE);
        if (node->expr->type.rank > 0) /* an array is a temporary, a place in one is not */
            p->temporaries.is_temporary.at[i] = node->expr->kind == EXPR_ARRAY || is_model_call(node->expr);
        for (uint32_t r = node->region;
             p->temporaries.is_temporary.at[i] && r != ID_NONE && !p->temporaries.has_temporaries.at[r];
             r = placement->regions.at[r].parent)
            p->temporaries.has_temporaries.at[r] = 1;
    }
}

void begin_kernel(Printer *p, uint32_t kernel)
{
    if (p->kernel != &p->code->kernels[kernel]) {
        p->kernel = &p->code->kernels[kernel];
        placement_of(&p->placement, p->kernel);
    }
    plan_temporaries(p);
}

bool needs_block(const Printer *p)
{
    return p->kernel->n_outputs > 1 || p->kernel->outputs[0]->type.rank > 0 || p->temporaries.has_temporaries.at[0];
}

/* ---- leaves ---- */
static const char *member(Type type)
{
    return type.kind == TYPE_REAL ? "r" : "i";
}

static const char *type_name(Type type)
{
    return type.kind == TYPE_REAL ? "double" : "int64_t";
}

static void print_position(Printer *p, Text *t, uint32_t slot)
{
    const char *name = identifier_of(&p->identifiers, slot);
    if (name)
        text_add(t, name);
    else
        text_format(t, "%u", slot);
}

/* "+ 3 * i", "- i", "" */
static void print_stride(Text *t, int32_t stride)
{
    const int64_t size = stride < 0 ? -(int64_t)stride : stride;
    if (size == 1)
        text_format(t, " %c i", stride < 0 ? '-' : '+');
    else if (size > 1)
        text_format(t, " %c %lld * i", stride < 0 ? '-' : '+', (long long)size);
}

static void print_place(Printer *p, Text *t, uint32_t column)
{
    switch (p->places.spelling) {
    case SPELL_STRAIGHT: print_position(p, t, run_position(p->kernel, p->places.row, p->places.element, column)); break;
    case SPELL_LOOP:
        print_position(p, t, p->places.row[column]);
        print_stride(t, p->places.strides[column]);
        break;
    case SPELL_ROW: text_format(t, "row[%u]", column); break;
    case SPELL_ROUTINE: BUG("fields have names");
    case SPELL_AFFINE:
        text_format(t, "row[%u]", column);
        print_stride(t, p->places.strides[column]);
        break;
    }
}

static void print_column(Printer *p, Text *t, uint32_t column)
{
    text_add(t, "m[");
    print_place(p, t, column);
    text_add(t, "]");
}

static void print_leaf(Printer *p, Text *t, const Expr *e)
{
    if (e->type.rank > 0 && p->places.spelling != SPELL_ROUTINE) {
        text_char(t, '&');
        print_column(p, t, p->kernel->n_outputs + e->u.leaf);
        return;
    }
    if (p->places.spelling == SPELL_ROUTINE) {
        text_add(t, routine_slot_name(p->places.routine, e->u.leaf));
        return;
    }
    const uint32_t column = p->kernel->n_outputs + e->u.leaf;
    if (p->places.spelling == SPELL_LOOP && p->places.is_hoisted && p->places.strides[column] == 0) {
        text_format(t, "u%u", e->u.leaf);
        return;
    }
    print_column(p, t, column);
    text_format(t, ".%s", member(e->type));
}

static void print_integer(Text *t, int64_t value)
{
    if (value == INT64_MIN)
        text_add(t, "(-9223372036854775807 - 1)");
    else
        text_integer(t, value);
}

/* A number that is none has no literal in C: as a word it would be the name of a variable. */
static void print_real(Text *t, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value - value == 0)
        text_real_point(t, value);
    else
        text_format(t, "((KoineSlot){ .i = 0x%llx }).r", (unsigned long long)bits);
}

static void print_iterator(Printer *p, Text *t)
{
    switch (p->places.spelling) {
    case SPELL_STRAIGHT: print_integer(t, run_iterator(p->kernel, p->places.row, p->places.element)); break;
    case SPELL_LOOP:
        text_format(t, "(%d", (int32_t)p->places.row[p->kernel->width]);
        print_stride(t, p->kernel->strides ? p->kernel->iterator_stride : p->places.strides[p->kernel->width]);
        text_add(t, ")");
        break;
    case SPELL_ROUTINE: BUG("a routine has no iterators");
    case SPELL_ROW: text_format(t, "(int32_t)row[%u]", p->kernel->width); break;
    case SPELL_AFFINE:
        text_format(t, "((int32_t)row[%u]", p->kernel->width);
        print_stride(t, p->kernel->iterator_stride);
        text_add(t, ")");
        break;
    }
}

/* How often a leaf only says where an array begins: its value is not needed then. */
static uint32_t uses_as_place(const Printer *p, const Expr *leaf)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < p->placement.nodes.n; i++) {
        const PlacedNode *node = &p->placement.nodes.at[i];
        uses +=
            node->uses && node->expr->kind == EXPR_CALL && node->expr->op == OP_ELEMENT && node->expr->args[0] == leaf;
    }
    return uses;
}

void print_invariants(Printer *p)
{
    for (uint32_t i = 0; i < p->placement.nodes.n; i++) {
        const Expr *e = p->placement.nodes.at[i].expr;
        if (e->kind != EXPR_LEAF || e->type.rank > 0 || p->placement.nodes.at[i].uses == uses_as_place(p, e) ||
            p->places.strides[p->kernel->n_outputs + e->u.leaf] != 0)
            continue;
        Text t = { .arena = p->line };
        print_column(p, &t, p->kernel->n_outputs + e->u.leaf);
        print_line(p, NULL, "const %s u%u = %s.%s;", type_name(e->type), e->u.leaf, t.at, member(e->type));
    }
}

/* ---- expressions ---- */
typedef enum { STYLE_INFIX, STYLE_PREFIX, STYLE_CALL } Style;
typedef struct {
    Style style;
    const char *text; /* infix and prefix operators */
    Binding binding;  /* infix: of the whole; left and right argument need at least ... */
    Binding left, right;
    Helper function; /* STYLE_CALL; rounding to Integer wraps it */
} OperationForm;

static const OperationForm operators[OP_COUNT] = {
    [OP_NEG] = { STYLE_PREFIX, "-", BIND_SIGN, BIND_TIGHT, BIND_TIGHT, 0 },
    [OP_ADD] = { STYLE_INFIX, "+", BIND_ADD, BIND_ADD, BIND_MUL, 0 },
    [OP_SUB] = { STYLE_INFIX, "-", BIND_ADD, BIND_ADD, BIND_MUL, 0 },
    [OP_MUL] = { STYLE_INFIX, "*", BIND_MUL, BIND_MUL, BIND_SIGN, 0 },
    [OP_DIV] = { STYLE_INFIX, "/", BIND_MUL, BIND_MUL, BIND_SIGN, 0 },
    [OP_NOT] = { STYLE_PREFIX, "!", BIND_SIGN, BIND_TIGHT, BIND_TIGHT, 0 },
    [OP_AND] = { STYLE_INFIX, "&&", BIND_AND, BIND_AND, BIND_EQUAL, 0 },
    [OP_OR] = { STYLE_INFIX, "||", BIND_OR, BIND_EQUAL, BIND_EQUAL, 0 },
    [OP_LT] = { STYLE_INFIX, "<", BIND_LESS, BIND_ADD, BIND_ADD, 0 },
    [OP_LE] = { STYLE_INFIX, "<=", BIND_LESS, BIND_ADD, BIND_ADD, 0 },
    [OP_GT] = { STYLE_INFIX, ">", BIND_LESS, BIND_ADD, BIND_ADD, 0 },
    [OP_GE] = { STYLE_INFIX, ">=", BIND_LESS, BIND_ADD, BIND_ADD, 0 },
    [OP_EQ] = { STYLE_INFIX, "==", BIND_EQUAL, BIND_ADD, BIND_ADD, 0 },
    [OP_NE] = { STYLE_INFIX, "!=", BIND_EQUAL, BIND_ADD, BIND_ADD, 0 },
};

/* The function that op.def names, or FUNCTION_COUNT: an operator of C. Integers are checked, so mostly by functions. */
static Helper function_of(Op op, bool is_real)
{
#define HELPER_PREFIX(operator) FUNCTION_COUNT
#define HELPER_INFIX(operator)  FUNCTION_COUNT
#define HELPER_FIRST(none)      FUNCTION_COUNT
#define HELPER_NONE(none)       FUNCTION_COUNT
#define HELPER_LIBM(function)   FUNCTION_##function
#define HELPER_CALL(function)   FUNCTION_##function
#define HELPER_WHOLE(function)  FUNCTION_##function
    static const uint8_t rows[OP_COUNT][2] = {
#define OP(name, text, arity, result, takes, course, cost, on_reals, by_real, on_integers, by_integer)                 \
    { HELPER_##on_integers(by_integer), HELPER_##on_reals(by_real) },
#include "ir/op.def"
#undef OP
    };
    return (Helper)rows[op][is_real];
}

static OperationForm form_of(const Expr *e)
{
    const Helper function = function_of((Op)e->op, e->args[0]->type.kind == TYPE_REAL);
    return function == FUNCTION_COUNT ? operators[e->op] : (OperationForm){ .style = STYLE_CALL, .function = function };
}

static void print_expression(Printer *p, Text *t, const Expr *e, Binding at_least);

static void open(Text *t, bool is_open)
{
    if (is_open)
        text_char(t, '(');
}

static void close(Text *t, bool is_open)
{
    if (is_open)
        text_char(t, ')');
}

static void print_function(Printer *p, Text *t, const Expr *e, Helper function)
{
    const bool to_integer = e->op >= OP_IFLOOR && e->op <= OP_IROUND;
    p->needs.functions[function] = true;
    if (to_integer) {
        p->needs.functions[FUNCTION_koine_integer] = true;
        text_format(t, "%s(", function_name(FUNCTION_koine_integer));
    }
    text_format(t, "%s(", function_name(function));
    for (uint32_t k = 0; k < e->n_args; k++) {
        text_add(t, k ? ", " : "");
        print_expression(p, t, e->args[k], BIND_ANY);
    }
    text_add(t, to_integer ? "))" : ")");
}

/* The slot so many behind that of a leaf. */
static void print_element(Printer *p, Text *t, const Expr *e)
{
    text_add(t, "m[");
    print_place(p, t, p->kernel->n_outputs + e->args[0]->u.leaf);
    text_add(t, " + ");
    print_expression(p, t, e->args[1], BIND_MUL);
    text_format(t, "].%s", member(e->type));
}

/* A result of a call whose results are all known, or an array among them. */
static void print_part(Printer *p, Text *t, const Expr *e)
{
    text_char(t, '(');
    print_expression(p, t, e->args[0], BIND_TIGHT);
    if (e->type.rank > 0)
        text_format(t, " + %u)", e->element);
    else
        text_format(t, ")[%u].%s", e->element, member(e->type));
}

static void print_call(Printer *p, Text *t, const Expr *e, Binding at_least)
{
    if (e->op == OP_ELEMENT) {
        print_element(p, t, e);
        return;
    }
    const OperationForm form = form_of(e);
    if (form.style == STYLE_CALL) {
        print_function(p, t, e, form.function);
        return;
    }
    /* !a == b and a < b == c are warned about: brackets around truth values that are compared */
    const bool is_open = form.binding < at_least || (e->op == OP_NOT && at_least == BIND_ADD);
    open(t, is_open);
    if (form.style == STYLE_PREFIX) {
        text_add(t, form.text);
        print_expression(p, t, e->args[0], form.right);
    } else {
        const Expr *left = placement_value(&p->placement, e->args[0]);
        const bool is_same = left->kind == EXPR_CALL && left->op == e->op && e->op == OP_OR;
        print_expression(p, t, e->args[0], is_same ? BIND_OR : form.left);
        text_format(t, " %s ", form.text);
        print_expression(p, t, e->args[1], form.right);
    }
    close(t, is_open);
}

static void print_table_call(Printer *p, Text *t, const Expr *e)
{
    const uint32_t key = e->u.table->index * TABLE_ORDERS + e->op;
    uint32_t number = 0;
    while (number < p->tables.n && p->tables.at[number] != key)
        number++;
    if (number == p->tables.n)
        vec_push(p->arena, &p->tables, key);
    p->needs.functions[FUNCTION_koine_lookup] = true;
    text_format(t, "koine_lookup(koine_table_%u, ", number + 1);
    if (e->n_args > 1)
        print_expression(p, t, e->args[1], BIND_ANY);
    else
        text_add(t, "-1");
    text_add(t, ", ");
    print_expression(p, t, e->args[0], BIND_ANY);
    text_add(t, ")");
}

static void print_text_op(Printer *p, Text *t, const Expr *e)
{
    const bool is_real = e->args[0]->type.kind == TYPE_REAL, is_inner = p->places.spelling == SPELL_ROUTINE;
    const char *call = is_inner ? "call" : arena_format(p->line, "m + %u", p->code->calls);
    p->needs.texts = true;
    text_format(t, "%s(%s, %u, %u", is_real ? "koine_text_of" : "koine_text", call, text_operation(e),
                is_inner ? p->places.routine->site | ROUTINE_NOT_FINITE : 0);
    for (uint32_t k = 0; k < e->n_args; k++) {
        text_add(t, ", ");
        print_expression(p, t, e->args[k], BIND_ANY);
    }
    for (uint32_t k = e->n_args; k < 3 && !is_real; k++)
        text_add(t, ", 0");
    text_char(t, ')');
}

static void print_expression(Printer *p, Text *t, const Expr *e, Binding at_least)
{
    const uint32_t number = placement_number(&p->placement, e);
    e = p->placement.nodes.at[number].expr;
    if (p->temporaries.number.at[number]) {
        text_format(t, "t%u", p->temporaries.number.at[number]);
        return;
    }
    switch ((ExprKind)e->kind) {
    case EXPR_REAL: {
        const bool is_open = at_least == BIND_TIGHT && (e->u.real < 0 || (e->u.real == 0 && 1 / e->u.real < 0));
        open(t, is_open);
        print_real(t, e->u.real);
        close(t, is_open);
        return;
    }
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM:
        open(t, e->u.integer < 0 && at_least == BIND_TIGHT);
        print_integer(t, e->u.integer);
        close(t, e->u.integer < 0 && at_least == BIND_TIGHT);
        return;
    case EXPR_STRING: print_integer(t, literal_number(p->code->literals, e->u.text)); return;
    case EXPR_TEXT: print_text_op(p, t, e); return;
    case EXPR_LEAF: print_leaf(p, t, e); return;
    case EXPR_ITERATOR: print_iterator(p, t); return;
    case EXPR_CALL: print_call(p, t, e, at_least); return;
    case EXPR_TABLE: print_table_call(p, t, e); return;
    case EXPR_IF:
        open(t, at_least > BIND_IF);
        print_expression(p, t, e->args[0], BIND_OR);
        text_add(t, " ? ");
        print_expression(p, t, e->args[1], BIND_OR);
        text_add(t, " : ");
        print_expression(p, t, e->args[2], BIND_IF);
        close(t, at_least > BIND_IF);
        return;
    case EXPR_FUNCTION:
        if (is_part(e))
            print_part(p, t, e);
        else
            print_routine_call(p, t, e, NULL);
        return;
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_REDUCE:
    case EXPR_ARRAY: break;
    }
    BUG("not in a kernel");
}

void print_argument(Printer *p, Text *t, const Expr *e)
{
    print_expression(p, t, e, BIND_ANY);
}

/* ---- statements ---- */
static void prepare(Printer *p, uint32_t number);

static bool is_if_statement(const Printer *p, uint32_t number)
{
    const PlacedNode *node = &p->placement.nodes.at[number];
    return node->expr->kind == EXPR_IF && !p->temporaries.number.at[number] &&
           (p->temporaries.has_temporaries.at[node->side] || p->temporaries.has_temporaries.at[node->side + 1]);
}

static void prepare_if(Printer *p, uint32_t number)
{
    const PlacedNode *node = &p->placement.nodes.at[number];
    for (uint32_t k = 0; k < node->n_prelude; k++)
        prepare(p, p->placement.prelude.at[node->first + k]);
    prepare(p, placement_number(&p->placement, node->expr->args[0]));
}

static void print_assignment(Printer *p, const char *target, uint32_t number, const char *comment);

static void print_if(Printer *p, const char *target, uint32_t number)
{
    const Expr *e = p->placement.nodes.at[number].expr;
    Text condition = { .arena = p->line };
    prepare_if(p, number);
    print_expression(p, &condition, e->args[0], BIND_ANY);
    print_line(p, NULL, "if (%s) {", condition.at);
    p->indent++;
    print_assignment(p, target, placement_number(&p->placement, e->args[1]), NULL);
    p->indent--;
    print_line(p, NULL, "} else {");
    p->indent++;
    print_assignment(p, target, placement_number(&p->placement, e->args[2]), NULL);
    p->indent--;
    print_line(p, NULL, "}");
}

static void print_assignment(Printer *p, const char *target, uint32_t number, const char *comment)
{
    const PlacedNode *node = &p->placement.nodes.at[number];
    if (is_if_statement(p, number) && node->uses == 1) {
        print_if(p, target, number);
        return;
    }
    Text value = { .arena = p->line };
    prepare(p, number);
    print_expression(p, &value, node->expr, BIND_ANY);
    print_line(p, comment, "%s = %s;", target, value.at);
}

static void declare_braces(Printer *p, const Expr *e, uint32_t name)
{
    Text values = { .arena = p->line };
    for (uint32_t k = 0; k < e->n_args; k++) {
        text_format(&values, "%s{ .%s = ", k ? ", " : "", member(e->args[k]->type));
        print_expression(p, &values, e->args[k], BIND_ANY);
        text_add(&values, " }");
    }
    print_line(p, NULL, "const KoineSlot t%u[%u] = { %s };", name, e->n_args, values.at);
}

/* All results of a call. */
static void declare_results(Printer *p, const Expr *e, uint32_t name)
{
    Text call = { .arena = p->line };
    print_routine_call(p, &call, e, arena_format(p->line, "t%u", name));
    print_line(p, NULL, "KoineSlot t%u[%u];", name, expr_extent(e));
    print_line(p, NULL, "%s;", call.at);
}

static void declare(Printer *p, uint32_t number)
{
    const Expr *e = p->placement.nodes.at[number].expr;
    const uint32_t name = ++p->temporaries.n;
    if (e->kind == EXPR_ARRAY) {
        declare_braces(p, e, name);
    } else if (e->type.rank > 0) {
        declare_results(p, e, name);
    } else if (is_if_statement(p, number)) {
        print_line(p, NULL, "%s t%u;", type_name(e->type), name);
        print_if(p, arena_format(p->line, "t%u", name), number);
    } else {
        Text value = { .arena = p->line };
        print_expression(p, &value, e, BIND_ANY);
        print_line(p, NULL, "const %s t%u = %s;", type_name(e->type), name, value.at);
    }
    p->temporaries.number.at[number] = name;
}

/* Declares the temporaries that the text of a node needs. */
static void prepare(Printer *p, uint32_t number)
{
    const PlacedNode *node = &p->placement.nodes.at[number];
    if (p->temporaries.number.at[number] || node->expr->kind < EXPR_CALL)
        return;
    if (node->expr->kind == EXPR_IF)
        prepare_if(p, number);
    else
        for (uint32_t k = 0; k < node->expr->n_args; k++)
            prepare(p, placement_number(&p->placement, node->expr->args[k]));
    if (p->temporaries.is_temporary.at[number])
        declare(p, number);
}

/* The call of which the array is all that it gives, if nothing else needs it; NULL: none such. */
static const Expr *sole_call(const Printer *p, const Expr *e)
{
    const Expr *call = is_part(e) ? e->args[0] : e;
    if (!is_model_call(call) || expr_extent(call) != expr_extent(e))
        return NULL;
    for (const Expr *at = e;; at = call) {
        if (p->placement.nodes.at[placement_number(&p->placement, at)].uses != 1)
            return NULL;
        if (at == call)
            return call;
    }
}

/* An array that a call gives: the call puts it where it belongs, if it gives nothing else. */
static void print_array_output(Printer *p, const Expr *e, const char *place, const char *comment)
{
    const uint32_t number = placement_number(&p->placement, e);
    Text value = { .arena = p->line };
    const Expr *call = sole_call(p, e);
    if (call) {
        for (uint32_t k = 0; k < call->n_args; k++)
            prepare(p, placement_number(&p->placement, call->args[k]));
        print_routine_call(p, &value, call, arena_format(p->line, "&%s", place));
        print_line(p, comment, "%s;", value.at);
        return;
    }
    prepare(p, number);
    print_expression(p, &value, e, BIND_TIGHT);
    print_line(p, comment, "KoineSlot *const koine_to = &%s;", place);
    print_line(p, NULL, "for (int64_t koine_j = 0; koine_j < %u; koine_j++)", expr_extent(e));
    print_line(p, NULL, "    koine_to[koine_j].i = %s[koine_j].i;", value.at);
}

void print_statements(Printer *p, const char *comment)
{
    const ArenaMark mark = arena_mark(p->line);
    for (uint32_t k = 0; k < p->kernel->n_outputs; k++) {
        Text target = { .arena = p->line };
        print_column(p, &target, k);
        if (p->kernel->outputs[k]->type.rank > 0) {
            print_array_output(p, p->kernel->outputs[k], target.at, comment);
            continue;
        }
        text_format(&target, ".%s", member(p->kernel->outputs[k]->type));
        print_assignment(p, target.at, placement_number(&p->placement, p->kernel->outputs[k]), comment);
    }
    arena_reset(p->line, mark);
}

/* ---- expressions of routines ---- */
static void begin_expression(Printer *p, const Expr *const *e)
{
    p->own_kernel = (Kernel){ .n_outputs = 1, .outputs = e, .has_calls = true };
    p->kernel = &p->own_kernel;
    placement_of(&p->placement, p->kernel);
    plan_temporaries(p);
}

bool is_statement_block(Printer *p, const Expr *e)
{
    begin_expression(p, &e);
    return p->temporaries.has_temporaries.at[0];
}

const char *print_value(Printer *p, const Expr *e)
{
    begin_expression(p, &e);
    const uint32_t number = placement_number(&p->placement, e);
    Text value = { .arena = p->line };
    prepare(p, number);
    print_expression(p, &value, e, BIND_ANY);
    p->kernel = NULL;
    return value.at;
}
