/* Comparisons whose sides depend on what they decide (S18): ideal diodes, contacts, friction.
 *
 * In an event step the nodes of such a group are evaluated with the bits as they are, then all its comparisons are
 * decided from the solution, and so on until none changes. Where that goes round, or the equations have no solution
 * with the bits it has come to, one comparison at a time is changed, always the first that the solution contradicts:
 * Murty's least-index method, which ends at the solution where the equations are those of a complementarity problem
 * with one (diodes with some resistance; Judice and Pires 1994 for the two stages together). Where that does not help,
 * either, all combinations are tried, those nearest to the bits at the beginning first.
 *
 * A solution may lie on the border of a comparison: rounding decides then, perhaps differently in every combination. So
 * if nothing fits literally, a combination does that is contradicted by no more than rounding, and only by comparisons
 * that make no difference on their borders (find-joints). */
#include "machine.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

enum { LONGEST_LIST = 400, MOST_ROWS = 8, WIDEST = 16 }; /* of a message: letters of names, rows, letters of a row */
static const double ROUNDING = 1e-12;                    /* of the largest quantity */
enum { MOST_COMBINATIONS = 4096, MOST_BITS = 62, MOST_ROUNDS = 200 };

static uint64_t hash_bits(const Machine *m, const KoineMixed *g)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t j = 0; j < g->n_relations; j++)
        h = (h ^ (uint64_t)m->slots[m->program->events.decisions.relations[g->relations[j]].bit].i) * 0x100000001b3u;
    return h ^ (h >> 31);
}

static void begin_round(Machine *m, uint32_t group)
{
    const KoineMixed *g = &m->program->events.decisions.mixed[group];
    m->round.group = group;
    m->round.n_rounds = 0;
    for (uint32_t j = 0; j < g->n_relations; j++)
        m->round.start[g->relations[j]] =
            (uint8_t)m->slots[m->program->events.decisions.relations[g->relations[j]].bit].i;
    m->round.seen[m->round.n_rounds++] = hash_bits(m, g);
}

/* The bits have changed: were they like this before? */
static bool goes_round(Machine *m, const KoineMixed *g)
{
    Round *round = &m->round;
    const uint64_t h = hash_bits(m, g);
    for (uint32_t j = 0; j < round->n_rounds && j < KOINE_VISITED; j++)
        if (round->seen[j] == h)
            return true;
    round->seen[round->n_rounds % KOINE_VISITED] = h;
    return ++round->n_rounds > MOST_ROUNDS;
}

/* ---- trying combinations ---- */
typedef struct { /* of a combination */
    bool is_solved;
    double contradiction; /* the largest, relative to the largest quantity of the group; 0: it fits, INFINITY: not
                             solved */
    uint32_t first;       /* relation of the group that is contradicted */
} Outcome;

typedef struct { /* of a search */
    KoineText text;
    uint32_t n_tried;
    double least; /* contradiction of a combination so far; it is round.best of the machine */
    bool has_pivoted;
} Search;

static void set_bits(Machine *m, const KoineMixed *g, uint64_t others)
{
    for (uint32_t j = 0; j < g->n_relations; j++) {
        const KoineRelation *r = &m->program->events.decisions.relations[g->relations[j]];
        koine_set_bit(m, r, m->round.start[g->relations[j]] ^ (j < MOST_BITS ? others >> j & 1 : 0));
    }
}

static void set_values(Machine *m, const KoineMixed *g, const uint8_t *values)
{
    for (uint32_t j = 0; j < g->n_relations; j++)
        koine_set_bit(m, &m->program->events.decisions.relations[g->relations[j]], values[g->relations[j]]);
}

static bool bit_of(const Machine *m, const KoineMixed *g, uint32_t j)
{
    return m->slots[m->program->events.decisions.relations[g->relations[j]].bit].i != 0;
}

