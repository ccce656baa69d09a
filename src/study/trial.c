#include "study/trial.h"
#include "driver/compile.h"
#include "koine/simulate.h"
#include <math.h>
#include <stdio.h>

static const char TEXT[] = "BASIC COMPONENT Doctor\n"
                           "DECLARATION OF ELEMENTS\n"
                           "STATE VARIABLES CONTINUOUS x (REAL) := 1\n"
                           "DYNAMIC BEHAVIOUR\n"
                           "DIFFERENTIAL EQUATIONS x' := -x; END\n"
                           "END OF Doctor\n";

typedef struct {
    double last;
} Last;

static KoineStatus last_begin(KoineSink *sink, const KoineModel *model)
{
    (void)sink;
    (void)model;
    return KOINE_OK;
}

static KoineStatus last_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    Last *last = sink->context;
    (void)point;
    memcpy(&last->last, model->block + model->kind->tables->x, sizeof last->last);
    return KOINE_OK;
}

static const char *try_kind(const KoineModelKind *kind, Arena *arena)
{
    const KoineHost host = { 0 };
    KoineModel *model = NULL;
    if (kind->create(kind, &host, &model) < 0 || !model)
        return "no instance could be created";
    Last last = { 0 };
    KoineSink sink = { .context = &last, .begin = last_begin, .point = last_point, .end = last_begin };
    KoineSink *const sinks[] = { &sink };
    const KoineRunOptions options = { .stop = 1, .sinks = sinks, .n_sinks = 1 };
    KoineRunReport *report = NEW(arena, KoineRunReport);
    koine_simulate(model, &options, report);
    kind->destroy(model);
    if (report->end != KOINE_RUN_DONE)
        return arena_format(arena, "the test run failed: %s", report->text);
    return fabs(last.last - exp(-1)) < 1e-4 ? TRIAL_WORKS : "the test run gave a wrong value";
}

const char *trial_of_tier(const char *tier, OutOfMemory out_of_memory, Arena *arena)
{
    Compilation *c = compilation_create(out_of_memory);
    sources_add_text(c->sources, "Doctor.mdl", TEXT, sizeof TEXT - 1);
    const CompileRequest request = { .path = "Doctor.mdl" };
    const char *result = "the test model does not compile", *why;
    if (compilation_load(c, &request) && compilation_schedule(c)) {
        const KoineModelKind *kind = compilation_kind(c, tier, &why);
        result = kind ? try_kind(kind, arena) : arena_text(arena, why, strlen(why));
    }
    compilation_destroy(c);
    return result;
}

const char *trial_compiler(Arena *arena)
{
    char line[200] = "";
    FILE *pipe = popen("cc --version 2>/dev/null", "r");
    if (!pipe)
        return NULL;
    const bool is_read = fgets(line, sizeof line, pipe) != NULL;
    pclose(pipe);
    return is_read ? arena_text(arena, line, strcspn(line, "\n")) : NULL;
}
