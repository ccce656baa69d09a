/* Random models, built by the calls of model.h, printed, read and printed again. A seed makes a model; a failure names
 * it. */
#include "ir/external.h"
#include "text_test.h"
#include <math.h>

typedef struct {
    World w;
    Model *model;
    Names *names;
    uint64_t state;
    uint32_t n_enumerations;
    uint32_t n_loops; /* around the term that is made */
    VEC(Ref) refs;    /* of the term that is made */
} Maker;

static uint32_t pick(Maker *m, uint32_t n)
{
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (uint32_t)((m->state >> 16) % n);
}

static bool chance(Maker *m, uint32_t percent)
{
    return pick(m, 100) < percent;
}

static NameId any_name(Maker *m, const char *stem)
{
    static const char *const odd[] = { "time", "a b", "end", "$x", "é", "in", "'q'", "level", "state", "1st" };
    if (chance(m, 10))
        return names_text(m->names, odd[pick(m, 10)]);
    return names_text(m->names, arena_format(m->w.arena, "%s%u", stem, pick(m, 1000000)));
}

static NameId maybe_name(Maker *m, const char *stem)
{
    return chance(m, 40) ? (NameId){ 0 } : chance(m, 20) ? names_text(m->names, stem) : any_name(m, stem);
}

static NameId maybe_text(Maker *m)
{
    static const char *const texts[] = { "m", "a \"b\"", "line\nline", "\\", "%g %d", "ü" };
    return chance(m, 80) ? (NameId){ 0 } : names_text(m->names, texts[pick(m, 6)]);
}

static Span any_span(Maker *m)
{
    if (chance(m, 30) || sources_count(m->w.sources) == 0)
        return SPAN_NONE;
    const uint32_t source = pick(m, sources_count(m->w.sources));
    const uint32_t size = sources_get(m->w.sources, source)->size;
    uint32_t at = pick(m, size + 1);
    while (at > 0 && ((unsigned char)sources_get(m->w.sources, source)->text[at] & 0xc0) == 0x80)
        at--;
    return (Span){ source, at, size };
}

static InstanceId any_owner(Maker *m)
{
    return (InstanceId){ pick(m, m->model->instances.n) };
}

static Type any_type(Maker *m)
{
    switch (pick(m, 6)) {
    case 0: return INTEGER_TYPE;
    case 1: return BOOLEAN_TYPE;
    case 2: return m->n_enumerations ? enum_type(pick(m, m->n_enumerations)) : REAL_TYPE;
    case 3: return chance(m, 20) ? STRING_TYPE : REAL_TYPE;
    default: return REAL_TYPE;
    }
}

/* ---- expressions ---- */
static const Expr *make(Maker *m, Type type, uint32_t depth);

static double any_real(Maker *m)
{
    static const double values[] = { 0.0, -0.0, 1.0, 2.5, -3.0, 1e-300, 1e300, 0.1, 123456789.0 };
    if (chance(m, 3))
        return chance(m, 50) ? (double)INFINITY : -(double)INFINITY;
    return chance(m, 60) ? values[pick(m, 9)] : (double)pick(m, 1000000) / 977.0;
}

static const Expr *make_literal(Maker *m, Type type)
{
    Pool *pool = m->w.pool;
    switch (type.kind) {
    case TYPE_REAL: return expr_real(pool, any_real(m));
    case TYPE_INTEGER: return expr_integer(pool, chance(m, 5) ? INT64_MIN : (int64_t)pick(m, 20) - 10);
    case TYPE_BOOLEAN: return expr_boolean(pool, chance(m, 50));
    case TYPE_ENUM:
        return expr_enum(pool, type.enumeration, 1 + pick(m, pool_get_enumeration(pool, type.enumeration)->n));
    default: return expr_string(pool, maybe_text(m));
    }
}

static uint32_t leaf_of(Maker *m, Ref ref)
{
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (ref_equal(m->refs.at[k], ref))
            return k;
    vec_push(m->w.arena, &m->refs, ref);
    return m->refs.n - 1;
}

static const Expr *make_indexed(Maker *m, Ref ref, uint32_t depth)
{
    const Expr *index[4];
    Type type = model_var(m->model, ref.var)->type;
    const uint32_t rank = type.rank;
    for (uint32_t k = 0; k < rank; k++)
        index[k] = make(m, INTEGER_TYPE, depth + 2);
    if (rank == 0)
        return expr_leaf(m->w.pool, leaf_of(m, ref), type);
    type.rank = 0;
    return expr_element(m->w.pool, leaf_of(m, ref), type, rank, index);
}

