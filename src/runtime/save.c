/* A run that is saved and taken up again: see simulate.h. pieces.h says how what it remembers is told.
 *
 * The bytes are a head, which says what they belong to, and the pieces of the run. In memory they are the same bytes,
 * but for the checksum, which is made when somebody asks for them. */
#include "runtime/save.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char MAGIC[8] = "KOINERUN";
enum { VERSION = 2, ORDER = 0x01020304, GUID = 40, SOLVER = 32 };

/* What must be equal in the run that is saved and in the one that takes it up. */
typedef struct {
    char guid[GUID], solver[SOLVER];
    double start, interval, tolerance, absolute_tolerance, step, max_step;
    double resolution, first_step, high_error, low_error;
    uint64_t n_x, n_roots, n_signals, max_crossing, error_mode;
} Identity;

typedef struct {
    char magic[8];
    uint32_t version, order; /* ORDER, as this machine writes numbers */
    uint64_t size, checksum; /* of all the bytes; of all but this number */
    Identity identity;
    double time, stop;
    uint64_t block_size, note, is_exact;
} Head;

struct KoineSavedRun {
    uint64_t capacity;
    Head head; /* the pieces follow in memory */
};

static unsigned char *content_of(KoineSavedRun *saved)
{
    return (unsigned char *)(saved + 1);
}

static uint64_t content_size(const KoineSavedRun *saved)
{
    return saved->head.size - sizeof saved->head;
}

static void say(KoineReason *why, const char *format, ...)
{
    va_list list;
    if (!why)
        return;
    va_start(list, format);
    vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
}

/* --- Identity --- */

static Identity identity_of(const KoineRun *run)
{
    const KoineProblem *problem = &run->problem;
    Identity identity;
    memset(&identity, 0, sizeof identity);
    snprintf(identity.guid, sizeof identity.guid, "%s", run->tables->guid ? run->tables->guid : "");
    snprintf(identity.solver, sizeof identity.solver, "%s", run->solver ? run->solver->kind->name : "none");
    identity.start = problem->start;
    identity.interval = run->output.interval;
    identity.tolerance = problem->tolerance;
    identity.absolute_tolerance = run->options->absolute_tolerance;
    identity.step = problem->step;
    identity.max_step = run->options->max_step;
    identity.resolution = problem->control.resolution;
    identity.first_step = problem->control.first_step;
    identity.high_error = problem->control.high_error;
    identity.low_error = problem->control.low_error;
    identity.n_x = run->tables->n_x;
    identity.n_roots = run->tables->roots.n;
    identity.n_signals = run->tables->n_signals;
    identity.max_crossing = problem->control.max_crossing;
    identity.error_mode = (uint64_t)problem->control.error_mode;
    return identity;
}

static bool is_same_number(const char *name, double saved, double here, KoineReason *why)
{
    if (saved == here)
        return true;
    say(why, "the run was saved with %s %.9g, this one has %.9g", name, saved, here);
    return false;
}

static bool is_same_model(const Identity *saved, const Identity *here, KoineReason *why)
{
    if (memcmp(saved->guid, here->guid, GUID) == 0 && saved->n_x == here->n_x && saved->n_roots == here->n_roots &&
        saved->n_signals == here->n_signals)
        return true;
    say(why, "the run that was saved is one of another model (%.20s, this one is %.20s)",
        saved->guid[0] ? saved->guid : "without a guid", here->guid[0] ? here->guid : "without a guid");
    return false;
}

static bool is_same(const Identity *saved, const Identity *here, KoineReason *why)
{
    if (!is_same_model(saved, here, why))
        return false;
    if (memcmp(saved->solver, here->solver, SOLVER) != 0) {
        say(why, "the run was saved with the solver %.30s, this one has %.30s", saved->solver, here->solver);
        return false;
    }
    return is_same_number("start", saved->start, here->start, why) &&
           is_same_number("interval", saved->interval, here->interval, why) &&
           is_same_number("tolerance", saved->tolerance, here->tolerance, why) &&
           is_same_number("absolute tolerance", saved->absolute_tolerance, here->absolute_tolerance, why) &&
           is_same_number("step", saved->step, here->step, why) &&
           is_same_number("max-step", saved->max_step, here->max_step, why) &&
           is_same_number("time grid", saved->resolution, here->resolution, why) &&
           is_same_number("first step", saved->first_step, here->first_step, why) &&
           is_same_number("high error", saved->high_error, here->high_error, why) &&
           is_same_number("low error", saved->low_error, here->low_error, why) &&
           is_same_number("MaxCro", (double)saved->max_crossing, (double)here->max_crossing, why) &&
           is_same_number("mode of errors", (double)saved->error_mode, (double)here->error_mode, why);
}

/* --- The pieces of a run --- */

