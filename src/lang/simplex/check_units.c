/* Physical units: whether what is added, compared and assigned fits. They are beyond the document, so that nothing here
 * stops a model: what does not fit is a warning that says which side has which unit.
 *
 * A quantity without unit fits everything, and so does what is computed with it. A number fits everything in sums
 * and comparisons and is a plain number in products. */
#include "lang/simplex/check.h"
#include "lang/simplex/function.h"
#include <math.h>

typedef enum { FITS_ALL, NUMBER, PHYSICAL } ValueUnitKind;
typedef struct {
    uint8_t kind;     /* ValueUnitKind */
    double number;    /* NUMBER: its value; PHYSICAL: the product of the numbers among the factors */
    const Unit *unit; /* PHYSICAL */
} ValueUnit;

typedef struct {
    Checker *checker;
    const Unit *time; /* NULL: not known */
} Walk;

static const ValueUnit fits_all = { .kind = FITS_ALL };

static const char *unit_text(const Walk *walk, const Unit *unit)
{
    Text text = { .arena = walk->checker->arena };
    unit_print(unit, &text);
    return text.at;
}

static ValueUnit physical(const Walk *walk, const Unit *unit, double number)
{
    Unit *copy = NEW(walk->checker->arena, Unit);
    *copy = *unit;
    return (ValueUnit){ PHYSICAL, number, copy };
}

/* ---- units as they are declared ---- */
static const Unit *read_unit(Checker *checker, const Ident *written)
{
    const Names *names = checker->scope.names;
    const char *text = names_of(names, written->name);
    Unit *unit = NEW(checker->arena, Unit);
    UnitFault fault;
    const UnitStatus status = unit_parse(text, names_length(names, written->name), unit, &fault);
    const Span at = { written->span.source, written->span.begin + (uint32_t)fault.begin,
                      written->span.begin + (uint32_t)fault.end };
    switch (status) {
    case UNIT_GOOD: return unit;
    case UNIT_BAD_SYNTAX:
        REPORT(checker, DIAG_MDL_UNIT_SYNTAX, at, "this is not how units are written");
        diag_help(checker->diag, "units are products of names and powers, as in [m], [1/s], [kg*m/s^2], [J/(kg*K)]");
        return NULL;
    case UNIT_TOO_LARGE:
        REPORT(checker, DIAG_MDL_UNIT_SYNTAX, at, "this unit is too large");
        diag_help(checker->diag, "powers are below 100, roots are square, cubic or fourth ones");
        return NULL;
    case UNIT_NOT_KNOWN: break;
    }
    diag_warning(checker->diag, DIAG_MDL_UNIT_UNKNOWN, at, "there is no unit `%.*s`", (int)(fault.end - fault.begin),
                 text + fault.begin);
    if (fault.nearest)
        diag_help(checker->diag, "did you mean `%s`?", fault.nearest);
    else
        diag_help(checker->diag, "quantities with this unit are not checked; things that are counted have the unit 1");
    return NULL;
}

/* ---- what fits what ---- */
/* Numbers among the factors may be a conversion made by hand: 0.001 from mm to m. */
static bool is_converted_by_hand(double number, double ratio)
{
    const double exact = 1e-3, tenfold = 1;
    if (number == 0)
        return true;
    const double off = fabs(log10(fabs(number)) - log10(ratio));
    return off < exact || (fabs(log10(ratio)) > tenfold && off < tenfold);
}

static bool fits(const ValueUnit *value, const Unit *wanted)
{
    if (value->kind != PHYSICAL || unit_is_same(value->unit, wanted))
        return true;
    if (!unit_has_same_dimension(value->unit, wanted) || value->unit->offset != wanted->offset)
        return false;
    return is_converted_by_hand(value->number, value->unit->factor / wanted->factor);
}