static const Expr *make_leaf(Maker *m, Type type, uint32_t depth)
{
    static const uint8_t kinds[] = { REF_NOW,  REF_NOW,   REF_NOW,  REF_PRE,     REF_DER,
                                     REF_LAST, REF_START, REF_SEED, REF_SEED_DER };
    if (type.kind == TYPE_REAL && chance(m, 15))
        return expr_leaf(m->w.pool, leaf_of(m, ref_time()), REAL_TYPE);
    if (type.kind == TYPE_REAL && m->model->clocks.n && chance(m, 5))
        return expr_leaf(m->w.pool, leaf_of(m, (Ref){ { pick(m, m->model->clocks.n) }, REF_INTERVAL }), REAL_TYPE);
    if (type.kind == TYPE_BOOLEAN && chance(m, 20)) {
        Ref ref = { VAR_NONE, (uint8_t)(chance(m, 50) ? REF_INITIAL : REF_TERMINAL) };
        if (m->model->clocks.n && chance(m, 50))
            ref = (Ref){ { pick(m, m->model->clocks.n) }, REF_TICK };
        return expr_leaf(m->w.pool, leaf_of(m, ref), BOOLEAN_TYPE);
    }
    for (uint32_t tries = 0; tries < 20 && m->model->variables.n; tries++) {
        const VarId var = { pick(m, m->model->variables.n) };
        Type scalar = model_var(m->model, var)->type;
        scalar.rank = 0;
        if (type_equal(scalar, type))
            return make_indexed(m, (Ref){ var, kinds[pick(m, 9)] }, depth);
    }
    return make_literal(m, type);
}

static Op any_op(Maker *m, Type type)
{
    static const Op reals[] = { OP_NEG, OP_ADD, OP_SUB,  OP_MUL,   OP_DIV,   OP_POW,     OP_REAL,
                                OP_ABS, OP_MIN, OP_SQRT, OP_SIN,   OP_ATAN2, OP_MAX,     OP_SUB,
                                OP_MUL, OP_NEG, OP_ADD,  OP_FLOOR, OP_SIGN,  OP_HOMOTOPY };
    static const Op integers[] = { OP_NEG, OP_ADD, OP_SUB, OP_MUL, OP_IDIV, OP_IMOD, OP_NUMBER, OP_ITRUNC };
    static const Op booleans[] = { OP_NOT, OP_AND, OP_OR, OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE };
    return type.kind == TYPE_REAL      ? reals[pick(m, 20)]
           : type.kind == TYPE_INTEGER ? integers[pick(m, 8)]
                                       : booleans[pick(m, 9)];
}

static Type operand_type(Maker *m, Op op, Type result)
{
    switch (op) {
    case OP_REAL: return INTEGER_TYPE;
    case OP_NUMBER: return m->n_enumerations && chance(m, 50) ? enum_type(0) : BOOLEAN_TYPE;
    case OP_ITRUNC: return REAL_TYPE;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return chance(m, 70) ? REAL_TYPE : INTEGER_TYPE;
    case OP_EQ:
    case OP_NE: return any_type(m);
    default: return result;
    }
}

static const Expr *make_call(Maker *m, Type type, uint32_t depth)
{
    const Op op = any_op(m, type);
    const Type operand = operand_type(m, op, type);
    const Expr *args[2] = { make(m, operand, depth + 1), NULL };
    if (op_arity(op) == 2)
        args[1] = make(m, operand, depth + 1);
    if (op_is_relation(op) && chance(m, 25))
        return expr_literal_relation(m->w.pool, op, args[0], args[1]);
    return expr_call(m->w.pool, op, op_arity(op), args);
}

static const Expr *make_reduce(Maker *m, Type type, uint32_t depth)
{
    static const Op numbers[] = { OP_ADD, OP_MUL, OP_MIN, OP_MAX };
    const Op op = type.kind == TYPE_BOOLEAN ? (chance(m, 50) ? OP_AND : OP_OR) : numbers[pick(m, 4)];
    const Expr *lo = make(m, INTEGER_TYPE, depth + 2), *hi = make(m, INTEGER_TYPE, depth + 2);
    const Expr *step = chance(m, 70) ? expr_integer(m->w.pool, 1) : make(m, INTEGER_TYPE, depth + 2);
    const uint32_t level = m->n_loops++;
    const Expr *body = make(m, type, depth + 1);
    m->n_loops--;
    return expr_reduce(m->w.pool, op, level, body, lo, step, hi);
}

static const Expr *make_function_call(Maker *m, Type type, uint32_t depth)
{
    for (uint32_t k = 0; k < m->model->functions.n; k++) {
        const Function *f = m->model->functions.at[k];
        for (uint32_t result = 0; result < f->n_outputs; result++) {
            const Expr *args[8];
            if (!type_equal(f->body->variables.at[f->n_inputs + result].type, type) || chance(m, 50))
                continue;
            for (uint32_t i = 0; i < f->n_inputs; i++)
                args[i] = make(m, f->body->variables.at[i].type, depth + 2);
            return expr_function(m->w.pool, f, result, type, f->n_inputs, args);
        }
    }
    return make_literal(m, type);
}

static const Table *any_table(Maker *m)
{
    double x[] = { any_real(m), 0, 0 }, y[] = { any_real(m), any_real(m), any_real(m) };
    for (uint32_t k = 0; k < 3; k++) {
        y[k] = isfinite(y[k]) ? y[k] : k;
        x[k] = k ? nextafter(x[k - 1], INFINITY) : isfinite(x[0]) && fabs(x[0]) < 1e300 ? x[0] : 0;
    }
    const NameId name = names_text(m->names, chance(m, 70) ? "tb" : chance(m, 50) ? "$b1" : "a table");
    const Table t = { .name = chance(m, 80) ? name : (NameId){ 0 },
                      .method = (uint8_t)pick(m, 5),
                      .outside = (uint8_t)pick(m, 3),
                      .n = 3,
                      .x = x,
                      .y = y };
    const uint32_t n = pool_n_tables(m->model->pool);
    return n > 3 ? pool_get_table(m->model->pool, pick(m, n)) : pool_table(m->model->pool, &t);
}

