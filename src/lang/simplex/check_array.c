/* Sizes, loops and indices: docs/languages/simplex.md, "Arrays". */
#include "base/bug.h"
#include "lang/simplex/check.h"
#include "lang/simplex/function.h"
#include <math.h>

static const uint64_t MOST_ELEMENTS = 10000000; /* of one array */

/* ---- numbers that are known before the run ---- */
static Loop *find_loop(Scope *scope, const Loops *loops, NameId name)
{
    for (uint32_t k = loops->n; k-- > 0;)
        if (name_equal(mdl_fold_name(scope->names, scope->arena, loops->at[k]->name.name),
                       mdl_fold_name(scope->names, scope->arena, name)))
            return loops->at[k];
    return NULL;
}

static bool static_name(Scope *scope, const Component *component, const Loops *loops, const Node *node, int64_t *value)
{
    const Loop *loop = find_loop(scope, loops, node->u.name.name);
    uint32_t at;
    if (node->u.name.n || (loop && !loop->is_known))
        return false;
    if (loop) {
        *value = loop->value;
        return true;
    }
    if (!mdl_map_get_name(&scope->symbols, scope->names, scope->arena, node->u.name.name, &at))
        return false;
    const Symbol *symbol = &scope->list.at[at];
    if (symbol->kind == SYMBOL_DIMENSION)
        *value = component->dimensions.at[symbol->object].number;
    else if (symbol->kind == SYMBOL_VALUE)
        *value = symbol->number;
    return symbol->kind == SYMBOL_DIMENSION || symbol->kind == SYMBOL_VALUE;
}

bool mdl_static_value(Scope *scope, const Component *component, const Loops *loops, const Node *node, int64_t *value)
{
    static const double LARGEST = 2e9;
    int64_t a, b;
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER:
        *value = (int64_t)node->u.number;
        return node->u.number <= LARGEST && floor(node->u.number) == node->u.number;
    case NODE_NAME: return static_name(scope, component, loops, node, value);
    case NODE_LOOP: *value = node->u.loop->value; return node->u.loop->is_known;
    case NODE_UNARY:
        if (node->op != OP_NEG || !mdl_static_value(scope, component, loops, node->u.operand[0], &a))
            return false;
        *value = -a;
        return true;
    case NODE_BINARY:
        if (!mdl_static_value(scope, component, loops, node->u.operand[0], &a) ||
            !mdl_static_value(scope, component, loops, node->u.operand[1], &b))
            return false;
        *value = node->op == OP_ADD ? a + b : node->op == OP_SUB ? a - b : a * b;
        return (node->op == OP_ADD || node->op == OP_SUB || node->op == OP_MUL) && fabs((double)*value) <= LARGEST;
    default: return false;
    }
}

static bool static_call(Scope *scope, const Component *component, const Loops *loops, const Node *node, double *value)
{
    FunctionId function;
    double args[2] = { 0 };
    if (node->u.call.n > 2 || !mdl_function_find(names_of(scope->names, node->u.call.name.name), &function))
        return false;
    const FunctionRow *row = mdl_function_row(function);
    if (row->op == OP_COUNT || row->from != TYPE_REAL || row->to != TYPE_REAL || row->arity != node->u.call.n)
        return false;
    for (uint32_t k = 0; k < node->u.call.n; k++)
        if (!mdl_static_number(scope, component, loops, node->u.call.args[k], &args[k]))
            return false;
    *value = mdl_real_operation(row->op, args[0], args[1]);
    return isfinite(*value);
}

bool mdl_static_number(Scope *scope, const Component *component, const Loops *loops, const Node *node, double *value)
{
    int64_t whole;
    double a, b;
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER: *value = node->u.number; return true;
    case NODE_CALL: return static_call(scope, component, loops, node, value);
    case NODE_UNARY:
        if (node->op != OP_NEG || !mdl_static_number(scope, component, loops, node->u.operand[0], &a))
            return false;
        *value = -a;
        return true;
    case NODE_BINARY:
        if (!mdl_static_number(scope, component, loops, node->u.operand[0], &a) ||
            !mdl_static_number(scope, component, loops, node->u.operand[1], &b) ||
            (node->op != OP_ADD && node->op != OP_SUB && node->op != OP_MUL && node->op != OP_DIV))
            return false;
        *value = mdl_real_operation(node->op, a, b);
        return isfinite(*value);
    default:
        if (!mdl_static_value(scope, component, loops, node, &whole))
            return false;
        *value = (double)whole;
        return true;
    }
}

