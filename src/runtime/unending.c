/* Chains of instants that will not end: Zeno, chattering, a calendar that stands still (S16); and steps that lead
 * nowhere.
 * Decided by counts and simulated time only. */
#include "runtime/run.h"
#include <stdio.h>

enum {
    CHATTER = 32,     /* state events in a row */
    ZENO = 32,        /* shrinking gaps in a row ... */
    ZENO_AT_LEAST = 8 /* ... or these, if the gaps have become a millionth meanwhile */
};
enum { TRIES = 1000000 };               /* steps after which the progress is looked at */
static const double NOWHERE = 1e-7;     /* progress in these, as a share of the run: it would take 1e13 */
static const double HARDLY = 1e-3;      /* ... where a quarter of them is rejected: the equations jump, or end */
enum { STREAK = 1000, SLOW_SIDE = 64 }; /* state events in a row ... */
static const double DENSE = 1e-8;      /* ... each so soon after the last one, as a share of the run: worth a warning */
static const double CRITICAL = 32e-12; /* of the run: gaps between events that are smaller are looked at */
static const double CHATTER_SPAN = 32; /* h_cross */
static const double ZENO_GAP = 16;     /* h_cross */
static const double ZENO_DROP = 1e-6;  /* of the gaps, for the shorter chain */
static const double ZENO_RATIO = 0.999; /* gaps that shrink by less are taken as equal */

/* The instant `back` before the last. */
static const KoineWatched *seen(const KoineWatch *watch, uint64_t back)
{
    return &watch->ring[(watch->n - 1 - back) % WATCH_RING];
}

/* Names of the roots of the last `n` instants, each once. */
static void name_roots(const KoineRun *run, uint64_t n, char *text, size_t size)
{
    KoineText list = koine_text_in(text, size);
    for (uint64_t k = 0; k < n && run->tables->roots.at; k++) {
        const uint32_t root = seen(&run->watch, k)->root;
        bool is_new = root != NO_ROOT;
        for (uint64_t j = 0; j < k && is_new; j++)
            is_new = seen(&run->watch, j)->root != root;
        if (!is_new)
            continue;
        char one[512];
        koine_text_add(&list, "%s%s", list.n ? ", " : "", koine_root_text(run, root, one, sizeof one));
    }
}

/* The comparison that changed last, by a crossing or in time, is where a failure is shown; `text` names it. */
static void show_last(KoineRun *run, char *text, size_t size)
{
    const uint32_t root = seen(&run->watch, 0)->root;
    const KoineModelKind *kind = run->kind;
    KoineOrigin where;
    text[0] = '\0';
    if (root != NO_ROOT && run->tables->roots.at) {
        where = run->tables->roots.at[root];
    } else if (root != NO_ROOT || kind->size < sizeof *kind || !kind->time.last_event ||
               kind->time.last_event(run->model, &where) != KOINE_OK) {
        return;
    }
    koine_origin_text(run, &where, text, size);
    run->report->fault.place = where.place;
}

static uint64_t remembered(const KoineWatch *watch)
{
    return watch->n < WATCH_RING ? watch->n : WATCH_RING;
}

/* Times of the remembered instants with cause and effect of the last one, the newest first: a bounce is a contact,
 * perhaps a release and an apex, and only gaps from contact to contact shrink evenly. */
static uint64_t times_of_last_cause(const KoineWatch *watch, double *times)
{
    const uint64_t n = remembered(watch);
    uint64_t found = 0;
    for (uint64_t k = 0; k < n; k++)
        if (seen(watch, k)->root == seen(watch, 0)->root && seen(watch, k)->effect == seen(watch, 0)->effect)
            times[found++] = seen(watch, k)->time;
    return found;
}

/* Number of gaps, counted from the last, that shrink. */
static uint64_t shrinking(const double *times, uint64_t n)
{
    uint64_t k = 0;
    while (k + 2 < n) {
        const double later = times[k] - times[k + 1], earlier = times[k + 1] - times[k + 2];
        if (!(later > 0) || !(later < ZENO_RATIO * earlier))
            break;
        k++;
    }
    return k;
}