/* How a value in `from` becomes one in `to`. */
static void help_convert(const Walk *walk, const Unit *from, const Unit *to)
{
    Unit missing;
    double factor, offset;
    if (!unit_has_same_dimension(from, to)) {
        if (unit_divide(to, from, &missing))
            diag_help(walk->checker->diag,
                      "a factor in %s would make it right; give numbers with a unit a name, as a "
                      "CONSTANT",
                      unit_text(walk, &missing));
        return;
    }
    unit_convert(from, to, &factor, &offset);
    if (offset == 0)
        diag_help(walk->checker->diag, "multiply it by %.9g to have it in %s", factor, unit_text(walk, to));
    else
        diag_help(walk->checker->diag, "%.9g times it plus %.9g would be in %s", factor, offset, unit_text(walk, to));
}

static ValueUnit unit_of(const Walk *walk, const Node *node);

/* What both sides have in common; they are added, compared, or given to MAX. */
static ValueUnit common_unit(const Walk *walk, const Node *left, ValueUnit a, const Node *right, ValueUnit b,
                             const char *verb)
{
    if (a.kind != PHYSICAL)
        return b.kind == PHYSICAL || a.kind == FITS_ALL ? b : a;
    if (b.kind != PHYSICAL || fits(&b, a.unit))
        return a;
    if (fits(&a, b.unit))
        return b;
    diag_warning(walk->checker->diag, DIAG_MDL_UNITS_DIFFER, span_join(left->span, right->span), "%s and %s are %s",
                 unit_text(walk, a.unit), unit_text(walk, b.unit), verb);
    diag_note(walk->checker->diag, left->span, "this is in %s", unit_text(walk, a.unit));
    diag_note(walk->checker->diag, right->span, "this is in %s", unit_text(walk, b.unit));
    help_convert(walk, b.unit, a.unit);
    return fits_all;
}

static ValueUnit check_alike(const Walk *walk, const Node *left, const Node *right, const char *verb)
{
    const ValueUnit a = unit_of(walk, left);
    return common_unit(walk, left, a, right, unit_of(walk, right), verb);
}

static bool is_temperature(const Unit *unit)
{
    Unit kelvin;
    UnitFault ignored;
    unit_parse("K", 1, &kelvin, &ignored);
    return unit_has_same_dimension(unit, &kelvin);
}

/* 20 degC - 15 degC are 5 K, 20 degC + 5 K are 25 degC, and a sum of two says nothing by itself (a mean does). */
static ValueUnit unit_of_sum(const Walk *walk, const Node *node)
{
    const Node *left = node->u.operand[0], *right = node->u.operand[1];
    const ValueUnit a = unit_of(walk, left), b = unit_of(walk, right);
    const bool has_offset_a = a.kind == PHYSICAL && a.unit->offset != 0;
    const bool has_offset_b = b.kind == PHYSICAL && b.unit->offset != 0;
    if (has_offset_a && has_offset_b && unit_is_same(a.unit, b.unit)) {
        const Unit difference = unit_difference(a.unit);
        return node->op == OP_SUB ? physical(walk, &difference, 1) : fits_all;
    }
    if (has_offset_a != has_offset_b && a.kind == PHYSICAL && b.kind == PHYSICAL) {
        const Unit x = unit_difference(a.unit), y = unit_difference(b.unit);
        if (unit_is_same(&x, &y))
            return has_offset_a ? a : b;
    }
    if ((a.kind == NUMBER && b.kind == PHYSICAL && is_temperature(b.unit)) ||
        (b.kind == NUMBER && a.kind == PHYSICAL && is_temperature(a.unit)))
        return fits_all; /* 20 + 5 K may be 25 degC */
    return common_unit(walk, left, a, right, b, node->op == OP_SUB ? "subtracted" : "added");
}

static bool check_factor(const Walk *walk, const Node *node, const ValueUnit *value)
{
    if (value->kind != PHYSICAL || value->unit->offset == 0)
        return true;
    diag_warning(walk->checker->diag, DIAG_MDL_UNIT_OFFSET, node->span, "a temperature in %s is no factor",
                 unit_text(walk, value->unit));
    diag_help(walk->checker->diag, "its zero is not where the quantity is zero: use K, or the difference of two");
    return false;
}