/* What others count by the clock goes on. */
static void visit_report(KoineRun *run, KoinePieces *pieces)
{
    KoineRunReport *report = run->report;
    const double seconds = report->statistics.total_seconds;
    koine_count_model(run, 1);
    KOINE_PIECE(pieces, report->statistics);
    koine_count_model(run, -1);
    report->statistics.total_seconds = seconds;
    KOINE_PIECE(pieces, report->time);
}

static void visit_progress(KoineRun *run, KoinePieces *pieces)
{
    const KoineSample instants = run->instant.sample;
    const uint32_t max_steps = run->instant.max_steps;
    KoineOutput *output = &run->output;
    KOINE_PIECE(pieces, run->time);
    KOINE_PIECE(pieces, run->watch);
    KOINE_PIECE(pieces, run->instant);
    run->instant.sample = instants;
    run->instant.max_steps = max_steps;
    KOINE_PIECE(pieces, run->repeats);
    KOINE_PIECE(pieces, run->signals.sampled_time);
    KOINE_PIECE(pieces, output->grid_time);
    KOINE_PIECE(pieces, output->number);
    KOINE_PIECE(pieces, output->evaluated_time);
    KOINE_PIECE(pieces, output->stepped_time);
    KOINE_PIECE(pieces, output->skipped_time);
    KOINE_PIECE(pieces, output->countdown);
    KOINE_PIECE(pieces, run->crossing.before_time);
    if (!isnan(run->crossing.before_time))
        koine_piece_numbers(pieces, run->crossing.before, 2 * (uint64_t)run->tables->n_x);
}

static void visit_pause(KoineRun *run, KoinePieces *pieces)
{
    KoinePause *pause = &run->pause;
    KOINE_PIECE(pieces, pause->until);
    KOINE_PIECE(pieces, pause->goal);
    KOINE_PIECE(pieces, pause->part_end);
    KOINE_PIECE(pieces, pause->cause);
    KOINE_PIECE(pieces, pause->is_integrating);
    KOINE_PIECE(pieces, pause->has_part);
    KOINE_PIECE(pieces, pause->is_event);
}

static bool visit_solver(KoineRun *run, KoinePieces *pieces)
{
    KoineSolver *solver = run->solver;
    if (!solver)
        return true;
    KOINE_PIECE(pieces, solver->from);
    KOINE_PIECE(pieces, solver->time);
    KOINE_PIECE(pieces, solver->error);
    const bool is_whole = solver->kind->visit && solver->kind->visit(solver, pieces);
    double placed = run->pause.is_shown ? run->pause.placed : solver->placed;
    KOINE_PIECE(pieces, placed);
    if (pieces->visit == KOINE_PIECES_PUT)
        solver->placed = placed;
    return is_whole;
}

/* What the model keeps outside of its block, if it can say so. */
static void visit_foreign(KoineRun *run, KoinePieces *pieces)
{
    const KoineForeignCalls *calls = &run->kind->foreign;
    void *state = NULL;
    uint64_t size = 0;
    if (!calls->save || !calls->restore)
        return;
    if (pieces->visit == KOINE_PIECES_PUT) {
        KOINE_PIECE(pieces, size);
        pieces->is_short |= size > pieces->left || calls->restore(run->model, pieces->at, size) != KOINE_OK;
        if (!pieces->is_short)
            pieces->at += size, pieces->left -= size;
    } else if (calls->save(run->model, &state, &size) == KOINE_OK) {
        KOINE_PIECE(pieces, size);
        koine_piece(pieces, state, size);
    } else {
        pieces->is_short = true;
    }
}

/* All but the block, which comes first. The same order for ever: another one is another VERSION. */
static bool visit_run(KoineRun *run, KoinePieces *pieces)
{
    visit_foreign(run, pieces);
    visit_report(run, pieces);
    visit_progress(run, pieces);
    visit_pause(run, pieces);
    koine_roots_visit(run, pieces);
    koine_scales_visit(run, pieces);
    if (run->problem.strategy->memory.visit)
        run->problem.strategy->memory.visit(run, pieces);
    return visit_solver(run, pieces);
}

/* --- Saving --- */

static bool can_be_copied(const KoineRun *run, KoineReason *why)
{
    const KoineForeignCalls *calls = &run->kind->foreign;
    if (run->is_over) {
        say(why, "the run has ended: there is nothing to go on with");
        return false;
    }
    if (run->tables->capabilities & KOINE_CAN_SNAPSHOT || (calls->save && calls->restore))
        return true;
    say(why, "the model \"%.100s\" keeps something that cannot be copied", run->tables->name);
    return false;
}