static KoineStatus watch_zeno(KoineRun *run, double h_cross)
{
    double times[WATCH_RING];
    const uint64_t found = times_of_last_cause(&run->watch, times);
    if (found < ZENO_AT_LEAST + 2)
        return KOINE_OK;
    const uint64_t n = shrinking(times, found);
    const double last = times[0] - times[1];
    if (n < ZENO_AT_LEAST || last > ZENO_GAP * h_cross || (n < ZENO && last > ZENO_DROP * (times[n] - times[n + 1])))
        return KOINE_OK;
    const uint64_t back = n < ZENO ? n : ZENO;
    const double ratio = exp(log(last / (times[back] - times[back + 1])) / (double)back);
    char name[1024];
    show_last(run, name, sizeof name);
    return koine_fail_by(
        run, KOINE_CAUSE_ZENO,
        "Zeno: the last %llu events of one kind follow each other at gaps that shrink by the factor %.4g and are down "
        "to %.3g; they accumulate at time %.15g%s%s. The model needs another equation after that time",
        (unsigned long long)back, ratio, last, run->time + last * ratio / (1 - ratio), name[0] ? ": " : "", name);
}

/* ---- chattering ---- */
/* Those that crossed in the last instants, each once. */
static uint32_t list_roots(const KoineRun *run, uint64_t n, uint32_t *list)
{
    uint32_t found = 0;
    for (uint64_t k = 0; k < n; k++) {
        const uint32_t root = seen(&run->watch, k)->root;
        bool is_new = true;
        for (uint32_t j = 0; j < found && is_new; j++)
            is_new = list[j] != root;
        if (is_new)
            list[found++] = root;
    }
    return found;
}

/* The last `n_events` state events since `from` are those of comparisons that chatter. */
static KoineStatus chatter(KoineRun *run, const uint32_t *list, uint32_t n, uint32_t n_events, double from)
{
    run->report->statistics.events.chatterings++;
    if (run->options->stop_at_chattering) {
        char names[1024];
        show_last(run, names, sizeof names);
        name_roots(run, n_events, names, sizeof names);
        return koine_fail_by(
            run, KOINE_CAUSE_CHATTERING,
            "chattering: %u state events in %.3g units of time: %s. The relation switches to and fro without "
            "end; give it a hysteresis or an equation for the sliding motion",
            (unsigned)n_events, run->time - from, names);
    }
    run->watch.n = run->watch.streak = 0; /* the chain is broken: what comes is another one */
    run->watch.is_looking = false;
    return koine_hold(run, list, n, n_events, from);
}

static KoineStatus watch_chattering(KoineRun *run, double h_cross)
{
    const KoineWatch *watch = &run->watch;
    if (watch->n <= CHATTER)
        return KOINE_OK;
    const double from = seen(watch, CHATTER)->time;
    if (run->time - from >= CHATTER_SPAN * h_cross)
        return KOINE_OK;
    for (uint64_t k = 0; k < CHATTER; k++)
        if (seen(watch, k)->root == NO_ROOT)
            return KOINE_OK;
    uint32_t list[CHATTER];
    const uint32_t n = list_roots(run, CHATTER, list);
    return chatter(run, list, n, CHATTER, from);
}

/* Where one branch is left much faster than the other one a slide takes its time: each second gap is long. */
static KoineStatus watch_slow_side(KoineRun *run)
{
    KoineWatch *watch = &run->watch;
    uint32_t list[SLOW_SIDE], sliding[SLOW_SIDE], n = 0;
    if (watch->is_looking)
        koine_hold_note(run);
    if (watch->streak % (2 * SLOW_SIDE) == SLOW_SIDE) {
        watch->is_looking = true;
        return koine_hold_look(run);
    }
    if (watch->streak % (2 * SLOW_SIDE) != 0)
        return KOINE_OK;
    watch->is_looking = false;
    TRY(koine_hold_sliding(run, list, list_roots(run, SLOW_SIDE, list), sliding, &n));
    return n ? chatter(run, sliding, n, SLOW_SIDE, seen(watch, SLOW_SIDE - 1)->time) : KOINE_OK;
}

static void warn_of_streak(KoineRun *run)
{
    KoineWatch *watch = &run->watch;
    watch->has_warned = true;
    run->report->statistics.events.chatterings++;
    const KoineHost *host = run->model->host;
    char names[1024], text[1536];
    if (!host || !host->message)
        return;
    name_roots(run, remembered(watch), names, sizeof names);
    snprintf(
        text, sizeof text,
        "%llu state events between %.15g and %.15g: %s. If this goes on the run takes very long; a wider hysteresis "
        "makes it shorter\n",
        (unsigned long long)watch->streak, watch->streak_start, run->time, names);
    host->message(host->context, run->model, KOINE_MESSAGE_WARNING, text);
}

