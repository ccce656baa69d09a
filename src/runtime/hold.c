/* Comparisons that chatter: each branch pushes the solution over the border to the other one, as in a sliding motion.
 *
 * Such a comparison is held back: it changes when its sides are beyond their border by a width, not on the border. So
 * the root function is a sawtooth between minus and plus this width, its mean is on the border, and how often it
 * changes depends on the model and the tolerance alone. The width is 200 tolerances of the scale of the root function:
 * what that changes by when each state changes by its size, but no more than it was ever away from zero. It begins with
 * far less, which is enough where only rounding moves it, and doubles within a few hundred changes; then from time to
 * time, so that a motion that slides for long does not take events without end; where even a hundredth of the scale is
 * not enough the run is over. */
#include "runtime/run.h"
#include <stdio.h>
#include <stdlib.h>

enum { PATTERNS = 6, SOON = 32, WIDER_AFTER = 20000, MOST_CROSSINGS = 300000, TIMES_NEAR = 16 };
static const double TOLERANCES = 200;
static const double START = 1e-4;           /* of the usual width: what is only rounding needs no more */
static const double NARROWEST = 2e-5;       /* of the scale ... */
static const double WIDEST = 1e-3;          /* ... at the beginning */
static const double MOST = 0.01;            /* ... and at last */
static const double LEAST_REACH = 0.1;      /* of what the states tell: where it began on the border */
static const double ABOVE_ROUNDING = 1e-10; /* of the operands */
static const double DISPLACEMENT = 0x1p-14; /* of the states, to find the scale */
static const double LEAVES = 8;             /* widths from the border: it slides no more */
static const double STAYS = 16;             /* times as far as where it was found to have changed */
static const double NEAR = 4;               /* widths: what stays within them while others chatter does so, too */

/* --- The width --- */

/* Change of all root functions when each state is displaced by a share of its size, to one side or the other. */
static KoineStatus displace(KoineRun *run, const double *x, uint32_t pattern, double *z)
{
    double *states = koine_states(run->model);
    for (uint32_t i = 0; i < run->tables->n_x; i++) {
        const bool is_below = i * 2654435761u >> (5 * pattern) & 1;
        const double by = DISPLACEMENT * koine_scale_of(run, i);
        states[i] = x[i] + (is_below ? -by : by);
    }
    return koine_roots_evaluate(run, z);
}

/* What each root function changes by when each state changes by its size, and how large its operands are. Of a few
 * patterns of signs one does not cancel. */
static KoineStatus find_scales(KoineRun *run, double *scales, double *operands)
{
    const size_t n = run->tables->n_x;
    KoineRoots *roots = &run->roots;
    double *states = koine_states(run->model), *x = run->crossing.x;
    memcpy(x, states, n * sizeof *x);
    memset(scales, 0, roots->n * sizeof *scales);
    memset(operands, 0, roots->n * sizeof *operands);
    roots->sizes = operands;
    KoineStatus status = koine_roots_evaluate(run, roots->lo);
    roots->sizes = NULL;
    for (uint32_t pattern = 0; pattern < PATTERNS && status >= 0; pattern++) {
        status = displace(run, x, pattern, roots->hi);
        for (uint32_t k = 0; k < roots->n && status == KOINE_OK; k++)
            scales[k] = koine_max(fabs(roots->hi[k] - roots->lo[k]) / DISPLACEMENT, scales[k]);
    }
    memcpy(states, x, n * sizeof *x);
    if (run->solver)
        run->solver->placed = NAN;
    return status < 0 ? status : KOINE_OK;
}

/* --- Being held back --- */

static void tell_model(const KoineRun *run, uint32_t root, bool is_held)
{
    if (run->kind->size >= sizeof(KoineModelKind) && run->kind->crossings.hold)
        run->kind->crossings.hold(run->model, root, is_held);
}

/* Where the statistics show it; NULL: there is no room. */
static KoineHeldBack *row_of(KoineRun *run, uint32_t root)
{
    KoineRunStatistics *statistics = &run->report->statistics;
    KoineHolding *holding = &run->roots.holding[root];
    if (holding->place == 0) {
        holding->place = ++statistics->n_held;
        if (holding->place <= KOINE_MOST_HELD) {
            statistics->held[holding->place - 1].from = run->time;
            koine_root_text(run, root, statistics->held[holding->place - 1].text, KOINE_HELD_TEXT);
        }
    }
    return holding->place <= KOINE_MOST_HELD ? &statistics->held[holding->place - 1] : NULL;
}

static void set_width(KoineRun *run, uint32_t root, double width)
{
    KoineHolding *holding = &run->roots.holding[root];
    KoineHeldBack *row = row_of(run, root);
    holding->width = run->roots.held[root] = koine_min(width, holding->most);
    if (row)
        row->width = koine_max(row->width, holding->width);
}

