/* Comparisons whose sides depend on what they decide (S18): ideal diodes, contacts, friction.
 *
 * In an event step the nodes of such a group are evaluated with the bits as they are, then all its comparisons are
 * decided from the solution, and so on until none changes. Where that goes round, or the equations have no solution
 * with the bits it has come to, all combinations are tried, those nearest to the bits at the beginning first. */
#include "machine.h"
#include <stdio.h>

enum { LONGEST_LIST = 400 }; /* letters of the names of comparisons in a message */
enum { MOST_COMBINATIONS = 4096, MOST_BITS = 62, MOST_ROUNDS = 200 };

static uint64_t hash_bits(const Machine *k, const KoineMixed *g)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t j = 0; j < g->n_relations; j++)
        h = (h ^ (uint64_t)k->m[k->program->relations[g->relations[j]].bit].i) * 0x100000001b3u;
    return h ^ (h >> 31);
}

static void begin_round(Machine *k, uint32_t group)
{
    const KoineMixed *g = &k->program->mixed[group];
    k->round.group = group;
    k->round.n_rounds = 0;
    for (uint32_t j = 0; j < g->n_relations; j++)
        k->round.start[g->relations[j]] = (uint8_t)k->m[k->program->relations[g->relations[j]].bit].i;
    k->round.seen[k->round.n_rounds++] = hash_bits(k, g);
}

/* The bits have changed: were they like this before? */
static bool goes_round(Machine *k, const KoineMixed *g)
{
    Round *round = &k->round;
    const uint64_t h = hash_bits(k, g);
    for (uint32_t j = 0; j < round->n_rounds && j < KOINE_VISITED; j++)
        if (round->seen[j] == h)
            return true;
    round->seen[round->n_rounds % KOINE_VISITED] = h;
    return ++round->n_rounds > MOST_ROUNDS;
}

/* ---- trying combinations ---- */
static void set_bits(Machine *k, const KoineMixed *g, uint64_t others)
{
    for (uint32_t j = 0; j < g->n_relations; j++) {
        const KoineRelation *r = &k->program->relations[g->relations[j]];
        koine_set_bit(k, r, k->round.start[g->relations[j]] ^ (j < MOST_BITS ? others >> j & 1 : 0));
    }
}

/* With the bits as they are: everything else in its order, then whether the comparisons come out as they were taken.
 * `outcome` has one letter for each of the first of them. */