/* The largest Real that the nodes of the group have computed. */
static double largest_quantity(const Machine *m, const KoineMixed *g)
{
    const KoineProgram *p = m->program;
    double largest = 0;
    for (uint32_t j = 0; j < g->n_nodes; j++) {
        const KoineNode *node = &p->events.graph.nodes[g->first_node + j];
        const KoineSystem *s = node->kind == KOINE_NODE_SYSTEM ? &p->systems.at[node->object] : NULL;
        const uint32_t n = s ? s->n : node->kind == KOINE_NODE_ASSIGN && node->is_real ? node->object : 0;
        for (uint32_t i = 0; i < n; i++)
            if (!s || s->types[i] == KOINE_REAL)
                largest = fmax(largest, fabs(m->slots[s ? s->unknowns[i] : node->output + i * node->stride].r));
    }
    return largest;
}

/* By how much the operands of a comparison contradict its bit. */
static double contradiction_of(const Machine *m, const KoineRelation *r, double largest)
{
    if (!r->is_joint)
        return INFINITY;
    const double left = m->slots[r->left].r, right = m->slots[r->right].r;
    const double size = fmax(largest, fmax(fabs(left), fabs(right)));
    return size > 0 ? fmax(fabs(left - right) / size, DBL_MIN) : DBL_MIN;
}

/* With the bits as they are: everything else in its order, then whether the comparisons come out as they were taken.
 * `letters`, if any, has one for each of the first of them. */
static Outcome try_bits(Machine *m, const KoineMixed *g, char *letters)
{
    const KoineNode *nodes = m->program->events.graph.nodes + g->first_node;
    const uint32_t n_others = g->n_nodes - g->n_relations - g->n_steps;
    Outcome outcome = { .contradiction = INFINITY, .first = KOINE_NONE };
    m->work.statistics.mixed_combinations++;
    if (letters)
        letters[0] = 0;
    for (uint32_t j = 0; j < n_others; j++) {
        KoineStatus status = koine_evaluate_node(m, &nodes[j]);
        if (status == KOINE_OK)
            status = koine_check_calls(m, KOINE_FAILED, nodes[j].origin);
        if (status != KOINE_OK)
            return outcome;
    }
    outcome = (Outcome){ .is_solved = true, .first = KOINE_NONE };
    const double largest = largest_quantity(m, g);
    for (uint32_t j = 0; j < g->n_relations; j++) {
        bool value;
        const bool has_value = koine_decide(m, g->relations[j], &value);
        if (letters && j < WIDEST) {
            letters[j] = !has_value ? '?' : value ? 'T' : 'F';
            letters[j + 1] = 0;
        }
        if (has_value && value == bit_of(m, g, j))
            continue;
        if (outcome.first == KOINE_NONE)
            outcome.first = j;
        const double one = has_value
                               ? contradiction_of(m, &m->program->events.decisions.relations[g->relations[j]], largest)
                               : INFINITY;
        outcome.contradiction = fmax(outcome.contradiction, one);
    }
    return outcome;
}

static void note_outcome(Machine *m, const KoineMixed *g, Search *search, Outcome outcome)
{
    search->n_tried++;
    if (!(outcome.contradiction < search->least))
        return;
    search->least = outcome.contradiction;
    for (uint32_t j = 0; j < g->n_relations; j++)
        m->round.best[g->relations[j]] = bit_of(m, g, j);
}

/* From a combination that has a solution: the first comparison that is contradicted changes, and so on. A change that
 * leaves no solution is taken back, and the next one that is contradicted is tried. On a border, where rounding
 * decides, it comes back to a combination it had: nothing new would follow. One of those is kept, later and later ones
 * (Brent's method). */