/* Many state events in a short time: a slide, or the run will be long, and the user wants to know why. */
static KoineStatus watch_streak(KoineRun *run, double gap, unsigned cause)
{
    KoineWatch *watch = &run->watch;
    if (!(cause & KOINE_AT_ROOTS) || gap > watch->dense) {
        watch->streak = 0;
        watch->is_looking = false;
        return KOINE_OK;
    }
    if (watch->streak++ == 0)
        watch->streak_start = run->time;
    if (watch->streak >= SLOW_SIDE)
        TRY(watch_slow_side(run));
    if (watch->streak >= STREAK && !watch->has_warned)
        warn_of_streak(run);
    return KOINE_OK;
}

void koine_watch_begin(KoineRun *run, double span)
{
    KoineWatch *watch = &run->watch;
    watch->critical = CRITICAL * span;
    watch->dense = DENSE * span;
}

static KoineStatus watch_stillness(KoineRun *run, unsigned cause)
{
    if (!(cause & KOINE_AT_TIME) || ++run->watch.still <= run->instant.max_steps)
        return KOINE_OK;
    char name[1024];
    show_last(run, name, sizeof name);
    return koine_fail_by(run, KOINE_CAUSE_TIME_STANDS,
                         "the calendar stands still: %llu time events at one time%s%s. A strict comparison with time "
                         "that resets itself never ends: use >=",
                         (unsigned long long)run->watch.still, name[0] ? ": " : "", name);
}

static uint32_t first_crossed(const KoineRoots *roots)
{
    const uint8_t *at = memchr(roots->crossed, 1, roots->n);
    return at ? (uint32_t)(at - roots->crossed) : NO_ROOT;
}

KoineStatus koine_watch(KoineRun *run, unsigned cause)
{
    KoineWatch *watch = &run->watch;
    const double before = watch->n ? seen(watch, 0)->time : -INFINITY;
    const double gap = run->time - before;
    watch->ring[watch->n++ % WATCH_RING] = (KoineWatched){
        .time = run->time,
        .root = cause & KOINE_AT_ROOTS ? first_crossed(&run->roots) : NO_ROOT,
        .effect = run->instant.outcome.event_step > 0 ? run->instant.outcome.flags + 1 : 0,
    };
    if (run->roots.n_held && cause & KOINE_AT_ROOTS)
        TRY(koine_hold_crossed(run));
    TRY(watch_streak(run, gap, cause));
    if (watch->n == 0) /* what chatters is held back now */
        return KOINE_OK;
    if (gap > watch->critical && gap > 64 * CHATTER_SPAN * koine_ulp(run->time)) {
        watch->still = 0;
        return KOINE_OK;
    }
    const double h_cross = koine_crossing_step(&run->problem, run->time, INFINITY);
    if (gap <= koine_near(run->time))
        TRY(watch_stillness(run, cause));
    else
        watch->still = 0;
    if (gap < ZENO_GAP * h_cross && run->instant.outcome.event_step > 0)
        TRY(watch_zeno(run, h_cross));
    return cause & KOINE_AT_ROOTS ? watch_chattering(run, h_cross) : KOINE_OK;
}

KoineStatus koine_watch_tries(KoineRun *run)
{
    KoineRunStatistics sums = { 0 };
    KoineTries *before = &run->watch.tries;
    run->solver->kind->statistics(run->solver, &sums);
    const uint64_t rejected = sums.integration.rejected_steps, tries = sums.integration.steps + rejected;
    if (tries - before->tries < TRIES)
        return KOINE_OK;
    const KoineTries last = *before;
    const double span = fabs(run->problem.stop - run->problem.start), progress = run->time - last.time;
    const bool is_rough = rejected - last.rejected > (tries - last.tries) / 4;
    *before = (KoineTries){ run->time, tries, rejected };
    if (last.tries == 0 || !isfinite(span) || progress >= (is_rough ? HARDLY : NOWHERE) * span)
        return KOINE_OK;
    return koine_fail_by(run, KOINE_CAUSE_STEP_SIZE,
                         "the last %llu steps, of which %llu were rejected, went from time %.15g to %.15g only: the "
                         "solution may end here, or an equation jumps without an event",
                         (unsigned long long)(tries - last.tries), (unsigned long long)(rejected - last.rejected),
                         last.time, run->time);
}