static bool fits(Machine *k, const KoineMixed *g, char *outcome, uint32_t n_outcome)
{
    const KoineNode *nodes = k->program->nodes + g->first_node;
    const uint32_t n_others = g->n_nodes - g->n_relations - g->n_steps;
    bool is_good = true;
    outcome[0] = 0;
    for (uint32_t j = 0; j < n_others; j++) {
        KoineStatus status = koine_evaluate_node(k, &nodes[j]);
        if (status == KOINE_OK)
            status = koine_check_calls(k, KOINE_FAILED, nodes[j].origin);
        if (status != KOINE_OK)
            return false;
    }
    for (uint32_t j = 0; j < g->n_relations; j++) {
        bool value;
        const bool has_value = koine_decide(k, g->relations[j], &value);
        is_good &= has_value && value == (k->m[k->program->relations[g->relations[j]].bit].i != 0);
        if (j + 1 < n_outcome) {
            outcome[j] = !has_value ? '?' : value ? 'T' : 'F';
            outcome[j + 1] = 0;
        }
    }
    return is_good;
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

typedef struct {
    KoineText text;
    uint32_t n_tried, n_unsolved;
} Table;

static void begin_table(const Machine *k, const KoineMixed *g, Table *table)
{
    const KoineProgram *p = k->program;
    koine_text_add(&table->text, "no combination of the comparisons fits the equations:");
    for (uint32_t j = 0; j < g->n_relations; j++) {
        const uint32_t root = p->relations[g->relations[j]].root;
        if (table->text.n > LONGEST_LIST) {
            koine_text_add(&table->text, " and %u more", g->n_relations - j);
            return;
        }
        koine_text_add(&table->text, "%s ", j ? "," : "");
        if (root == KOINE_NONE)
            koine_text_add(&table->text, "a comparison of time");
        else
            koine_put_root(&table->text, p->tables, root);
    }
}

/* FT gives TT: what the comparisons were taken as, and how they come out then. */
static void add_to_table(const Machine *k, const KoineMixed *g, Table *table, const char *outcome)
{
    enum { MOST_ROWS = 8, WIDEST = 16 };
    if (table->n_tried++ >= MOST_ROWS)
        return;
    char taken[WIDEST + 1];
    uint32_t n = 0;
    for (; n < g->n_relations && n < WIDEST; n++)
        taken[n] = k->m[k->program->relations[g->relations[n]].bit].i ? 'T' : 'F';
    taken[n] = 0;
    table->n_unsolved += outcome[0] == 0;
    koine_text_add(&table->text, "%s %s gives %s", table->n_tried == 1 ? ";" : ",", taken,
                   outcome[0] ? outcome : "no solution");
}

static KoineStatus none_fits(Machine *k, const KoineMixed *g, Table *table)
{
    if (table->n_tried > 8)
        koine_text_add(&table->text, "; %u combinations were tried", table->n_tried);
    return koine_fault(k, KOINE_FAILED, k->program->nodes[g->first_node].origin, table->text.at);
}

static KoineStatus search_combination(Machine *k, uint32_t group)
{
    const KoineMixed *g = &k->program->mixed[group];
    const uint32_t n = g->n_relations < MOST_BITS ? g->n_relations : MOST_BITS;
    char room[KOINE_FAULT_TEXT], outcome[17];
    Table table = { .text = koine_text_in(room, sizeof room) };
    begin_table(k, g, &table);
    for (uint32_t distance = 0; distance <= n && table.n_tried < MOST_COMBINATIONS; distance++) {
        uint64_t others = distance ? ((uint64_t)1 << distance) - 1 : 0;
        do {
            set_bits(k, g, others);
            k->statistics.mixed_combinations++;
            const bool is_good = fits(k, g, outcome, sizeof outcome);
            add_to_table(k, g, &table, outcome);
            if (is_good && g->n_steps == 0) {
                for (uint32_t j = 0; j < g->n_nodes; j++)
                    bitset_remove(&k->dirty, g->first_node + j);
                k->model->fault.text[0] = 0;
                return KOINE_OK;
            }
            others = next_choice(others, n);
        } while (others && table.n_tried < MOST_COMBINATIONS);
    }
    return none_fits(k, g, &table);
}

KoineStatus koine_decide_together(Machine *k, const KoineNode *node)
{
    const KoineProgram *p = k->program;
    const uint32_t group = p->relations[node->object].mixed;
    const KoineMixed *g = &p->mixed[group];
    if (k->round.group != group)
        begin_round(k, group);
    bool any = false;
    for (uint32_t j = 0; j < g->n_relations; j++) {
        const KoineRelation *r = &p->relations[g->relations[j]];
        bool value = k->m[r->bit].i;
        if (&p->nodes[r->node] == node || bitset_has(&k->dirty, r->node)) {
            bitset_remove(&k->dirty, r->node);
            if (!koine_decide(k, g->relations[j], &value))
                return koine_fault(k, KOINE_FAILED, p->nodes[r->node].origin, NULL);
        }
        k->round.value[g->relations[j]] = value;
        k->statistics.mixed_flips += value != (k->m[r->bit].i != 0);
        any |= value != (k->m[r->bit].i != 0);
    }
    if (!any)
        return KOINE_OK;
    for (uint32_t j = 0; j < g->n_relations; j++)
        koine_set_bit(k, &p->relations[g->relations[j]], k->round.value[g->relations[j]]);
    return goes_round(k, g) ? search_combination(k, group) : KOINE_OK;
}

/* Values of step functions are not tried one by one: there are too many. */
KoineStatus koine_count_round(Machine *k, uint32_t group)
{
    if (k->round.group != group)
        begin_round(k, group);
    if (++k->round.n_rounds <= MOST_ROUNDS)
        return KOINE_OK;
    char text[160];
    snprintf(text, sizeof text, "step functions and equations that depend on each other do not settle within %d rounds",
             MOST_ROUNDS);
    return koine_fault(k, KOINE_FAILED, k->program->nodes[k->program->mixed[group].first_node].origin, text);
}

KoineStatus koine_rescue(Machine *k, uint32_t node, KoineStatus status)
{
    const KoineProgram *p = k->program;
    for (uint32_t group = 0; group < p->n_mixed; group++) {
        const KoineMixed *g = &p->mixed[group];
        if (node < g->first_node || node >= g->first_node + g->n_nodes)
            continue;
        const KoineNodeKind kind = (KoineNodeKind)p->nodes[node].kind;
        if (kind == KOINE_NODE_RELATION || kind == KOINE_NODE_STEP || g->n_relations == 0)
            return status;
        if (k->round.group != group)
            begin_round(k, group);
        return search_combination(k, group);
    }
    return status;
}