static Outcome pivot(Machine *m, const KoineMixed *g, Search *search, Outcome outcome)
{
    const uint32_t most = search->n_tried + 64 + 16 * g->n_relations;
    uint64_t kept = hash_bits(m, g);
    uint32_t n_changed = 0, n_kept = 1;
    search->has_pivoted = true;
    while (outcome.first != KOINE_NONE && search->n_tried < most) {
        Outcome next = { .is_solved = false };
        for (uint32_t j = outcome.first; j < g->n_relations && !next.is_solved; j++) {
            const KoineRelation *r = &m->program->events.decisions.relations[g->relations[j]];
            bool value;
            if (j != outcome.first && (!koine_decide(m, g->relations[j], &value) || value == bit_of(m, g, j)))
                continue;
            koine_set_bit(m, r, !bit_of(m, g, j));
            next = try_bits(m, g, NULL);
            note_outcome(m, g, search, next);
            if (next.is_solved)
                break;
            koine_set_bit(m, r, !bit_of(m, g, j));
            try_bits(m, g, NULL); /* the solution that is to be judged */
        }
        if (!next.is_solved)
            return next;
        outcome = next;
        if (hash_bits(m, g) == kept)
            return outcome;
        if (++n_changed == n_kept) {
            kept = hash_bits(m, g);
            n_changed = 0;
            n_kept *= 2;
        }
    }
    return outcome;
}

/* The next number with as many bits, below 2^n; 0: there is none. */
static uint64_t next_choice(uint64_t choice, uint32_t n)
{
    if (choice == 0)
        return 0;
    const uint64_t lowest = choice & (~choice + 1), ripple = choice + lowest;
    choice = (((choice ^ ripple) >> 2) / lowest) | ripple;
    return choice >> n ? 0 : choice;
}

static void begin_table(const Machine *m, const KoineMixed *g, KoineText *text)
{
    const KoineProgram *p = m->program;
    koine_text_add(text, "no combination of the comparisons fits the equations:");
    for (uint32_t j = 0; j < g->n_relations; j++) {
        const uint32_t root = p->events.decisions.relations[g->relations[j]].decision.root;
        if (text->n > LONGEST_LIST) {
            koine_text_add(text, " and %u more", g->n_relations - j);
            return;
        }
        koine_text_add(text, "%s ", j ? "," : "");
        if (root == KOINE_NONE)
            koine_text_add(text, "a comparison of time");
        else
            koine_put_root(text, p->tables, root);
    }
}

/* FT gives TT: what the comparisons were taken as, and how they come out then. */
static void add_to_table(const Machine *m, const KoineMixed *g, KoineText *text, uint32_t row, const char *letters)
{
    char taken[WIDEST + 1];
    uint32_t n = 0;
    for (; n < g->n_relations && n < WIDEST; n++)
        taken[n] = bit_of(m, g, n) ? 'T' : 'F';
    taken[n] = 0;
    if (row < MOST_ROWS)
        koine_text_add(text, "%s %s gives %s", row ? "," : ";", taken, letters[0] ? letters : "no solution");
}

/* What was tried last fits: nothing of the group is left to do. */
static KoineStatus settle(Machine *m, const KoineMixed *g)
{
    for (uint32_t j = 0; j < g->n_nodes; j++)
        bitset_remove(&m->wake.dirty, g->first_node + j);
    m->model->fault.text[0] = 0;
    return KOINE_OK;
}

/* Nothing fits literally. What is contradicted by rounding alone does, where the comparisons make no difference. */
static KoineStatus settle_tie(Machine *m, const KoineMixed *g, Search *search)
{
    if (!(search->least <= ROUNDING))
        return KOINE_ABSENT;
    set_values(m, g, m->round.best);
    return try_bits(m, g, NULL).contradiction <= ROUNDING ? settle(m, g) : KOINE_ABSENT;
}

static KoineStatus none_fits(Machine *m, const KoineMixed *g, Search *search)
{
    if (search->n_tried > MOST_ROWS)
        koine_text_add(&search->text, "; %u combinations were tried", search->n_tried);
    return koine_because(
        m, KOINE_CAUSE_NO_COMBINATION,
        koine_fault(m, KOINE_FAILED, m->program->events.graph.nodes[g->first_node].origin, search->text.at));
}

