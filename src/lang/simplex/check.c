/* Declarations and statements of basic components; see check.h. */
#include "lang/simplex/check.h"
#include "base/bug.h"
#include "lang/simplex/procedure.h"
#include <strings.h>

/* ---- local definitions ---- */
static void declare_values(Checker *checker, uint32_t object)
{
    ValueSet *set = &checker->component->sets.at[object];
    NameId *values = NEW_ARRAY(checker->arena, NameId, set->values.n);
    for (uint32_t k = 0; k < set->values.n; k++) {
        values[k] = set->values.at[k].name;
        mdl_scope_declare(
            &checker->scope,
            (Symbol){ .kind = SYMBOL_VALUE, .object = object, .number = k + 1, .name = set->values.at[k] });
    }
    if (set->values.n < 2) {
        REPORT(checker, DIAG_MDL_SET_TOO_SMALL, set->name.span, "a value set has at least two values");
        diag_help(checker->diag, "a quantity with a single value is none; add another value");
    }
    if (pool_n_enumerations(checker->pool) >= UINT16_MAX - 1u) {
        REPORT(checker, DIAG_MDL_TOO_MANY, set->name.span, "there are too many value sets in this model");
        diag_help(checker->diag, "give equal sets equal names: then they are one");
        set->type = INTEGER_TYPE;
        return;
    }
    const Enumeration enumeration = {
        .name = set->name.name, .is_ordered = set->is_ordered, .n = set->values.n, .values = values
    };
    set->type = enum_type(pool_enumeration(checker->pool, &enumeration));
}

static void check_table(Checker *checker, const TableDecl *table)
{
    const uint32_t least = table->method == TABLE_LINEAR ? 2 : 3;
    if (table->x.n != table->y.n) {
        REPORT(checker, DIAG_MDL_TABLE_POINTS, table->name.span, "the table has %u points and %u values", table->x.n,
               table->y.n);
        diag_help(checker->diag, "give one value for each point");
    } else if (table->x.n < least) {
        REPORT(checker, DIAG_MDL_TABLE_POINTS, table->name.span, "%s interpolation needs at least %u points",
               least == 2 ? "linear" : "cubic", least);
        diag_help(checker->diag, "add points");
    }
    for (uint32_t k = 1; k < table->x.n; k++)
        if (!(table->x.at[k].value > table->x.at[k - 1].value)) {
            REPORT(checker, DIAG_MDL_TABLE_POINTS, table->x.at[k].span, "the points of a table ascend");
            diag_note(checker->diag, table->x.at[k - 1].span, "this one before it is not smaller");
            return;
        }
}

static void declare_local_definitions(Checker *checker)
{
    const Component *component = checker->component;
    for (uint32_t k = 0; k < component->sets.n; k++) {
        mdl_scope_declare(&checker->scope,
                          (Symbol){ .kind = SYMBOL_SET, .object = k, .name = component->sets.at[k].name });
        declare_values(checker, k);
    }
    mdl_check_dimensions(&checker->scope, checker->component);
    for (uint32_t k = 0; k < component->tables.n; k++) {
        mdl_scope_declare(&checker->scope,
                          (Symbol){ .kind = SYMBOL_TABLE, .object = k, .name = component->tables.at[k].name });
        check_table(checker, &component->tables.at[k]);
    }
    mdl_declare_procedures(checker);
    mdl_check_procedures(checker);
}

/* ---- quantities ---- */
/* What other languages call the value sets of this one; NULL: none. */
static const char *foreign_set(const char *name)
{
    static const char *const rows[][2] = { { "FLOAT", "REAL" },   { "DOUBLE", "REAL" },  { "NUMBER", "REAL" },
                                           { "LONG", "INTEGER" }, { "BOOL", "LOGICAL" }, { "BOOLEAN", "LOGICAL" } };
    for (uint32_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcasecmp(rows[k][0], name) == 0)
            return rows[k][1];
    return NULL;
}

