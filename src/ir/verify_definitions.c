/* V1, V6, V7: every quantity is defined as often as it should be.
 *
 * What can be defined is a target: a variable or its derivative, or one of their elements with literal indices. A place
 * is a branch of a region, or the outside. At each place a target may be claimed by one thing only: an equation, a
 * group of transitions, a delay, or a region in which it is defined further. A definition claims its own place for
 * itself and the places around it for the regions it lies in. So a second definition that could hold at the same time
 * meets a claim of something else, and each step up is made once. */
#include "base/bug.h"
#include "ir/verify_checks.h"

typedef enum { CLAIM_EQUATION, CLAIM_TRANSITION, CLAIM_DELAY, CLAIM_FOREIGN, CLAIM_REGION } ClaimKind;
typedef struct {
    uint32_t target, place;
    uint32_t thing; /* equation, transition (of the group the first), delay or region */
    uint8_t kind;   /* ClaimKind */
    uint8_t validity;
    bool is_held; /* where it is not defined it keeps its value */
    Span span;
} Claim;

typedef struct {
    VarId var;
    bool is_der, is_whole;
} Target;

typedef struct {
    Verifier *v;
    uint32_t *whole; /* per variable and its derivative: 1 + number */
    Map elements;    /* variable, derivative, indices: number */
    VEC(Target) rows;
    VEC(uint32_t) outside; /* per target: 1 + claim at the place outside of all regions */
    Map claims;            /* of other places: target << 32 | place: claim */
    VEC(Claim) claimed;
    uint32_t *first_place; /* per region; branch b of region r is place first_place[r] + b */
    uint32_t *group_first; /* per group: its first transition + 1 */
} Definitions;

static uint32_t add_target(Definitions *d, Target row)
{
    vec_push(d->v->arena, &d->rows, row);
    vec_push(d->v->arena, &d->outside, 0);
    return d->rows.n - 1;
}

static uint32_t find_whole(Definitions *d, VarId var, bool is_der)
{
    uint32_t *number = &d->whole[2 * (size_t)var.index + is_der];
    if (!*number)
        *number = 1 + add_target(d, (Target){ var, is_der, true });
    return *number - 1;
}

static uint32_t find_element(Definitions *d, uint64_t key, Target row)
{
    uint32_t number;
    if (!map_get(&d->elements, key, &number))
        map_put(&d->elements, key, number = add_target(d, row));
    /* Two elements with one hash: not worth a false alarm. */
    return d->rows.at[number].var.index == row.var.index ? number : ID_NONE;
}

/* The number of the target, or ID_NONE for an element whose index is not a literal. */
static uint32_t target_of(Definitions *d, Term term)
{
    const Ref ref = term_refs(d->v->model, term)[term.shape->u.leaf];
    uint64_t key = (uint64_t)ref.var.index << 1 | (ref.kind == REF_DER);
    if (ref.kind != REF_NOW && ref.kind != REF_DER)
        return ID_NONE;
    if (term.shape->n_args == 0)
        return find_whole(d, ref.var, ref.kind == REF_DER);
    for (uint32_t k = 0; k < term.shape->n_args; k++) {
        if (term.shape->args[k]->kind != EXPR_INTEGER)
            return ID_NONE;
        key = hash_mix(key, (uint64_t)term.shape->args[k]->u.integer);
    }
    return find_element(d, key, (Target){ ref.var, ref.kind == REF_DER, false });
}

static uint32_t place_of(const Definitions *d, RegionId region, uint32_t branch)
{
    return region.index == ID_NONE ? 0 : d->first_place[region.index] + branch;
}

static bool excludes(uint8_t a, uint8_t b)
{
    return a != b && (a == VALID_INITIAL_ONLY || b == VALID_INITIAL_ONLY);
}

static void defined_twice(Definitions *d, const Claim *first, Span span)
{
    const Target *row = &d->rows.at[first->target];
    const char *name = verify_variable_text(d->v, row->var);
    REPORT(d->v, DIAG_MODEL_DEFINED_TWICE, span, "%s%s%s is defined twice", row->is_der ? "der(" : "", name,
           row->is_der ? ")" : "");
    diag_note(d->v->diag, first->span, "the other definition is here");
    diag_help(d->v->diag, "remove one, or put them into different branches of one region");
}

/* The claim of the target at a place; false: it is the new one. */
static bool find_claim(Definitions *d, const Claim *new, uint32_t *known)
{
    const uint64_t key = (uint64_t) new->target << 32 | new->place;
    const uint32_t at_outside = d->outside.at[new->target];
    if (new->place == 0 ? at_outside != 0 : map_get(&d->claims, key, known)) {
        *known = new->place == 0 ? at_outside - 1 : *known;
        return true;
    }
    if (new->place == 0)
        d->outside.at[new->target] = d->claimed.n + 1;
    else
        map_put(&d->claims, key, d->claimed.n);
    vec_push(d->v->arena, &d->claimed, *new);
    return false;
}