static const Expr *make_table(Maker *m, uint32_t depth)
{
    const Expr *argument = make(m, REAL_TYPE, depth + 1), *interval = make(m, INTEGER_TYPE, depth + 1);
    const bool is_frozen = chance(m, 40) && !expr_is_constant(interval);
    return expr_table(m->model->pool, any_table(m), pick(m, TABLE_ORDERS), argument, is_frozen ? interval : NULL);
}

/* A format is looked at where it is read: only good ones, or what is no literal. */
static const Expr *make_text_op(Maker *m, Type type, uint32_t depth)
{
    static const TextOp integers[] = { TEXT_COMPARE, TEXT_LENGTH },
                        texts[] = { TEXT_CONCAT, TEXT_SUBSTRING, TEXT_FORMAT };
    static const Type kinds[] = { { TYPE_REAL, 0, 0 }, { TYPE_INTEGER, 0, 0 }, { TYPE_STRING, 0, 0 } };
    static const char *const formats[] = { "-8.3f", "+4d", "%12s" };
    const TextOp op = type.kind == TYPE_INTEGER ? integers[pick(m, 2)] : texts[pick(m, 3)];
    const uint32_t kind = pick(m, 3);
    const Expr *args[3];
    for (uint32_t k = 0; k < text_op_arity(op); k++)
        args[k] = make(m,
                       op == TEXT_FORMAT && k == 0     ? kinds[kind]
                       : op == TEXT_SUBSTRING && k > 0 ? INTEGER_TYPE
                                                       : STRING_TYPE,
                       depth + 2);
    if (op == TEXT_FORMAT && args[1]->kind == EXPR_STRING)
        args[1] = expr_string(m->w.pool, names_text(m->names, formats[kind]));
    return expr_text_op(m->w.pool, op, text_op_arity(op), args);
}

static const Expr *make(Maker *m, Type type, uint32_t depth)
{
    const uint32_t what = pick(m, 100);
    const bool has_calls = type.kind == TYPE_REAL || type.kind == TYPE_INTEGER || type.kind == TYPE_BOOLEAN;
    if (depth > 6 || what < 15)
        return make_literal(m, type);
    if (what < 25 && (type.kind == TYPE_STRING || type.kind == TYPE_INTEGER))
        return make_text_op(m, type, depth);
    if (what < 40)
        return make_leaf(m, type, depth);
    if (what < 45 && type.kind == TYPE_INTEGER && m->n_loops)
        return expr_iterator(m->w.pool, pick(m, m->n_loops));
    if (what < 50)
        return expr_if(m->w.pool, make(m, BOOLEAN_TYPE, depth + 1), make(m, type, depth + 1), make(m, type, depth + 1));
    if (what < 54 && has_calls)
        return make_reduce(m, type, depth);
    if (what < 60)
        return make_function_call(m, type, depth);
    if (what < 63 && type.kind == TYPE_REAL)
        return make_table(m, depth);
    return has_calls ? make_call(m, type, depth) : make_leaf(m, type, depth);
}

static Term make_term(Maker *m, Type type)
{
    m->refs.n = 0;
    const Expr *shape = make(m, type, chance(m, 50) ? 4 : 0);
    return term_make(m->model, shape, m->refs.at);
}

/* A text that is no literal. */
static Term make_message(Maker *m)
{
    m->refs.n = 0;
    return term_make(m->model, make_text_op(m, STRING_TYPE, 4), m->refs.at);
}

static Term maybe_term(Maker *m, Type type, uint32_t percent)
{
    return chance(m, percent) ? make_term(m, type) : TERM_NONE;
}

/* A variable or element to assign; its scalar type. */
static Term make_target(Maker *m, Type *type, uint8_t kind)
{
    const VarId var = { pick(m, m->model->variables.n) };
    m->refs.n = 0;
    const Expr *shape = make_indexed(m, (Ref){ var, kind }, 4);
    *type = shape->type;
    return term_make(m->model, shape, m->refs.at);
}

/* ---- elements ---- */
static void make_sources(Maker *m)
{
    static const char *const languages[] = { NULL, "simplex", "two words", "koine-ir" };
    for (uint32_t k = pick(m, 3); k > 0; k--) {
        Text text = { .arena = m->w.arena };
        for (uint32_t line = pick(m, 30); line > 0; line--)
            text_add(&text, chance(m, 50) ? "some text\n" : chance(m, 50) ? "\xc3\xa9t\xc3\xa9\r\n" : "\n");
        text_add(&text, "end");
        const uint32_t id =
            sources_add_text(m->w.sources, arena_format(m->w.arena, "dir \"%u\"/a.mdl", k), text.at, text.n);
        sources_set_language(m->w.sources, id, languages[pick(m, 4)]);
    }
}