static void find_value_set(Checker *checker, Quantity *quantity)
{
    if (quantity->range != TYPE_ENUM) {
        quantity->type = (Type){ quantity->range, 0, 0 };
        return;
    }
    const char *foreign = foreign_set(names_of(checker->scope.names, quantity->set.name));
    if (foreign && mdl_scope_find(&checker->scope, quantity->set.name, quantity->set.span) == ID_NONE) {
        REPORT(checker, DIAG_MDL_UNKNOWN_SET, quantity->set.span, "there is no value set `%s`",
               names_of(checker->scope.names, quantity->set.name));
        diag_help(checker->diag, "it is called %s here", foreign);
        quantity->is_bad = true;
        return;
    }
    const uint32_t at =
        mdl_scope_use(&checker->scope, quantity->set.name, quantity->set.span, DIAG_MDL_UNKNOWN_SET, "value set");
    const Symbol *symbol = &checker->scope.list.at[at];
    if (symbol->kind == SYMBOL_SET) {
        quantity->type = checker->component->sets.at[symbol->object].type;
        return;
    }
    quantity->is_bad = true;
    if (symbol->kind == SYMBOL_UNKNOWN)
        return;
    REPORT(checker, DIAG_MDL_UNKNOWN_SET, quantity->set.span, "`%s` is not a value set",
           names_of(checker->scope.names, quantity->set.name));
    diag_note(checker->diag, symbol->name.span, "declared here");
}

/* One value for each element, as nested arrays. */
static void check_initials(Checker *checker, Quantity *quantity)
{
    const Sizes *sizes = &quantity->sizes;
    const uint32_t n = quantity->initials.n;
    if (quantity->is_bad || sizes->is_bad)
        return;
    if (n != sizes->count || n > UINT16_MAX) {
        REPORT(checker, DIAG_MDL_INITIAL_COUNT, quantity->initials.at[0].span, "`%s` has %llu elements, but %u values",
               names_of(checker->scope.names, quantity->name.name), (unsigned long long)sizes->count, n);
        diag_help(checker->diag, "give one value for all, or as many as there are elements (at most %u)", UINT16_MAX);
        return;
    }
    const Expr **row = NEW_ARRAY(checker->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        if (!(row[k] = mdl_check_value(&checker->scope, checker->pool, &quantity->initials.at[k], quantity->type,
                                       quantity->name.name)))
            return;
    uint32_t left = n;
    for (uint32_t k = sizes->n; k-- > 0;) {
        const uint32_t extent = (uint32_t)sizes->extent[k];
        left /= extent;
        for (uint32_t j = 0; j < left; j++)
            row[j] = expr_array(checker->pool, extent, row + (size_t)j * extent);
    }
    quantity->start = row[0];
}

/* An initial value is computed from numbers and constants that stand before it. */
static bool is_made_of_constants(Checker *checker, const Quantity *quantity, const Node *node)
{
    const Component *component = checker->component;
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER:
    case NODE_LOGICAL: return true;
    case NODE_NAME: {
        const Symbol *symbol = &checker->scope.list.at[node->u.name.symbol];
        return symbol->kind == SYMBOL_VALUE ||
               (symbol->kind == SYMBOL_QUANTITY && component->quantities.at[symbol->object].use == USE_CONSTANT &&
                &component->quantities.at[symbol->object] < quantity);
    }
    case NODE_LOOP: return true;
    case NODE_UNARY: return is_made_of_constants(checker, quantity, node->u.operand[0]);
    case NODE_BINARY:
    case NODE_COMPARE:
        return is_made_of_constants(checker, quantity, node->u.operand[0]) &&
               is_made_of_constants(checker, quantity, node->u.operand[1]);
    case NODE_CALL:
        for (uint32_t k = 0; k < node->u.call.n; k++)
            if (!is_made_of_constants(checker, quantity, node->u.call.args[k]))
                return false;
        return node->u.call.function != ID_NONE || mdl_is_draw(checker->scope.names, node);
    case NODE_TIME:
    case NODE_REDUCE: return false;
    }
    BUG("unknown NodeKind");
}

