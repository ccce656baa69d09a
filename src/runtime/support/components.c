/* Foreign components: models of other kinds that take part in this one.
 *
 * Between events a component is asked for what it gives at a point, like any equation. In an instant it goes through
 * its own event steps together with the whole: its nodes of the event graph tell it what its inputs are now, as a jump
 * of them; where it has something to commit, the whole commits. Its states lie in the vector of the whole, its root
 * functions behind those of the whole. */
#include "components.h"
#include "wake.h"
#include <float.h>
#include <stdlib.h>

/* ---- values in both blocks ---- */
/* True: something has another value than the component knows. */
static bool write_inputs(const Machine *m, const Component *c)
{
    const KoineForeignLinks *in = &c->foreign->inputs;
    bool any = false;
    for (uint32_t j = 0; j < in->n; j++) {
        KoineSlot *to = place_in(c, in->at[j].at);
        any |= to->i != m->slots[in->at[j].slot].i;
        *to = m->slots[in->at[j].slot];
    }
    return any;
}

static bool inputs_differ(const Machine *m, const Component *c)
{
    const KoineForeignLinks *in = &c->foreign->inputs;
    bool any = false;
    for (uint32_t j = 0; j < in->n; j++)
        any |= place_in(c, in->at[j].at)->i != m->slots[in->at[j].slot].i;
    return any;
}

static bool gather_states(const Machine *m, Component *c)
{
    const KoineForeignLinks *states = &c->foreign->states;
    bool any = false;
    for (uint32_t j = 0; j < states->n; j++) {
        KoineSlot before;
        before.r = c->x[j];
        any |= before.i != m->slots[states->at[j].slot].i;
        c->x[j] = m->slots[states->at[j].slot].r;
    }
    return any;
}

static void keep_left(Component *c)
{
    for (uint32_t j = 0; j < c->foreign->inputs.n; j++)
        c->left[j] = *place_in(c, c->foreign->inputs.at[j].at);
}

static void go_left(const Component *c)
{
    for (uint32_t j = 0; j < c->foreign->inputs.n; j++)
        *place_in(c, c->foreign->inputs.at[j].at) = c->left[j];
}

/* Its states go to the whole, where they are others there. */
static void take_states(Machine *m, Component *c, bool wakes)
{
    const KoineForeignLinks *states = &c->foreign->states;
    const KoineSlot *x = place_in(c, c->model->kind->tables->x);
    for (uint32_t j = 0; j < states->n; j++) {
        c->x[j] = x[j].r;
        if (m->slots[states->at[j].slot].i == x[j].i)
            continue;
        m->slots[states->at[j].slot] = x[j];
        if (!wakes)
            continue;
        m->instant->result.has_states = m->instant->result.is_restart = m->instant->result.is_changed = 1;
        cell_changed(m, states->at[j].cell);
    }
}

static bool has_steps(const Component *c)
{
    return c->foreign->step > 0;
}

/* ---- failures ---- */
KoineStatus koine_component_fault(Machine *m, const Component *c, KoineStatus status, const char *text)
{
    char whole[KOINE_FAULT_TEXT];
    KoineText to = koine_text_in(whole, sizeof whole);
    koine_text_add(&to, "the foreign component '%.100s' %.800s", c->foreign->name, text);
    koine_fault(m, status, KOINE_NONE, whole);
    m->model->fault.place = c->foreign->place;
    return koine_because(m, KOINE_CAUSE_FOREIGN, status);
}

static KoineStatus failed(Machine *m, const Component *c, KoineStatus status, const char *doing)
{
    char text[KOINE_FAULT_TEXT];
    KoineText to = koine_text_in(text, sizeof text);
    const char *why = c->model->fault.text;
    koine_text_add(&to, "%s %s%s%.700s", status > 0 ? "cannot compute" : "failed in", doing, why[0] ? ": " : "", why);
    return koine_component_fault(m, c, status, text);
}

