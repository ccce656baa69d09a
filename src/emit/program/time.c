/* Functions of the time as interval code (koine/support.h); see event_layout.h.
 *
 * An expression that depends on the time, through explicit equations or by itself, and otherwise on what only events
 * change. What does not move is an input: a kernel computes it, like the slope of an affine comparison. So the code is
 * small, and the same for all instances of a class. */
#include "emit/program/time.h"
#include "base/bug.h"
#include "ir/element.h"
#include "ir/simplify.h"
#include "ir/substitute.h"

enum { MOST_INSTRUCTIONS = 2000, DEEPEST = 2000 };

struct TimeCodes {
    Kernels *ks;
    const Schedule *schedule;
    const bool *moves;
    uint32_t *definition;      /* per variable: 1 + the block that assigns it, of arrays: that assigns elements, or 0 */
    uint32_t *next_definition; /* per block: one more of its array */
    VEC(KoineTimeCode) codes;
    Map code_index; /* hash -> first code of a chain */
    VEC(uint32_t) code_next;
    VEC(KoineTimeFunction) functions;
    uint32_t n_inputs;
    VEC(uint32_t) sources; /* functions */
    Map source_index;      /* hashes of these */
};

TimeCodes *time_codes_create(const Schedule *schedule, Kernels *ks, const bool *moves)
{
    TimeCodes *c = NEW(ks->arena, TimeCodes);
    *c = (TimeCodes){ .ks = ks,
                      .schedule = schedule,
                      .moves = moves,
                      .definition = NEW_ARRAY(ks->arena, uint32_t, ks->model->variables.n + 1),
                      .next_definition = NEW_ARRAY(ks->arena, uint32_t, schedule->blocks.n + 1) };
    map_init(&c->code_index, ks->arena, 16);
    map_init(&c->source_index, ks->arena, 16);
    for (uint32_t k = 0; k < schedule->blocks.n; k++) {
        const Block *b = &schedule->blocks.at[k];
        if (b->kind != BLOCK_ASSIGN || b->u.assign.lhs.shape->type.rank ||
            (b->u.assign.domain.index && !b->u.assign.lhs.shape->n_args))
            continue;
        const Ref target = term_refs(ks->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
        if (target.kind != REF_NOW)
            continue;
        c->next_definition[k] = c->definition[target.var.index];
        c->definition[target.var.index] = k + 1;
    }
    return c;
}

/* ---- what moves ---- */
static bool ref_moves(const Coder *d, Ref ref)
{
    if (ref.kind != REF_NOW)
        return ref.kind == REF_TIME || ref.kind == REF_DER || ref.kind == REF_LAST;
    const Holders holders = ref_holders(d->c->ks->model, ref);
    for (uint32_t k = 0; k < holders.n; k++)
        if (d->c->moves[holders.first + k])
            return true;
    return false;
}

static bool moves(Coder *d, const Expr *e)
{
    uint32_t known;
    if (e->n_leaves == 0)
        return false;
    if (memo_get(&d->moving, e, &known))
        return known;
    bool any = e->kind == EXPR_LEAF && ref_moves(d, d->builder.refs.at[e->u.leaf]);
    for (uint32_t k = 0; k < e->n_args && !any; k++)
        any = moves(d, e->args[k]);
    memo_put(&d->moving, e, any);
    return any;
}

/* ---- instructions ---- */
Arena *coder_scratch(const Coder *d)
{
    return d->c->ks->scratch;
}

bool coder_knows(const Coder *d, uint32_t number, double *value)
{
    const KoineTimeInstruction *i = &d->instructions.at[number];
    if (i->op == KOINE_TIME_NUMBER)
        *value = d->numbers.at[i->a];
    return i->op == KOINE_TIME_NUMBER;
}

uint32_t coder_put(Coder *d, KoineTimeOp op, uint32_t a, uint32_t b, uint32_t c)
{
    const KoineTimeInstruction i = { op, a, b, c };
    if (d->instructions.n >= MOST_INSTRUCTIONS)
        return KOINE_NONE;
    vec_push(d->c->ks->scratch, &d->instructions, i);
    return d->instructions.n - 1;
}

uint32_t coder_put_number(Coder *d, double value)
{
    vec_push(d->c->ks->scratch, &d->numbers, value);
    return coder_put(d, KOINE_TIME_NUMBER, d->numbers.n - 1, KOINE_NONE, KOINE_NONE);
}

/* What only events change. */
static uint32_t code_input(Coder *d, const Expr *e)
{
    KoineSlot value;
    const bool is_real = e->type.kind == TYPE_REAL;
    if (e->type.rank || e->type.kind == TYPE_STRING)
        return KOINE_NONE;
    if (literal_value(e, &value))
        return coder_put_number(d, is_real ? value.r : (double)value.i);
    const Term term = term_make(d->c->ks->model, e, d->builder.refs.at);
    vec_push(d->c->ks->scratch, &d->inputs, term);
    return coder_put(d, is_real ? KOINE_TIME_REAL : KOINE_TIME_INTEGER, d->inputs.n - 1, KOINE_NONE, KOINE_NONE);
}

/* The iterations of the domain whose element is `number`, level by level. */
static bool find_iteration(const TimeCodes *c, const Domain *domain, const ElementMap *map, uint32_t level,
                           int64_t number, int64_t *at)
{
    if (level == domain->n)
        return number == 0;
    const int64_t count = c->ks->model->iterators.at[domain->first + level].count, step = map->step[level];
    const bool is_last = level + 1 == domain->n && step != 0;
    const int64_t first = is_last ? number / step : 0, behind = is_last ? first + 1 : count;
    for (at[level] = first < 0 ? 0 : first; at[level] < behind && at[level] < count; at[level]++)
        if (find_iteration(c, domain, map, level + 1, number - at[level] * step, at))
            return true;
    return false;
}

static bool has_reduction(const Expr *e, Memo *seen)
{
    uint32_t known;
    if (memo_get(seen, e, &known))
        return known;
    bool has = e->kind == EXPR_REDUCE;
    for (uint32_t k = 0; k < e->n_args && !has; k++)
        has = has_reduction(e->args[k], seen);
    memo_put(seen, e, has);
    return has;
}

/* Sums count their iterators behind those of the domain: without that they would be others. */
static bool can_stand_alone(const Coder *d, const Expr *e)
{
    Memo seen;
    memo_begin(&seen, coder_scratch(d));
    const bool has = has_reduction(e, &seen);
    memo_end(&seen);
    return !has;
}

/* What an equation over a range says about one element of its array; NULL: nothing. */
static const Expr *element_meaning(Coder *d, const Block *b, int64_t number)
{
    Model *m = d->c->ks->model;
    const Domain *domain = &m->domains.at[b->u.assign.domain.index];
    const Expr *from[ELEMENT_LEVELS], *to[ELEMENT_LEVELS];
    int64_t at[ELEMENT_LEVELS];
    ElementMap map;
    if (domain->n > ELEMENT_LEVELS ||
        !element_map(m, b->u.assign.lhs.shape, term_refs(m, b->u.assign.lhs), b->u.assign.domain, &map) ||
        !find_iteration(d->c, domain, &map, 0, number - map.base, at))
        return NULL;
    for (uint32_t k = 0; k < domain->n; k++) {
        const Iterator *it = &m->iterators.at[domain->first + k];
        from[k] = expr_iterator(m->pool, k);
        to[k] = expr_integer(m->pool, it->first + at[k] * it->stride);
    }
    const Expr *all = term_import(&d->builder, b->u.assign.rhs);
    const Expr *e = can_stand_alone(d, all) ? expr_substitute(m->pool, all, domain->n, from, to) : NULL;
    return e ? expr_simplify(m->pool, e) : NULL;
}

/* The right side of the equation that defines the variable, or this element of it; NULL: there is none, or it is not
 * known which element. */
static const Expr *meaning_of(Coder *d, Ref ref, const Expr *e)
{
    const TimeCodes *c = d->c;
    ElementMap map;
    if (e->type.rank)
        return NULL;
    if (e->n_args && !element_map(c->ks->model, e, d->builder.refs.at, (DomainId){ 0 }, &map))
        return NULL;
    for (uint32_t k = c->definition[ref.var.index]; k; k = c->next_definition[k - 1]) {
        const Block *b = &c->schedule->blocks.at[k - 1];
        const Expr *meaning = e->n_args ? element_meaning(d, b, map.base) : term_import(&d->builder, b->u.assign.rhs);
        if (meaning)
            return meaning;
    }
    return NULL;
}

static uint32_t code_leaf(Coder *d, const Expr *e)
{
    if (d->call)
        return d->call->registers[e->u.leaf];
    const Ref ref = d->builder.refs.at[e->u.leaf];
    if (ref.kind == REF_TIME)
        return coder_put(d, KOINE_TIME_NOW, 0, KOINE_NONE, KOINE_NONE);
    const Expr *meaning = ref.kind == REF_NOW ? meaning_of(d, ref, e) : NULL;
    return meaning ? coder_expr(d, meaning) : KOINE_NONE;
}

static KoineTimeOp operation(Op op)
{
    static const uint8_t same[OP_COUNT] = {
        [OP_NEG] = KOINE_TIME_NEG,          [OP_ADD] = KOINE_TIME_ADD,      [OP_SUB] = KOINE_TIME_SUB,
        [OP_MUL] = KOINE_TIME_MUL,          [OP_DIV] = KOINE_TIME_DIV,      [OP_POW] = KOINE_TIME_POW,
        [OP_NOT] = KOINE_TIME_NOT,          [OP_AND] = KOINE_TIME_AND,      [OP_OR] = KOINE_TIME_OR,
        [OP_ABS] = KOINE_TIME_ABS,          [OP_MIN] = KOINE_TIME_MIN,      [OP_MAX] = KOINE_TIME_MAX,
        [OP_SIGN] = KOINE_TIME_SIGN,        [OP_FLOOR] = KOINE_TIME_FLOOR,  [OP_CEIL] = KOINE_TIME_CEIL,
        [OP_TRUNC] = KOINE_TIME_TRUNC,      [OP_ROUND] = KOINE_TIME_ROUND,  [OP_IFLOOR] = KOINE_TIME_FLOOR,
        [OP_ICEIL] = KOINE_TIME_CEIL,       [OP_ITRUNC] = KOINE_TIME_TRUNC, [OP_IROUND] = KOINE_TIME_ROUND,
        [OP_SQRT] = KOINE_TIME_SQRT,        [OP_EXP] = KOINE_TIME_EXP,      [OP_LOG] = KOINE_TIME_LOG,
        [OP_LOG10] = KOINE_TIME_LOG10,      [OP_SIN] = KOINE_TIME_SIN,      [OP_COS] = KOINE_TIME_COS,
        [OP_TAN] = KOINE_TIME_TAN,          [OP_ASIN] = KOINE_TIME_ASIN,    [OP_ACOS] = KOINE_TIME_ACOS,
        [OP_ATAN] = KOINE_TIME_ATAN,        [OP_ATAN2] = KOINE_TIME_ATAN2,  [OP_SINH] = KOINE_TIME_SINH,
        [OP_COSH] = KOINE_TIME_COSH,        [OP_TANH] = KOINE_TIME_TANH,    [OP_GT] = KOINE_TIME_GREATER,
        [OP_GE] = KOINE_TIME_GREATER_EQUAL, [OP_EQ] = KOINE_TIME_EQUAL,     [OP_LT] = KOINE_TIME_GREATER,
        [OP_LE] = KOINE_TIME_GREATER_EQUAL, [OP_NE] = KOINE_TIME_EQUAL,
    };
    return (KoineTimeOp)same[op]; /* NUMBER: none */
}

static Value value_in(Type type, double x)
{
    return type.kind == TYPE_REAL ? (Value){ .r = x } : (Value){ .i = (int64_t)x };
}

/* In functions: what is made of numbers is a number. KOINE_NONE: it is not, or has no value. */
static uint32_t code_number(Coder *d, const Expr *e, uint32_t a, uint32_t b)
{
    const Type operands = e->args[0]->type;
    double x, y = 0;
    if (!d->call || !coder_knows(d, a, &x) || (b != KOINE_NONE && !coder_knows(d, b, &y)))
        return KOINE_NONE;
    const Value args[2] = { value_in(operands, x), value_in(operands, y) };
    const Value made = op_evaluate((Op)e->op, operands, args);
    return value_is_good(e->type, made) ? coder_put_number(d, e->type.kind == TYPE_REAL ? made.r : (double)made.i)
                                        : KOINE_NONE;
}

static uint32_t code_call(Coder *d, const Expr *e)
{
    const KoineTimeOp op = operation((Op)e->op);
    uint32_t a = coder_expr(d, e->args[0]);
    if (a == KOINE_NONE || e->op == OP_REAL || e->op == OP_NUMBER)
        return a;
    if (e->n_args > 2)
        return KOINE_NONE;
    const uint32_t b = e->n_args > 1 ? coder_expr(d, e->args[1]) : KOINE_NONE;
    if (e->n_args > 1 && b == KOINE_NONE)
        return KOINE_NONE;
    const uint32_t known = code_number(d, e, a, b);
    if (known != KOINE_NONE || op == KOINE_TIME_NUMBER)
        return known;
    if (e->n_args == 1)
        return coder_put(d, op, a, KOINE_NONE, KOINE_NONE);
    const bool is_turned = e->op == OP_LT || e->op == OP_LE;
    const uint32_t made = coder_put(d, op, is_turned ? b : a, is_turned ? a : b, KOINE_NONE);
    return e->op == OP_NE && made != KOINE_NONE ? coder_put(d, KOINE_TIME_NOT, made, KOINE_NONE, KOINE_NONE) : made;
}

static uint32_t code_if(Coder *d, const Expr *e)
{
    uint32_t parts[3];
    for (uint32_t k = 0; k < 3; k++) {
        double chosen;
        parts[k] = coder_expr(d, e->args[k]);
        if (parts[k] == KOINE_NONE)
            return KOINE_NONE;
        if (k == 0 && d->call && coder_knows(d, parts[0], &chosen))
            return coder_expr(d, e->args[chosen != 0 ? 1 : 2]);
    }
    return coder_put(d, KOINE_TIME_IF, parts[0], parts[1], parts[2]);
}

static uint32_t code_table(Coder *d, const Expr *e)
{
    const uint32_t a = coder_expr(d, e->args[0]);
    const uint32_t interval = e->n_args > 1 ? coder_expr(d, e->args[1]) : KOINE_NONE;
    if (a == KOINE_NONE || (e->n_args > 1 && interval == KOINE_NONE) || e->op >= TABLE_ORDERS ||
        !e->u.table->data[e->op])
        return KOINE_NONE;
    vec_push(d->c->ks->scratch, &d->tables, e->u.table->data[e->op]);
    const bool is_broken = e->op > 0 || e->u.table->method == TABLE_CONSTANT;
    return coder_put(d, is_broken ? KOINE_TIME_BROKEN : KOINE_TIME_TABLE, a, interval, d->tables.n - 1);
}

static uint32_t code_new(Coder *d, const Expr *e)
{
    KoineSlot value;
    if (d->call && literal_value(e, &value))
        return coder_put_number(d, e->type.kind == TYPE_REAL ? value.r : (double)value.i);
    if (!d->call && !moves(d, e))
        return code_input(d, e);
    switch ((ExprKind)e->kind) {
    case EXPR_LEAF: return code_leaf(d, e);
    case EXPR_CALL: return code_call(d, e);
    case EXPR_IF: return code_if(d, e);
    case EXPR_TABLE: return code_table(d, e);
    case EXPR_FUNCTION: return coder_function(d, e);
    default: return KOINE_NONE;
    }
}

uint32_t coder_expr(Coder *d, const Expr *e)
{
    TimeCall *call = d->call;
    uint32_t known;
    if (memo_get(call ? &call->known : &d->registers, e, &known))
        return known;
    if (d->depth >= DEEPEST)
        return KOINE_NONE;
    d->depth++;
    const uint32_t made = code_new(d, e);
    d->depth--;
    memo_put(call ? &call->known : &d->registers, e, made);
    return made;
}

/* ---- codes ---- */
static bool is_same(const KoineTimeCode *code, const Coder *d, uint32_t left, uint32_t right)
{
    if (code->n != d->instructions.n || code->left != left || code->right != right ||
        memcmp(code->instructions, d->instructions.at, code->n * sizeof *code->instructions) != 0)
        return false;
    for (uint32_t k = 0; k < code->n; k++) {
        const KoineTimeInstruction *i = &code->instructions[k];
        const bool is_table = i->op == KOINE_TIME_TABLE || i->op == KOINE_TIME_BROKEN;
        if ((i->op == KOINE_TIME_NUMBER && memcmp(&code->numbers[i->a], &d->numbers.at[i->a], sizeof(double)) != 0) ||
            (is_table && code->tables[i->c] != d->tables.at[i->c]))
            return false;
    }
    return true;
}

static uint64_t hash_of(const Coder *d, uint32_t left, uint32_t right)
{
    uint64_t hash = hash_mix(left, right);
    for (uint32_t k = 0; k < d->instructions.n; k++) {
        const KoineTimeInstruction *i = &d->instructions.at[k];
        hash = hash_mix(hash_mix(hash, (uint64_t)i->op << 32 | i->a), (uint64_t)i->b << 32 | i->c);
    }
    for (uint32_t k = 0; k < d->numbers.n; k++) {
        KoineSlot bits = { .r = d->numbers.at[k] };
        hash = hash_mix(hash, (uint64_t)bits.i);
    }
    return hash;
}

static uint32_t number_of_code(Coder *d, uint32_t left, uint32_t right)
{
    TimeCodes *c = d->c;
    Arena *arena = c->ks->arena;
    const uint64_t hash = hash_of(d, left, right);
    uint32_t first;
    const bool found = map_get(&c->code_index, hash, &first);
    for (uint32_t k = found ? first : KOINE_NONE; k != KOINE_NONE; k = c->code_next.at[k])
        if (is_same(&c->codes.at[k], d, left, right))
            return k;
    KoineTimeInstruction *instructions = NEW_ARRAY(arena, KoineTimeInstruction, d->instructions.n + 1);
    double *numbers = NEW_ARRAY(arena, double, d->numbers.n + 1);
    const double **tables = NEW_ARRAY(arena, const double *, d->tables.n + 1);
    for (uint32_t k = 0; k < d->instructions.n; k++)
        instructions[k] = d->instructions.at[k];
    for (uint32_t k = 0; k < d->numbers.n; k++)
        numbers[k] = d->numbers.at[k];
    for (uint32_t k = 0; k < d->tables.n; k++)
        tables[k] = d->tables.at[k];
    const KoineTimeCode code = { .n = d->instructions.n,
                                 .left = left,
                                 .right = right,
                                 .instructions = instructions,
                                 .numbers = numbers,
                                 .tables = tables };
    vec_push(arena, &c->codes, code);
    vec_push(arena, &c->code_next, found ? first : KOINE_NONE);
    map_put(&c->code_index, hash, c->codes.n - 1);
    return c->codes.n - 1;
}

/* ---- functions ---- */
/* The inputs, each in a slot of its own, computed by kernels of as many outputs as these may have. */
static void lay_inputs(Coder *d, KoineTimeFunction *f)
{
    Kernels *ks = d->c->ks;
    uint32_t slots[KERNEL_OUTPUTS];
    f->n_in = d->inputs.n;
    f->inputs = take_slots(ks, f->n_in);
    f->n_pieces = (f->n_in + KERNEL_OUTPUTS - 1) / KERNEL_OUTPUTS;
    KoinePiece *pieces = NEW_ARRAY(ks->arena, KoinePiece, f->n_pieces + 1);
    for (uint32_t k = 0; k < f->n_pieces; k++) {
        const uint32_t first = k * KERNEL_OUTPUTS;
        const uint32_t n = f->n_in - first < KERNEL_OUTPUTS ? f->n_in - first : KERNEL_OUTPUTS;
        for (uint32_t j = 0; j < n; j++)
            slots[j] = f->inputs + first + j;
        const Piece piece = lay_terms(ks, n, d->inputs.at + first, slots);
        ks->kernels.at[piece.kernel].is_shared = true;
        pieces[k] = (KoinePiece){ piece.kernel, piece.row };
    }
    f->pieces = pieces;
}

/* Both sides, or the left one alone; KOINE_NONE in *first: they have no interval form, or do not move. */
static void code_sides(Coder *d, Term left, Term right, uint32_t *first, uint32_t *second)
{
    const Expr *a = term_import(&d->builder, left), *b = term_is_absent(right) ? NULL : term_import(&d->builder, right);
    *first = *second = KOINE_NONE;
    if (!moves(d, a) && !(b && moves(d, b)))
        return;
    *first = coder_expr(d, a);
    if (b && *first != KOINE_NONE)
        *second = coder_expr(d, b);
    if (b && *second == KOINE_NONE)
        *first = KOINE_NONE;
}

uint32_t lay_time_function(TimeCodes *c, Term left, Term right, uint32_t *n_inputs, const Term **inputs)
{
    Coder d = { .c = c, .builder = term_builder(c->ks->model) };
    uint32_t first, second;
    memo_begin(&d.registers, c->ks->scratch);
    memo_begin(&d.moving, c->ks->scratch);
    code_sides(&d, left, right, &first, &second);
    memo_end(&d.registers);
    memo_end(&d.moving);
    if (first == KOINE_NONE)
        return KOINE_NONE;
    KoineTimeFunction f = { .code = number_of_code(&d, first, second), .saved = c->n_inputs };
    lay_inputs(&d, &f);
    c->n_inputs += f.n_in;
    vec_push(c->ks->arena, &c->functions, f);
    *n_inputs = d.inputs.n;
    *inputs = d.inputs.at;
    return c->functions.n - 1;
}

/* ---- sources ---- */
/* The expression depends on the time, parameters and discrete variables alone, and has an interval form if its
 * functions have one. */
static bool is_timed(Coder *d, const Expr *e);

static bool leaf_is_timed(Coder *d, const Expr *e)
{
    const Ref ref = d->builder.refs.at[e->u.leaf];
    if (ref.kind == REF_TIME)
        return true;
    const Expr *meaning = ref.kind == REF_NOW ? meaning_of(d, ref, e) : NULL;
    return meaning && is_timed(d, meaning);
}

static bool new_is_timed(Coder *d, const Expr *e)
{
    if (!moves(d, e))
        return true;
    if (e->kind == EXPR_LEAF)
        return leaf_is_timed(d, e);
    const bool is_known = e->kind == EXPR_IF || e->kind == EXPR_TABLE || e->kind == EXPR_FUNCTION ||
                          (e->kind == EXPR_CALL && (operation((Op)e->op) != KOINE_TIME_NUMBER || e->op == OP_REAL));
    for (uint32_t k = 0; is_known && k < e->n_args; k++)
        if (!is_timed(d, e->args[k]))
            return false;
    return is_known;
}

static bool is_timed(Coder *d, const Expr *e)
{
    uint32_t known;
    if (memo_get(&d->timed, e, &known))
        return known;
    if (d->depth >= DEEPEST)
        return false;
    d->depth++;
    const bool is = new_is_timed(d, e);
    d->depth--;
    memo_put(&d->timed, e, is);
    return is;
}

/* It can have an extreme: something in it is not affine in the time. */
static bool bends(const Coder *d)
{
    for (uint32_t k = 0; k < d->instructions.n; k++) {
        const KoineTimeInstruction *i = &d->instructions.at[k];
        if ((i->op >= KOINE_TIME_POW && i->op < KOINE_TIME_NOT) || i->op >= KOINE_TIME_TABLE)
            return true;
        const bool is_product = i->op == KOINE_TIME_MUL || i->op == KOINE_TIME_DIV;
        if (is_product && d->instructions.at[i->a].op > KOINE_TIME_INTEGER &&
            d->instructions.at[i->b].op > KOINE_TIME_INTEGER)
            return true;
        if (is_product && i->a == i->b)
            return true;
    }
    return false;
}

static uint64_t hash_source(const Model *m, const Coder *d, uint32_t code)
{
    uint64_t hash = hash_mix(code, d->inputs.n);
    for (uint32_t k = 0; k < d->inputs.n; k++) {
        const Term term = d->inputs.at[k];
        hash = hash_mix(hash, term.shape->id);
        for (uint32_t j = 0; j < term.shape->n_leaves; j++)
            hash = hash_mix(hash, (uint64_t)term_refs(m, term)[j].kind << 32 | term_refs(m, term)[j].var.index);
    }
    return hash;
}

/* False: it has no interval form. */
static bool add_source(TimeCodes *c, Term term)
{
    Coder d = { .c = c, .builder = term_builder(c->ks->model) };
    uint32_t first, second, ignored;
    memo_begin(&d.registers, c->ks->scratch);
    memo_begin(&d.moving, c->ks->scratch);
    code_sides(&d, term, TERM_NONE, &first, &second);
    memo_end(&d.registers);
    memo_end(&d.moving);
    if (first == KOINE_NONE || !bends(&d))
        return first != KOINE_NONE;
    KoineTimeFunction f = { .code = number_of_code(&d, first, second), .saved = c->n_inputs };
    const uint64_t hash = hash_source(c->ks->model, &d, f.code);
    if (map_get(&c->source_index, hash, &ignored)) /* the same one again; two of one hash differ hardly ever */
        return true;
    map_put(&c->source_index, hash, 1);
    lay_inputs(&d, &f);
    c->n_inputs += f.n_in;
    vec_push(c->ks->arena, &c->functions, f);
    const uint32_t source = c->functions.n - 1;
    vec_push(c->ks->arena, &c->sources, source);
    return true;
}

/* The largest parts of an expression that depend on the time alone. */
static void add_parts(Coder *d, const Expr *e)
{
    if (!moves(d, e) || memo_get(&d->registers, e, &(uint32_t){ 0 }))
        return;
    memo_put(&d->registers, e, 1); /* was here */
    if (is_timed(d, e) && add_source(d->c, term_make(d->c->ks->model, e, d->builder.refs.at)))
        return;
    for (uint32_t k = 0; e->kind != EXPR_LEAF && k < e->n_args; k++)
        add_parts(d, e->args[k]);
}

static void add_sources_of(TimeCodes *c, Term term, bool is_definition)
{
    Coder d = { .c = c, .builder = term_builder(c->ks->model) };
    if (!term.shape)
        return;
    memo_begin(&d.registers, c->ks->scratch);
    memo_begin(&d.moving, c->ks->scratch);
    memo_begin(&d.timed, c->ks->scratch);
    const Expr *e = term_import(&d.builder, term);
    if (!is_definition || !is_timed(&d, e)) /* else it counts where it is read */
        add_parts(&d, e);
    memo_end(&d.registers);
    memo_end(&d.moving);
    memo_end(&d.timed);
}

static bool reads_time(const Model *m, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++)
        if (term_refs(m, term)[k].kind == REF_TIME)
            return true;
    return false;
}