static ValueUnit unit_of_product(const Walk *walk, const Node *node)
{
    const Node *left = node->u.operand[0], *right = node->u.operand[1];
    const ValueUnit a = unit_of(walk, left), b = unit_of(walk, right);
    const bool divides = node->op == OP_DIV;
    if (a.kind == FITS_ALL || b.kind == FITS_ALL)
        return fits_all;
    const bool is_mean = !divides && (a.kind == NUMBER || b.kind == NUMBER); /* 0.5*T1 + 0.5*T2 */
    if (is_mean && ((a.kind == PHYSICAL && a.unit->offset != 0) || (b.kind == PHYSICAL && b.unit->offset != 0)))
        return fits_all;
    const double number = divides ? a.number / b.number : a.number * b.number;
    if (a.kind == NUMBER && b.kind == NUMBER)
        return (ValueUnit){ NUMBER, number, NULL };
    if (!check_factor(walk, left, &a) || !check_factor(walk, right, &b))
        return fits_all;
    const Unit one = unit_one();
    const Unit *x = a.kind == PHYSICAL ? a.unit : &one, *y = b.kind == PHYSICAL ? b.unit : &one;
    Unit result;
    const bool is_good = divides ? unit_divide(x, y, &result) : unit_multiply(x, y, &result);
    return is_good ? physical(walk, &result, number) : fits_all;
}

/* ---- functions ---- */
static ValueUnit unit_of_power(const Walk *walk, const Node *base, double exponent)
{
    const double steps = exponent * UNIT_STEP;
    const ValueUnit value = unit_of(walk, base);
    if (value.kind == NUMBER)
        return (ValueUnit){ NUMBER, pow(value.number, exponent), NULL };
    if (value.kind != PHYSICAL || !check_factor(walk, base, &value) || !(fabs(steps) < UNIT_LARGEST) ||
        steps != floor(steps))
        return fits_all;
    Unit result;
    return unit_power(value.unit, (int32_t)steps, UNIT_STEP, &result)
               ? physical(walk, &result, pow(fabs(value.number), exponent))
               : fits_all;
}

static bool is_literal(const Node *node, double *number)
{
    const bool is_negative = node->kind == NODE_UNARY && node->op == OP_NEG;
    if (is_negative)
        node = node->u.operand[0];
    if (node->kind != NODE_NUMBER)
        return false;
    *number = is_negative ? -node->u.number : node->u.number;
    return true;
}

/* SIN, EXP and so on: of numbers, of angles in rad. */
static ValueUnit check_number(const Walk *walk, const Node *call)
{
    const Unit one = unit_one();
    for (uint32_t k = 0; k < call->u.call.n; k++) {
        const Node *arg = call->u.call.args[k];
        const ValueUnit value = unit_of(walk, arg);
        if (fits(&value, &one))
            continue;
        diag_warning(walk->checker->diag, DIAG_MDL_UNIT_OF_ARGUMENT, arg->span, "%s takes a number, this is in %s",
                     names_of(walk->checker->scope.names, call->u.call.name.name), unit_text(walk, value.unit));
        if (unit_is_number(value.unit))
            help_convert(walk, value.unit, &one);
        else
            diag_help(walk->checker->diag, "divide it by a quantity of the same kind; angles are numbers, in rad");
    }
    return physical(walk, &one, 1);
}

static ValueUnit unit_of_quotient(const Walk *walk, const Node *call)
{
    const Node quotient = { .kind = NODE_BINARY,
                            .op = OP_DIV,
                            .span = call->span,
                            .u.operand = { call->u.call.args[0], call->u.call.args[1] } };
    return unit_of_product(walk, &quotient);
}