static KoineStatus search_combination(Machine *m, uint32_t group)
{
    const KoineMixed *g = &m->program->events.decisions.mixed[group];
    const uint32_t n = g->n_relations < MOST_BITS ? g->n_relations : MOST_BITS;
    char room[KOINE_FAULT_TEXT], letters[WIDEST + 1];
    Search search = { .text = koine_text_in(room, sizeof room), .least = INFINITY };
    uint32_t row = 0;
    begin_table(m, g, &search.text);
    for (uint32_t distance = 0; distance <= n && row < MOST_COMBINATIONS; distance++) {
        uint64_t others = distance ? ((uint64_t)1 << distance) - 1 : 0;
        do {
            set_bits(m, g, others);
            Outcome outcome = try_bits(m, g, letters);
            note_outcome(m, g, &search, outcome);
            add_to_table(m, g, &search.text, row++, letters);
            if (outcome.is_solved && !search.has_pivoted && g->n_steps == 0) {
                outcome = pivot(m, g, &search, outcome);
                if (outcome.first != KOINE_NONE && settle_tie(m, g, &search) == KOINE_OK)
                    return KOINE_OK;
            }
            if (outcome.is_solved && outcome.first == KOINE_NONE && g->n_steps == 0)
                return settle(m, g);
            others = next_choice(others, n);
        } while (others && row < MOST_COMBINATIONS);
    }
    return g->n_steps == 0 && settle_tie(m, g, &search) == KOINE_OK ? KOINE_OK : none_fits(m, g, &search);
}

KoineStatus koine_decide_together(Machine *m, const KoineNode *node)
{
    const KoineProgram *p = m->program;
    const uint32_t group = p->events.decisions.relations[node->object].decision.mixed;
    const KoineMixed *g = &p->events.decisions.mixed[group];
    if (m->round.group != group)
        begin_round(m, group);
    bool any = false;
    for (uint32_t j = 0; j < g->n_relations; j++) {
        const KoineRelation *r = &p->events.decisions.relations[g->relations[j]];
        bool value = m->slots[r->bit].i;
        if (&p->events.graph.nodes[r->decision.node] == node || bitset_has(&m->wake.dirty, r->decision.node)) {
            bitset_remove(&m->wake.dirty, r->decision.node);
            if (!koine_decide(m, g->relations[j], &value))
                return koine_fault(m, KOINE_FAILED, p->events.graph.nodes[r->decision.node].origin, NULL);
        }
        m->round.value[g->relations[j]] = value;
        m->work.statistics.mixed_flips += value != (m->slots[r->bit].i != 0);
        any |= value != (m->slots[r->bit].i != 0);
    }
    if (!any)
        return KOINE_OK;
    set_values(m, g, m->round.value);
    return goes_round(m, g) ? search_combination(m, group) : KOINE_OK;
}

/* Values of step functions are not tried one by one: there are too many. */
KoineStatus koine_count_round(Machine *m, uint32_t group)
{
    if (m->round.group != group)
        begin_round(m, group);
    if (++m->round.n_rounds <= MOST_ROUNDS)
        return KOINE_OK;
    char text[160];
    snprintf(text, sizeof text, "step functions and equations that depend on each other do not settle within %d rounds",
             MOST_ROUNDS);
    const uint32_t origin = m->program->events.graph.nodes[m->program->events.decisions.mixed[group].first_node].origin;
    return koine_because(m, KOINE_CAUSE_NO_COMBINATION, koine_fault(m, KOINE_FAILED, origin, text));
}

KoineStatus koine_rescue(Machine *m, uint32_t node, KoineStatus status)
{
    const KoineProgram *p = m->program;
    for (uint32_t group = 0; group < p->events.decisions.n_mixed; group++) {
        const KoineMixed *g = &p->events.decisions.mixed[group];
        if (node < g->first_node || node >= g->first_node + g->n_nodes)
            continue;
        const KoineNodeKind kind = (KoineNodeKind)p->events.graph.nodes[node].kind;
        if (kind == KOINE_NODE_RELATION || kind == KOINE_NODE_STEP || g->n_relations == 0)
            return status;
        if (m->round.group != group)
            begin_round(m, group);
        return search_combination(m, group);
    }
    return status;
}