static KoineStatus no_number(Machine *m, const Component *c, KoineStatus status, const char *what, const char *name)
{
    char text[200];
    KoineText to = koine_text_in(text, sizeof text);
    koine_text_add(&to, "gives no finite value for %s%.100s", what, name);
    return koine_component_fault(m, c, status, text);
}

/* ---- create, destroy ---- */
static void pass_message(void *context, const KoineModel *from, int level, const char *text)
{
    const Machine *m = context;
    const KoineHost *host = m->model->host;
    (void)from;
    if (host && host->message)
        host->message(host->context, m->model, level, text);
}

static bool create(Machine *m, Component *c, const KoineForeign *f)
{
    const uint32_t n = f->states.n, n_roots = (*f->kind)->tables->roots.n;
    if (m->model->host)
        c->host = *m->model->host;
    c->host.context = m;
    c->host.message = pass_message;
    c->host.fired = NULL;
    c->host.iterated = NULL;
    c->host.wants_work = 0;
    c->foreign = f;
    c->x = calloc(3 * (size_t)n + f->outputs.n + 2 * (size_t)n_roots + 1, sizeof *c->x);
    c->left = calloc(f->inputs.n + (size_t)1, sizeof *c->left);
    c->changes = calloc(f->inputs.n + (size_t)1, sizeof *c->changes);
    c->crossed = calloc(n_roots + (size_t)1, 1);
    if (!c->x || !c->left || !c->changes || !c->crossed ||
        (*f->kind)->create(*f->kind, &c->host, &c->model) != KOINE_OK)
        return false;
    c->der = c->x + n;
    c->base = c->der + n;
    c->roots = c->base + n + f->outputs.n;
    c->sizes = c->roots + n_roots;
    c->next_time = INFINITY;
    return true;
}

bool koine_components_create(Machine *m)
{
    const KoineForeigns *all = &m->program->foreigns;
    m->spaces.components = calloc(all->n + (size_t)1, sizeof *m->spaces.components);
    bool is_good = m->spaces.components != NULL;
    for (uint32_t j = 0; j < all->n && is_good; j++)
        is_good = create(m, &m->spaces.components[j], &all->at[j]);
    return is_good;
}

void koine_components_destroy(Machine *m)
{
    for (uint32_t j = 0; m->spaces.components && j < m->program->foreigns.n; j++) {
        Component *c = &m->spaces.components[j];
        if (c->model)
            c->model->kind->destroy(c->model);
        free(c->x);
        free(c->left);
        free(c->changes);
        free(c->crossed);
    }
    free(m->spaces.components);
}

/* ---- calls that may ask for more memory ---- */
static bool grow(KoineModel *model)
{
    const uint64_t size = (2 * model->size + KOINE_ALIGNMENT - 1) / KOINE_ALIGNMENT * KOINE_ALIGNMENT;
    unsigned char *block = aligned_alloc(KOINE_ALIGNMENT, size);
    if (!block)
        return false;
    memcpy(block, model->block, model->size);
    memset(block + model->size, 0, size - model->size);
    free(model->block);
    model->block = block;
    model->size = size;
    return true;
}

typedef KoineStatus Finish(KoineModel *model, KoineOutcome *outcome);

static KoineStatus finish(Machine *m, const Component *c, Finish *call, KoineOutcome *outcome, const char *doing)
{
    enum { MOST = 40 };
    outcome->flags = 0;
    KoineStatus status = call(c->model, outcome);
    for (uint32_t j = 0; status == KOINE_GROW && j < MOST && grow(c->model); j++)
        status = call(c->model, outcome);
    return status == KOINE_OK ? KOINE_OK : failed(m, c, status < 0 ? status : KOINE_FAILED, doing);
}

