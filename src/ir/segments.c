#include "ir/segments.h"
#include "base/vec.h"
#include <string.h>

static const uint64_t MOST_WORDS = UINT64_C(1) << 24; /* of all sets: 128 MiB */
enum { WORD = 64, REACHES_DERIVATIVE = 1, REACHES_RELATION = 2 };

typedef struct {
    const Schedule *s;
    const Model *m;
    Arena *arena;
    uint32_t in_words, out_words;
    uint64_t *in, *der_in;   /* per variable: inputs that reach its value, its derivative */
    uint64_t *out, *der_out; /* per variable: outputs that it reaches */
    uint8_t *use, *der_use;  /* per variable: REACHES_... */
    uint32_t *definer;       /* per variable two: 1 + the block that defines its value, its derivative */
    uint64_t *block_in, *block_out;
    uint8_t *block_use;
    bool is_changed;
} Reach;

const char *segment_kind_name(SegmentKind kind)
{
    static const char *const names[] = { "initial", "state", "algebraic", "derivative", "roots", "event" };
    return names[kind];
}

static VarId holder_of(const Model *m, VarId var)
{
    const VarId alias = m->variables.at[var.index].alias;
    return var_is_none(alias) ? var : alias;
}

static void unite(Reach *r, uint64_t *to, const uint64_t *from, uint32_t words)
{
    for (uint32_t k = 0; k < words; k++) {
        r->is_changed |= (from[k] & ~to[k]) != 0;
        to[k] |= from[k];
    }
}

/* ---- what a block reads and defines ---- */
typedef void (*VisitRef)(Reach *r, Ref ref, uint32_t block);

static void visit_term(Reach *r, Term term, uint32_t block, VisitRef visit)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(r->m, term)[k];
        const Holders holders = ref_holders(r->m, ref);
        for (uint32_t j = 0; (ref.kind == REF_NOW || ref.kind == REF_DER) && j < holders.n; j++)
            visit(r, (Ref){ { holders.first + j }, ref.kind }, block);
    }
}

static void visit_transition(Reach *r, const Transition *t, uint32_t block, VisitRef visit)
{
    for (uint32_t k = 0; k < t->n_conditions; k++)
        visit_term(r, r->m->conditions.at[t->first_condition + k], block, visit);
    for (uint32_t k = 0; k < t->n_assignments; k++) {
        visit_term(r, r->m->assignments.at[t->first_assignment + k].guard, block, visit);
        visit_term(r, r->m->assignments.at[t->first_assignment + k].value, block, visit);
    }
}

static void visit_reads(Reach *r, const Schedule *s, uint32_t block, VisitRef visit)
{
    const Block *b = &s->blocks.at[block];
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: visit_term(r, b->u.assign.rhs, block, visit); break;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN:
        for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
            visit_term(r, s->rows.at[b->u.system.first_row + k].lhs, block, visit);
            visit_term(r, s->rows.at[b->u.system.first_row + k].rhs, block, visit);
        }
        break;
    case BLOCK_RELATION: {
        const Relation *relation = &r->m->relations.at[b->u.object];
        visit_term(r, relation->left, block, visit);
        visit_term(r, relation->right, block, visit);
        visit_term(r, relation->flip, block, visit);
        break;
    }
    case BLOCK_STEP: {
        const StepFunction *step = &r->m->steps.at[b->u.object];
        visit_term(r, step->argument, block, visit);
        visit_term(r, step->offset, block, visit);
        break;
    }
    case BLOCK_TRANSITION: visit_transition(r, &r->m->transitions.at[b->u.object], block, visit); break;
    }
}

static void visit_targets(Reach *r, const Schedule *s, uint32_t block, VisitRef visit)
{
    const Block *b = &s->blocks.at[block];
    if (b->kind == BLOCK_ASSIGN)
        visit(r, term_refs(r->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf], block);
    else if (b->kind == BLOCK_RELATION)
        visit(r, ref_now(r->m->relations.at[b->u.object].bit), block);
    else if (b->kind == BLOCK_STEP)
        visit(r, ref_now(r->m->steps.at[b->u.object].value), block);
    for (uint32_t k = 0; k < block_rows(b).n_rows; k++)
        visit(r, s->rows.at[block_rows(b).first_row + k].unknown, block);
}

