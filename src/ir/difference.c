/* The derivative of a function of C along given tangents, by a central difference.
 *
 * All Real inputs x are moved by h times their tangents, to both sides. h is such that the input that is moved most, as
 * a part of its own size, is moved by the third root of the rounding of numbers: there the errors of rounding and of
 * curvature are of one size. */
#include "ir/difference.h"
#include "base/bug.h"

static const double MOVE = 6.055454452393343e-06; /* the third root of 2^-52 */
static const double SMALL = 1e-4;                 /* an input closer to 0 counts as so large */
enum { MOST_RANK = 8 };

typedef struct {
    const Function *of;
    Function *made;
    Model *body;
    Pool *pool;
    uint32_t *tangent; /* per field of `of`: that of `made`; ID_NONE: not Real */
    uint32_t *moved;   /* per input: where it is moved to, if it is Real, else itself */
    uint32_t *side[2]; /* per output: what the function gives at both sides */
    uint32_t most, h;
    uint32_t last; /* statement */
} Maker;

static uint32_t add_field(Maker *d, const char *name, Type type, const Variable *like)
{
    const NameId id = names_text(pool_names(d->pool), name);
    const VarId var = model_add_variable(d->body, (InstanceId){ 0 }, id, type, d->of->span);
    Term extents[MOST_RANK];
    REQUIRE(type.rank <= MOST_RANK);
    for (uint32_t k = 0; k < type.rank; k++)
        extents[k] = d->of->body->dims.at[like->first_dim + k].term;
    if (type.rank)
        model_set_dims(d->body, var, type.rank, extents);
    return var.index;
}

static uint32_t add_field_like(Maker *d, uint32_t field, const char *format)
{
    const Variable *v = &d->of->body->variables.at[field];
    const char *name = names_of(pool_names(d->pool), v->name);
    return add_field(d, arena_format(d->body->arena, format, name), v->type, v);
}

static bool is_real(const Maker *d, uint32_t field)
{
    return d->of->body->variables.at[field].type.kind == TYPE_REAL;
}

static void add_fields(Maker *d)
{
    const Function *of = d->of;
    const uint32_t n_inputs = of->n_inputs, n = n_inputs + of->n_outputs;
    for (uint32_t k = 0; k < n_inputs; k++)
        d->moved[k] = add_field_like(d, k, "%s");
    for (uint32_t k = 0; k < n_inputs; k++)
        d->tangent[k] = is_real(d, k) ? add_field_like(d, k, "$d%s") : ID_NONE;
    d->made->n_inputs = d->body->variables.n;
    for (uint32_t k = n_inputs; k < n; k++)
        d->tangent[k] = is_real(d, k) ? add_field_like(d, k, "$d%s") : ID_NONE;
    d->made->n_outputs = d->body->variables.n - d->made->n_inputs;
    d->most = add_field(d, "$most", REAL_TYPE, NULL);
    d->h = add_field(d, "$h", REAL_TYPE, NULL);
    for (uint32_t k = 0; k < n_inputs; k++)
        d->moved[k] = is_real(d, k) ? add_field_like(d, k, "$m%s") : k;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t k = n_inputs; k < n; k++)
            d->side[side][k - n_inputs] = add_field_like(d, k, side ? "$u%s" : "$l%s");
    d->made->n_locals = d->body->variables.n - d->made->n_inputs - d->made->n_outputs;
    function_begin_with_zero(d->made, d->made->n_inputs); /* where nothing moves it returns at once */
}

/* ---- statements ---- */
static uint32_t add_statement(Maker *d, Statement s)
{
    s.span = d->of->span;
    vec_push(d->body->arena, &d->body->statements, s);
    return d->body->statements.n - 1;
}

static void append(Maker *d, uint32_t statement)
{
    if (d->last)
        d->body->statements.at[d->last].next = statement;
    else
        d->made->first = statement;
    d->last = statement;
}

/* The field, or the element that loops are at. */
static const Expr *leaf_of(const Maker *d, TermBuilder *builder, uint32_t field)
{
    const uint32_t rank = d->body->variables.at[field].type.rank;
    const Expr *index[MOST_RANK];
    for (uint32_t k = 0; k < rank; k++)
        index[k] = expr_iterator(d->pool, k);
    const Ref ref = ref_now((VarId){ field });
    return rank ? term_element(builder, ref, rank, index) : term_leaf(builder, ref);
}

/* field := value, for each element if `like` is an array. */
static void assign(Maker *d, uint32_t field, uint32_t like, TermBuilder *builder, const Expr *value)
{
    Statement s = { .kind = STATEMENT_ASSIGN, .value = term_finish(builder, value) };
    s.target = term_finish(builder, leaf_of(d, builder, field));
    uint32_t made = add_statement(d, s);
    const Variable *v = &d->body->variables.at[like];
    if (v->type.rank) {
        Iterator iterators[MOST_RANK];
        for (uint32_t k = 0; k < v->type.rank; k++)
            iterators[k] = (Iterator){ .name = names_text(pool_names(d->pool), arena_format(d->body->arena, "i%u", k)),
                                       .lo = term_integer(d->body, 1),
                                       .hi = d->body->dims.at[v->first_dim + k].term,
                                       .count = -1 };
        const DomainId domain = model_add_domain(d->body, v->type.rank, iterators);
        made = add_statement(d, (Statement){ .kind = STATEMENT_FOR, .domain = domain, .inner = made });
    }
    append(d, made);
}