/* ---- the start ---- */
static KoineStatus initialise(Machine *m, Component *c)
{
    enum { MOST = 1000 };
    const KoineForeign *f = c->foreign;
    if (c->n_begins++ == MOST)
        return koine_component_fault(m, c, KOINE_FAILED, "and its inputs do not settle at the start");
    for (uint32_t j = 0; j < f->parameters.n; j++)
        *place_in(c, f->parameters.at[j].at) = m->slots[f->parameters.at[j].slot];
    for (uint32_t j = 0; j < f->states.n && c->n_begins == 1; j++) {
        KoineSlot start;
        start.r = f->states.at[j].start;
        if (f->states.at[j].at != KOINE_NO_OFFSET && start.i != m->slots[f->states.at[j].slot].i)
            *place_in(c, f->states.at[j].at) = m->slots[f->states.at[j].slot];
    }
    write_inputs(m, c);
    c->time = c->start = m->slots[m->program->slots.time].r;
    c->n_steps = 0;
    if (has_steps(c))
        c->next_time = c->start + f->step;
    const KoineStatus status = c->model->kind->initialise(c->model, c->time);
    if (status != KOINE_OK)
        return failed(m, c, KOINE_FAILED, "its initial calculation");
    c->known = 0;
    return KOINE_OK;
}

KoineStatus koine_begin_components(Machine *m)
{
    for (uint32_t j = 0; j < m->program->foreigns.n; j++) {
        Component *c = &m->spaces.components[j];
        c->n_begins = c->n_commits = 0;
        c->now.is_open = c->now.is_stepped = c->now.wants_commit = c->now.wants_instant = false;
        c->next_time = INFINITY;
        c->now.takes_inputs = false;
        c->now.cause = 0;
        c->host.resolution = m->model->host ? m->model->host->resolution : 0;
        const KoineStatus status = initialise(m, c);
        if (status != KOINE_OK)
            return status;
        take_states(m, c, false);
    }
    return KOINE_OK;
}

/* What it computes at the start depends on its inputs: once more with these. */
static KoineStatus begin_again(Machine *m, Component *c, bool wakes)
{
    if (!inputs_differ(m, c))
        return KOINE_OK;
    const KoineStatus status = initialise(m, c);
    if (status == KOINE_OK)
        take_states(m, c, wakes);
    return status;
}

/* ---- between events ---- */
static void tell(Machine *m, Component *c)
{
    if (has_steps(c)) /* it stands where its last step has led */
        return;
    const double time = m->slots[m->program->slots.time].r;
    const bool are_others = write_inputs(m, c), moves = gather_states(m, c);
    if (are_others || moves || c->time != time)
        c->known = 0;
    c->time = time;
}

static KoineStatus want(Machine *m, Component *c, unsigned what)
{
    tell(m, c);
    if ((c->known & what) == what)
        return KOINE_OK;
    const KoineEvaluation at = { .time = c->time, .x = c->x, .want = what, .der = c->der };
    const KoineStatus status = c->model->kind->evaluate(c->model, &at);
    if (status != KOINE_OK)
        return failed(m, c, status, "its values here");
    c->known |= what;
    return KOINE_OK;
}

static KoineStatus give(Machine *m, const Component *c, const KoineSystem *s, KoineStatus bad)
{
    const KoineForeignSystem *f = &s->u.foreign;
    for (uint32_t j = 0; j < s->n; j++) {
        KoineSlot *to = &m->slots[s->unknowns[j]];
        if (f->gives == KOINE_GIVES_DERIVATIVES)
            to->r = c->der[f->at[j]];
        else if (f->gives == KOINE_GIVES_OUTPUTS)
            *to = output_of(c, f->at[j]);
        else
            to->i = c->n_commits;
        if (s->types[j] == KOINE_REAL && !isfinite(to->r))
            return no_number(m, c, bad, f->gives == KOINE_GIVES_DERIVATIVES ? "the derivative of " : "", s->names[j]);
    }
    return KOINE_OK;
}