static void make_enumerations(Maker *m)
{
    for (uint32_t k = pick(m, 4); k > 0; k--) {
        NameId values[6];
        Enumeration e = { .name = chance(m, 30) ? names_text(m->names, "Mode") : any_name(m, "Mode"),
                          .is_ordered = chance(m, 50),
                          .n = 1 + pick(m, 5),
                          .values = values };
        for (uint32_t i = 0; i < e.n; i++)
            values[i] = names_text(m->names, arena_format(m->w.arena, chance(m, 10) ? "a %u" : "v%u", i));
        pool_enumeration(m->w.pool, &e);
    }
    m->n_enumerations = pool_n_enumerations(m->w.pool);
}

static bool is_taken(const Maker *m, InstanceId owner, NameId name)
{
    for (uint32_t k = 0; k < m->model->variables.n; k++)
        if (m->model->variables.at[k].owner.index == owner.index && name_equal(m->model->variables.at[k].name, name))
            return true;
    return false;
}

static void make_instances(Maker *m)
{
    for (uint32_t k = pick(m, 6); k > 0; k--) {
        const Instance instance = { .name = names_text(m->names,
                                                       arena_format(m->w.arena, chance(m, 20) ? "i %u" : "i%u", k)),
                                    .class_name = chance(m, 20) ? (NameId){ 0 } : any_name(m, "Class"),
                                    .parent = any_owner(m),
                                    .language = chance(m, 30) ? "muss" : NULL,
                                    .span = any_span(m) };
        vec_push(m->w.arena, &m->model->instances, instance);
    }
}

static void make_variable(Maker *m)
{
    const InstanceId owner = any_owner(m);
    const NameId name = any_name(m, chance(m, 10) ? "$v" : "v");
    const Type type = any_type(m);
    if (is_taken(m, owner, name))
        return;
    const uint32_t rank = chance(m, 25) ? 1 + pick(m, 2) : 0;
    Term dims[2];
    for (uint32_t k = 0; k < rank; k++)
        dims[k] = chance(m, 60) ? term_integer(m->model, 1 + pick(m, 4)) : make_term(m, INTEGER_TYPE);
    const VarId id = model_add_variable(m->model, owner, name, type, any_span(m));
    if (rank)
        model_set_dims(m->model, id, rank, dims);
    for (uint32_t k = 0; k < rank; k++)
        if (chance(m, 50))
            m->model->dims.at[model_var(m->model, id)->first_dim + k].extent = pick(m, 5);
    Variable row = *model_var(m->model, id);
    row.variability = (uint8_t)pick(m, 5);
    row.definition = (uint8_t)pick(m, 9);
    row.clock = m->model->clocks.n && chance(m, 20) ? 1 + pick(m, m->model->clocks.n) : 0;
    row.causality = (uint8_t)pick(m, 5);
    row.select = (uint8_t)pick(m, 5);
    row.is_fixed = chance(m, 30);
    row.is_protected = chance(m, 10);
    row.is_generated = chance(m, 10);
    row.binding = maybe_term(m, type, 30);
    row.start = maybe_term(m, type, 30);
    row.nominal = maybe_term(m, type, 10);
    row.min = maybe_term(m, type, 10);
    row.max = maybe_term(m, type, 10);
    row.unit = maybe_text(m);
    row.display_unit = maybe_text(m);
    row.quantity = maybe_text(m);
    row.comment = maybe_text(m);
    if (chance(m, 10))
        row.origin = (VarId){ pick(m, m->model->variables.n) };
    if (chance(m, 10) && id.index > 0) {
        row.alias = (VarId){ pick(m, id.index) };
        row.is_negated = chance(m, 50);
    }
    *model_var(m->model, id) = row;
}

static DomainId maybe_domain(Maker *m)
{
    Iterator iterators[3] = { 0 };
    const uint32_t n = chance(m, 75) ? 0 : 1 + pick(m, 3);
    for (uint32_t k = 0; k < n; k++) {
        iterators[k] = (Iterator){ .name = chance(m, 20)   ? (NameId){ 0 }
                                           : chance(m, 30) ? model_var(m->model, (VarId){ 0 })->name
                                                           : any_name(m, "i"),
                                   .lo = make_term(m, INTEGER_TYPE),
                                   .step = maybe_term(m, INTEGER_TYPE, 30),
                                   .hi = make_term(m, INTEGER_TYPE) };
        m->n_loops++;
    }
    const DomainId domain = model_add_domain(m->model, n, iterators);
    for (uint32_t k = 0; k < n; k++)
        if (chance(m, 30)) {
            Iterator *i = &m->model->iterators.at[m->model->domains.at[domain.index].first + k];
            const bool is_literal = i->lo.shape->kind == EXPR_INTEGER && i->hi.shape->kind == EXPR_INTEGER;
            if (!is_literal) {
                i->first = pick(m, 3);
                i->stride = 1;
                i->count = pick(m, 9);
            }
        }
    return domain;
}

static Origin any_origin(Maker *m)
{
    static const char *const passes[] = { NULL, NULL, "find-events", "expand connections" };
    Origin origin = { .span = any_span(m), .made_by = passes[pick(m, 4)], .parent = EQ_NONE };
    if (chance(m, 15) && m->model->equations.n)
        origin.parent.index = pick(m, m->model->equations.n);
    return origin;
}

