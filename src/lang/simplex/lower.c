/* Quantities, equations, regions and events; see lower.h. */
#include "lang/simplex/lower.h"
#include "base/bug.h"
#include "lang/simplex/procedure.h"

typedef struct {
    RegionId region;
    uint16_t branch;
} RegionPath;

const Expr *mdl_default_value(Pool *pool, Type type)
{
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return expr_real(pool, 0);
    case TYPE_INTEGER: return expr_integer(pool, 0);
    case TYPE_BOOLEAN: return expr_boolean(pool, false);
    case TYPE_ENUM: return expr_enum(pool, type.enumeration, 1);
    case TYPE_STRING: return expr_string(pool, (NameId){ 0 });
    case TYPE_OBJECT: break;
    }
    BUG("unknown TypeKind");
}

/* ---- quantities ---- */
static void set_use(Variable *variable, const Quantity *quantity, Term initial)
{
    variable->variability = quantity->is_continuous ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE;
    variable->start = initial;
    switch ((Use)quantity->use) {
    case USE_CONSTANT:
        variable->variability = VARIABILITY_PARAMETER;
        variable->definition = DEFINITION_BINDING;
        variable->binding = initial;
        variable->start = TERM_NONE;
        return;
    case USE_STATE:
        variable->definition = quantity->is_continuous ? DEFINITION_DER : DEFINITION_NEXT;
        variable->is_fixed = true;
        return;
    case USE_DEPENDENT: variable->definition = DEFINITION_NOW; return;
    case USE_SENSOR:
        variable->definition = DEFINITION_INPUT;
        variable->causality = CAUSALITY_INPUT;
        return;
    }
    BUG("unknown Use");
}

static const int64_t INTEGER_LARGEST = 2000000000; /* in the profile */

/* One number is drawn for each element. */
static Term lower_drawn_array(Lower *lower, const Quantity *quantity)
{
    Model *model = lower->model;
    const Sizes *sizes = &quantity->sizes;
    const Expr **row = NEW_ARRAY(model->arena, const Expr *, sizes->count);
    mdl_lower_begin(lower);
    for (uint64_t k = 0; k < sizes->count; k++) {
        lower->element = k + 1;
        lower->n_of_element = 0;
        row[k] = mdl_lower_expression(lower, quantity->computed, true);
    }
    lower->element = 0;
    uint64_t left = sizes->count;
    for (uint32_t k = sizes->n; k-- > 0;) {
        const uint32_t extent = (uint32_t)sizes->extent[k];
        left /= extent;
        for (uint64_t j = 0; j < left; j++)
            row[j] = expr_array(model->pool, extent, row + j * extent);
    }
    return term_make(model, row[0], lower->refs.at);
}

static Term lower_computed(Lower *lower, const Quantity *quantity)
{
    const bool is_drawn = mdl_has_draw(pool_names(lower->model->pool), quantity->computed);
    lower->is_start = true;
    lower->target = quantity->name.name;
    const Term term = quantity->sizes.n && is_drawn
                          ? lower_drawn_array(lower, quantity)
                          : mdl_lower_term(lower, quantity->computed, quantity->type.kind == TYPE_REAL);
    lower->is_start = false;
    return term;
}

static void lower_quantity(Lower *lower, Quantity *quantity)
{
    Model *model = lower->model;
    Term initial = TERM_NONE;
    if (quantity->start)
        initial = term_expr(model, quantity->start);
    else if (quantity->computed)
        initial = lower_computed(lower, quantity);
    else if (quantity->use == USE_SENSOR)
        initial = term_expr(model, mdl_default_value(model->pool, quantity->type));
    quantity->var =
        model_add_variable(model, (InstanceId){ 0 }, quantity->name.name, quantity->type, quantity->name.span);
    set_use(model_var(model, quantity->var), quantity, initial);
    Term *extents = NEW_ARRAY(model->arena, Term, quantity->sizes.n + 1);
    for (uint32_t k = 0; k < quantity->sizes.n; k++)
        extents[k] = term_integer(model, quantity->sizes.extent[k]);
    if (quantity->sizes.n)
        model_set_dims(model, quantity->var, quantity->sizes.n, extents);
    Variable *variable = model_var(model, quantity->var);
    variable->unit = quantity->unit.name;
    if (quantity->nominal.kind != VALUE_NONE)
        variable->nominal = term_real(model, quantity->nominal.number);
    if (lower->checker->scope.is_strict && quantity->type.kind == TYPE_INTEGER) {
        variable->min = term_integer(model, -INTEGER_LARGEST);
        variable->max = term_integer(model, INTEGER_LARGEST);
    }
}