/* ---- loops ---- */
bool mdl_loop_range(Scope *scope, const Component *component, const Loops *loops, Loop *loop)
{
    int64_t last;
    loop->stride = 1;
    if (!mdl_static_value(scope, component, loops, loop->from, &loop->first) ||
        !mdl_static_value(scope, component, loops, loop->to, &last) ||
        (loop->by && !mdl_static_value(scope, component, loops, loop->by, &loop->stride)) || loop->stride == 0)
        return false;
    const int64_t reach = loop->stride > 0 ? last - loop->first : loop->first - last;
    loop->count = reach < 0 ? 0 : reach / (loop->stride > 0 ? loop->stride : -loop->stride) + 1;
    return true;
}

bool mdl_loop_begin(Scope *scope, const Component *component, const Loops *loops, Loop *loop)
{
    if (!mdl_loop_range(scope, component, loops, loop) || loop->count == 0)
        return false;
    loop->value = loop->first;
    loop->is_known = true;
    return true;
}

bool mdl_loop_next(Loop *loop)
{
    loop->value += loop->stride;
    loop->is_known = (loop->value - loop->first) / loop->stride < loop->count;
    return loop->is_known;
}

static void report_bounds(Scope *scope, const Loop *loop)
{
    REPORT(scope, DIAG_MDL_RANGE_NOT_CONSTANT, loop->span, "the range of `%s` must be known before the run",
           names_of(scope->names, loop->name.name));
    diag_help(scope->diag, "use numbers, DIMENSIONs, other loop variables and + - *; a step is not 0");
}

bool mdl_check_range(Scope *scope, const Component *component, const Loops *loops, Loop *loop)
{
    /* Without the loops around it: its number of values is always the same. */
    bool *known = NEW_ARRAY(scope->arena, bool, loops->n + 1);
    for (uint32_t k = 0; k < loops->n; k++) {
        known[k] = loops->at[k]->is_known;
        loops->at[k]->is_known = false;
    }
    const bool is_constant = mdl_loop_range(scope, component, loops, loop);
    for (uint32_t k = 0; k < loops->n; k++)
        loops->at[k]->is_known = true; /* any values will do */
    const bool is_good = is_constant || mdl_loop_range(scope, component, loops, loop);
    for (uint32_t k = 0; k < loops->n; k++)
        loops->at[k]->is_known = known[k];
    loop->is_constant = is_constant;
    loop->is_bad = !is_good;
    if (!is_good)
        report_bounds(scope, loop);
    return is_good;
}

static void check_bound(Checker *checker, Loop *loop, Node *bound)
{
    if (!bound)
        return;
    mdl_check_expression(checker, bound);
    if (bound->is_bad) {
        loop->is_bad = true;
        return;
    }
    const bool is_first = bound == loop->from;
    const bool is_good = is_first ? bound->type.kind == TYPE_INTEGER || bound->type.kind == TYPE_ENUM
                                  : type_equal(bound->type, bound == loop->by ? INTEGER_TYPE : loop->type);
    if (is_first)
        loop->type = bound->type;
    if (is_good)
        return;
    REPORT(checker, DIAG_MDL_INDEX_SET, bound->span, "a range goes over INTEGER or the values of one set, not %s",
           mdl_set_text(checker->pool, bound->type, checker->arena));
    diag_help(checker->diag, "write FOR i FROM 1 TO N, or FOR c FROM first TO last");
    loop->is_bad = true;
}

/* The loop variable is known from here on, until mdl_close_loop. */
bool mdl_open_loop(Checker *checker, Loop *loop)
{
    enum { DEEPEST = 8 }; /* indices are checked at all corners of the ranges */
    const char *name = names_of(checker->scope.names, loop->name.name);
    loop->type = INTEGER_TYPE;
    check_bound(checker, loop, loop->from);
    check_bound(checker, loop, loop->to);
    check_bound(checker, loop, loop->by);
    uint32_t at;
    if (mdl_map_get_name(&checker->scope.symbols, checker->scope.names, checker->arena, loop->name.name, &at) &&
        checker->scope.list.at[at].kind != SYMBOL_UNKNOWN) {
        REPORT(checker, DIAG_MDL_DECLARED_TWICE, loop->name.span, "`%s` is already declared", name);
        diag_note(checker->diag, checker->scope.list.at[at].name.span, "here");
        diag_help(checker->diag, "use another name for the loop variable");
        loop->is_bad = true;
    } else if (find_loop(&checker->scope, &checker->loops, loop->name.name)) {
        REPORT(checker, DIAG_MDL_DECLARED_TWICE, loop->name.span, "`%s` is the variable of a loop around this one",
               name);
        diag_help(checker->diag, "use another name for the loop variable");
        loop->is_bad = true;
    }
    if (checker->loops.n == DEEPEST) {
        REPORT(checker, DIAG_NESTED_TOO_DEEP, loop->span, "at most %d loops can stand in each other", DEEPEST);
        loop->is_bad = true;
    }
    if (!loop->is_bad)
        mdl_check_range(&checker->scope, checker->component, &checker->loops, loop);
    vec_push(checker->arena, &checker->loops, loop);
    return !loop->is_bad;
}

