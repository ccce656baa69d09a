/* Any bytes as an experiment file: refused or read. */
#include "experiment/experiment.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *const arena = arena_create(NULL);
    Sources *const sources = sources_create(arena);
    Diag *const diag = diag_create(arena, sources);
    const uint32_t source = sources_add_text(sources, "lab/fuzz.exp.yaml", (const char *)data, size);
    Experiment experiment = experiment_none(NULL);
    const bool is_good = experiment_read(source, sources, arena, diag, &experiment);
    if (is_good != (diag_errors(diag) == 0))
        __builtin_trap(); /* false means: reported */
    if (is_good) {
        const Experiment none = experiment_none(NULL);
        const Experiment merged = experiment_merge(&none, &experiment, arena);
        experiment_check(&merged, diag);
    }
    diag_json(diag, arena); /* every place must be printable */
    arena_destroy(arena);
    return 0;
}
