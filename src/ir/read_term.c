/* Terms, targets, rows of shapes and domains of the text form; see read_reader.h. */
#include "base/bug.h"
#include "ir/read_reader.h"

/* ---- rows of shapes ---- */
/* Whether the references suit the leaves of the shape. */
static bool suits_leaves(const Reader *r, const Expr *e, const Ref *refs)
{
    if (e->kind == EXPR_LEAF) {
        Type type = ref_type(r->model, refs[e->u.leaf]);
        if (e->n_args && type.rank != e->n_args)
            return false;
        for (uint32_t k = 0; k < e->n_args; k++)
            type.rank = (uint8_t)((k ? type.rank : 0) + e->args[k]->type.rank);
        if (!type_equal(type, e->type))
            return false;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!suits_leaves(r, e->args[k], refs))
            return false;
    return true;
}

/* row s7 (R, a, b): behind the keyword. */
static const Expr *parse_row(Reader *r)
{
    const uint32_t begin = r->token.begin;
    VEC(Ref) refs = { 0 };
    NameId name;
    uint32_t index;
    if (!reader_parse_name(r, &name))
        return NULL;
    if (!map_get(&r->head.shapes.names, name.index, &index)) {
        reader_report(r, DIAG_IR_SHAPE, reader_span_from(r, begin), "there is no shape %s", names_of(r->names, name));
        HELP(r, "declare it at the head: shape %s = %%0 + %%1", names_of(r->names, name));
        return NULL;
    }
    if (!reader_expect(r, TOKEN_OPEN, "'(' before the references of a row"))
        return NULL;
    while (!reader_accept(r, TOKEN_CLOSE)) {
        const Expr *leaf = reader_parse_operand(r);
        if (!leaf || (!reader_accept(r, TOKEN_COMMA) && r->token.kind != TOKEN_CLOSE &&
                      !reader_expect(r, TOKEN_CLOSE, "',' or ')'")))
            return NULL;
        if (leaf->kind != EXPR_LEAF || leaf->n_args) {
            reader_report(r, DIAG_IR_SHAPE, reader_span_from(r, begin),
                          "a row holds variables and der(v), pre(v), time and the like");
            return NULL;
        }
        vec_push(r->arena, &refs, r->term.refs.at[leaf->u.leaf]);
    }
    const Expr *shape = r->head.shapes.all.at[index];
    if (shape->n_leaves != refs.n || !suits_leaves(r, shape, refs.at)) {
        reader_report(r, DIAG_IR_SHAPE, reader_span_from(r, begin), "the row does not suit the %u leaves of shape %s",
                      shape->n_leaves, names_of(r->names, name));
        HELP(r, "give one reference for each leaf %%0, %%1 ..., of its type");
        return NULL;
    }
    r->term.refs.n = 0;
    for (uint32_t k = 0; k < refs.n; k++)
        vec_push(r->arena, &r->term.refs, refs.at[k]);
    return shape;
}

bool reader_parse_shape(Reader *r, const Expr **shape)
{
    r->term.in_shape = true;
    *shape = reader_parse_expr(r, BINDS_OR);
    r->term.in_shape = false;
    return *shape != NULL;
}

/* ---- terms ---- */
bool reader_parse_operand_term(Reader *r, Binds least, const Expr **shape)
{
    r->term.refs.n = 0;
    r->term.literal = 0;
    *shape = reader_accept_word(r, WORD_ROW) ? parse_row(r) : reader_parse_expr(r, least);
    return *shape != NULL;
}

bool reader_parse_any_term(Reader *r, const Expr **shape)
{
    return reader_parse_operand_term(r, BINDS_IF, shape);
}

static bool parse_typed(Reader *r, Type type, bool may_be_array, Term *term)
{
    const uint32_t begin = r->token.begin;
    const Expr *shape;
    if (!reader_parse_any_term(r, &shape))
        return false;
    Type scalar = type;
    scalar.rank = 0;
    shape = reader_convert(r, shape, may_be_array && shape->type.rank == 0 ? scalar : type);
    if (!type_equal(shape->type, type) && !(may_be_array && type_equal(shape->type, scalar)))
        return reader_type_error(r, reader_span_from(r, begin), "the term", shape->type, reader_type_text(r, type)) !=
               NULL;
    *term = reader_finish_term(r, shape);
    return true;
}

bool reader_parse_term(Reader *r, Type type, Term *term)
{
    return parse_typed(r, type, false, term);
}

bool reader_parse_value(Reader *r, Type type, Term *term)
{
    return parse_typed(r, type, true, term);
}