static bool is_computed(const Quantity *quantity)
{
    const Value *initial = &quantity->initial;
    return initial->kind == VALUE_EXPRESSION ||
           (initial->kind == VALUE_NAME && initial->node && quantity->type.kind != TYPE_ENUM);
}

static void check_computed(Checker *checker, Quantity *quantity)
{
    enum { MOST_DRAWN = 5000 }; /* each element is a term over the streams of all */
    Node *node = quantity->initial.node;
    checker->may_draw = quantity->use == USE_STATE;
    mdl_check_expression(checker, node);
    checker->may_draw = false;
    if (node->is_bad)
        return;
    if (!is_made_of_constants(checker, quantity, node)) {
        REPORT(checker, DIAG_MDL_INITIAL_FORM, quantity->initial.span,
               "an initial value is made of numbers and of constants that are declared before it");
        diag_help(checker->diag,
                  "what changes in the run is assigned by an event, as in WHENEVER T >= 0 with a condition "
                  "that it ends");
        return;
    }
    const bool is_drawn = mdl_has_draw(checker->scope.names, node);
    if (quantity->sizes.n && (!is_drawn || quantity->type.kind != TYPE_REAL || quantity->sizes.count > MOST_DRAWN)) {
        REPORT(checker, DIAG_MDL_INITIAL_FORM, quantity->initial.span,
               "the initial values of an array are written as numbers, or drawn for at most %d REAL elements",
               MOST_DRAWN);
        diag_help(checker->diag, "give one number for all, or one for each element");
        return;
    }
    quantity->computed = node;
    mdl_check_assignable(checker, quantity, node);
}

static void check_initial(Checker *checker, Quantity *quantity)
{
    const char *name = names_of(checker->scope.names, quantity->name.name);
    const bool is_needed = quantity->use == USE_CONSTANT || quantity->use == USE_STATE;
    if (quantity->initials.n) {
        check_initials(checker, quantity);
    } else if (is_computed(quantity)) {
        return; /* when all constants are known */
    } else if (quantity->initial.kind != VALUE_NONE) {
        if (!quantity->is_bad)
            quantity->start = mdl_check_value(&checker->scope, checker->pool, &quantity->initial, quantity->type,
                                              quantity->name.name);
    } else if (is_needed) {
        REPORT(checker, DIAG_MDL_NO_INITIAL_VALUE, quantity->name.span, "the %s `%s` has no initial value",
               quantity->use == USE_CONSTANT ? "constant" : "state variable", name);
        diag_help(checker->diag, "write %s (…) := value", name);
    }
}

/* Errors are measured with the sizes of what is integrated or solved for. */
static void check_nominal(Checker *checker, const Quantity *quantity)
{
    const Value *nominal = &quantity->nominal;
    const bool is_used = quantity->is_continuous && (quantity->use == USE_STATE || quantity->use == USE_DEPENDENT);
    if (nominal->kind == VALUE_NONE || (is_used && nominal->number > 0))
        return;
    REPORT(checker, DIAG_NOMINAL, nominal->span,
           is_used ? "the nominal value of `%s` must be above 0" : "`%s` has no use for a nominal value",
           names_of(checker->scope.names, quantity->name.name));
    diag_help(checker->diag, is_used ? "it is the usual size of the quantity, as in NOMINAL 1E-9"
                                     : "continuous state and dependent variables have one");
}

