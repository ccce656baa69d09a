#include "cli/results.h"

int read_results(const Command *command, uint32_t n, const Series **results)
{
    Sources *sources = sources_create(command->arena);
    Diag *diag = diag_create(command->arena, sources);
    bool is_good = true;
    for (uint32_t k = 0; k < n; k++) {
        results[k] = series_lazy(command->arguments[k], command->arena, diag);
        is_good &= results[k] != NULL;
    }
    print_diagnostics(command, diag);
    return is_good ? EXIT_GOOD : error_status(diag, EXIT_MODEL);
}
