/* Dead time, `Y := DELAY (X, Tau, Initial)`: beyond the document. */
#include "lang/simplex/check.h"
#include "lang/simplex/procedure.h"

bool mdl_is_delay(const Checker *checker, const Node *node)
{
    if (checker->scope.is_strict) /* the original knows no dead time */
        return false;
    if (node->kind != NODE_CALL || strcmp(names_of(checker->scope.names, node->u.call.name.name), "DELAY") != 0)
        return false;
    for (uint32_t k = 0; k < checker->component->tables.n; k++)
        if (checker->component->tables.at[k].name.name.index == node->u.call.name.name.index)
            return false;
    for (uint32_t k = 0; k < checker->component->procedures.n; k++)
        if (checker->component->procedures.at[k]->name.name.index == node->u.call.name.name.index)
            return false;
    return true;
}

static bool check_number_argument(Checker *checker, Node *argument)
{
    mdl_check_expression(checker, argument);
    if (argument->is_bad)
        return false;
    if (argument->type.kind == TYPE_REAL || argument->type.kind == TYPE_INTEGER)
        return true;
    REPORT(checker, DIAG_MDL_ARGUMENT_SET, argument->span, "an argument of DELAY is REAL, not %s",
           mdl_set_text(checker->pool, argument->type, checker->arena));
    diag_help(checker->diag, "only numbers can be arguments");
    return false;
}

static bool check_fixed(Checker *checker, const Node *argument, const char *what)
{
    if (argument->course == COURSE_CONSTANT)
        return true;
    REPORT(checker, DIAG_MDL_DELAY_ARGUMENTS, argument->span, "the %s of DELAY changes in the run", what);
    diag_help(checker->diag, "it is a number or a quantity under CONSTANTS");
    return false;
}

/* Of a number with or without sign. */
static bool is_above_zero(const Node *node)
{
    if (node->kind == NODE_UNARY && node->op == OP_NEG && node->u.operand[0]->kind == NODE_NUMBER)
        return false;
    return node->kind != NODE_NUMBER || node->u.number > 0;
}

void mdl_check_delay(Checker *checker, Node *value)
{
    const uint32_t n = value->u.call.n;
    bool is_good = n == 2 || n == 3;
    value->u.call.function = value->u.call.symbol = ID_NONE;
    value->type = REAL_TYPE;
    if (!is_good) {
        REPORT(checker, DIAG_MDL_ARGUMENT_COUNT, value->span, "DELAY takes 2 or 3 arguments, not %u", n);
        diag_help(checker->diag, "write DELAY (x, DeadTime) or DELAY (x, DeadTime, ValueBeforeStart)");
    }
    for (uint32_t k = 0; k < n; k++)
        is_good &= check_number_argument(checker, value->u.call.args[k]);
    if (is_good && n > 2)
        is_good = check_fixed(checker, value->u.call.args[2], "initial value");
    if (is_good)
        is_good = check_fixed(checker, value->u.call.args[1], "dead time");
    if (is_good && !is_above_zero(value->u.call.args[1])) {
        REPORT(checker, DIAG_MDL_DELAY_ARGUMENTS, value->u.call.args[1]->span, "a dead time is greater than 0");
        diag_help(checker->diag, "without dead time write y := x");
        is_good = false;
    }
    value->is_bad = !is_good;
    if (is_good)
        value->course = value->u.call.args[0]->course;
}

void mdl_report_delay_place(Checker *checker, Node *node)
{
    node->u.call.function = node->u.call.symbol = ID_NONE;
    node->type = REAL_TYPE;
    node->is_bad = true;
    REPORT(checker, DIAG_MDL_DELAY_PLACE, node->span,
           "DELAY can only be the whole right side of an equation y := DELAY (…)");
    diag_help(checker->diag, "define a dependent variable, no element of an array, by it outside of IF, FOR and "
                             "WHENEVER, and use that variable here");
}
