/* Value sets and time courses of expressions: spec 2.4, 2.5. */
#include "base/bug.h"
#include "lang/simplex/check.h"
#include "lang/simplex/function.h"
#include "lang/simplex/procedure.h"
#include <math.h>

static const double INTEGER_LARGEST = 2e9; /* thesis lines 4373 to 4384 */

static bool is_numeric(Type type)
{
    return type.kind == TYPE_REAL || type.kind == TYPE_INTEGER;
}

const char *mdl_set_text(const Pool *pool, Type type, Arena *arena)
{
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return "REAL";
    case TYPE_INTEGER: return "INTEGER";
    case TYPE_BOOLEAN: return "LOGICAL";
    case TYPE_ENUM: {
        const Enumeration *enumeration = pool_get_enumeration(pool, type.enumeration);
        return arena_format(arena, "the set `%s`", names_of(pool_names(pool), enumeration->name));
    }
    case TYPE_STRING: return "a text";
    case TYPE_OBJECT: return "an external object";
    }
    BUG("unknown TypeKind");
}

static const char *shown(Checker *checker, Type type)
{
    return mdl_set_text(checker->pool, type, checker->arena);
}

/* A literal is REAL only if its value is not an integer: 5.0 and 3.5 E+2 are INTEGER. */
static void check_number(Node *node)
{
    const bool is_integer = floor(node->u.number) == node->u.number && node->u.number <= INTEGER_LARGEST;
    node->type = is_integer ? INTEGER_TYPE : REAL_TYPE;
    node->course = COURSE_CONSTANT;
}

static void check_quantity_use(Checker *checker, Node *node, const Quantity *quantity)
{
    node->type = quantity->type;
    node->is_bad = quantity->is_bad;
    node->course = quantity->use == USE_CONSTANT ? COURSE_CONSTANT : COURSE_DISCRETE;
    if (quantity->is_continuous && !checker->is_in_event)
        node->course = COURSE_CONTINUOUS;
}

static void check_name(Checker *checker, Node *node)
{
    Scope *scope = &checker->scope;
    Loop *loop = node->u.name.n ? NULL : mdl_find_loop(checker, node->u.name.name);
    if (loop) {
        node->kind = NODE_LOOP;
        node->u.loop = loop;
        node->type = loop->type;
        node->is_bad = loop->is_bad;
        node->course = COURSE_CONSTANT;
        return;
    }
    const Ident name = { node->u.name.name, node->span };
    const uint32_t at = mdl_scope_use(scope, node->u.name.name, node->span, DIAG_MDL_UNKNOWN_NAME, "quantity or value");
    const Symbol *symbol = &scope->list.at[at];
    node->u.name.symbol = at;
    switch ((SymbolKind)symbol->kind) {
    case SYMBOL_QUANTITY: {
        const Quantity *quantity = &checker->component->quantities.at[symbol->object];
        check_quantity_use(checker, node, quantity);
        node->is_bad |= !mdl_check_index(checker, &quantity->sizes, name, node->u.name.n, node->u.name.index);
        return;
    }
    case SYMBOL_DIMENSION:
        node->kind = NODE_NUMBER;
        node->u.number = (double)checker->component->dimensions.at[symbol->object].number;
        node->type = INTEGER_TYPE;
        node->course = COURSE_CONSTANT;
        return;
    case SYMBOL_VALUE:
        node->type = checker->component->sets.at[symbol->object].type;
        node->course = COURSE_CONSTANT;
        return;
    case SYMBOL_TABLE:
    case SYMBOL_FUNCTION:
    case SYMBOL_SET:
        REPORT(checker, DIAG_MDL_NOT_A_QUANTITY, node->span, "`%s` is a %s and has no value of its own",
               names_of(scope->names, symbol->name.name),
               symbol->kind == SYMBOL_SET ? "value set" : "tabular function");
        diag_help(checker->diag, symbol->kind == SYMBOL_SET ? "use one of its values" : "give it an argument");
        node->is_bad = true;
        return;
    case SYMBOL_SUB:
    case SYMBOL_INPUT:
    case SYMBOL_OUTPUT: BUG("part of a high level component in an expression");
    case SYMBOL_UNKNOWN: node->is_bad = true; return;
    }
    BUG("unknown SymbolKind");
}

static void bad_operand(Checker *checker, const Node *node, const Node *operand, const char *wanted)
{
    REPORT(checker, DIAG_MDL_OPERAND, operand->span, "%s does not work on an operand of %s",
           node->op == OP_NEG || node->op == OP_SUB ? "-" : op_text(node->op), shown(checker, operand->type));
    diag_help(checker->diag, "its operands are %s; comparisons bind weaker than all other operators", wanted);
}