/* ---- from inputs forwards ---- */
static void read_inputs(Reach *r, Ref ref, uint32_t block)
{
    const uint64_t *from = (ref.kind == REF_DER ? r->der_in : r->in) + (uint64_t)ref.var.index * r->in_words;
    unite(r, r->block_in + (uint64_t)block * r->in_words, from, r->in_words);
}

static void give_inputs(Reach *r, Ref ref, uint32_t block)
{
    uint64_t *to = (ref.kind == REF_DER ? r->der_in : r->in) + (uint64_t)ref.var.index * r->in_words;
    unite(r, to, r->block_in + (uint64_t)block * r->in_words, r->in_words);
}

/* Blocks stand in their order, but for those that decide together. */
static void go_forwards(Reach *r, const Schedule *s)
{
    do {
        r->is_changed = false;
        for (uint32_t k = 0; k < s->blocks.n; k++) {
            visit_reads(r, s, k, read_inputs);
            visit_targets(r, s, k, give_inputs);
        }
    } while (r->is_changed && s->n_mixed);
}

/* While a model is initialised comparisons are decided with what they compare, wherever that stands. */
static void pass_decisions(Reach *r, const Schedule *s)
{
    uint64_t *const set = r->block_in + (uint64_t)s->blocks.n * r->in_words;
    for (uint32_t k = 0; k < r->m->relations.n; k++) {
        const Relation *relation = &r->m->relations.at[k];
        memset(set, 0, r->in_words * sizeof *set);
        visit_term(r, relation->left, s->blocks.n, read_inputs);
        visit_term(r, relation->right, s->blocks.n, read_inputs);
        give_inputs(r, ref_now(relation->bit), s->blocks.n);
    }
    for (uint32_t k = 0; k < r->m->steps.n; k++) {
        memset(set, 0, r->in_words * sizeof *set);
        visit_term(r, r->m->steps.at[k].argument, s->blocks.n, read_inputs);
        give_inputs(r, ref_now(r->m->steps.at[k].value), s->blocks.n);
    }
}

static uint64_t count_inputs(const Reach *r)
{
    uint64_t n = 0;
    for (uint64_t k = 0; k < (uint64_t)r->m->variables.n * r->in_words; k++)
        for (uint64_t set = r->in[k]; set; set &= set - 1)
            n++;
    return n;
}

static void go_through_start(Reach *r, const Schedule *s)
{
    uint64_t before, after = count_inputs(r);
    do {
        before = after;
        go_forwards(r, s);
        pass_decisions(r, s);
        after = count_inputs(r);
    } while (after != before);
}

/* ---- from outputs backwards ---- */
static void read_use(Reach *r, Ref ref, uint32_t block)
{
    const uint64_t *from = (ref.kind == REF_DER ? r->der_out : r->out) + (uint64_t)ref.var.index * r->out_words;
    unite(r, r->block_out + (uint64_t)block * r->out_words, from, r->out_words);
    r->block_use[block] |= ref.kind == REF_DER ? r->der_use[ref.var.index] | REACHES_DERIVATIVE : r->use[ref.var.index];
}

static void give_use(Reach *r, Ref ref, uint32_t block)
{
    uint64_t *to = (ref.kind == REF_DER ? r->der_out : r->out) + (uint64_t)ref.var.index * r->out_words;
    uint8_t *use = &(ref.kind == REF_DER ? r->der_use : r->use)[ref.var.index];
    unite(r, to, r->block_out + (uint64_t)block * r->out_words, r->out_words);
    *use |= r->block_use[block];
    if (r->s->blocks.at[block].kind == BLOCK_RELATION || r->s->blocks.at[block].kind == BLOCK_STEP)
        *use |= REACHES_RELATION;
}

static void go_backwards(Reach *r, const Schedule *s)
{
    do {
        r->is_changed = false;
        for (uint32_t k = s->blocks.n; k-- > 0;) {
            visit_targets(r, s, k, read_use);
            visit_reads(r, s, k, give_use);
        }
    } while (r->is_changed && s->n_mixed);
}

