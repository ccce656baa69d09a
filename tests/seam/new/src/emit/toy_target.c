#include "emit/toy_target.h"

static bool make_toy(const Program *program, Text *to, const char **why)
{
    const Code *const code = program_code(program);
    if (code->n_kernels == 0) {
        *why = "it has no kernels";
        return false;
    }
    text_format(to, "%s has %u kernels\n", code->model_name, code->n_kernels);
    return true;
}

const BuildTarget toy_target = { "toy", "the name and the size of the model", make_toy, NULL };