/* The widths that each would have from here on. */
static KoineStatus find_widths(KoineRun *run)
{
    KoineRoots *roots = &run->roots;
    const double share = koine_min(koine_max(TOLERANCES * run->problem.tolerance, NARROWEST), WIDEST);
    double *by_states = malloc(2 * roots->n * sizeof *by_states), *operands = by_states + roots->n;
    if (!by_states)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %u root functions", (unsigned)roots->n);
    const KoineStatus status = find_scales(run, by_states, operands);
    for (uint32_t k = 0; k < roots->n && status >= 0; k++) {
        KoineHolding *holding = &roots->holding[k];
        const double reach = koine_min(by_states[k], koine_max(roots->reach[k], LEAST_REACH * by_states[k]));
        const double scale = reach > 0 ? reach : operands[k] > 0 ? operands[k] : 1; /* no state has a size yet */
        const double width = koine_max(share * scale, ABOVE_ROUNDING * operands[k]);
        holding->scale = koine_max(scale, holding->scale);
        holding->most = koine_max(koine_max(MOST * scale, width), holding->most);
        holding->usual = koine_max(width, holding->usual);
        holding->width = koine_max(koine_max(START * width, ABOVE_ROUNDING * operands[k]), holding->width);
    }
    free(by_states);
    return status;
}

static void begin(KoineRun *run, uint32_t root)
{
    KoineHolding *holding = &run->roots.holding[root];
    KoineHeldBack *row = row_of(run, root);
    set_width(run, root, holding->width);
    holding->begun = holding->crossings;
    holding->next = holding->crossings + (holding->width < holding->usual ? SOON : WIDER_AFTER);
    run->roots.n_held++;
    tell_model(run, root, true);
    if (row)
        row->times++;
}

/* The next slide is another one: how far this one went beyond the usual width says nothing about it. */
static void end(KoineRun *run, uint32_t root)
{
    KoineHolding *holding = &run->roots.holding[root];
    KoineHeldBack *row = row_of(run, root);
    holding->width = koine_min(holding->width, holding->usual);
    run->roots.held[root] = 0;
    --run->roots.n_held;
    tell_model(run, root, false);
    if (row)
        row->to = run->time;
}

/* One warning for each: those that come and go are named once. */
static void warn(KoineRun *run, const uint32_t *list, uint32_t n, uint32_t n_events, double from)
{
    const KoineHost *host = run->model->host;
    char names[1024], one[512], text[1536];
    double width = 0, most = 0;
    KoineText all = koine_text_in(names, sizeof names);
    for (uint32_t k = 0; k < n; k++) {
        KoineHolding *holding = &run->roots.holding[list[k]];
        if (holding->is_named)
            continue;
        holding->is_named = true;
        width = koine_max(width, holding->usual);
        most = koine_max(most, holding->most);
        koine_text_add(&all, "%s%s", all.n ? ", " : "", koine_root_text(run, list[k], one, sizeof one));
    }
    if (!all.n || !host || !host->message)
        return;
    snprintf(
        text, sizeof text,
        "chattering: %u state events between %.15g and %.15g: %s. From here on it changes only when its sides are "
        "up to %.3g beyond their border, and up to %.3g if that goes on for long; a hysteresis or an equation for the "
        "sliding motion would say what is meant\n",
        (unsigned)n_events, from, run->time, names, width, most);
    host->message(host->context, run->model, KOINE_MESSAGE_WARNING, text);
}

static KoineStatus provide(KoineRun *run)
{
    KoineRoots *roots = &run->roots;
    if (!roots->holding)
        roots->holding = calloc(roots->n, sizeof *roots->holding);
    if (!roots->holding)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %u root functions", (unsigned)roots->n);
    return KOINE_OK;
}

KoineStatus koine_hold(KoineRun *run, const uint32_t *list, uint32_t n, uint32_t n_events, double from)
{
    KoineRoots *roots = &run->roots;
    TRY(provide(run));
    TRY(find_widths(run));
    for (uint32_t k = 0; k < n; k++)
        if (roots->held[list[k]] == 0)
            begin(run, list[k]);
    warn(run, list, n, n_events, from);
    return KOINE_OK;
}

static KoineStatus fail(KoineRun *run, uint32_t root)
{
    char name[512];
    run->report->fault.place = run->tables->roots.at ? run->tables->roots.at[root].place : (KoinePlace){ 0 };
    return koine_fail_by(run, KOINE_CAUSE_SLIDING,
                         "%s has changed %u times because it chatters, although it changes only when its sides are "
                         "%.3g beyond their border, which is %.2g of their size: it slides too fast to be followed",
                         koine_root_text(run, root, name, sizeof name), (unsigned)MOST_CROSSINGS, run->roots.held[root],
                         run->roots.held[root] / run->roots.holding[root].scale);
}