/* Unary and binary: operands are all numeric or all LOGICAL. */
static void check_operation(Checker *checker, Node *node)
{
    const uint32_t n = node->kind == NODE_UNARY ? 1 : 2;
    const bool is_logical = node->op == OP_NOT || node->op == OP_AND || node->op == OP_OR;
    bool is_real = node->op == OP_DIV;
    for (uint32_t k = 0; k < n; k++) {
        Node *operand = node->u.operand[k];
        mdl_check_expression(checker, operand);
        node->is_bad |= operand->is_bad;
        node->has_time |= operand->has_time;
        if (operand->course > node->course)
            node->course = operand->course;
        if (operand->is_bad)
            continue;
        is_real |= operand->type.kind == TYPE_REAL;
        if (is_logical ? operand->type.kind == TYPE_BOOLEAN : is_numeric(operand->type))
            continue;
        bad_operand(checker, node, operand, is_logical ? "LOGICAL" : "INTEGER or REAL");
        node->is_bad = true;
    }
    node->type = is_logical ? BOOLEAN_TYPE : is_real ? REAL_TYPE : INTEGER_TYPE;
}

/* T may stand only alone on one side, and not be compared for equality: the next time must be predictable. */
static bool check_time_comparison(Checker *checker, const Node *node)
{
    const Node *left = node->u.operand[0], *right = node->u.operand[1];
    if (checker->is_in_event || !(left->has_time || right->has_time))
        return true;
    const bool is_alone =
        (left->kind == NODE_TIME && !right->has_time) || (right->kind == NODE_TIME && !left->has_time);
    if (!is_alone) {
        REPORT(checker, DIAG_MDL_TIME_COMPARISON, node->span,
               "in a comparison T can only stand alone on one of the sides");
        diag_help(checker->diag, "solve it for T, as in T >= TReady, or give the side with T to a dependent variable");
        return false;
    }
    if (node->op != OP_EQ && node->op != OP_NE)
        return true;
    REPORT(checker, DIAG_MDL_TIME_EQUAL, node->span, "T cannot be compared for equality");
    diag_help(checker->diag, "write T >= …, and let the event change a state that makes the condition false");
    return false;
}

static bool check_order(Checker *checker, const Node *node, Type type)
{
    if (node->op == OP_EQ || node->op == OP_NE)
        return true;
    if (type.kind == TYPE_BOOLEAN) {
        REPORT(checker, DIAG_MDL_LOGICAL_NOT_ORDERED, node->span, "LOGICAL values have no order");
        diag_help(checker->diag, "only = and <> compare them");
        return false;
    }
    if (type.kind == TYPE_ENUM && !pool_get_enumeration(checker->pool, type.enumeration)->is_ordered) {
        REPORT(checker, DIAG_MDL_SET_NOT_ORDERED, node->span, "the values of %s have no order", shown(checker, type));
        diag_help(checker->diag, "declare the set with `<` between its values, or compare with = and <>");
        return false;
    }
    return true;
}

static bool check_compared_sets(Checker *checker, const Node *node, Type left, Type right)
{
    if (type_equal(left, right) || (is_numeric(left) && is_numeric(right)))
        return true;
    REPORT(checker, DIAG_MDL_SETS_DIFFER, node->span, "%s cannot be compared with %s", shown(checker, left),
           shown(checker, right));
    diag_help(checker->diag, "both sides have numbers, or LOGICAL values, or values of the same set");
    return false;
}

static bool check_equality(Checker *checker, const Node *node)
{
    const bool is_equality = node->op == OP_EQ || node->op == OP_NE;
    const bool is_continuous =
        node->u.operand[0]->course == COURSE_CONTINUOUS || node->u.operand[1]->course == COURSE_CONTINUOUS;
    if (!is_equality || !is_continuous)
        return true;
    REPORT(checker, DIAG_MDL_EQUAL_CONTINUOUS, node->span, "continuous quantities cannot be compared for equality");
    diag_help(checker->diag, "they pass a value without stopping there: use >= or <=");
    return false;
}

static void check_comparison(Checker *checker, Node *node)
{
    const Node *left = node->u.operand[0], *right = node->u.operand[1];
    mdl_check_expression(checker, node->u.operand[0]);
    mdl_check_expression(checker, node->u.operand[1]);
    node->type = BOOLEAN_TYPE;
    node->course =
        left->course == COURSE_CONSTANT && right->course == COURSE_CONSTANT ? COURSE_CONSTANT : COURSE_DISCRETE;
    node->is_bad = left->is_bad || right->is_bad || !check_compared_sets(checker, node, left->type, right->type) ||
                   !check_time_comparison(checker, node) || !check_order(checker, node, left->type) ||
                   !check_equality(checker, node);
}