static void any_place(Maker *m, RegionId *region, uint16_t *branch)
{
    *region = REGION_NONE;
    *branch = 0;
    if (m->model->regions.n == 0 || chance(m, 50))
        return;
    region->index = pick(m, m->model->regions.n);
    const Region *r = &m->model->regions.at[region->index];
    *branch = (uint16_t)(1 + pick(m, r->n_conditions + r->has_else));
}

static void make_region(Maker *m)
{
    Term conditions[3];
    const uint32_t n = 1 + pick(m, 3);
    RegionId parent;
    uint16_t branch;
    any_place(m, &parent, &branch);
    for (uint32_t k = 0; k < n; k++)
        conditions[k] = make_term(m, BOOLEAN_TYPE);
    const RegionId id =
        model_add_region(m->model, (RegionKind)pick(m, 3), parent, branch, n, conditions, chance(m, 50), any_span(m));
    Region *r = &m->model->regions.at[id.index];
    r->owner = any_owner(m);
    r->name = maybe_name(m, "r");
    if (chance(m, 20))
        r->selector = (VarId){ pick(m, m->model->variables.n) };
}

static uint32_t make_statements(Maker *m, uint32_t depth);

static Action make_send(Maker *m)
{
    Term args[2];
    const uint32_t n_args = pick(m, 3);
    for (uint32_t k = 0; k < n_args; k++)
        args[k] = make_term(m, any_type(m));
    Action a = { .kind = ACTION_SEND, .n_args = n_args, .priority = chance(m, 50) ? -3 : 0, .span = any_span(m) };
    a.channel = pick(m, m->model->channels.n);
    a.first_arg = model_add_terms(m->model, n_args, args);
    return a;
}

static uint32_t make_statement(Maker *m, uint32_t depth)
{
    Type type;
    Statement s = { .kind = (uint8_t)(depth > 2 ? STATEMENT_ASSIGN : pick(m, 7)), .span = any_span(m) };
    const uint32_t n_loops = m->n_loops;
    if (s.kind == STATEMENT_ASSIGN && m->model->channels.n && chance(m, 20))
        s.kind = STATEMENT_SEND;
    switch ((StatementKind)s.kind) {
    case STATEMENT_ASSIGN:
        s.target = make_target(m, &type, REF_NOW);
        s.value = make_term(m, type);
        break;
    case STATEMENT_FOR:
        do
            s.domain = maybe_domain(m);
        while (s.domain.index == 0);
        s.inner = make_statements(m, depth + 1);
        break;
    case STATEMENT_IF:
        s.value = make_term(m, BOOLEAN_TYPE);
        s.inner = make_statements(m, depth + 1);
        s.otherwise = chance(m, 50) ? make_statements(m, depth + 1) : 0;
        break;
    case STATEMENT_WHILE:
        s.value = make_term(m, BOOLEAN_TYPE);
        s.inner = make_statements(m, depth + 1);
        break;
    case STATEMENT_ASSERT:
        s.value = make_term(m, BOOLEAN_TYPE);
        if (chance(m, 50))
            s.text = maybe_text(m);
        else
            s.message = make_message(m);
        break;
    case STATEMENT_SEND: {
        const Action a = make_send(m);
        s.span = a.span;
        vec_push(m->w.arena, &m->model->actions, a);
        s.action = m->model->actions.n;
        break;
    }
    case STATEMENT_TOGETHER:
    case STATEMENT_BREAK:
    case STATEMENT_RETURN: break;
    }
    m->n_loops = n_loops;
    vec_push(m->w.arena, &m->model->statements, s);
    return m->model->statements.n - 1;
}

static uint32_t make_statements(Maker *m, uint32_t depth)
{
    uint32_t first = 0;
    for (uint32_t k = pick(m, 4); k > 0; k--) {
        const uint32_t s = make_statement(m, depth);
        m->model->statements.at[s].next = first;
        first = s;
    }
    return first;
}

static void make_occurrences(Maker *m, Origin *origin, const Expr *node)
{
    if (!node || chance(m, 70))
        return;
    origin->first_occurrence = m->model->occurrences.n;
    const Occurrence top = { any_span(m), node, node->n_args };
    vec_push(m->w.arena, &m->model->occurrences, top);
    for (uint32_t k = 0; k < node->n_args; k++) {
        const Occurrence below = { any_span(m), chance(m, 80) ? node->args[k] : expr_real(m->w.pool, -1.0), 0 };
        vec_push(m->w.arena, &m->model->occurrences, below);
    }
    origin->n_occurrences = 1 + node->n_args;
}

static void make_equation(Maker *m)
{
    const EquationKind kind = (EquationKind)pick(m, 5);
    Term lhs = TERM_NONE, rhs = TERM_NONE;
    uint32_t body = 0;
    const DomainId domain = maybe_domain(m);
    Type type = any_type(m);
    if (kind == EQUATION_ALGORITHM) {
        body = make_statements(m, 0);
    } else if (kind != EQUATION_DROPPED || chance(m, 50)) {
        lhs = kind == EQUATION_RESIDUAL || kind == EQUATION_DROPPED
                  ? make_term(m, type)
                  : make_target(m, &type, chance(m, 50) ? REF_NOW : REF_DER);
        rhs = make_term(m, type);
    }
    Origin origin = any_origin(m);
    make_occurrences(m, &origin, chance(m, 50) ? rhs.shape : lhs.shape);
    const EqId id = model_add_equation(m->model, kind, lhs, rhs, SPAN_NONE);
    Equation *e = &m->model->equations.at[id.index];
    e->when_valid = (uint8_t)pick(m, 3);
    e->clock = m->model->clocks.n && chance(m, 30) ? 1 + pick(m, m->model->clocks.n) : 0;
    e->body = body;
    e->domain = domain;
    e->owner = any_owner(m);
    e->name = maybe_name(m, "e");
    e->origin = origin;
    any_place(m, &e->region, &e->branch);
    m->n_loops = 0;
}