void mdl_close_loop(Checker *checker)
{
    checker->loops.n--;
}

Loop *mdl_find_loop(Checker *checker, NameId name)
{
    return find_loop(&checker->scope, &checker->loops, name);
}

bool mdl_count_point(Checker *checker, const Loop *loop)
{
    enum { MOST_POINTS = 4000000 };
    if (checker->n_points++ < MOST_POINTS && loop->count <= MOST_POINTS) /* a single loop tells at its first value */
        return true;
    if (checker->n_points <= MOST_POINTS + 1u) {
        REPORT(checker, DIAG_MDL_SIZE_RANGE, loop->span, "the loops of this component have too many values");
        diag_help(checker->diag, "at most %d values of loop variables are possible", MOST_POINTS);
        checker->n_points = MOST_POINTS + 1; /* said once */
    }
    return false;
}

/* ---- sizes ---- */
static void check_size(Scope *scope, Pool *pool, const Component *component, Sizes *sizes, uint32_t k, uint64_t *count)
{
    const Loops none = { 0 };
    const Node *node = sizes->nodes[k];
    uint32_t at;
    sizes->sets[k] = INTEGER_TYPE;
    sizes->extent[k] = 1;
    if (node->kind == NODE_NAME && node->u.name.n == 0 &&
        mdl_map_get_name(&scope->symbols, scope->names, scope->arena, node->u.name.name, &at) &&
        scope->list.at[at].kind == SYMBOL_SET) {
        sizes->sets[k] = component->sets.at[scope->list.at[at].object].type;
        sizes->extent[k] = pool_get_enumeration(pool, sizes->sets[k].enumeration)->n;
        *count *= (uint64_t)sizes->extent[k];
        return;
    }
    if (!mdl_static_value(scope, component, &none, node, &sizes->extent[k])) {
        REPORT(scope, DIAG_MDL_SIZE_NOT_CONSTANT, node->span, "the size of an array must be known before the run");
        diag_help(scope->diag, "use a number, a DIMENSION of LOCAL DEFINITIONS or a VALUE SET");
        sizes->extent[k] = 1;
        sizes->is_bad = true;
    } else if (sizes->extent[k] < 1 || (*count *= (uint64_t)sizes->extent[k]) > MOST_ELEMENTS) {
        REPORT(scope, DIAG_MDL_SIZE_RANGE, node->span, "an array cannot have %lld elements",
               (long long)(sizes->extent[k] < 1 ? sizes->extent[k] : (int64_t)*count));
        diag_help(scope->diag, "there are at least 1 and at most %llu", (unsigned long long)MOST_ELEMENTS);
        sizes->extent[k] = 1;
        *count = 1;
        sizes->is_bad = true;
    }
}

void mdl_check_sizes(Scope *scope, Pool *pool, const Component *component, Sizes *sizes)
{
    enum { MOST_SIZES = 8 };
    uint64_t count = 1;
    if (sizes->n > MOST_SIZES) {
        REPORT(scope, DIAG_MDL_SIZE_RANGE, sizes->span, "an array has at most %d dimensions", MOST_SIZES);
        sizes->n = MOST_SIZES;
        sizes->is_bad = true;
    }
    sizes->extent = NEW_ARRAY(scope->arena, int64_t, sizes->n + 1);
    sizes->sets = NEW_ARRAY(scope->arena, Type, sizes->n + 1);
    for (uint32_t k = 0; k < sizes->n; k++)
        check_size(scope, pool, component, sizes, k, &count);
    sizes->count = count;
}

void mdl_check_dimensions(Scope *scope, Component *component)
{
    const Loops none = { 0 };
    for (uint32_t k = 0; k < component->dimensions.n; k++) {
        DimensionDecl *dimension = &component->dimensions.at[k];
        dimension->number = 1;
        if (!mdl_static_value(scope, component, &none, dimension->value, &dimension->number)) {
            REPORT(scope, DIAG_MDL_SIZE_NOT_CONSTANT, dimension->value->span,
                   "the value of a DIMENSION must be known before the run");
            diag_help(scope->diag, "use INTEGER numbers, the DIMENSIONs before it and + - *");
        }
        mdl_scope_declare(scope, (Symbol){ .kind = SYMBOL_DIMENSION, .object = k, .name = dimension->name });
    }
}