static void lower_table(Lower *lower, const TableDecl *declared)
{
    Model *model = lower->model;
    double *x = NEW_ARRAY(model->arena, double, declared->x.n), *y = NEW_ARRAY(model->arena, double, declared->x.n);
    for (uint32_t k = 0; k < declared->x.n; k++) {
        x[k] = declared->x.at[k].value;
        y[k] = declared->y.at[k].value;
    }
    const Table table = { .name = declared->name.name,
                          .method = declared->method,
                          .outside = OUTSIDE_ERROR,
                          .n = declared->x.n,
                          .x = x,
                          .y = y };
    vec_push(model->arena, &lower->tables, pool_table(model->pool, &table));
}

/* ---- equations ---- */
static const Quantity *target_of(const Lower *lower, const Stmt *statement)
{
    const Symbol *symbol = &lower->checker->scope.list.at[statement->u.define.symbol];
    return &lower->checker->component->quantities.at[symbol->object];
}

static bool reads(const Model *model, Term term, VarId var)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (ref_equal(term_refs(model, term)[k], ref_now(var)))
            return true;
    return false;
}

static Term lower_target(Lower *lower, const Stmt *statement, bool is_derivative)
{
    const uint32_t object = lower->checker->scope.list.at[statement->u.define.symbol].object;
    const Quantity *target = target_of(lower, statement);
    const Ref ref = is_derivative ? ref_der(target->var) : ref_now(target->var);
    if (statement->u.define.n == 0)
        return term_ref(lower->model, ref);
    mdl_lower_begin(lower);
    const Expr *element =
        mdl_lower_element(lower, target, object, ref, statement->u.define.n, statement->u.define.index);
    return term_make(lower->model, element, lower->refs.at);
}

/* The ranges of the loops around. */
static DomainId lower_domain(Lower *lower)
{
    Model *model = lower->model;
    const uint32_t n = lower->loops.n;
    if (n == 0)
        return (DomainId){ 0 };
    Iterator *iterators = NEW_ARRAY(model->arena, Iterator, n);
    for (uint32_t k = 0; k < n; k++) {
        const Loop *loop = lower->loops.at[k];
        iterators[k] = (Iterator){ .name = loop->name.name,
                                   .lo = term_integer(model, loop->first),
                                   .hi = term_integer(model, loop->first + (loop->count - 1) * loop->stride),
                                   .count = -1 };
        if (loop->stride != 1)
            iterators[k].step = term_integer(model, loop->stride);
    }
    return model_add_domain(model, n, iterators);
}

/* `Y := e` and `x' := e`. A definition by its own value is the source's iteration formula. */
static void lower_equation(Lower *lower, const Stmt *statement, RegionPath path)
{
    Model *model = lower->model;
    const Quantity *target = target_of(lower, statement);
    const bool is_derivative = statement->kind == STMT_DERIVATIVE;
    Origin origin = { .span = statement->span, .parent = EQ_NONE };
    const Term left = lower_target(lower, statement, is_derivative);
    const Term right = mdl_lower_traced(lower, statement->u.define.value, target->type.kind == TYPE_REAL, &origin);
    const bool is_iteration = !is_derivative && !target->sizes.n && reads(model, right, target->var);
    const EqId id =
        model_add_equation(model, is_iteration ? EQUATION_ITERATION : EQUATION_EXPLICIT, left, right, statement->span);
    Equation *equation = &model->equations.at[id.index];
    equation->domain = lower_domain(lower);
    equation->region = path.region;
    equation->branch = path.branch;
    equation->origin = origin;
}