static void claim(Definitions *d, uint32_t target, RegionId region, uint32_t branch, Claim new)
{
    const Span span = new.span;
    for (;;) {
        uint32_t known;
        new.target = target;
        new.place = place_of(d, region, branch);
        if (find_claim(d, &new, &known)) {
            const Claim *old = &d->claimed.at[known];
            if (old->kind == new.kind && old->thing == new.thing &&new.kind != CLAIM_EQUATION)
                return; /* claimed before, and so is everything around */
            if (!excludes(old->validity, new.validity)) {
                defined_twice(d, old, span);
                return;
            }
        }
        if (region.index == ID_NONE)
            return;
        const Region *r = &d->v->model->regions.at[region.index];
        new.kind = CLAIM_REGION;
        new.thing = region.index;
        region = r->parent;
        branch = r->parent_branch;
    }
}

static void claim_term(Definitions *d, Term term, RegionId region, uint32_t branch, Claim new)
{
    const uint32_t target = target_of(d, term);
    if (target != ID_NONE)
        claim(d, target, region, branch, new);
}

/* The variables a body assigns, each once. */
static void claim_statements(Definitions *d, uint32_t first, RegionId region, uint32_t branch, Claim new, Map *seen)
{
    const Model *model = d->v->model;
    for (uint32_t k = first; k; k = model->statements.at[k].next) {
        const Statement *s = &model->statements.at[k];
        uint32_t ignored;
        if (s->kind == STATEMENT_ASSIGN) {
            const uint32_t target = target_of(d, s->target);
            if (target != ID_NONE && !map_get(seen, target, &ignored)) {
                map_put(seen, target, 1);
                claim(d, target, region, branch, new);
            }
        }
        claim_statements(d, s->inner, region, branch, new, seen);
        claim_statements(d, s->otherwise, region, branch, new, seen);
    }
}

static void claim_body(Definitions *d, uint32_t first, RegionId region, uint32_t branch, Claim new)
{
    Map seen;
    if (!first)
        return;
    map_init(&seen, d->v->arena, 16);
    claim_statements(d, first, region, branch, new, &seen);
}

static void claim_equations(Definitions *d)
{
    const Model *model = d->v->model;
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *e = &model->equations.at[k];
        const Claim new = { .kind = CLAIM_EQUATION, .thing = k, .validity = e->when_valid, .span = e->origin.span };
        if (e->kind == EQUATION_EXPLICIT || e->kind == EQUATION_ITERATION)
            claim_term(d, e->lhs, e->region, e->branch, new);
        else if (e->kind == EQUATION_ALGORITHM)
            claim_body(d, e->body, e->region, e->branch, new);
    }
    for (uint32_t k = 0; k < model->delays.n; k++) {
        const Delay *delay = &model->delays.at[k];
        const uint32_t target = find_whole(d, delay->output, false);
        claim(d, target, REGION_NONE, 0, (Claim){ .kind = CLAIM_DELAY, .thing = k, .span = delay->span });
    }
}

/* What a component gives, until there are equations for it. */
static void claim_foreigns(Definitions *d)
{
    const Model *model = d->v->model;
    for (uint32_t k = 0; k < model->foreigns.n; k++) {
        const Foreign *f = &model->foreigns.at[k];
        for (uint32_t j = 0; j < f->n_ports && !f->is_lowered; j++) {
            const ForeignPort *port = &model->foreign_ports.at[f->first_port + j];
            const bool is_state = port->role == FOREIGN_STATE;
            if (port->role != FOREIGN_OUT && !is_state)
                continue;
            const uint32_t target = find_whole(d, port->var, is_state);
            claim(d, target, REGION_NONE, 0, (Claim){ .kind = CLAIM_FOREIGN, .thing = k, .span = f->span });
        }
    }
}

/* Transitions that act now; those of one group are one thing. */
static void claim_transitions(Definitions *d)
{
    const Model *model = d->v->model;
    for (uint32_t k = 0; k < model->transitions.n; k++) {
        const Transition *t = &model->transitions.at[k];
        if (t->effect != EFFECT_NOW)
            continue;
        uint32_t thing = k;
        if (t->group) {
            if (!d->group_first[t->group])
                d->group_first[t->group] = k + 1;
            thing = d->group_first[t->group] - 1;
        }
        Claim new = { .kind = CLAIM_TRANSITION, .thing = thing, .is_held = true, .span = t->origin.span };
        for (uint32_t a = 0; a < t->n_assignments; a++) {
            const Assignment *assignment = &model->assignments.at[t->first_assignment + a];
            new.span = assignment->span;
            claim_term(d, assignment->target, t->region, t->branch, new);
        }
        new.span = t->origin.span;
        claim_body(d, t->body, t->region, t->branch, new);
    }
}