static bool is_accepted(Type type, TypeKind wanted)
{
    return type.kind == wanted || (type.kind == TYPE_INTEGER && wanted == TYPE_REAL);
}

static void check_arguments(Checker *checker, Node *node, uint32_t arity, TypeKind from)
{
    const char *name = names_of(checker->scope.names, node->u.call.name.name);
    if (node->u.call.n != arity) {
        REPORT(checker, DIAG_MDL_ARGUMENT_COUNT, node->span, "%s takes %u argument%s, not %u", name, arity,
               arity == 1 ? "" : "s", node->u.call.n);
        diag_help(checker->diag, arity == 1 ? "write %s(x)" : "write %s(x, y)", name);
        node->is_bad = true;
    }
    for (uint32_t k = 0; k < node->u.call.n; k++) {
        Node *arg = node->u.call.args[k];
        mdl_check_expression(checker, arg);
        node->is_bad |= arg->is_bad;
        node->has_time |= arg->has_time;
        if (arg->course > node->course)
            node->course = arg->course;
        if (arg->is_bad || is_accepted(arg->type, from))
            continue;
        REPORT(checker, DIAG_MDL_ARGUMENT_SET, arg->span, "an argument of %s is %s, not %s", name,
               from == TYPE_REAL ? "REAL" : "INTEGER", shown(checker, arg->type));
        diag_help(checker->diag, from == TYPE_INTEGER && arg->type.kind == TYPE_REAL
                                     ? "ITRUNC, IRND, IFLOOR and ICEIL make an INTEGER of a REAL"
                                     : "only numbers can be arguments");
        node->is_bad = true;
    }
}

static void unknown_function(Checker *checker, const Ident *name)
{
    const char *text = names_of(checker->scope.names, name->name);
    Nearest nearest = mdl_nearest_to(text);
    REPORT(checker, DIAG_MDL_UNKNOWN_FUNCTION, name->span, "there is no function `%s`", text);
    if (!mdl_is_worth_searching(checker->diag))
        return;
    for (uint32_t k = 0; k < FUNCTION_COUNT; k++)
        mdl_nearest_offer(&nearest, mdl_function_row(k)->name);
    if (!checker->scope.is_strict)
        mdl_nearest_offer(&nearest, "DELAY");
    for (uint32_t k = 0; k < checker->component->tables.n; k++)
        mdl_nearest_offer(&nearest, names_of(checker->scope.names, checker->component->tables.at[k].name.name));
    mdl_nearest_help(&nearest, checker->diag,
                     "standard functions are written in capitals; others are TABULAR FUNCTIONs");
}

static void check_table_call(Checker *checker, Node *node)
{
    Scope *scope = &checker->scope;
    node->u.call.function = ID_NONE;
    node->u.call.symbol = mdl_scope_find(scope, node->u.call.name.name, node->u.call.name.span);
    const Symbol *symbol = node->u.call.symbol == ID_NONE ? NULL : &scope->list.at[node->u.call.symbol];
    if (!symbol && mdl_check_draw(checker, node))
        return;
    if (symbol && symbol->kind == SYMBOL_FUNCTION) {
        mdl_check_procedure_call(checker, node, checker->component->procedures.at[symbol->object]);
        return;
    }
    check_arguments(checker, node, symbol && symbol->kind == SYMBOL_TABLE ? 1 : node->u.call.n, TYPE_REAL);
    node->type = REAL_TYPE;
    if (!symbol || symbol->kind == SYMBOL_UNKNOWN) {
        unknown_function(checker, &node->u.call.name);
        node->is_bad = true;
    } else if (symbol->kind != SYMBOL_TABLE) {
        REPORT(checker, DIAG_MDL_UNKNOWN_FUNCTION, node->u.call.name.span, "`%s` is not a function",
               names_of(scope->names, symbol->name.name));
        diag_note(checker->diag, symbol->name.span, "declared here");
        diag_help(checker->diag, "a product is written with *");
        node->is_bad = true;
    }
}