/* Nothing depends on the time alone where nothing reads it. */
static bool is_time_read(const TimeCodes *c)
{
    const Schedule *s = c->schedule;
    const Model *m = c->ks->model;
    for (uint32_t k = 0; k < s->blocks.n; k++)
        if (s->blocks.at[k].kind == BLOCK_ASSIGN && reads_time(m, s->blocks.at[k].u.assign.rhs))
            return true;
    for (uint32_t k = 0; k < s->rows.n; k++)
        if (reads_time(m, s->rows.at[k].lhs) || reads_time(m, s->rows.at[k].rhs))
            return true;
    return false;
}

/* Of the derivatives part. */
static void lay_sources(TimeCodes *c)
{
    const Schedule *s = c->schedule;
    if (!is_time_read(c))
        return;
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++) {
        const Block *b = &s->blocks.at[s->parts[PART_DERIVATIVES].at[k]];
        if (b->kind == BLOCK_ASSIGN && !b->u.assign.domain.index)
            add_sources_of(c, b->u.assign.rhs,
                           term_refs(c->ks->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf].kind == REF_NOW);
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++) {
            add_sources_of(c, s->rows.at[block_rows(b).first_row + j].lhs, false);
            add_sources_of(c, s->rows.at[block_rows(b).first_row + j].rhs, j < block_rows(b).n_inner);
        }
    }
}

KoineTimeFunctions time_codes_finish(TimeCodes *c)
{
    lay_sources(c);
    KoineTimeFunctions out = { .codes = c->codes.at,
                               .functions = c->functions.at,
                               .sources = c->sources.at,
                               .n_codes = c->codes.n,
                               .n_functions = c->functions.n,
                               .n_sources = c->sources.n,
                               .n_inputs = c->n_inputs };
    for (uint32_t k = 0; k < c->codes.n; k++)
        out.most_cells = c->codes.at[k].n > out.most_cells ? c->codes.at[k].n : out.most_cells;
    return out;
}