/* V6: what is defined in a branch of a causal region is defined in all of them. */
static void verify_branches(Definitions *d)
{
    const Model *model = d->v->model;
    const uint32_t n = d->claimed.n;
    for (uint32_t k = 0; k < n; k++) {
        const Claim *c = &d->claimed.at[k];
        if (c->kind != CLAIM_REGION || model->regions.at[c->thing].kind != REGION_CAUSAL)
            continue;
        const Region *r = &model->regions.at[c->thing];
        const Target *row = &d->rows.at[c->target];
        const Variable *var = &d->v->model->variables.at[row->var.index];
        if (row->is_der || c->is_held || var->definition != DEFINITION_NOW || c->validity == VALID_INITIAL_ONLY)
            continue;
        for (uint32_t branch = 1; branch <= r->n_conditions + 1; branch++) {
            uint32_t ignored;
            const uint64_t key = (uint64_t)c->target << 32 | place_of(d, (RegionId){ c->thing }, branch);
            const bool is_defined = branch <= r->n_conditions + r->has_else && map_get(&d->claims, key, &ignored);
            if (is_defined)
                continue;
            const char *name = verify_variable_text(d->v, row->var);
            if (branch > r->n_conditions + r->has_else || branch > r->n_conditions)
                REPORT(d->v, DIAG_MODEL_BRANCH_MISSING, r->span, "%s is not defined when no condition holds", name);
            else
                REPORT(d->v, DIAG_MODEL_BRANCH_MISSING, r->span, "%s is not defined in branch %u", name, branch);
            diag_note(d->v->diag, c->span, "it is defined here");
            diag_help(d->v->diag, "define it in every branch, also in else; %s := pre(%s) keeps its value", name, name);
            break;
        }
    }
}

void verify_definitions(Verifier *v)
{
    const Model *model = v->model;
    Definitions d = { .v = v };
    d.whole = NEW_ARRAY(v->arena, uint32_t, 2 * (size_t)model->variables.n + 1);
    map_init(&d.elements, v->arena, 0);
    map_init(&d.claims, v->arena, model->regions.n);
    vec_reserve(v->arena, &d.claimed, model->equations.n);
    d.first_place = NEW_ARRAY(v->arena, uint32_t, model->regions.n + 1);
    d.group_first = NEW_ARRAY(v->arena, uint32_t, model->n_groups + 1);
    uint32_t n_places = 0;
    for (uint32_t k = 0; k < model->regions.n; k++) {
        d.first_place[k] = n_places;
        n_places += model->regions.at[k].n_conditions + model->regions.at[k].has_else;
    }
    claim_equations(&d);
    claim_foreigns(&d);
    claim_transitions(&d);
    verify_branches(&d);
}

/* V6 for acausal regions: as many equations in each branch. */
void verify_balance(Verifier *v)
{
    const Model *model = v->model;
    if (model->regions.n == 0)
        return;
    uint32_t *first = NEW_ARRAY(v->arena, uint32_t, model->regions.n + 1);
    for (uint32_t k = 0; k < model->regions.n; k++)
        first[k + 1] = first[k] + model->regions.at[k].n_conditions + 2;
    int64_t *counts = NEW_ARRAY(v->arena, int64_t, first[model->regions.n]); /* -1: not to be told */
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *e = &model->equations.at[k];
        if (e->region.index == ID_NONE || e->kind == EQUATION_DROPPED || e->when_valid != VALID_ALWAYS)
            continue;
        int64_t *count = &counts[first[e->region.index] + e->branch];
        const bool is_scalar = e->domain.index == 0 && e->kind != EQUATION_ALGORITHM && e->lhs.shape->type.rank == 0;
        *count = is_scalar && *count >= 0 ? *count + 1 : -1;
    }
    /* Children have no fixed order: a region with regions in it is left to the passes. */
    for (uint32_t k = 0; k < model->regions.n; k++)
        if (model->regions.at[k].parent.index != ID_NONE)
            counts[first[model->regions.at[k].parent.index] + model->regions.at[k].parent_branch] = -1;
    for (uint32_t k = 0; k < model->regions.n; k++) {
        const Region *r = &model->regions.at[k];
        if (r->kind != REGION_ACAUSAL)
            continue;
        const int64_t wanted = counts[first[k] + 1];
        for (uint32_t branch = 2; branch <= r->n_conditions + 1; branch++) {
            const int64_t is = branch <= r->n_conditions + r->has_else ? counts[first[k] + branch] : 0;
            if (wanted < 0 || is < 0 || is == wanted)
                continue;
            REPORT(v, DIAG_MODEL_BRANCHES_UNBALANCED, r->span, "branch 1 has %lld equations, branch %u has %lld",
                   (long long)wanted, branch, (long long)is);
            diag_help(v->diag, "every branch needs the same number of equations, also the missing else");
            break;
        }
    }
}