/* most := max(most, abs(dx)/max(abs(x), SMALL)), h := MOVE/most; nothing moves: return. */
static void choose_step(Maker *d)
{
    Pool *p = d->pool;
    TermBuilder builder = term_builder(d->body);
    for (uint32_t k = 0; k < d->of->n_inputs; k++) {
        if (!is_real(d, k))
            continue;
        const Expr *x = expr_unary(p, OP_ABS, leaf_of(d, &builder, k));
        const Expr *dx = expr_unary(p, OP_ABS, leaf_of(d, &builder, d->tangent[k]));
        const Expr *part = expr_binary(p, OP_DIV, dx, expr_binary(p, OP_MAX, x, expr_real(p, SMALL)));
        const Expr *most = leaf_of(d, &builder, d->most);
        assign(d, d->most, k, &builder, expr_binary(p, OP_MAX, most, part));
    }
    const Expr *rests = expr_literal_relation(p, OP_LE, leaf_of(d, &builder, d->most), expr_real(p, 0));
    Statement leave = { .kind = STATEMENT_IF, .value = term_finish(&builder, rests) };
    leave.inner = add_statement(d, (Statement){ .kind = STATEMENT_RETURN });
    append(d, add_statement(d, leave));
    const Expr *h = expr_binary(p, OP_DIV, expr_real(p, MOVE), leaf_of(d, &builder, d->most));
    assign(d, d->h, d->h, &builder, h);
}

/* The inputs moved to one side, and what the function gives there. */
static void evaluate_side(Maker *d, uint32_t side)
{
    const Function *of = d->of;
    Pool *p = d->pool;
    TermBuilder builder = term_builder(d->body);
    for (uint32_t k = 0; k < of->n_inputs; k++) {
        if (!is_real(d, k))
            continue;
        const Expr *x = leaf_of(d, &builder, k), *dx = leaf_of(d, &builder, d->tangent[k]);
        const Expr *by = expr_binary(p, OP_MUL, leaf_of(d, &builder, d->h), dx);
        assign(d, d->moved[k], k, &builder, expr_binary(p, side ? OP_ADD : OP_SUB, x, by));
    }
    const Expr **args = NEW_ARRAY(d->body->arena, const Expr *, of->n_inputs + 1u);
    for (uint32_t j = 0; j < of->n_outputs; j++) {
        const uint32_t to = d->side[side][j];
        const Type type = d->body->variables.at[to].type;
        if (type.kind != TYPE_REAL)
            continue;
        for (uint32_t k = 0; k < of->n_inputs; k++)
            args[k] = term_leaf(&builder, ref_now((VarId){ d->moved[k] }));
        Statement s = { .kind = STATEMENT_ASSIGN };
        s.value = term_finish(&builder, expr_function(p, of, j, type, of->n_inputs, args));
        s.target = term_finish(&builder, term_leaf(&builder, ref_now((VarId){ to })));
        append(d, add_statement(d, s));
    }
}

/* dy := (upper - lower)/(2*h) */
static void divide(Maker *d)
{
    Pool *p = d->pool;
    TermBuilder builder = term_builder(d->body);
    for (uint32_t k = 0; k < d->of->n_outputs; k++) {
        const uint32_t tangent = d->tangent[d->of->n_inputs + k];
        if (tangent == ID_NONE)
            continue;
        const Expr *lower = leaf_of(d, &builder, d->side[0][k]), *upper = leaf_of(d, &builder, d->side[1][k]);
        const Expr *width = expr_binary(p, OP_MUL, expr_real(p, 2), leaf_of(d, &builder, d->h));
        assign(d, tangent, tangent, &builder, expr_binary(p, OP_DIV, expr_binary(p, OP_SUB, upper, lower), width));
    }
}

const Function *function_difference(const Function *of)
{
    Arena *arena = of->body->arena;
    Pool *pool = of->body->pool;
    Names *names = pool_names(pool);
    if (of->difference)
        return of->difference;
    Function *made = NEW(arena, Function);
    *made =
        (Function){ .name = names_text(names, arena_format(arena, "der(%s)", names_of(names, of->name))),
                    .number = pool_count_function(pool),
                    .body = model_create(pool, of->body->sources, of->body->name, of->body->language, of->body->span),
                    .is_pure = true,
                    .is_rough = true,
                    .span = of->span };
    Maker d = { .of = of, .made = made, .body = made->body, .pool = pool };
    const uint32_t n = of->n_inputs + of->n_outputs + 1;
    d.tangent = NEW_ARRAY(arena, uint32_t, n);
    d.moved = NEW_ARRAY(arena, uint32_t, n);
    d.side[0] = NEW_ARRAY(arena, uint32_t, n);
    d.side[1] = NEW_ARRAY(arena, uint32_t, n);
    add_fields(&d);
    choose_step(&d);
    evaluate_side(&d, 0);
    evaluate_side(&d, 1);
    divide(&d);
    /* The cast is for this one field: the difference is made at its first use, the function means the same. */
    ((Function *)of)->difference = made;
    return made;
}

/* ---- what is made of differences ---- */
static bool calls_rough(const Expr *e)
{
    bool found = e->kind == EXPR_FUNCTION && e->u.function->is_rough;
    for (uint32_t k = 0; k < e->n_args && e->has_call && !found; k++)
        found = calls_rough(e->args[k]);
    return found;
}

bool function_is_rough(const Function *f)
{
    bool found = f->is_rough;
    for (uint32_t k = 1; k < f->body->statements.n && !found; k++) {
        const Term value = f->body->statements.at[k].value;
        found = value.shape && calls_rough(value.shape);
    }
    return found;
}