/* Of a table, or of a function that says nothing about units. */
static ValueUnit unit_of_other_call(const Walk *walk, const Node *node)
{
    const Checker *checker = walk->checker;
    ValueUnit argument = fits_all, first = fits_all;
    for (uint32_t k = 0; k < node->u.call.n; k++) {
        argument = unit_of(walk, node->u.call.args[k]);
        first = k == 0 ? argument : first;
    }
    if (node->u.call.symbol == ID_NONE)
        return mdl_is_delay(checker, node) ? first : fits_all;
    const Symbol *symbol = &checker->scope.list.at[node->u.call.symbol];
    if (symbol->kind != SYMBOL_TABLE)
        return fits_all;
    const TableDecl *table = &checker->component->tables.at[symbol->object];
    if (table->physical_x && !fits(&argument, table->physical_x)) {
        diag_warning(checker->diag, DIAG_MDL_UNIT_OF_ARGUMENT, node->u.call.args[0]->span,
                     "`%s` takes values in %s, this is in %s", names_of(checker->scope.names, table->name.name),
                     unit_text(walk, table->physical_x), unit_text(walk, argument.unit));
        help_convert(walk, argument.unit, table->physical_x);
    }
    return table->physical_y ? (ValueUnit){ PHYSICAL, 1, table->physical_y } : fits_all;
}

static ValueUnit unit_of_call(const Walk *walk, const Node *node)
{
    Node *const *args = node->u.call.args;
    double number;
    if (node->u.call.function == ID_NONE)
        return unit_of_other_call(walk, node);
    switch ((FunctionId)node->u.call.function) {
    case FUNCTION_SQE: return unit_of_power(walk, args[0], 2);
    case FUNCTION_SQRT: return unit_of_power(walk, args[0], 0.5);
    case FUNCTION_POW:
    case FUNCTION_ROOT:
        if (!is_literal(args[1], &number) || number == 0)
            return unit_of(walk, args[0]), unit_of(walk, args[1]), fits_all;
        return unit_of_power(walk, args[0], node->u.call.function == FUNCTION_POW ? number : 1 / number);
    case FUNCTION_MAX:
    case FUNCTION_MIN:
    case FUNCTION_IMAX:
    case FUNCTION_IMIN:
    case FUNCTION_MOD:
    case FUNCTION_MOD2:
    case FUNCTION_IMOD: return check_alike(walk, args[0], args[1], "compared");
    case FUNCTION_ATAN2: {
        const Unit one = unit_one();
        check_alike(walk, args[0], args[1], "divided here");
        return physical(walk, &one, 1);
    }
    case FUNCTION_DIV:
    case FUNCTION_DIV2:
    case FUNCTION_IDIV: return unit_of_quotient(walk, node);
    case FUNCTION_ABS:
    case FUNCTION_IABS:
    case FUNCTION_CEIL:
    case FUNCTION_FLOOR:
    case FUNCTION_RND:
    case FUNCTION_TRUNC:
    case FUNCTION_ICEIL:
    case FUNCTION_IFLOOR:
    case FUNCTION_IRND:
    case FUNCTION_ITRUNC: return unit_of(walk, args[0]);
    case FUNCTION_SIGN:
    case FUNCTION_ISIGN: return unit_of(walk, args[0]), (ValueUnit){ NUMBER, 1, NULL };
    default: return check_number(walk, node);
    }
}

/* ---- expressions and statements ---- */
static ValueUnit unit_of_name(const Walk *walk, const Node *node)
{
    const Checker *checker = walk->checker;
    const Symbol *symbol = &checker->scope.list.at[node->u.name.symbol];
    if (symbol->kind != SYMBOL_QUANTITY)
        return fits_all;
    const Unit *unit = checker->component->quantities.at[symbol->object].physical;
    return unit ? (ValueUnit){ PHYSICAL, 1, unit } : fits_all;
}

static ValueUnit unit_of(const Walk *walk, const Node *node)
{
    switch (node->kind) {
    case NODE_NUMBER: return (ValueUnit){ NUMBER, node->u.number, NULL };
    case NODE_NAME: return unit_of_name(walk, node);
    case NODE_TIME: return walk->time ? (ValueUnit){ PHYSICAL, 1, walk->time } : fits_all;
    case NODE_UNARY: return unit_of(walk, node->u.operand[0]);
    case NODE_BINARY:
        if (node->op == OP_ADD || node->op == OP_SUB)
            return unit_of_sum(walk, node);
        if (node->op == OP_MUL || node->op == OP_DIV)
            return unit_of_product(walk, node);
        unit_of(walk, node->u.operand[0]);
        unit_of(walk, node->u.operand[1]);
        return fits_all;
    case NODE_COMPARE: check_alike(walk, node->u.operand[0], node->u.operand[1], "compared"); return fits_all;
    case NODE_CALL: return unit_of_call(walk, node);
    case NODE_REDUCE: {
        const ValueUnit body = unit_of(walk, node->u.reduce.body);
        return node->op == OP_MUL || body.kind == NUMBER ? fits_all : body;
    }
    case NODE_LOOP: return fits_all;
    default: return fits_all;
    }
}

