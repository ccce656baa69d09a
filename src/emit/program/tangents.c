/* Differentiating shapes along seeds; see tangents.h. */
#include "emit/program/tangents.h"
#include "base/bug.h"
#include "ir/derive.h"

Tangents tangents_create(Kernels *ks)
{
    Tangents ts = { .ks = ks };
    map_init(&ts.index, ks->arena, 64);
    return ts;
}

typedef struct {
    Tangents *ts;
    TermBuilder *builder;
    const Map *unknowns; /* of a system, by ref_key: they have no seed, they are what is solved for; NULL: none */
} SeedContext;

/* The slot of the reference's seed, or KOINE_NONE. */
static uint32_t seed_slot(const Tangents *ts, Ref ref)
{
    const Slots *slots = ts->ks->slots;
    if (ref.kind == REF_DER)
        return slots->seed_der[ref.var.index];
    return ref.kind == REF_NOW && (ts->has_all || !slots->ports.is_outer[ref.var.index]) ? slots->seed[ref.var.index]
                                                                                         : KOINE_NONE;
}

static const Expr *seed_of(void *context, const Expr *leaf)
{
    SeedContext *s = context;
    const Ref ref = s->builder->refs.at[leaf->u.leaf];
    if (seed_slot(s->ts, ref) == KOINE_NONE)
        return NULL;
    uint32_t ignored;
    if (s->unknowns && map_get(s->unknowns, ref_key(ref), &ignored))
        return NULL;
    const Ref seed = { ref.var, ref.kind == REF_NOW ? REF_SEED : REF_SEED_DER };
    return leaf->n_args ? term_element(s->builder, seed, leaf->n_args, leaf->args) : term_leaf(s->builder, seed);
}

static bool has_seed(const Tangents *ts, Ref ref)
{
    return seed_slot(ts, ref) != KOINE_NONE;
}

/* The tangent of a term: its total derivative along the seeds. */
static Term derive_term(Tangents *ts, Term term, const Map *unknowns)
{
    TermBuilder builder = term_builder(ts->ks->model);
    SeedContext context = { ts, &builder, unknowns };
    const Expr *e = term_import(&builder, term);
    const Expr *d = expr_time_derivative(ts->ks->model->pool, e, seed_of, &context);
    REQUIRE(d);
    return term_finish(&builder, d);
}

static Tangent *find_tangent(const Tangents *ts, const Expr *shape, uint64_t seeded, uint64_t hash)
{
    uint32_t k;
    if (!map_get(&ts->index, hash, &k))
        return NULL;
    for (; k != KOINE_NONE; k = ts->known.at[k].next)
        if (ts->known.at[k].shape == shape && ts->known.at[k].seeded == seeded)
            return &ts->known.at[k];
    return NULL;
}

static Tangent *add_tangent(Tangents *ts, Term term, uint64_t seeded, uint64_t hash)
{
    const uint32_t n = term.shape->n_leaves;
    TermBuilder builder = term_builder(ts->ks->model);
    SeedContext context = { ts, &builder, NULL };
    const Expr *e = term_import(&builder, term);
    REQUIRE(e == term.shape); /* canonical: the builder numbers as the shape does */
    Tangent t = { .shape = term.shape, .seeded = seeded, .next = KOINE_NONE };
    t.derivative = expr_time_derivative(ts->ks->model->pool, e, seed_of, &context);
    REQUIRE(t.derivative);
    t.n_seeds = builder.refs.n - n;
    for (uint32_t k = 0; k < t.n_seeds; k++)
        for (uint32_t j = 0; j < n; j++)
            if (builder.refs.at[j].var.index == builder.refs.at[n + k].var.index &&
                (builder.refs.at[j].kind == REF_DER) == (builder.refs.at[n + k].kind == REF_SEED_DER) &&
                has_seed(ts, builder.refs.at[j]))
                t.leaf_of[k] = (uint8_t)j;
    uint32_t first;
    if (map_get(&ts->index, hash, &first))
        t.next = first;
    vec_push(ts->ks->arena, &ts->known, t);
    map_put(&ts->index, hash, ts->known.n - 1);
    return &ts->known.at[ts->known.n - 1];
}

/* The derivative with these references. A term has its references once and in the order in which they occur; that order
 * is the same for all instances whose references are all different. */
static Term tangent_term(Model *m, Tangent *t, const Ref *refs, uint32_t n)
{
    enum { FEW = 24 };
    bool are_different = n <= FEW;
    for (uint32_t k = 1; k < n && are_different; k++)
        for (uint32_t j = 0; j < k && are_different; j++)
            are_different = !ref_equal(refs[j], refs[k]);
    if (!are_different)
        return term_make(m, t->derivative, refs);
    if (t->canonical) {
        Ref used[FEW];
        for (uint32_t k = 0; k < t->n_used; k++)
            used[k] = refs[t->used[k]];
        return term_of_canonical(m, t->canonical, used);
    }
    const Term term = term_make(m, t->derivative, refs);
    t->canonical = term.shape;
    t->n_used = term.shape->n_leaves;
    for (uint32_t k = 0; k < t->n_used; k++)
        for (uint32_t j = 0; j < n; j++)
            if (ref_equal(term_refs(m, term)[k], refs[j]))
                t->used[k] = (uint8_t)j;
    return term;
}

/* Shapes are differentiated once; an instance only supplies its references. */
Term tangent_of(Tangents *ts, Term term, const Map *unknowns)
{
    enum { MOST_LEAVES = 64 };
    Model *m = ts->ks->model;
    const uint32_t n = term.shape->n_leaves;
    if (unknowns || term.shape->has_index || n > MOST_LEAVES)
        return derive_term(ts, term, unknowns);
    uint64_t seeded = 0;
    for (uint32_t k = 0; k < n; k++)
        seeded |= (uint64_t)has_seed(ts, term_refs(m, term)[k]) << k;
    const uint64_t hash = hash_mix(term.shape->id, seeded);
    Tangent *t = find_tangent(ts, term.shape, seeded, hash);
    if (!t)
        t = add_tangent(ts, term, seeded, hash);
    Ref refs[2 * MOST_LEAVES];
    if (n)
        memcpy(refs, term_refs(m, term), n * sizeof *refs);
    for (uint32_t k = 0; k < t->n_seeds; k++) {
        const Ref ref = refs[t->leaf_of[k]];
        refs[n + k] = (Ref){ ref.var, ref.kind == REF_DER ? REF_SEED_DER : REF_SEED };
    }
    return tangent_term(m, t, refs, n + t->n_seeds);
}