/* `Y := DELAY (X, Tau, Initial)`. */
static void lower_delay(Lower *lower, const Stmt *statement)
{
    Model *model = lower->model;
    const Quantity *target = target_of(lower, statement);
    Node *const *args = statement->u.define.value->u.call.args;
    const Delay delay = { .output = target->var,
                          .since = VAR_NONE,
                          .until = VAR_NONE,
                          .input = mdl_lower_term(lower, args[0], true),
                          .amount = mdl_lower_term(lower, args[1], true),
                          .max = TERM_NONE,
                          .position = TERM_NONE,
                          .back = TERM_NONE,
                          .forward = TERM_NONE,
                          .points = VAR_NONE,
                          .values = VAR_NONE,
                          .span = statement->span };
    if (statement->u.define.value->u.call.n > 2)
        model_var(model, target->var)->start = mdl_lower_term(lower, args[2], true);
    vec_push(model->arena, &model->delays, delay);
}

/* ---- events ---- */
typedef VEC(Term) Terms;

typedef struct {
    Lower *lower;
    VEC(Assignment) assignments;
    VEC(Action) actions;
    Terms guards; /* of the branches of all IF, in source order */
    uint32_t next_guard;
    bool has_failed;
} Event;

static const Expr *both(Pool *pool, const Expr *a, const Expr *b)
{
    return a && b ? expr_binary(pool, OP_AND, a, b) : a ? a : b;
}

/* A loop whose values are written out one by one. */
static bool begin_loop(Lower *lower, Loop *loop)
{
    const Loops none = { 0 };
    if (!mdl_loop_begin(&lower->checker->scope, lower->checker->component, &none, loop))
        return false;
    vec_push(lower->model->arena, &lower->written, loop);
    return true;
}

static bool next_point(Lower *lower, Loop *loop)
{
    if (mdl_loop_next(loop) && mdl_count_point(lower->checker, loop))
        return true;
    lower->written.n--;
    return false;
}

/* Guards of the branches below: the first true condition selects, inside of what selects the statement itself. */
static void find_guards(Event *event, const Stmt *first, const Expr *outer)
{
    enum { GUARD_DEPTH = NODE_DEPTH / 2 }; /* building them costs the square of it */
    Lower *lower = event->lower;
    Pool *pool = lower->model->pool;
    for (const Stmt *statement = first; statement; statement = statement->next) {
        if (statement->kind == STMT_FOR) {
            Loop *loop = statement->u.repeat.loop;
            for (bool more = begin_loop(lower, loop); more; more = next_point(lower, loop))
                find_guards(event, statement->u.repeat.body, outer);
        }
        if (statement->kind != STMT_IF)
            continue;
        const Expr *earlier = outer; /* and none of the conditions so far */
        uint32_t depth = outer ? outer->depth : 0;
        for (uint32_t k = 0; k < statement->u.choice.n; k++) {
            const Branch *branch = &statement->u.choice.branches[k];
            const Expr *condition = branch->condition ? mdl_lower_expression(lower, branch->condition, false) : NULL;
            if (++depth > GUARD_DEPTH && !event->has_failed) {
                REPORT(lower->checker, DIAG_NESTED_TOO_DEEP, branch->span, "this IF has too many branches");
                diag_help(lower->checker->diag, "an IF inside of WHENEVER can have about %d", GUARD_DEPTH);
                event->has_failed = true;
            }
            if (event->has_failed)
                return;
            const Expr *guard = both(pool, earlier, condition);
            vec_push(lower->model->arena, &event->guards, term_make(lower->model, guard, lower->refs.at));
            find_guards(event, branch->body, guard);
            if (condition)
                earlier = both(pool, earlier, expr_unary(pool, OP_NOT, condition));
        }
    }
}