static void check_define(const Walk *walk, const Stmt *statement)
{
    const Checker *checker = walk->checker;
    const ValueUnit value = unit_of(walk, statement->u.define.value);
    const Symbol *symbol = &checker->scope.list.at[statement->u.define.symbol];
    const Quantity *target = &checker->component->quantities.at[symbol->object];
    const bool is_derivative = statement->kind == STMT_DERIVATIVE;
    if (!target->physical || (is_derivative && !walk->time))
        return;
    Unit wanted = *target->physical;
    if (is_derivative && !unit_divide(target->physical, walk->time, &wanted))
        return;
    if (fits(&value, &wanted))
        return;
    diag_warning(checker->diag, DIAG_MDL_UNIT_OF_VALUE, statement->u.define.value->span, "%s`%s` is in %s, this in %s",
                 is_derivative ? "the derivative of " : "", names_of(checker->scope.names, target->name.name),
                 unit_text(walk, &wanted), unit_text(walk, value.unit));
    diag_note(checker->diag, target->name.span, "declared here in %s", unit_text(walk, target->physical));
    help_convert(walk, value.unit, &wanted);
}

static void check_statements(const Walk *walk, const Stmt *first)
{
    for (const Stmt *statement = first; statement; statement = statement->next) {
        switch ((StmtKind)statement->kind) {
        case STMT_ALGEBRAIC:
        case STMT_DERIVATIVE:
        case STMT_NEXT: check_define(walk, statement); break;
        case STMT_STOP: break;
        case STMT_DISPLAY:
            for (uint32_t k = 0; k < statement->u.display.n; k++)
                unit_of(walk, statement->u.display.args[k]);
            break;
        case STMT_IF:
            for (uint32_t k = 0; k < statement->u.choice.n; k++) {
                if (statement->u.choice.branches[k].condition)
                    unit_of(walk, statement->u.choice.branches[k].condition);
                check_statements(walk, statement->u.choice.branches[k].body);
            }
            break;
        case STMT_FOR: check_statements(walk, statement->u.repeat.body); break;
        case STMT_WHENEVER:
            unit_of(walk, statement->u.event.condition);
            check_statements(walk, statement->u.event.body);
            break;
        }
    }
}

void mdl_check_units(Checker *checker)
{
    Component *component = checker->component;
    const bool has_time_unit = component->time_unit.span.end > 0;
    bool has_units = has_time_unit;
    Unit *seconds = NEW(checker->arena, Unit);
    UnitFault ignored;
    for (uint32_t k = 0; k < component->quantities.n; k++) {
        Quantity *quantity = &component->quantities.at[k];
        if (quantity->unit.span.end == 0)
            continue;
        quantity->physical = read_unit(checker, &quantity->unit);
        has_units = true;
    }
    for (uint32_t k = 0; k < component->tables.n; k++) {
        TableDecl *table = &component->tables.at[k];
        if (table->unit_x.span.end > 0)
            table->physical_x = read_unit(checker, &table->unit_x);
        if (table->unit_y.span.end > 0)
            table->physical_y = read_unit(checker, &table->unit_y);
        has_units |= table->unit_x.span.end > 0 || table->unit_y.span.end > 0;
    }
    if (!has_units)
        return;
    unit_parse("s", 1, seconds, &ignored);
    component->counted_in = has_time_unit ? component->time_unit.name : names_text(checker->scope.names, "s");
    Walk walk = { checker, has_time_unit ? read_unit(checker, &component->time_unit) : seconds };
    if (*checker->errors == 0)
        check_statements(&walk, component->statements);
}