static void check_quantity(Checker *checker, uint32_t object)
{
    Quantity *quantity = &checker->component->quantities.at[object];
    find_value_set(checker, quantity);
    mdl_check_sizes(&checker->scope, checker->pool, checker->component, &quantity->sizes);
    mdl_scope_declare(&checker->scope, (Symbol){ .kind = SYMBOL_QUANTITY, .object = object, .name = quantity->name });
    check_initial(checker, quantity);
    if (quantity->is_continuous && !quantity->is_bad && quantity->type.kind != TYPE_REAL) {
        REPORT(checker, DIAG_MDL_CONTINUOUS_NOT_REAL, quantity->name.span, "`%s` is CONTINUOUS but not REAL",
               names_of(checker->scope.names, quantity->name.name));
        diag_help(checker->diag, "declare it under DISCRETE, or as REAL");
        quantity->is_continuous = false;
    }
    check_nominal(checker, quantity);
}

/* ---- statements ---- */
/* The quantity on the left side, or NULL if there is none: reported. */
static const Quantity *find_target(Checker *checker, Stmt *statement)
{
    const Ident *target = &statement->u.define.target;
    const uint32_t at = mdl_scope_use(&checker->scope, target->name, target->span, DIAG_MDL_UNKNOWN_NAME, "quantity");
    const Symbol *symbol = &checker->scope.list.at[at];
    if (symbol->kind == SYMBOL_QUANTITY) {
        statement->u.define.symbol = at;
        return &checker->component->quantities.at[symbol->object];
    }
    if (symbol->kind != SYMBOL_UNKNOWN) {
        REPORT(checker, DIAG_MDL_NOT_A_QUANTITY, target->span, "`%s` is not a quantity",
               names_of(checker->scope.names, target->name));
        diag_note(checker->diag, symbol->name.span, "declared here");
        diag_help(checker->diag, "on the left side stands a state or dependent variable");
    }
    return NULL;
}

static void report_fixed(Checker *checker, const Stmt *statement, const Quantity *quantity)
{
    const bool is_constant = quantity->use == USE_CONSTANT;
    REPORT(checker, is_constant ? DIAG_MDL_ASSIGN_CONSTANT : DIAG_MDL_ASSIGN_SENSOR, statement->u.define.target.span,
           is_constant ? "the constant `%s` cannot change" : "the sensor `%s` gets its value from outside",
           names_of(checker->scope.names, quantity->name.name));
    diag_note(checker->diag, quantity->name.span, "declared here");
    diag_help(checker->diag,
              is_constant ? "declare it under STATE VARIABLES" : "assign to a variable of this component");
}

/* `:=` for dependents, `^` for states, `'` for continuous states. */
static bool check_left_side(Checker *checker, const Stmt *statement, const Quantity *quantity)
{
    const char *name = names_of(checker->scope.names, quantity->name.name);
    const Span span = statement->u.define.target.span;
    if (quantity->use == USE_CONSTANT || quantity->use == USE_SENSOR) {
        report_fixed(checker, statement, quantity);
        return false;
    }
    const bool is_state = quantity->use == USE_STATE;
    if (statement->kind == STMT_ALGEBRAIC && is_state) {
        REPORT(checker, DIAG_MDL_ASSIGN_STATE, span, "the state variable `%s` cannot be defined by `:=`", name);
        diag_help(checker->diag, "events give it its next value by %s^ := …, differential equations by %s' := …", name,
                  name);
        return false;
    }
    if (statement->kind == STMT_NEXT && !is_state) {
        REPORT(checker, DIAG_MDL_NEXT_OF_DEPENDENT, span, "the dependent variable `%s` has no next value", name);
        diag_help(checker->diag, "define it by %s := …; outside of events, or declare it under STATE VARIABLES", name);
        return false;
    }
    if (statement->kind == STMT_DERIVATIVE && !(is_state && quantity->is_continuous)) {
        REPORT(checker, DIAG_MDL_NOT_CONTINUOUS_STATE, span, "`%s` has no derivative: it is %s", name,
               is_state ? "a discrete state variable" : "a dependent variable");
        diag_note(checker->diag, quantity->name.span, "declared here");
        diag_help(checker->diag, "declare it under STATE VARIABLES, CONTINUOUS");
        return false;
    }
    return true;
}

