/* The target `c` of `koine build`: what the printer of C writes, as a file. */
#include "emit/c/target.h"
#include "emit/c/print.h"

static bool make_c(const Program *program, Text *to, const char **why)
{
    (void)why;
    const Text text = print_c(program_code(program), to->arena);
    text_bytes(to, text.at, text.n);
    return true;
}

const BuildTarget c_target = { "c", "the equations as C17, as the tiers that compile see them", make_c };