/* ---- beginning ---- */
static Reach begin(const Schedule *s, const Schedule *run, Arena *arena)
{
    const Ports *ports = &run->ports;
    const uint64_t n = run->model->variables.n + 1;
    Reach r = { .s = s,
                .m = run->model,
                .arena = arena,
                .in_words = (ports->inputs.n + WORD - 1) / WORD + 1,
                .out_words = (ports->outputs.n + WORD - 1) / WORD + 1 };
    r.in = NEW_ARRAY(arena, uint64_t, n * r.in_words);
    r.der_in = NEW_ARRAY(arena, uint64_t, n * r.in_words);
    r.out = NEW_ARRAY(arena, uint64_t, n * r.out_words);
    r.der_out = NEW_ARRAY(arena, uint64_t, n * r.out_words);
    r.use = NEW_ARRAY(arena, uint8_t, n);
    r.der_use = NEW_ARRAY(arena, uint8_t, n);
    r.block_in = NEW_ARRAY(arena, uint64_t, (s->blocks.n + (uint64_t)1) * r.in_words);
    r.block_out = NEW_ARRAY(arena, uint64_t, (s->blocks.n + (uint64_t)1) * r.out_words);
    r.block_use = NEW_ARRAY(arena, uint8_t, s->blocks.n + 1);
    r.definer = NEW_ARRAY(arena, uint32_t, 2 * n);
    for (uint32_t k = 0; k < ports->inputs.n; k++) {
        const PortScalar port = ports->inputs.at[k];
        const uint32_t v = holder_of(r.m, port.var).index + (variable_is_split(r.m, port.var) ? port.element : 0);
        r.in[(uint64_t)v * r.in_words + k / WORD] |= UINT64_C(1) << k % WORD;
    }
    for (uint32_t k = 0; k < ports->outputs.n; k++) {
        const PortScalar port = ports->outputs.at[k];
        const uint32_t v = holder_of(r.m, port.var).index + (variable_is_split(r.m, port.var) ? port.element : 0);
        r.out[(uint64_t)v * r.out_words + k / WORD] |= UINT64_C(1) << k % WORD;
    }
    return r;
}

static uint32_t *numbers_of(const uint64_t *set, uint32_t n, Arena *arena, uint32_t *count)
{
    VEC(uint32_t) list = { 0 };
    for (uint32_t k = 0; k < n; k++)
        if (set[k / WORD] >> k % WORD & 1)
            vec_push(arena, &list, k);
    *count = list.n;
    vec_push(arena, &list, UINT32_MAX);
    return list.at;
}

/* Per output: the inputs that reach it. */
static const uint32_t *const *feedthrough_of(const Reach *r, const Ports *ports)
{
    const uint32_t **rows = NEW_ARRAY(r->arena, const uint32_t *, ports->outputs.n + 1);
    for (uint32_t k = 0; k < ports->outputs.n; k++) {
        const PortScalar port = ports->outputs.at[k];
        const uint32_t v = holder_of(r->m, port.var).index + (variable_is_split(r->m, port.var) ? port.element : 0);
        uint32_t n;
        rows[k] = numbers_of(r->in + (uint64_t)v * r->in_words, ports->inputs.n, r->arena, &n);
    }
    return rows;
}

/* ---- classes ---- */
static bool is_empty(const uint64_t *set, uint32_t words)
{
    for (uint32_t k = 0; k < words; k++)
        if (set[k])
            return false;
    return true;
}

static SegmentKind kind_of(const Reach *r, uint32_t block)
{
    const bool has_in = !is_empty(r->block_in + (uint64_t)block * r->in_words, r->in_words),
               has_out = !is_empty(r->block_out + (uint64_t)block * r->out_words, r->out_words);
    if (has_out)
        return has_in ? SEGMENT_ALGEBRAIC : SEGMENT_STATE;
    const bool is_relation = r->s->blocks.at[block].kind == BLOCK_RELATION || r->s->blocks.at[block].kind == BLOCK_STEP;
    return r->block_use[block] & REACHES_DERIVATIVE                ? SEGMENT_DERIVATIVE
           : r->block_use[block] & REACHES_RELATION || is_relation ? SEGMENT_ROOTS
                                                                   : SEGMENT_EVENT;
}

static bool is_same(const Reach *r, uint32_t a, uint32_t b)
{
    return kind_of(r, a) == kind_of(r, b) &&
           memcmp(r->block_in + (uint64_t)a * r->in_words, r->block_in + (uint64_t)b * r->in_words,
                  r->in_words * sizeof(uint64_t)) == 0 &&
           memcmp(r->block_out + (uint64_t)a * r->out_words, r->block_out + (uint64_t)b * r->out_words,
                  r->out_words * sizeof(uint64_t)) == 0;
}