static KoineSavedRun *with_room(KoineSavedRun *again, uint64_t size, KoineReason *why)
{
    if (again && again->capacity >= size)
        return again;
    KoineSavedRun *saved = realloc(again, sizeof *saved + size);
    if (!saved) {
        say(why, "no memory for %llu bytes of a saved run", (unsigned long long)size);
        return NULL;
    }
    saved->capacity = size;
    if (!again)
        memset(&saved->head, 0, sizeof saved->head);
    return saved;
}

/* The block as the run goes on with it, which is not what it shows. */
static void visit_block(KoineRun *run, KoinePieces *pieces)
{
    if (run->pause.is_shown)
        koine_piece(pieces, run->pause.block, run->pause.size);
    else
        koine_piece(pieces, run->model->block, run->model->size);
}

static KoineSavedRun *write_down(KoineRun *run, KoineSavedRun *again, bool is_exact, KoineReason *why)
{
    const uint64_t block_size = run->pause.is_shown ? run->pause.size : run->model->size;
    KoinePieces pieces = { .visit = KOINE_PIECES_COUNT };
    visit_block(run, &pieces);
    visit_run(run, &pieces);
    if (pieces.is_short) {
        say(why, "the model \"%.100s\" cannot be saved now", run->tables->name);
        return NULL;
    }
    KoineSavedRun *saved = with_room(again, pieces.left, why);
    if (!saved)
        return NULL;
    const Head head = { .version = VERSION,
                        .order = ORDER,
                        .size = sizeof head + pieces.left,
                        .identity = identity_of(run),
                        .time = run->report->time,
                        .stop = run->problem.stop,
                        .block_size = block_size,
                        .is_exact = is_exact };
    saved->head = head;
    memcpy(saved->head.magic, MAGIC, sizeof MAGIC);
    pieces = (KoinePieces){ .visit = KOINE_PIECES_TAKE, .at = content_of(saved) };
    visit_block(run, &pieces);
    visit_run(run, &pieces);
    return saved;
}

static bool is_exact(KoineRun *run)
{
    KoinePieces pieces = { .visit = KOINE_PIECES_COUNT };
    return visit_solver(run, &pieces);
}

KoineSavedRun *koine_run_save(KoineRun *run, KoineSavedRun *again, KoineReason *why)
{
    if (!can_be_copied(run, why))
        return NULL;
    if (is_exact(run) || !run->pause.has_part)
        return write_down(run, again, is_exact(run), why);
    KoineAside aside;
    KoineSavedRun *saved = NULL;
    if (koine_pause_take_part(run, &aside) >= 0)
        saved = write_down(run, again, false, why);
    else
        say(why, "the model cannot be evaluated where the run stands: %.200s", run->report->text);
    koine_pause_leave_part(run, &aside);
    return saved;
}

void koine_saved_free(KoineSavedRun *saved)
{
    free(saved);
}

/* --- Taking it up --- */

bool koine_saved_is_of(const KoineRun *run, const KoineSavedRun *saved, KoineReason *why)
{
    const Identity here = identity_of(run);
    return is_same_model(&saved->head.identity, &here, why);
}

bool koine_saved_fits(const KoineRun *run, const KoineSavedRun *saved, KoineReason *why)
{
    const Identity here = identity_of(run);
    const double last = saved->head.time;
    if (!is_same(&saved->head.identity, &here, why))
        return false;
    if (last <= run->problem.stop)
        return true;
    say(why, "the run was saved at time %.9g, which lies behind the stop %.9g", last, run->problem.stop);
    return false;
}

bool koine_saved_put_block(KoineModel *model, const KoineSavedRun *saved, KoineReason *why)
{
    const uint64_t size = saved->head.block_size;
    if (size > content_size(saved) || size < model->kind->tables->block_size) {
        say(why, "the saved run has a block of %llu bytes, which is none of this model", (unsigned long long)size);
        return false;
    }
    if (size > model->size) {
        unsigned char *block = aligned_alloc(64, (size + 63) / 64 * 64);
        if (!block) {
            say(why, "no memory for a model of %llu bytes", (unsigned long long)size);
            return false;
        }
        free(model->block);
        model->block = block;
    }
    model->size = size;
    memcpy(model->block, content_of((KoineSavedRun *)(uintptr_t)saved), size);
    return true;
}

/* The solver begins where the run was saved. */
static KoineStatus begin_anew(KoineRun *run)
{
    run->time = run->report->time;
    run->pause.has_part = false;
    run->crossing.before_time = NAN;
    run->repeats.pulse = -INFINITY;
    run->repeats.renewed_time = NAN;
    run->signals.sampled_time = run->time;
    koine_keep(run);
    return koine_restart(run);
}

