/* Any bytes as what a command line says about a run, a line each, KEY=VALUE: --set, --nominal, --control, --stop and
 * the rest. Refused with a reason, or taken and applied to a model. */
#include "experiment/set.h"
#include "ir/given.h"
#include "held_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* False means: reported, now or in the same words before. */
static bool is_reported(bool is_good, uint32_t before, const Diag *diag)
{
    return is_good ? diag_errors(diag) == before : diag_errors(diag) > 0;
}

static void check(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* What the passes see before the model is compiled, with the task of the run. */
static void compile_with(const Experiment *e, Arena *arena)
{
    const uint32_t n = e->part.settings.n + e->errors.nominals.n;
    GivenValue *const values = NEW_ARRAY(arena, GivenValue, n);
    for (uint32_t k = 0; k < n; k++) {
        const bool is_nominal = k >= e->part.settings.n;
        const Setting *const setting =
            is_nominal ? &e->errors.nominals.at[k - e->part.settings.n] : &e->part.settings.at[k];
        values[k] = (GivenValue){ setting->name, setting->value, is_nominal, "command line" };
    }
    held_compilation();
    Compilation *const c = compilation_create(NULL);
    const bool is_good = compilation_load(c, &(CompileRequest){ .path = place_path("Held.ir"),
                                                                .task = e->how.task,
                                                                .task_span = SPAN_NONE,
                                                                .values = values,
                                                                .n_values = n }) &&
                         compilation_schedule(c);
    check(is_good == (diag_errors(c->diag) == 0), "false means: reported");
    diag_json(c->diag, arena);
    compilation_destroy(c);
}

static void apply(const Experiment *e, Arena *arena, Diag *diag)
{
    const KoineModelKind *const kind = held_kind();
    const KoineHost host = { 0 };
    KoineModel *model;
    double nominals[8] = { 0 };
    check(kind->create(kind, &host, &model) == KOINE_OK && kind->tables->n_x <= 8, "no model");
    const uint32_t before = diag_errors(diag);
    const bool is_set = set_values(model, SET_START, e->part.settings.at, e->part.settings.n, arena, diag);
    check(is_reported(is_set, before, diag), "false means: reported");
    set_values(model, SET_CHECK, e->part.settings.at, e->part.settings.n, arena, diag);
    set_nominals(kind->tables, e->errors.nominals.at, e->errors.nominals.n, nominals, arena, diag);
    if (kind->initialise(model, 0) == KOINE_OK)
        set_values(model, SET_NOW, e->part.settings.at, e->part.settings.n, arena, diag);
    kind->destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *const arena = arena_create(NULL);
    Sources *const sources = sources_create(arena);
    Diag *const diag = diag_create(arena, sources);
    Experiment experiment = experiment_none(NULL);
    char *line = arena_text(arena, (const char *)data, size);
    for (uint32_t n = 0; line && n < 32; n++) {
        char *const next = strchr(line, '\n');
        if (next)
            *next = 0;
        char *const value = strchr(line, '=');
        const uint32_t before = diag_errors(diag);
        if (value) {
            *value = 0;
            ExperimentKey key = 0;
            while (key < EXPERIMENT_KEYS && strcmp(experiment_key_name(key), line) != 0)
                key++;
            const bool is_good = key < EXPERIMENT_KEYS && experiment_give(&experiment, line, value + 1, arena, diag);
            check(key == EXPERIMENT_KEYS || is_reported(is_good, before, diag), "false means: reported");
        }
        line = next ? next + 1 : NULL;
    }
    experiment_check(&experiment, diag);
    apply(&experiment, arena, diag);
    compile_with(&experiment, arena);
    diag_json(diag, arena);
    arena_destroy(arena);
    return 0;
}