static void make_transition(Maker *m)
{
    Transition t = { .trigger = (uint8_t)pick(m, 8),
                     .effect = (uint8_t)pick(m, 2),
                     .edge_start = (uint8_t)pick(m, 2),
                     .owner = any_owner(m),
                     .name = maybe_name(m, "t"),
                     .origin = any_origin(m) };
    Term conditions[3];
    Assignment assignments[3];
    Action actions[2];
    const uint32_t n_assignments = pick(m, 4), n_actions = pick(m, 3);
    if ((t.trigger == TRIGGER_TICK && !m->model->clocks.n) || (t.trigger == TRIGGER_MESSAGE && !m->model->channels.n))
        t.trigger = TRIGGER_STEP;
    t.object = t.trigger == TRIGGER_TICK      ? pick(m, m->model->clocks.n)
               : t.trigger == TRIGGER_MESSAGE ? pick(m, m->model->channels.n)
               : t.trigger == TRIGGER_ENTRY   ? pick(m, 100)
                                              : 0;
    const uint32_t n_conditions = t.trigger == TRIGGER_LEVEL  ? 1
                                  : t.trigger == TRIGGER_EDGE ? 1 + pick(m, 3)
                                                              : pick(m, 2);
    if (chance(m, 30)) {
        t.group = 1 + pick(m, 5);
        t.rank = (uint16_t)pick(m, 9);
        m->model->n_groups = 5;
    }
    t.domain = maybe_domain(m);
    for (uint32_t k = 0; k < n_conditions; k++)
        conditions[k] = make_term(m, BOOLEAN_TYPE);
    for (uint32_t k = 0; k < n_assignments; k++) {
        Type type;
        const Term target = make_target(m, &type, REF_NOW);
        assignments[k] = (Assignment){ target, maybe_term(m, BOOLEAN_TYPE, 30), make_term(m, type), any_span(m) };
    }
    for (uint32_t k = 0; k < n_actions; k++) {
        Term args[2] = { make_term(m, REAL_TYPE), make_term(m, INTEGER_TYPE) };
        const uint32_t n_args = pick(m, 3);
        actions[k] = (Action){ .kind = (uint8_t)pick(m, m->model->channels.n ? 4 : 3),
                               .guard = maybe_term(m, BOOLEAN_TYPE, 30),
                               .n_args = n_args,
                               .priority = (int32_t)pick(m, 5) - 2,
                               .span = any_span(m) };
        actions[k].first_arg = model_add_terms(m->model, n_args, args);
        if (actions[k].kind == ACTION_SEND || chance(m, 50))
            actions[k].text = maybe_text(m);
        else {
            actions[k].message = make_message(m);
            actions[k].n_args = 0;
        }
        if (actions[k].kind == ACTION_SEND)
            actions[k].channel = pick(m, m->model->channels.n);
    }
    if (chance(m, 30)) {
        t.form = FORM_PROCEDURE;
        t.body = make_statements(m, 0);
    }
    any_place(m, &t.region, &t.branch);
    model_add_transition(m->model, &t, n_conditions, conditions, n_assignments, assignments, n_actions, actions);
    m->n_loops = 0;
}

/* The symbol of a C function, and how it is called. */
static void make_external(Maker *m, Function *f)
{
    External *e = NEW(m->w.arena, External);
    const uint32_t n_fields = f->n_inputs + f->n_outputs;
    *e = (External){ .symbol = names_text(m->names, "c_area"), .result = ID_NONE, .source = SOURCE_NONE };
    f->external = e;
    if (chance(m, 30))
        e->destructor = names_text(m->names, "c_end");
    for (uint32_t k = pick(m, 3); k > 0; k--)
        vec_push(m->w.arena, &e->libraries, names_text(m->names, chance(m, 50) ? "m" : "area law.c"));
    for (uint32_t k = pick(m, 2); k > 0; k--)
        vec_push(m->w.arena, &e->directories, names_text(m->names, "../C/include"));
    e->include = maybe_text(m);
    e->is_mapped = chance(m, 50);
    external_map(f);
    if (!e->is_mapped)
        return;
    if (chance(m, 50))
        vec_push(m->w.arena, &e->arguments, ((ExternalArgument){ .kind = EXTERNAL_REAL, .number.r = -0.5 }));
    for (uint32_t k = 0; k < n_fields; k++)
        if (e->result == ID_NONE && k >= f->n_inputs && model_var(f->body, (VarId){ k })->type.rank == 0)
            e->result = k;
        else
            vec_push(m->w.arena, &e->arguments, ((ExternalArgument){ .field = k }));
    if (chance(m, 50))
        vec_push(m->w.arena, &e->arguments, ((ExternalArgument){ .kind = EXTERNAL_INTEGER, .number.i = 7 }));
}