static void lower_next(Event *event, const Stmt *statement, Term guard)
{
    Lower *lower = event->lower;
    const Quantity *target = target_of(lower, statement);
    lower->target = target->name.name;
    lower->drawn.n = 0;
    const Assignment assignment = { .target = lower_target(lower, statement, false),
                                    .guard = guard,
                                    .value = mdl_lower_term(lower, statement->u.define.value,
                                                            target->type.kind == TYPE_REAL),
                                    .span = statement->span };
    vec_push(lower->model->arena, &event->assignments, assignment);
    for (uint32_t k = 0; k < lower->drawn.n; k++)
        vec_push(lower->model->arena, &event->assignments, mdl_count_draw(lower, lower->drawn.at[k], &assignment));
}

/* What a conversion shows: a REAL for %f, a number for %d. Values of sets count from 1, as in results; those of the
 * profile from 0, as in the original. */
static Term lower_shown(Lower *lower, const Node *node, char letter)
{
    Pool *pool = lower->model->pool;
    if (letter != 'd')
        return mdl_lower_term(lower, node, true);
    mdl_lower_begin(lower);
    const Expr *shown = mdl_lower_expression(lower, node, false);
    if (shown->type.kind == TYPE_BOOLEAN || shown->type.kind == TYPE_ENUM)
        shown = expr_unary(pool, OP_NUMBER, shown);
    if (node->type.kind == TYPE_ENUM && lower->checker->scope.is_strict)
        shown = expr_binary(pool, OP_SUB, shown, expr_integer(pool, 1));
    return term_make(lower->model, shown, lower->refs.at);
}

static void lower_display(Event *event, const Stmt *statement, Term guard)
{
    Lower *lower = event->lower;
    const uint32_t n = statement->u.display.n;
    Term *args = NEW_ARRAY(lower->model->arena, Term, n);
    for (uint32_t k = 0; k < n; k++)
        args[k] = lower_shown(lower, statement->u.display.args[k], statement->u.display.letters[k]);
    const Action action = { .kind = ACTION_DISPLAY,
                            .guard = guard,
                            .text = statement->u.display.format,
                            .first_arg = model_add_terms(lower->model, n, args),
                            .n_args = n,
                            .span = statement->span };
    vec_push(lower->model->arena, &event->actions, action);
}

static void lower_stop(Event *event, const Stmt *statement, Term guard)
{
    Model *model = event->lower->model;
    const Action action = { .kind = ACTION_TERMINATE,
                            .guard = guard,
                            .text = names_text(pool_names(model->pool), ""),
                            .span = statement->span };
    vec_push(model->arena, &event->actions, action);
}

static void lower_event_body(Event *event, const Stmt *first, Term guard)
{
    for (const Stmt *statement = first; statement; statement = statement->next) {
        switch ((StmtKind)statement->kind) {
        case STMT_NEXT: lower_next(event, statement, guard); break;
        case STMT_DISPLAY: lower_display(event, statement, guard); break;
        case STMT_STOP: lower_stop(event, statement, guard); break;
        case STMT_IF:
            for (uint32_t k = 0; k < statement->u.choice.n; k++) {
                const Term inner = event->guards.at[event->next_guard++];
                lower_event_body(event, statement->u.choice.branches[k].body, inner);
            }
            break;
        case STMT_FOR: {
            Loop *loop = statement->u.repeat.loop;
            for (bool more = begin_loop(event->lower, loop); more; more = next_point(event->lower, loop))
                lower_event_body(event, statement->u.repeat.body, guard);
            break;
        }
        case STMT_ALGEBRAIC:
        case STMT_DERIVATIVE:
        case STMT_WHENEVER: BUG("no transition statement");
        }
    }
}