/* Dead time belongs to the whole component: it cannot be switched off, and has one history for each name. */
static bool can_be_delay(const Checker *checker, const Stmt *statement, const Quantity *target)
{
    return statement->kind == STMT_ALGEBRAIC && mdl_is_delay(checker, statement->u.define.value) && target &&
           target->sizes.n == 0 && !checker->is_in_event && !checker->is_in_branch && checker->loops.n == 0;
}

static void check_define(Checker *checker, Stmt *statement)
{
    const Quantity *quantity = find_target(checker, statement);
    checker->may_draw = statement->kind == STMT_NEXT;
    if (can_be_delay(checker, statement, quantity))
        mdl_check_delay(checker, statement->u.define.value);
    else
        mdl_check_expression(checker, statement->u.define.value);
    checker->may_draw = false;
    if (quantity && !mdl_check_index(checker, &quantity->sizes, statement->u.define.target, statement->u.define.n,
                                     statement->u.define.index)) {
        statement->u.define.symbol = ID_NONE;
        quantity = NULL;
    }
    const bool has_bad_delay =
        statement->u.define.value->is_bad && mdl_is_delay(checker, statement->u.define.value); /* it is no definition */
    checker->has_bad_target |= (!quantity || has_bad_delay) && statement->kind == STMT_ALGEBRAIC;
    if (!quantity)
        return;
    if (check_left_side(checker, statement, quantity))
        mdl_check_assignable(checker, quantity, statement->u.define.value);
    else
        statement->u.define.symbol = ID_NONE;
}

static void check_statements(Checker *checker, Stmt *first);

static void check_branches(Checker *checker, Stmt *statement)
{
    const bool was_in_branch = checker->is_in_branch;
    checker->is_in_branch = true;
    for (uint32_t k = 0; k < statement->u.choice.n; k++) {
        const Branch *branch = &statement->u.choice.branches[k];
        checker->may_draw = checker->is_in_event;
        if (branch->condition)
            mdl_check_condition(checker, branch->condition, k == 0 ? "IF" : "ELSIF");
        checker->may_draw = false;
        check_statements(checker, branch->body);
    }
    checker->is_in_branch = was_in_branch;
}

static void check_statements(Checker *checker, Stmt *first)
{
    for (Stmt *statement = first; statement; statement = statement->next) {
        switch ((StmtKind)statement->kind) {
        case STMT_ALGEBRAIC:
        case STMT_DERIVATIVE:
        case STMT_NEXT: check_define(checker, statement); break;
        case STMT_DISPLAY: mdl_check_display(checker, statement); break;
        case STMT_STOP: break;
        case STMT_IF: check_branches(checker, statement); break;
        case STMT_FOR:
            if (mdl_open_loop(checker, statement->u.repeat.loop))
                check_statements(checker, statement->u.repeat.body);
            else
                checker->has_bad_target = true;
            mdl_close_loop(checker);
            break;
        case STMT_WHENEVER:
            mdl_check_condition(checker, statement->u.event.condition, "WHENEVER");
            checker->is_in_event = true;
            checker->event = statement;
            check_statements(checker, statement->u.event.body);
            checker->event = NULL;
            checker->is_in_event = false;
            break;
        }
    }
}

bool mdl_check_basic(Checker *checker)
{
    declare_local_definitions(checker);
    for (uint32_t k = 0; k < checker->component->quantities.n; k++)
        check_quantity(checker, k);
    for (uint32_t k = 0; k < checker->component->quantities.n; k++) {
        Quantity *quantity = &checker->component->quantities.at[k];
        if (is_computed(quantity) && !quantity->is_bad)
            check_computed(checker, quantity);
    }
    check_statements(checker, checker->component->statements);
    mdl_check_definitions(checker);
    mdl_check_units(checker);
    return *checker->errors == 0;
}