static void make_function(Maker *m, uint32_t index)
{
    const NameId name = names_text(m->names, arena_format(m->w.arena, chance(m, 20) ? "f %u" : "f%u", index));
    Model *const model = m->model;
    Function *f = model_add_function(model, name, any_span(m));
    f->is_pure = chance(m, 70);
    f->n_inputs = pick(m, 4);
    f->n_outputs = 1 + pick(m, 3);
    const bool is_external = chance(m, 20);
    f->n_locals = is_external ? 0 : pick(m, 3);
    m->model = f->body;
    for (uint32_t k = 0; k < function_fields(f); k++) {
        const char *text = arena_format(m->w.arena, chance(m, 80) ? "x%u" : "field %u", k);
        model_add_variable(f->body, (InstanceId){ 0 }, names_text(m->names, text), any_type(m), any_span(m));
    }
    if (is_external)
        make_external(m, f);
    else
        f->first = make_statements(m, 0);
    m->model = model;
}

static void make_found(Maker *m)
{
    for (uint32_t k = pick(m, 3); k > 0; k--) {
        Relation r = { .is_strict = chance(m, 50),
                       .is_guarded = chance(m, 50),
                       .kind = (uint8_t)pick(m, 4),
                       .bit = VAR_NONE,
                       .origin = any_origin(m) };
        const Type type = chance(m, 80) ? REAL_TYPE : INTEGER_TYPE;
        r.left = make_term(m, type);
        r.right = make_term(m, type);
        r.slope = maybe_term(m, REAL_TYPE, r.kind == RELATION_TIME ? 100 : 20);
        r.flip = maybe_term(m, REAL_TYPE, r.kind == RELATION_TIME ? 100 : 20);
        any_place(m, &r.region, &r.branch);
        if (chance(m, 50))
            r.bit = (VarId){ pick(m, m->model->variables.n) };
        make_occurrences(m, &r.origin, r.left.shape);
        vec_push(m->w.arena, &m->model->relations, r);
    }
    for (uint32_t k = pick(m, 3); k > 0; k--) {
        StepFunction s = { .op = (uint8_t)pick(m, 5),
                           .kind = (uint8_t)pick(m, 4),
                           .is_guarded = chance(m, 50),
                           .value = VAR_NONE,
                           .origin = any_origin(m) };
        s.table = s.op == STEP_INTERVAL ? any_table(m) : NULL;
        s.argument = make_term(m, REAL_TYPE);
        s.slope = maybe_term(m, REAL_TYPE, s.kind == RELATION_TIME ? 100 : 20);
        s.offset = maybe_term(m, REAL_TYPE, s.kind == RELATION_TIME ? 100 : 20);
        any_place(m, &s.region, &s.branch);
        if (chance(m, 50))
            s.value = (VarId){ pick(m, m->model->variables.n) };
        vec_push(m->w.arena, &m->model->steps, s);
    }
}

static void make_timed(Maker *m)
{
    for (uint32_t k = pick(m, 3); k > 0; k--) {
        Clock c = {
            .name = maybe_name(m, "k"), .owner = any_owner(m), .kind = (uint8_t)pick(m, 8), .span = any_span(m)
        };
        c.numerator = (int64_t)pick(m, 9) - 4;
        c.denominator = 1 + pick(m, 3);
        c.base = m->model->clocks.n ? pick(m, m->model->clocks.n) : 0;
        c.method = (uint8_t)pick(m, 6);
        c.condition = maybe_term(m, BOOLEAN_TYPE, 50);
        c.interval = maybe_term(m, c.kind == CLOCK_PERIODIC ? INTEGER_TYPE : REAL_TYPE, 50);
        vec_push(m->w.arena, &m->model->clocks, c);
    }
    for (uint32_t k = pick(m, 3); k > 0; k--) {
        const Channel c = { .name = maybe_name(m, "c"),
                            .owner = any_owner(m),
                            .capacity = pick(m, 100),
                            .by_priority = chance(m, 50),
                            .keep = chance(m, 50),
                            .head = VAR_NONE,
                            .span = any_span(m) };
        vec_push(m->w.arena, &m->model->channels, c);
    }
    for (uint32_t k = pick(m, 2); k > 0; k--) {
        const Stream s = { maybe_name(m, "g"), any_owner(m), VAR_NONE, VAR_NONE, any_span(m) };
        vec_push(m->w.arena, &m->model->streams, s);
    }
}