static bool lower_event(Lower *lower, const Stmt *statement, RegionPath path)
{
    Transition head = { .trigger = TRIGGER_LEVEL,
                        .effect = EFFECT_NEXT,
                        .form = FORM_SET,
                        .region = path.region,
                        .branch = path.branch,
                        .origin = { .span = statement->span, .parent = EQ_NONE } };
    const Term condition = mdl_lower_traced(lower, statement->u.event.condition, false, &head.origin);
    Event event = { .lower = lower };
    lower->is_in_event = true;
    mdl_lower_begin(lower);
    lower->target = names_text(pool_names(lower->model->pool), "IF");
    lower->drawn.n = 0;
    find_guards(&event, statement->u.event.body, NULL);
    const Assignment always = { .guard = TERM_NONE, .span = statement->span };
    for (uint32_t k = 0; k < lower->drawn.n; k++) /* whichever branch is taken */
        vec_push(lower->model->arena, &event.assignments, mdl_count_draw(lower, lower->drawn.at[k], &always));
    if (!event.has_failed)
        lower_event_body(&event, statement->u.event.body, TERM_NONE);
    lower->is_in_event = false;
    head.domain = lower_domain(lower);
    model_add_transition(lower->model, &head, 1, &condition, event.assignments.n, event.assignments.at, event.actions.n,
                         event.actions.at);
    return !event.has_failed;
}

/* ---- regions ---- */
static bool lower_statements(Lower *lower, const Stmt *first, RegionPath path);

static bool lower_if(Lower *lower, const Stmt *statement, RegionPath path)
{
    const uint32_t n = statement->u.choice.n;
    const bool has_else = !statement->u.choice.branches[n - 1].condition;
    const uint32_t n_conditions = has_else ? n - 1 : n;
    Term *conditions = NEW_ARRAY(lower->model->arena, Term, n_conditions);
    for (uint32_t k = 0; k < n_conditions; k++)
        conditions[k] = mdl_lower_term(lower, statement->u.choice.branches[k].condition, false);
    const RegionId region = model_add_region(lower->model, REGION_CAUSAL, path.region, path.branch, n_conditions,
                                             conditions, has_else, statement->span);
    bool is_good = true;
    for (uint32_t k = 0; k < n; k++)
        is_good &=
            lower_statements(lower, statement->u.choice.branches[k].body, (RegionPath){ region, (uint16_t)(k + 1) });
    return is_good;
}

/* Loops inside of events are written out: their ranges must be numbers then. */
static bool has_dependent_range(const Stmt *first)
{
    for (const Stmt *statement = first; statement; statement = statement->next) {
        if (statement->kind == STMT_FOR &&
            (!statement->u.repeat.loop->is_constant || has_dependent_range(statement->u.repeat.body)))
            return true;
        for (uint32_t k = 0; statement->kind == STMT_IF && k < statement->u.choice.n; k++)
            if (has_dependent_range(statement->u.choice.branches[k].body))
                return true;
    }
    return false;
}

/* Whether the values of a loop around this statement must be known one by one: the Model has regions and ranges that do
 * not depend on loop variables, and loop variables that are INTEGER. */
static bool needs_values(const Stmt *statement)
{
    if (statement->kind == STMT_WHENEVER)
        return statement->u.event.has_draw || has_dependent_range(statement->u.event.body);
    if (statement->kind != STMT_FOR)
        return statement->kind == STMT_IF;
    const Loop *loop = statement->u.repeat.loop;
    if (!loop->is_constant || loop->type.kind == TYPE_ENUM)
        return true;
    for (const Stmt *inner = statement->u.repeat.body; inner; inner = inner->next)
        if (needs_values(inner))
            return true;
    return false;
}

static bool lower_statement(Lower *lower, const Stmt *statement, RegionPath path);

/* Statements of the body that the Model can have over the range. */
static bool lower_over_range(Lower *lower, Loop *loop, const Stmt *body, RegionPath path)
{
    bool is_good = true;
    loop->is_symbolic = true;
    loop->level = lower->n_levels++;
    vec_push(lower->model->arena, &lower->loops, loop);
    for (const Stmt *statement = body; statement; statement = statement->next)
        if (!needs_values(statement))
            is_good &= lower_statement(lower, statement, path);
    lower->loops.n--;
    lower->n_levels--;
    loop->is_symbolic = false;
    return is_good;
}