static unsigned wanted_by(const KoineSystem *s)
{
    return s->u.foreign.gives == KOINE_GIVES_DERIVATIVES ? KOINE_WANT_DER
           : s->u.foreign.gives == KOINE_GIVES_OUTPUTS   ? KOINE_WANT_OUTPUTS
                                                         : 0;
}

KoineStatus koine_evaluate_component(Machine *m, const KoineSystem *s)
{
    Component *c = &m->spaces.components[s->u.foreign.component];
    KoineStatus status = KOINE_OK;
    if (m->slots[m->program->slots.initial].i)
        status = begin_again(m, c, false);
    if (status == KOINE_OK && wanted_by(s))
        status = want(m, c, wanted_by(s));
    return status == KOINE_OK ? give(m, c, s, KOINE_RETRY) : status;
}

KoineStatus koine_component_roots(Machine *m, double *roots, double *sizes)
{
    for (uint32_t j = 0; j < m->program->foreigns.n; j++) {
        Component *c = &m->spaces.components[j];
        const uint32_t n = c->model->kind->tables->roots.n;
        if (n == 0)
            continue;
        tell(m, c);
        for (uint32_t k = 0; k < n; k++)
            c->sizes[k] = 0;
        const KoineEvaluation at = {
            .time = c->time, .x = c->x, .want = KOINE_WANT_ROOTS, .roots = c->roots, .root_sizes = c->sizes
        };
        const KoineStatus status = c->model->kind->evaluate(c->model, &at);
        if (status != KOINE_OK)
            return failed(m, c, status, "its conditions here");
        for (uint32_t k = 0; k < n; k++) {
            if (isnan(c->roots[k]))
                return no_number(m, c, KOINE_RETRY, "a condition", "");
            roots[c->foreign->first_root + k] = c->roots[k];
            if (sizes)
                sizes[c->foreign->first_root + k] = c->sizes[k];
        }
    }
    return KOINE_OK;
}

/* ---- tangents ---- */
static double size_of(double value)
{
    return fabs(value) > 1 ? fabs(value) : 1;
}

/* How far along the seeds a difference is taken: half of the digits of what changes most. 0: nothing changes. */
static double difference_step(const Machine *m, const Component *c)
{
    double largest = 0;
    const KoineForeignLinks *const lists[] = { &c->foreign->inputs, &c->foreign->states };
    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t j = 0; j < lists[l]->n; j++) {
            const KoineForeignLink *link = &lists[l]->at[j];
            if (link->seed != KOINE_NONE && link->type == KOINE_REAL)
                largest = fmax(largest, fabs(m->slots[link->seed].r) / size_of(m->slots[link->slot].r));
        }
    return largest > 0 ? sqrt(DBL_EPSILON) / largest : 0;
}

static void displace(Machine *m, const Component *c, double by)
{
    const KoineForeignLinks *const lists[] = { &c->foreign->inputs, &c->foreign->states };
    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t j = 0; j < lists[l]->n; j++) {
            const KoineForeignLink *link = &lists[l]->at[j];
            if (link->seed == KOINE_NONE || link->type != KOINE_REAL)
                continue;
            if (l == 0)
                place_in(c, link->at)->r = m->slots[link->slot].r + by * m->slots[link->seed].r;
            else
                c->x[j] = m->slots[link->slot].r + by * m->slots[link->seed].r;
        }
}

/* The derivatives along the seeds as differences: they serve iteration matrices only. What cannot be computed beside
 * the point does not change. */