KoineStatus koine_saved_put(KoineRun *run, const KoineSavedRun *saved)
{
    KoinePieces pieces = { .visit = KOINE_PIECES_PUT,
                           .at = content_of((KoineSavedRun *)(uintptr_t)saved) + saved->head.block_size,
                           .left = content_size(saved) - saved->head.block_size };
    const bool is_whole = visit_run(run, &pieces);
    if (pieces.is_short || pieces.left > 0)
        return koine_fail(run, KOINE_RUN_FAILED, "the bytes of the saved run do not fit the run");
    koine_watch_begin(run, run->problem.stop - run->problem.start);
    if (saved->head.stop != run->problem.stop)
        run->pause.is_integrating = false; /* the goal is another one */
    koine_record_restored(run);
    return is_whole && saved->head.is_exact ? KOINE_OK : begin_anew(run);
}

/* The run may have ended meanwhile. */
static void forget_end(KoineRun *run)
{
    KoineRunReport *report = run->report;
    run->is_over = run->pause.is_shown = false;
    run->problem.text[0] = '\0';
    report->end = KOINE_RUN_DONE;
    report->text[0] = '\0';
    report->fault = run->model->fault = (KoineFault){ .origin = -1, .variable = -1 };
}

KoineRestored koine_run_restore(KoineRun *run, const KoineSavedRun *saved, KoineReason *why)
{
    if (!koine_saved_fits(run, saved, why) || !koine_saved_put_block(run->model, saved, why))
        return KOINE_RESTORED_NOT;
    forget_end(run);
    if (koine_saved_put(run, saved) < 0 || koine_pause_show(run) < 0) {
        run->is_over = true;
        say(why, "%.250s", run->report->text);
        return KOINE_RESTORED_NOT;
    }
    return saved->head.is_exact ? KOINE_RESTORED_EXACTLY : KOINE_RESTORED_ANEW;
}

/* --- Bytes --- */

double koine_saved_time(const KoineSavedRun *saved)
{
    return saved->head.time;
}

bool koine_saved_is_exact(const KoineSavedRun *saved)
{
    return saved->head.is_exact;
}

void koine_saved_note(KoineSavedRun *saved, uint64_t note)
{
    saved->head.note = note;
}

uint64_t koine_saved_noted(const KoineSavedRun *saved)
{
    return saved->head.note;
}

/* Four lanes of words: every step can be undone, so that no change of one word stays unseen. */
static uint64_t checksum_of(const unsigned char *bytes, uint64_t size)
{
    enum { LANES = 4 };
    static const uint64_t BY = 0x9e3779b97f4a7c15u;
    uint64_t lane[LANES] = { size, 1, 2, 3 }, sum = 0;
    for (uint64_t at = 0; at < size; at += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, size - at < sizeof word ? size - at : sizeof word);
        uint64_t *const to = &lane[at / sizeof word % LANES];
        *to = (*to ^ word) * BY;
        *to ^= *to >> 29;
    }
    for (int k = 0; k < LANES; k++)
        sum = (sum ^ lane[k]) * BY + (sum >> 31);
    return sum;
}

static uint64_t checksum_of_head(const Head *head, const unsigned char *content, uint64_t size)
{
    Head copy;
    memcpy(&copy, head, sizeof copy);
    copy.checksum = checksum_of(content, size);
    return checksum_of((const unsigned char *)&copy, sizeof copy);
}

const void *koine_saved_bytes(KoineSavedRun *saved, uint64_t *size)
{
    saved->head.checksum = checksum_of_head(&saved->head, content_of(saved), content_size(saved));
    *size = saved->head.size;
    return &saved->head;
}

static bool is_head(const Head *head, uint64_t size, KoineReason *why)
{
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        say(why, "these bytes are no saved run");
    else if (head->order != ORDER)
        say(why, "the run was saved on a machine that orders the bytes of numbers in another way");
    else if (head->version != VERSION)
        say(why, "the run was saved by another version of Koine (form %u, this one reads %u)", (unsigned)head->version,
            (unsigned)VERSION);
    else if (head->size != size)
        say(why, "the saved run has %llu bytes, here are %llu", (unsigned long long)head->size,
            (unsigned long long)size);
    else
        return true;
    return false;
}

KoineSavedRun *koine_saved_read(const void *bytes, uint64_t size, KoineReason *why)
{
    Head head;
    const unsigned char *at = bytes;
    if (size < sizeof head) {
        say(why, "these bytes are no saved run: there are but %llu", (unsigned long long)size);
        return NULL;
    }
    memcpy(&head, at, sizeof head);
    if (!is_head(&head, size, why))
        return NULL;
    if (checksum_of_head(&head, at + sizeof head, size - sizeof head) != head.checksum) {
        say(why, "the bytes of the saved run were changed: their checksum is another one");
        return NULL;
    }
    KoineSavedRun *saved = with_room(NULL, size - sizeof head, why);
    if (!saved)
        return NULL;
    saved->head = head;
    memcpy(content_of(saved), at + sizeof head, size - sizeof head);
    return saved;
}