/* ---- indices ---- */
/* At the ends of all ranges around it: an index of sums and products has its extremes there. */
static void check_corners(Checker *checker, const Sizes *sizes, NameId name, uint32_t n, Node *const *index,
                          uint32_t level, bool *is_reported)
{
    Scope *scope = &checker->scope;
    if (level < checker->loops.n) {
        Loop *loop = checker->loops.at[level];
        Loops around = checker->loops;
        around.n = level;
        if (loop->is_bad || !mdl_loop_range(scope, checker->component, &around, loop) || loop->count == 0)
            return;
        const int64_t first = loop->first, last = loop->first + (loop->count - 1) * loop->stride;
        for (int end = 0; end < 2 && !*is_reported; end++) {
            loop->is_known = true;
            loop->value = end ? last : first;
            check_corners(checker, sizes, name, n, index, level + 1, is_reported);
        }
        loop->is_known = false;
        return;
    }
    for (uint32_t k = 0; k < n && !*is_reported; k++) {
        int64_t value;
        if (!mdl_static_value(scope, checker->component, &checker->loops, index[k], &value) ||
            (value >= 1 && value <= sizes->extent[k]))
            continue;
        *is_reported = true;
        REPORT(checker, DIAG_MDL_INDEX_RANGE, index[k]->span, "index %lld of `%s` is outside 1 to %lld",
               (long long)value, names_of(scope->names, name), (long long)sizes->extent[k]);
    }
}

bool mdl_check_index(Checker *checker, const Sizes *sizes, Ident name, uint32_t n, Node *const *index)
{
    const char *text = names_of(checker->scope.names, name.name);
    bool is_good = true, is_reported = false;
    for (uint32_t k = 0; k < n; k++) {
        mdl_check_expression(checker, index[k]);
        is_good &= !index[k]->is_bad;
    }
    if (n != sizes->n) {
        if (sizes->n == 0)
            REPORT(checker, DIAG_MDL_INDEX_COUNT, name.span, "`%s` is no array and has no elements", text);
        else
            REPORT(checker, DIAG_MDL_INDEX_COUNT, name.span, "`%s` has %u dimension%s, not %u", text, sizes->n,
                   sizes->n == 1 ? "" : "s", n);
        diag_help(checker->diag, sizes->n ? "name one element, as in %s[1]" : "write %s alone", text);
        return false;
    }
    for (uint32_t k = 0; k < n && is_good; k++) {
        if (type_equal(index[k]->type, sizes->sets[k]))
            continue;
        REPORT(checker, DIAG_MDL_INDEX_SET, index[k]->span, "this index of `%s` is of %s, not %s", text,
               mdl_set_text(checker->pool, sizes->sets[k], checker->arena),
               mdl_set_text(checker->pool, index[k]->type, checker->arena));
        diag_help(checker->diag, "ITRUNC and the like make an INTEGER of a REAL");
        is_good = false;
    }
    if (is_good && n)
        check_corners(checker, sizes, name.name, n, index, 0, &is_reported);
    return is_good && !is_reported;
}

/* ---- reductions ---- */
void mdl_check_reduction(Checker *checker, Node *node)
{
    const bool is_logical = node->op == OP_AND || node->op == OP_OR;
    Node *body = node->u.reduce.body;
    const bool was_in_reduction = checker->is_in_reduction;
    node->is_bad = !mdl_open_loop(checker, node->u.reduce.loop);
    checker->is_in_reduction = true;
    mdl_check_expression(checker, body);
    checker->is_in_reduction = was_in_reduction;
    mdl_close_loop(checker);
    node->type = body->type;
    node->course = body->course;
    node->has_time = body->has_time;
    node->is_bad |= body->is_bad;
    if (node->is_bad)
        return;
    if (is_logical ? body->type.kind != TYPE_BOOLEAN
                   : body->type.kind != TYPE_REAL && body->type.kind != TYPE_INTEGER) {
        REPORT(checker, DIAG_MDL_OPERAND, body->span, "%s does not work on values of %s",
               is_logical ? "ALL or ANY" : "SUM, PROD, MIN or MAX",
               mdl_set_text(checker->pool, body->type, checker->arena));
        node->is_bad = true;
    }
}

char *mdl_element_text(Arena *arena, const char *name, const Sizes *sizes, uint64_t number)
{
    char *text = arena_format(arena, "%s", name);
    for (uint32_t k = 0; k < sizes->n; k++) {
        uint64_t below = 1;
        for (uint32_t j = k + 1; j < sizes->n; j++)
            below *= (uint64_t)sizes->extent[j];
        text = arena_format(arena, "%s%c%llu", text, k ? ',' : '[', (unsigned long long)(number / below + 1));
        number %= below;
    }
    return sizes->n ? arena_format(arena, "%s]", text) : text;
}