static void make_rest(Maker *m)
{
    for (uint32_t k = pick(m, 3); k > 0; k--) {
        const VarId output = { pick(m, m->model->variables.n) };
        if (model_var(m->model, output)->type.rank)
            continue;
        const Delay d = { maybe_name(m, "d"),
                          any_owner(m),
                          output,
                          make_term(m, model_var(m->model, output)->type),
                          make_term(m, REAL_TYPE),
                          maybe_term(m, REAL_TYPE, 50),
                          VAR_NONE,
                          VAR_NONE,
                          TERM_NONE,
                          TERM_NONE,
                          TERM_NONE,
                          VAR_NONE,
                          VAR_NONE,
                          any_span(m) };
        vec_push(m->w.arena, &m->model->delays, d);
    }
    for (uint32_t k = pick(m, 3); k > 0; k--) {
        Assertion a = { .name = maybe_name(m, "a"), .owner = any_owner(m), .domain = maybe_domain(m) };
        a.condition = make_term(m, BOOLEAN_TYPE);
        a.message = make_term(m, STRING_TYPE);
        a.level = (uint8_t)pick(m, 2);
        a.warns = a.level == ASSERT_ERROR ? maybe_term(m, BOOLEAN_TYPE, 30) : TERM_NONE;
        a.span = any_span(m);
        m->n_loops = 0;
        any_place(m, &a.region, &a.branch);
        vec_push(m->w.arena, &m->model->assertions, a);
    }
    for (uint32_t k = pick(m, 4); k > 0; k--) {
        Port p = { .name = maybe_name(m, "p"),
                   .connector = any_name(m, "Pin"),
                   .owner = any_owner(m),
                   .first_member = m->model->members.n,
                   .n_members = pick(m, 4),
                   .rank = chance(m, 20) ? pick(m, 3) : 0,
                   .equality = m->model->functions.n && chance(m, 20)
                                   ? m->model->functions.at[pick(m, m->model->functions.n)]
                                   : NULL,
                   .span = any_span(m) };
        const bool is_physical = chance(m, 50);
        for (uint32_t i = 0; i < p.n_members; i++) {
            PortMember member = { .var = { pick(m, m->model->variables.n) },
                                  .role = (uint8_t)(is_physical ? (i == 0 ? ROLE_POTENTIAL : ROLE_FLOW) : pick(m, 6)),
                                  .is_negated = chance(m, 30) };
            if (!is_physical && m->model->ports.n && chance(m, 20))
                member = (PortMember){ .var = VAR_NONE, .port = 1 + pick(m, m->model->ports.n), .role = ROLE_PORT };
            vec_push(m->w.arena, &m->model->members, member);
        }
        vec_push(m->w.arena, &m->model->ports, p);
    }
    for (uint32_t k = pick(m, 4); k > 0; k--) {
        Connection c = {
            .is_acausal = m->model->ports.n && chance(m, 50), .from = VAR_NONE, .to = VAR_NONE, .span = any_span(m)
        };
        if (c.is_acausal) {
            c.port_a = pick(m, m->model->ports.n);
            c.port_b = pick(m, m->model->ports.n);
            const Term one = term_integer(m->model, 1);
            if (chance(m, 30))
                c.index_a = (PortIndex){ model_add_terms(m->model, 1, &one), 1 };
            const Anchor anchor = {
                .kind = (uint8_t)pick(m, 3), .port_a = c.port_a, .port_b = c.port_b, .span = any_span(m)
            };
            vec_push(m->w.arena, &m->model->anchors, anchor);
        } else {
            c.from = (VarId){ pick(m, m->model->variables.n) };
            c.to = (VarId){ pick(m, m->model->variables.n) };
            c.is_converting = chance(m, 20);
        }
        vec_push(m->w.arena, &m->model->connections, c);
    }
}

static Maker make_model(uint32_t seed)
{
    Maker m = { .w = world_create(), .state = 0x9e3779b97f4a7c15u * (seed + 1) };
    m.names = pool_names(m.w.pool);
    make_sources(&m);
    make_enumerations(&m);
    m.model = model_create(m.w.pool, m.w.sources, any_name(&m, "M"), chance(&m, 50) ? "simplex" : NULL, any_span(&m));
    m.model->facts = chance(&m, 20) ? pick(&m, 1000) : 0;
    make_instances(&m);
    make_timed(&m);
    const VarId first =
        model_add_variable(m.model, (InstanceId){ 0 }, names_text(m.names, "first"), REAL_TYPE, SPAN_NONE);
    (void)first;
    for (uint32_t k = pick(&m, 20); k > 0; k--)
        make_variable(&m);
    for (uint32_t k = pick(&m, 3); k > 0; k--)
        make_function(&m, k);
    for (uint32_t k = pick(&m, 5); k > 0; k--)
        make_region(&m);
    for (uint32_t k = pick(&m, 12); k > 0; k--)
        make_equation(&m);
    for (uint32_t k = pick(&m, 6); k > 0; k--)
        make_transition(&m);
    make_found(&m);
    make_rest(&m);
    return m;
}

static void random_models_survive(void **state)
{
    (void)state;
    const uint32_t models = arena_is_hostile(NULL) ? 300 : 1500;
    for (uint32_t seed = 0; seed < models; seed++) {
        Maker m = make_model(seed);
        char name[32];
        snprintf(name, sizeof name, "seed %u", seed);
        assert_fixed_point(&m.w, m.model, (PrintOptions){ 0 }, name);
        if (seed % 4 == 0)
            assert_fixed_point(&m.w, m.model, (PrintOptions){ .shapes = true }, name);
        if (seed % 4 == 1)
            assert_fixed_point(&m.w, m.model, (PrintOptions){ .no_places = true }, name);
        model_verify(m.model, m.w.diag); /* many break rules: it must only not crash */
        world_destroy(&m.w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_models_survive) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