static bool lower_for(Lower *lower, const Stmt *statement, RegionPath path)
{
    enum { DEEPEST = 4 }; /* loop variables of one equation in the Model */
    Loop *loop = statement->u.repeat.loop;
    const bool has_range = loop->type.kind != TYPE_ENUM && lower->loops.n < DEEPEST;
    bool is_good = true;
    if (!begin_loop(lower, loop))
        return true; /* an empty range */
    lower->written.n--;
    loop->is_known = false;
    if (has_range)
        is_good = lower_over_range(lower, loop, statement->u.repeat.body, path);
    bool has_more = !has_range;
    for (const Stmt *inner = statement->u.repeat.body; inner; inner = inner->next)
        has_more |= needs_values(inner);
    for (bool more = has_more && begin_loop(lower, loop); more && is_good; more = next_point(lower, loop))
        for (const Stmt *inner = statement->u.repeat.body; inner; inner = inner->next)
            if (!has_range || needs_values(inner))
                is_good &= lower_statement(lower, inner, path);
    return is_good; /* where it is not, nothing more is lowered */
}

/* Elements of continuous states without differential equation do not move. */
static void complete_derivatives(Lower *lower, const Quantity *quantity)
{
    Model *model = lower->model;
    const Sizes *sizes = &quantity->sizes;
    for (uint64_t k = 0; sizes->n && quantity->use == USE_STATE && quantity->is_continuous && k < sizes->count; k++) {
        if (quantity->has_equation[k])
            continue;
        const Expr **index = NEW_ARRAY(model->arena, const Expr *, sizes->n);
        uint64_t rest = k;
        for (uint32_t j = sizes->n; j-- > 0;) {
            index[j] = expr_integer(model->pool, (int64_t)(rest % (uint64_t)sizes->extent[j]) + 1);
            rest /= (uint64_t)sizes->extent[j];
        }
        TermBuilder builder = term_builder(model);
        const Expr *element = term_element(&builder, ref_der(quantity->var), sizes->n, index);
        model_add_equation(model, EQUATION_EXPLICIT, term_finish(&builder, element), term_real(model, 0.0),
                           quantity->name.span);
    }
}

static bool lower_statement(Lower *lower, const Stmt *statement, RegionPath path)
{
    switch ((StmtKind)statement->kind) {
    case STMT_ALGEBRAIC:
    case STMT_DERIVATIVE:
        if (mdl_is_delay(lower->checker, statement->u.define.value))
            lower_delay(lower, statement);
        else
            lower_equation(lower, statement, path);
        return true;
    case STMT_IF: return lower_if(lower, statement, path);
    case STMT_FOR: return lower_for(lower, statement, path);
    case STMT_WHENEVER: return lower_event(lower, statement, path);
    case STMT_NEXT:
    case STMT_STOP:
    case STMT_DISPLAY: BUG("transition statement outside of an event");
    }
    BUG("unknown StmtKind");
}

static bool lower_statements(Lower *lower, const Stmt *first, RegionPath path)
{
    bool is_good = true;
    for (const Stmt *statement = first; statement; statement = statement->next)
        is_good &= lower_statement(lower, statement, path);
    return is_good;
}

Model *mdl_lower_basic(Checker *checker, Sources *sources)
{
    Component *component = checker->component;
    Model *model = model_create(checker->pool, sources, component->name.name, "simplex", component->span);
    model->time_unit = component->counted_in;
    Lower lower = { .checker = checker,
                    .model = model,
                    .stamps = NEW_ARRAY(model->arena, uint32_t, component->quantities.n + 1),
                    .leaves = NEW_ARRAY(model->arena, uint32_t, component->quantities.n + 1) };
    for (uint32_t k = 0; k < component->quantities.n; k++)
        lower_quantity(&lower, &component->quantities.at[k]);
    for (uint32_t k = 0; k < component->tables.n; k++)
        lower_table(&lower, &component->tables.at[k]);
    mdl_lower_procedures(&lower);
    if (!lower_statements(&lower, component->statements, (RegionPath){ REGION_NONE, 0 }))
        return NULL;
    for (uint32_t k = 0; k < component->quantities.n; k++)
        complete_derivatives(&lower, &component->quantities.at[k]);
    return *checker->errors == 0 ? model : NULL;
}