static void check_call(Checker *checker, Node *node)
{
    const char *text = names_of(checker->scope.names, node->u.call.name.name);
    FunctionId function;
    if (mdl_is_delay(checker, node)) {
        mdl_report_delay_place(checker, node);
        return;
    }
    if (!mdl_function_find(text, &function)) {
        check_table_call(checker, node);
        return;
    }
    const FunctionRow *row = mdl_function_row(function);
    node->u.call.function = function;
    if (strcmp(text, row->name) != 0)
        mdl_report_spelling(&checker->scope, node->u.call.name.span,
                            (Ident){ names_text(checker->scope.names, row->name), SPAN_NONE });
    check_arguments(checker, node, row->arity, row->from);
    node->type = row->to == TYPE_INTEGER ? INTEGER_TYPE : REAL_TYPE;
    /* By the letter a function of continuous arguments is continuous; the Ball model needs ITRUNC to be discrete. */
    if (row->is_step && node->course == COURSE_CONTINUOUS)
        node->course = COURSE_DISCRETE;
}

void mdl_check_expression(Checker *checker, Node *node)
{
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER: check_number(node); return;
    case NODE_LOGICAL:
        node->type = BOOLEAN_TYPE;
        node->course = COURSE_CONSTANT;
        return;
    case NODE_NAME: check_name(checker, node); return;
    case NODE_TIME:
        node->type = REAL_TYPE;
        node->has_time = true;
        node->course = checker->is_in_event ? COURSE_DISCRETE : COURSE_CONTINUOUS;
        return;
    case NODE_UNARY:
    case NODE_BINARY: check_operation(checker, node); return;
    case NODE_COMPARE: check_comparison(checker, node); return;
    case NODE_CALL: check_call(checker, node); return;
    case NODE_REDUCE: mdl_check_reduction(checker, node); return;
    case NODE_LOOP: return;
    }
    BUG("unknown NodeKind");
}

static bool is_large_integer(const Node *value)
{
    if (value->kind == NODE_UNARY && value->op == OP_NEG)
        value = value->u.operand[0];
    return value->kind == NODE_NUMBER && floor(value->u.number) == value->u.number;
}

static void wrong_set(Checker *checker, const Quantity *target, const Node *value)
{
    const char *name = names_of(checker->scope.names, target->name.name);
    if (target->type.kind == TYPE_INTEGER && value->type.kind == TYPE_REAL && is_large_integer(value)) {
        REPORT(checker, DIAG_NUMBER_RANGE, value->span, "this number is too large for the INTEGER `%s`", name);
        diag_help(checker->diag, "INTEGER goes from -2E+9 to 2E+9");
    } else if (target->type.kind == TYPE_INTEGER && value->type.kind == TYPE_REAL) {
        REPORT(checker, DIAG_MDL_REAL_TO_INTEGER, value->span, "a REAL cannot become the value of the INTEGER `%s`",
               name);
        if (mdl_is_delay(checker, value))
            diag_help(checker->diag,
                      "DELAY gives a REAL: declare it as REAL, or make an INTEGER of it in another variable");
        else
            diag_help(checker->diag, "ITRUNC, IRND, IFLOOR and ICEIL make an INTEGER of a REAL; / always gives a REAL");
    } else {
        REPORT(checker, DIAG_MDL_WRONG_SET, value->span, "`%s` takes values of %s, this is one of %s", name,
               shown(checker, target->type), shown(checker, value->type));
        diag_note(checker->diag, target->name.span, "declared here");
    }
}

void mdl_check_assignable(Checker *checker, const Quantity *target, const Node *value)
{
    if (target->is_bad || value->is_bad)
        return;
    const bool is_widened = target->type.kind == TYPE_REAL && value->type.kind == TYPE_INTEGER;
    if (!is_widened && !type_equal(target->type, value->type)) {
        wrong_set(checker, target, value);
        return;
    }
    if (value->course == COURSE_CONTINUOUS && !target->is_continuous) {
        REPORT(checker, DIAG_MDL_CONTINUOUS_TO_DISCRETE, value->span,
               "a continuous expression cannot define the discrete `%s`",
               names_of(checker->scope.names, target->name.name));
        diag_note(checker->diag, target->name.span, "declared here");
        diag_help(checker->diag, "declare it under CONTINUOUS");
    }
}

void mdl_check_condition(Checker *checker, Node *condition, const char *keyword)
{
    mdl_check_expression(checker, condition);
    if (condition->is_bad || condition->type.kind == TYPE_BOOLEAN)
        return;
    REPORT(checker, DIAG_MDL_CONDITION_NOT_LOGICAL, condition->span, "the condition after %s is LOGICAL, not %s",
           keyword, shown(checker, condition->type));
    diag_help(checker->diag, "compare it with something, as in x > 0");
}