/* One that is held back has changed. */
static KoineStatus count_crossing(KoineRun *run, uint32_t root)
{
    KoineHolding *holding = &run->roots.holding[root];
    KoineHeldBack *row = row_of(run, root);
    holding->crossings++;
    if (row)
        row->crossings = holding->crossings;
    if (holding->crossings - holding->begun >= MOST_CROSSINGS)
        return fail(run, root);
    if (holding->crossings < holding->next)
        return KOINE_OK;
    const bool is_short = holding->width < holding->usual;
    set_width(run, root, is_short ? koine_min(2 * holding->width, holding->usual) : 2 * holding->width);
    holding->next += holding->width < holding->usual ? SOON : WIDER_AFTER;
    return KOINE_OK;
}

/* How wide those that are held back have become, the usual width being 1. */
static double largest_share(const KoineRoots *roots)
{
    double share = 0;
    for (uint32_t k = 0; k < roots->n; k++)
        if (roots->held[k] > 0)
            share = koine_max(roots->held[k] / roots->holding[k].usual, share);
    return share;
}

/* One that changes again and again because others chatter, and stays at its border, slides with them. */
static KoineStatus watch_neighbour(KoineRun *run, uint32_t root)
{
    KoineHolding *holding = &run->roots.holding[root];
    const double width = largest_share(&run->roots) * holding->usual;
    const bool is_near = holding->swing <= NEAR * width;
    holding->n_near = is_near ? holding->n_near + 1 : 0;
    holding->near_since = holding->n_near == 1 ? run->time : holding->near_since;
    holding->swing = 0;
    if (holding->n_near < TIMES_NEAR)
        return KOINE_OK;
    holding->n_near = 0;
    holding->width = koine_max(width, holding->width);
    run->report->statistics.events.chatterings++;
    return koine_hold(run, &root, 1, TIMES_NEAR, holding->near_since);
}

KoineStatus koine_hold_crossed(KoineRun *run)
{
    KoineRoots *roots = &run->roots;
    run->report->statistics.events.chattering_events += koine_is_chatter(run, KOINE_AT_ROOTS);
    for (uint32_t k = 0; k < roots->n; k++)
        if (roots->crossed[k])
            TRY(roots->held[k] > 0 ? count_crossing(run, k) : watch_neighbour(run, k));
    return KOINE_OK;
}

void koine_hold_watch(KoineRun *run)
{
    const KoineRoots *roots = &run->roots;
    for (uint32_t k = 0; k < roots->n; k++) {
        KoineHolding *holding = &roots->holding[k];
        const double distance = fabs(roots->lo[k]);
        holding->swing = koine_max(distance, holding->swing);
        holding->farthest = koine_max(distance, holding->farthest);
        if (holding->has_changed)
            holding->overshoot = koine_max(distance, holding->overshoot);
        holding->has_changed = false;
    }
}

/* --- One side slow, the other one fast --- */

KoineStatus koine_hold_look(KoineRun *run)
{
    TRY(provide(run));
    for (uint32_t k = 0; k < run->roots.n; k++) {
        KoineHolding *holding = &run->roots.holding[k];
        holding->farthest = holding->overshoot = 0;
        holding->has_changed = false;
    }
    return KOINE_OK;
}

void koine_hold_note(KoineRun *run)
{
    for (uint32_t k = 0; k < run->roots.n; k++)
        run->roots.holding[k].has_changed |= run->roots.crossed[k];
}

/* What has a hysteresis, or bounces, goes away from its border before it comes back; what slides comes back from where
 * the search for its change has left it. */
KoineStatus koine_hold_sliding(KoineRun *run, const uint32_t *list, uint32_t n, uint32_t *sliding, uint32_t *n_sliding)
{
    *n_sliding = 0;
    TRY(find_widths(run));
    for (uint32_t k = 0; k < n; k++) {
        const KoineHolding *holding = &run->roots.holding[list[k]];
        if (run->roots.held[list[k]] == 0 && holding->farthest <= STAYS * holding->overshoot &&
            holding->farthest <= holding->usual)
            sliding[(*n_sliding)++] = list[k];
    }
    return KOINE_OK;
}

void koine_hold_release(KoineRun *run)
{
    KoineRoots *roots = &run->roots;
    for (uint32_t k = 0; k < roots->n; k++) {
        const double width = roots->held[k];
        if (width == 0 || roots->lo[k] - width < LEAVES * width)
            continue;
        roots->lo[k] -= width;
        end(run, k);
    }
}

void koine_hold_end(KoineRun *run)
{
    for (uint32_t k = 0; run->roots.n_held && k < run->roots.n; k++)
        if (run->roots.held[k] > 0)
            end(run, k);
}

bool koine_is_chatter(const KoineRun *run, unsigned cause)
{
    const KoineRoots *roots = &run->roots;
    if (cause != KOINE_AT_ROOTS || roots->n_held == 0)
        return false;
    for (uint32_t k = 0; k < roots->n; k++)
        if (roots->crossed[k] && roots->held[k] == 0)
            return false;
    return true;
}