static bool is_target(const Reader *r, const Expr *e)
{
    if (e->kind != EXPR_LEAF)
        return false;
    switch ((RefKind)r->term.refs.at[e->u.leaf].kind) {
    case REF_NOW:
    case REF_PRE:
    case REF_DER:
    case REF_LAST:
    case REF_START:
    case REF_SEED:
    case REF_SEED_DER: return true;
    case REF_TIME:
    case REF_INITIAL:
    case REF_TERMINAL:
    case REF_FIRED:
    case REF_TICK:
    case REF_INTERVAL:
    case REF_INFLOW:
    case REF_PASSING:
    case REF_IS_ROOT:
    case REF_ROOTED: return false;
    }
    BUG("unknown RefKind");
}

bool reader_check_target(Reader *r, const Expr *shape, Span span)
{
    if (is_target(r, shape))
        return true;
    reader_report(r, DIAG_IR_TARGET, span, "only a variable, one of its elements or its derivative can be assigned");
    HELP(r, "write x := ..., x[1] := ... or der(x) := ...; an equation between expressions has a single =");
    return false;
}

bool reader_parse_target(Reader *r, Term *target, Type *type)
{
    const uint32_t begin = r->token.begin;
    const Expr *shape;
    if (!reader_parse_any_term(r, &shape) || !reader_check_target(r, shape, reader_span_from(r, begin)))
        return false;
    *type = shape->type;
    *target = reader_finish_term(r, shape);
    return true;
}

/* ---- domains ---- */
static bool literal_of(Term term, int64_t *value)
{
    if (term_is_absent(term) || term.shape->kind != EXPR_INTEGER)
        return false;
    *value = term.shape->u.integer;
    return true;
}

/* Bounds that are literals are evaluated at once. */
static void evaluate_range(Iterator *i)
{
    int64_t lo, hi, step = 1;
    if (!literal_of(i->lo, &lo) || !literal_of(i->hi, &hi) || (!term_is_absent(i->step) && !literal_of(i->step, &step)))
        return;
    const bool is_empty = step == 0 || (step > 0 ? hi < lo : hi > lo);
    const uint64_t width = step > 0 ? (uint64_t)hi - (uint64_t)lo : (uint64_t)lo - (uint64_t)hi;
    const uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    const uint64_t count = is_empty ? 0 : width / by + 1;
    if (count > INT64_MAX)
        return;
    i->first = lo;
    i->stride = step;
    i->count = (int64_t)count;
}

static bool parse_iterator(Reader *r, Iterator *i, LoopName *loop)
{
    *i = (Iterator){ .count = -1 };
    if (!reader_parse_loop_name(r, &loop->name, &loop->level) || !reader_expect_word(r, WORD_IN) ||
        !reader_parse_term(r, INTEGER_TYPE, &i->lo) || !reader_expect(r, TOKEN_COLON, "':' in a range lo:hi") ||
        !reader_parse_term(r, INTEGER_TYPE, &i->hi) ||
        (reader_accept_word(r, WORD_STEP) && !reader_parse_term(r, INTEGER_TYPE, &i->step)))
        return false;
    i->name = loop->level == ID_NONE ? loop->name : (NameId){ 0 };
    loop->level = reader_next_level(r);
    if (!reader_accept(r, TOKEN_OPEN_SET)) {
        evaluate_range(i);
        return true;
    }
    return reader_parse_integer(r, INT64_MIN, INT64_MAX, &i->first) && reader_expect(r, TOKEN_COMMA, "','") &&
           reader_parse_integer(r, INT64_MIN, INT64_MAX, &i->stride) && reader_expect(r, TOKEN_COMMA, "','") &&
           reader_parse_integer(r, 0, INT64_MAX, &i->count) && reader_expect(r, TOKEN_CLOSE_SET, "'}'");
}

bool reader_parse_domain(Reader *r, DomainId *domain)
{
    VEC(Iterator) iterators = { 0 };
    const uint32_t n_before = r->term.loops.n;
    do {
        Iterator i;
        LoopName loop;
        if (!parse_iterator(r, &i, &loop)) {
            r->term.loops.n = n_before;
            return false;
        }
        vec_push(r->arena, &iterators, i);
        vec_push(r->arena, &r->term.loops, loop);
    } while (reader_accept(r, TOKEN_COMMA));
    *domain = model_add_domain(r->model, iterators.n, iterators.at);
    const Domain *made = &r->model->domains.at[domain->index]; /* the builder takes nothing for evaluated */
    memcpy(r->model->iterators.at + made->first, iterators.at, iterators.n * sizeof *iterators.at);
    return true;
}

void reader_leave_loops(Reader *r, uint32_t n)
{
    r->term.loops.n = n;
}
