/* Filling Executable with the functions of a loaded object; see native.h. */
#include "emit/c/native.h"

bool native_fill(Executable *executable, const Code *code, const void *table, void *derivatives)
{
    const NativeTable *native = table;
    if (!native || native->n_sections != code->n_sections || native->n_kernels != code->n_kernels ||
        (code->derivatives_section != KOINE_NONE && !derivatives))
        return false;
    executable->code.sections = native->sections;
    executable->code.kernels = native->kernels;
    if (derivatives) /* ISO C has no conversion of an object pointer to a function pointer; POSIX has */
        memcpy(&executable->code.derivatives, &derivatives, sizeof derivatives);
    return true;
}
