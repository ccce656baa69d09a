/* Any bytes as the file that --inputs or --start-from name, whatever its form: refused with a reason, or a short run
 * follows its signals, or begins with its state. */
#include "experiment/start.h"
#include "experiment/drive.h"
#include "held_model.h"
#include "koine/simulate.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ROWS = 300 };

static volatile int interrupt;

static KoineStatus point(KoineSink *sink, const KoineModel *model, const KoinePoint *at)
{
    uint32_t *const n = sink->context;
    (void)model;
    if (!isfinite(at->time))
        abort();
    if (++*n > MOST_ROWS)
        interrupt = 1;
    return KOINE_OK;
}

static void run(KoineModel *model, double start)
{
    uint32_t n = 0;
    KoineSink sink = { .context = &n, .point = point };
    KoineSink *sinks[] = { &sink };
    KoineRunReport report;
    const KoineRunOptions options = { .start = start,
                                      .stop = start + 1,
                                      .interval = 0.1,
                                      .step = 0.02,
                                      .solver = "rk4",
                                      .sinks = sinks,
                                      .n_sinks = 1,
                                      .listener.interrupt = &interrupt };
    interrupt = 0;
    koine_simulate(model, &options, &report);
}

static void follow(const char *path, Arena *arena, Diag *diag)
{
    const KoineModelKind *const kind = held_kind();
    const KoineHost host = { .max_steps = 50 };
    KoineModel *model;
    const Series *const signals = series_signals(path, arena, diag);
    if ((signals == NULL) != (diag_errors(diag) > 0))
        abort(); /* NULL means: reported */
    if (!signals)
        return;
    Drive *const drive = drive_create(signals, kind->tables, path, SPAN_NONE, arena, diag);
    series_done(signals);
    if ((drive == NULL) != (diag_errors(diag) > 0))
        abort();
    if (!drive || kind->create(kind, &host, &model) != KOINE_OK)
        return;
    run(drive_model(drive, model), 0);
    kind->destroy(model);
}

static void begin(const char *path, Arena *arena, Diag *diag)
{
    const KoineModelKind *const kind = held_kind();
    const KoineHost host = { .max_steps = 50 };
    KoineModel *model;
    StartState start;
    double scales[16] = { 0 };
    Experiment experiment = experiment_none(NULL);
    if (!experiment_give(&experiment, "start-from", path, arena, diag))
        return;
    const bool is_good = start_read(&experiment, arena, diag, &start) && kind->create(kind, &host, &model) == KOINE_OK;
    if (is_good) {
        start_scales(&start, kind->tables, arena, scales);
        if (start_write(&start, &experiment, model, arena, diag) && fabs(start.time) < 1e6)
            run(model, start.time);
        kind->destroy(model);
    }
    if (start.series)
        series_done(start.series);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const path = place_path("inputs.csv");
    place_write(path, data, size);
    for (int way = 0; way < 2; way++) {
        Arena *const arena = arena_create(NULL);
        Sources *const sources = sources_create(arena);
        Diag *const diag = diag_create(arena, sources);
        (way ? begin : follow)(path, arena, diag);
        diag_json(diag, arena);
        arena_destroy(arena);
    }
    return 0;
}