KoineStatus koine_component_tangent(Machine *m, const KoineSystem *s)
{
    Component *c = &m->spaces.components[s->u.foreign.component];
    const bool is_der = s->u.foreign.gives == KOINE_GIVES_DERIVATIVES;
    KoineStatus status = want(m, c, wanted_by(s));
    if (status != KOINE_OK)
        return status;
    for (uint32_t j = 0; j < s->n; j++)
        c->base[j] = is_der ? c->der[s->u.foreign.at[j]] : output_of(c, s->u.foreign.at[j]).r;
    double step = has_steps(c) ? 0 : difference_step(m, c); /* 0: nothing changes */
    status = KOINE_RETRY;
    for (uint32_t side = 0; side < 2 && step != 0 && status != KOINE_OK; side++, step = -step) {
        displace(m, c, step);
        const KoineEvaluation at = { .time = c->time, .x = c->x, .want = wanted_by(s), .der = c->der };
        status = c->model->kind->evaluate(c->model, &at);
    }
    c->known = 0;
    for (uint32_t j = 0; j < s->n; j++) {
        const double there = is_der ? c->der[s->u.foreign.at[j]] : output_of(c, s->u.foreign.at[j]).r;
        const double slope = status == KOINE_OK ? (there - c->base[j]) / -step : 0; /* the step has turned round */
        if (s->tangent.unknowns[j] != KOINE_NONE)
            m->slots[s->tangent.unknowns[j]].r = isfinite(slope) ? slope : 0;
    }
    return KOINE_OK;
}

/* ---- instants ---- */
/* The inputs that have other values here than in the component. */
static uint32_t list_changes(const Machine *m, const Component *c)
{
    const KoineForeignLinks *in = &c->foreign->inputs;
    uint32_t n = 0;
    for (uint32_t j = 0; j < in->n; j++) {
        const KoineSlot now = m->slots[in->at[j].slot];
        if (place_in(c, in->at[j].at)->i != now.i)
            c->changes[n++] = (KoineChange){ in->at[j].variable, in->at[j].element, now };
    }
    return n;
}

/* An instant begins for it, or goes on with other inputs. */
static KoineStatus arrive(Machine *m, Component *c, unsigned cause, bool jumps)
{
    const KoineArrival arrival = { .time = m->slots[m->program->slots.time].r,
                                   .x = c->x,
                                   .cause = cause | (jumps ? KOINE_AT_INPUT : 0),
                                   .crossed = cause & KOINE_AT_ROOTS ? c->crossed : NULL,
                                   .changes = jumps ? c->changes : NULL,
                                   .n_changes = jumps ? list_changes(m, c) : 0 };
    c->time = arrival.time;
    c->known = 0;
    c->now.is_open = true;
    c->now.is_stepped = false;
    const KoineStatus status = c->model->kind->arrive(c->model, &arrival);
    return status == KOINE_OK ? KOINE_OK : failed(m, c, KOINE_FAILED, "the begin of an event");
}

static void wake(Machine *m, const Component *c)
{
    for (uint32_t j = 0; j < c->foreign->n_nodes; j++)
        bitset_add(&m->wake.dirty, c->foreign->nodes[j]);
}

static bool has_crossed(Component *c, const uint8_t *crossed)
{
    bool any = false;
    for (uint32_t j = 0; crossed && j < c->model->kind->tables->roots.n; j++)
        any |= c->crossed[j] = crossed[c->foreign->first_root + j];
    return any;
}

static bool is_due(const Component *c, double time)
{
    static const double MERGE = 16 * DBL_EPSILON; /* as in arrive.c */
    return c->next_time <= time + MERGE * fabs(time);
}