static void note_definer(Reach *r, Ref ref, uint32_t block)
{
    r->definer[2 * ref.var.index + (ref.kind == REF_DER)] = block + 1;
}

typedef struct {
    VEC(uint32_t) blocks, after;
} Gathered;

static Segment segment_of(const Reach *r, const Ports *ports, const Gathered *g)
{
    const uint32_t first = g->blocks.at[0];
    Segment segment = { .kind = kind_of(r, first),
                        .n_blocks = g->blocks.n,
                        .blocks = g->blocks.at,
                        .n_after = g->after.n,
                        .after = g->after.at };
    segment.inputs =
        numbers_of(r->block_in + (uint64_t)first * r->in_words, ports->inputs.n, r->arena, &segment.n_inputs);
    segment.outputs =
        numbers_of(r->block_out + (uint64_t)first * r->out_words, ports->outputs.n, r->arena, &segment.n_outputs);
    return segment;
}

/* Which class each block belongs to, and what the classes read of each other. */
typedef struct {
    Reach *r;
    uint32_t *class_of;
    Gathered *classes;
    uint32_t n;
    uint32_t present;
} Classes;

static void add_after(Classes *c, uint32_t other)
{
    Gathered *g = &c->classes[c->present];
    for (uint32_t k = 0; k < g->after.n; k++)
        if (g->after.at[k] == other)
            return;
    if (other != c->present)
        vec_push(c->r->arena, &g->after, other);
}

static void link_term(Classes *c, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(c->r->m, term)[k];
        const Holders holders = ref_holders(c->r->m, ref);
        for (uint32_t j = 0; (ref.kind == REF_NOW || ref.kind == REF_DER) && j < holders.n; j++) {
            const uint32_t definer = c->r->definer[2 * (holders.first + j) + (ref.kind == REF_DER)];
            if (definer)
                add_after(c, c->class_of[definer - 1]);
        }
    }
}

static void link_block(Classes *c, const Schedule *s, uint32_t block)
{
    const Block *b = &s->blocks.at[block];
    c->present = c->class_of[block];
    if (b->kind == BLOCK_ASSIGN)
        link_term(c, b->u.assign.rhs);
    for (uint32_t k = 0; k < block_rows(b).n_rows; k++) {
        link_term(c, s->rows.at[block_rows(b).first_row + k].lhs);
        link_term(c, s->rows.at[block_rows(b).first_row + k].rhs);
    }
    if (b->kind == BLOCK_RELATION) {
        link_term(c, c->r->m->relations.at[b->u.object].left);
        link_term(c, c->r->m->relations.at[b->u.object].right);
    }
}

static void find_classes(Reach *r, const Schedule *s, Segments *found)
{
    Classes c = { .r = r,
                  .class_of = NEW_ARRAY(r->arena, uint32_t, s->blocks.n + 1),
                  .classes = NEW_ARRAY(r->arena, Gathered, s->blocks.n + 1) };
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        uint32_t at = 0;
        while (at < c.n && !is_same(r, c.classes[at].blocks.at[0], k))
            at++;
        c.n += at == c.n;
        c.class_of[k] = at;
        vec_push(r->arena, &c.classes[at].blocks, k);
        visit_targets(r, s, k, note_definer);
    }
    for (uint32_t k = 0; k < s->blocks.n; k++)
        link_block(&c, s, k);
    Segment *segments = NEW_ARRAY(r->arena, Segment, c.n + 1);
    for (uint32_t k = 0; k < c.n; k++)
        segments[k] = segment_of(r, &s->ports, &c.classes[k]);
    found->at = segments;
    found->n = c.n;
}

Segments segments_find(const Schedule *s, Arena *arena)
{
    Segments found = { 0 };
    const uint64_t words = ((uint64_t)s->ports.inputs.n + s->ports.outputs.n) / WORD + 2,
                   rows = 2 * (uint64_t)s->model->variables.n + s->blocks.n;
    if (!s->ports.is_there || words * rows > MOST_WORDS)
        return found;
    Reach r = begin(s, s, arena);
    go_forwards(&r, s);
    go_backwards(&r, s);
    found.run = feedthrough_of(&r, &s->ports);
    find_classes(&r, s, &found);
    found.initial = found.run;
    if (s->initial) {
        Reach first = begin(s->initial, s, arena);
        go_through_start(&first, s->initial);
        found.initial = feedthrough_of(&first, &s->ports);
    }
    return found;
}