/* Inputs are those on the left. */
KoineStatus koine_arrive_components(Machine *m, const KoineArrival *arrival)
{
    static const unsigned PASSED =
        KOINE_AT_START | KOINE_AT_CONTINUE | KOINE_AT_TERMINAL; /* what every component is told of */
    for (uint32_t j = 0; j < m->program->foreigns.n; j++) {
        Component *c = &m->spaces.components[j];
        unsigned cause = arrival->cause & PASSED;
        if (cause & KOINE_AT_CONTINUE && c->n_begins == 0)
            return koine_component_fault(m, c, KOINE_FAILED,
                                         "cannot go on from an earlier run: what it remembered is not there");
        if (has_steps(c)) {
            c->now.wants_commit = is_due(c, arrival->time);
            c->now.takes_inputs |= cause & KOINE_AT_START;
            wake(m, c);
            continue;
        }
        tell(m, c);
        keep_left(c);
        if (arrival->cause & KOINE_AT_ROOTS && has_crossed(c, arrival->crossed))
            cause |= KOINE_AT_ROOTS;
        if (is_due(c, arrival->time))
            cause |= KOINE_AT_TIME;
        if (c->now.wants_instant && arrival->cause & KOINE_AT_STEP)
            cause |= KOINE_AT_STEP;
        c->now.wants_instant = c->now.wants_commit = false;
        c->now.is_open = false;
        c->now.is_start = cause & KOINE_AT_START;
        c->now.cause = cause & (KOINE_AT_START | KOINE_AT_STEP);
        if (arrival->cause & KOINE_AT_STOP && cause)
            cause |= KOINE_AT_STOP;
        const KoineStatus status = cause ? arrive(m, c, cause, false) : KOINE_OK;
        if (status != KOINE_OK)
            return status;
        wake(m, c);
    }
    return KOINE_OK;
}

static KoineStatus step(Machine *m, Component *c)
{
    if (has_steps(c))
        return KOINE_OK;
    if (gather_states(m, c) || inputs_differ(m, c)) {
        if (c->now.is_open)
            go_left(c);
        const KoineStatus status = arrive(m, c, c->now.cause, true);
        if (status != KOINE_OK)
            return status;
    }
    if (!c->now.is_open || c->now.is_stepped)
        return KOINE_OK;
    KoineOutcome outcome = { 0 };
    const KoineStatus status = c->model->kind->step(c->model, &outcome);
    if (status != KOINE_OK)
        return failed(m, c, status < 0 ? status : KOINE_FAILED, "an event step");
    c->now.is_stepped = true;
    c->now.wants_commit = outcome.flags & KOINE_COMMIT;
    return KOINE_OK;
}

KoineStatus koine_step_component(Machine *m, const KoineNode *node)
{
    const KoineSystem *s = &m->program->systems.at[node->object];
    Component *c = &m->spaces.components[s->u.foreign.component];
    const bool is_initial = m->slots[m->program->slots.initial].i;
    KoineStatus status = is_initial ? begin_again(m, c, true) : step(m, c);
    if (status == KOINE_OK && wanted_by(s))
        status = want(m, c, wanted_by(s));
    KoineSlot before[16];
    KoineSlot *kept = s->n <= 16 ? before : NULL;
    for (uint32_t j = 0; j < s->n && kept; j++)
        kept[j] = m->slots[s->unknowns[j]];
    if (status == KOINE_OK)
        status = give(m, c, s, KOINE_FAILED);
    for (uint32_t j = 0; j < s->n && status == KOINE_OK; j++) {
        const bool has_changed = !kept || kept[j].i != m->slots[s->unknowns[j]].i;
        if (has_changed)
            cell_moved(m, s->cells[j]);
        if (has_changed && (c->now.is_open || has_steps(c)))
            cell_jumped(m, s->cells[j]);
    }
    return status;
}

bool koine_components_want(const Machine *m)
{
    bool any = false;
    for (uint32_t j = 0; j < m->program->foreigns.n; j++)
        any |= m->spaces.components[j].now.wants_commit;
    return any;
}

/* A step of its own, with the inputs at its begin. Nothing undoes it: it is made once, where it ends. */
static KoineStatus advance(Machine *m, Component *c)
{
    const double from = c->time, to = c->next_time;
    double reached = NAN;
    KoineStatus status = c->model->kind->foreign.advance(c->model, from, to - from, &reached);
    for (uint32_t k = 0; status == KOINE_GROW && k < 40 && grow(c->model); k++)
        status = c->model->kind->foreign.advance(c->model, from, to - from, &reached);
    if (status != KOINE_OK)
        return failed(m, c, status < 0 ? status : KOINE_FAILED, "a step of its own");
    if (!(fabs(reached - to) <= 16 * DBL_EPSILON * fabs(to))) {
        char text[100];
        KoineText words = koine_text_in(text, sizeof text);
        koine_text_add(&words, "has come to time %.9g in its step to %.9g", reached, to);
        return koine_component_fault(m, c, KOINE_FAILED, text);
    }
    c->time = to;
    c->next_time = c->start + (double)(++c->n_steps + 1) * c->foreign->step;
    c->known = 0;
    c->n_commits++;
    c->now.wants_commit = false;
    c->now.takes_inputs = true;
    m->instant->result.is_changed = 1;
    wake(m, c);
    return KOINE_OK;
}

KoineStatus koine_commit_components(Machine *m)
{
    for (uint32_t j = 0; j < m->program->foreigns.n; j++) {
        Component *c = &m->spaces.components[j];
        if (!has_steps(c))
            keep_left(c);
        if (!c->now.wants_commit)
            continue;
        if (has_steps(c)) {
            const KoineStatus advanced = advance(m, c);
            if (advanced != KOINE_OK)
                return advanced;
            continue;
        }
        KoineOutcome outcome;
        const KoineStatus status = finish(m, c, c->model->kind->commit, &outcome, "an event");
        if (status != KOINE_OK)
            return status;
        c->now.wants_commit = c->now.is_stepped = false;
        c->now.cause = c->known = 0;
        c->n_commits++;
        take_states(m, c, true);
        wake(m, c);
    }
    return KOINE_OK;
}

KoineStatus koine_leave_components(Machine *m, double *next_time)
{
    for (uint32_t j = 0; j < m->program->foreigns.n; j++) {
        Component *c = &m->spaces.components[j];
        KoineOutcome outcome;
        if (c->now.takes_inputs)
            write_inputs(m, c);
        c->now.takes_inputs = false;
        if (!c->now.is_open) {
            *next_time = fmin(*next_time, c->next_time);
            continue;
        }
        const KoineStatus status = finish(m, c, c->model->kind->leave, &outcome, "the end of an event");
        if (status != KOINE_OK)
            return status;
        c->now.is_open = false;
        c->known = 0;
        c->next_time = outcome.next_time;
        *next_time = fmin(*next_time, c->next_time);
        m->instant->result.is_changed |= (outcome.flags & KOINE_CHANGED) != 0;
        m->instant->result.is_restart |= (outcome.flags & (KOINE_CHANGED | KOINE_RESTART)) != 0;
        m->instant->result.has_terminated |= (outcome.flags & KOINE_TERMINATE) != 0;
        if (outcome.flags & KOINE_STATES)
            take_states(m, c, true);
        const KoineStatus probed = c->now.is_start ? koine_component_probe(m, c) : KOINE_OK;
        c->now.is_start = false;
        if (probed != KOINE_OK)
            return probed;
    }
    return KOINE_OK;
}

/* ---- accepted steps ---- */
KoineStatus koine_accept_components(Machine *m, bool *wants_instant)
{
    *wants_instant = false;
    for (uint32_t j = 0; j < m->program->foreigns.n; j++) {
        Component *c = &m->spaces.components[j];
        if (has_steps(c))
            continue;
        tell(m, c);
        KoineOutcome outcome = { 0 };
        KoineStatus status = c->model->kind->accept(c->model, c->time, c->x, &outcome);
        for (uint32_t k = 0; status == KOINE_GROW && k < 40 && grow(c->model); k++)
            status = c->model->kind->accept(c->model, c->time, c->x, &outcome);
        if (status != KOINE_OK)
            return failed(m, c, status < 0 ? status : KOINE_FAILED, "an accepted step");
        c->known = 0;
        c->now.wants_instant = outcome.flags & KOINE_COMMIT;
        *wants_instant |= c->now.wants_instant;
    }
    return KOINE_OK;
}
