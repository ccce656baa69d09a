/* The tcc tier: libtcc compiles into memory.
 *
 * Needs no file: the text includes nothing, the functions of libm are handed over by address, and
 * -nostdlib keeps libtcc from looking for its run-time library. */
#include "emit/c/native.h"
#include <libtcc.h>
#include <math.h>
#include <pthread.h>

/* libtcc works on global variables while it compiles: one at a time. */
static pthread_mutex_t libtcc_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
    Arena *arena;
    const char *first; /* message */
} Messages;

static void on_message(void *context, const char *message)
{
    Messages *messages = context;
    if (!messages->first)
        messages->first = arena_text(messages->arena, message, strcspn(message, "\n"));
}

static void add_libm(TCCState *state)
{
    static const struct {
        const char *name;
        double (*function)(double);
    } unary[] = { { "fabs", fabs }, { "floor", floor }, { "ceil", ceil }, { "trunc", trunc }, { "round", round },
                  { "sqrt", sqrt }, { "exp", exp },     { "log", log },   { "log10", log10 }, { "sin", sin },
                  { "cos", cos },   { "tan", tan },     { "asin", asin }, { "acos", acos },   { "atan", atan },
                  { "sinh", sinh }, { "cosh", cosh },   { "tanh", tanh } };
    static const struct {
        const char *name;
        double (*function)(double, double);
    } binary[] = { { "pow", pow }, { "atan2", atan2 } };
    const void *address;
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
        memcpy(&address, &unary[k].function, sizeof address); /* POSIX: function pointers fit void * */
        tcc_add_symbol(state, unary[k].name, address);
    }
    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) {
        memcpy(&address, &binary[k].function, sizeof address);
        tcc_add_symbol(state, binary[k].name, address);
    }
}

static bool compile(TCCState *state, const char *text)
{
    tcc_set_options(state, "-nostdlib -w");
    if (tcc_set_output_type(state, TCC_OUTPUT_MEMORY) != 0)
        return false;
    add_libm(state);
    return tcc_compile_string(state, text) == 0 && tcc_relocate(state, TCC_RELOCATE_AUTO) >= 0;
}

static void unload(Executable *executable)
{
    pthread_mutex_lock(&libtcc_lock);
    tcc_delete(executable->handle);
    pthread_mutex_unlock(&libtcc_lock);
}

Executable *tcc_load(const Code *code, const char **why, Arena *why_arena)
{
    Arena *scratch = arena_create(NULL);
    const Text text = print_c(code, scratch);
    Messages messages = { .arena = why_arena };
    Executable *executable = NULL;
    pthread_mutex_lock(&libtcc_lock);
    TCCState *state = tcc_new();
    bool is_good = false;
    if (state) {
        tcc_set_error_func(state, &messages, on_message);
        is_good = compile(state, text.at);
    }
    if (is_good) {
        executable = executable_create("tcc");
        is_good =
            native_fill(executable, code, tcc_get_symbol(state, NATIVE_TABLE),
                        code->derivatives_section == KOINE_NONE ? NULL : tcc_get_symbol(state, NATIVE_DERIVATIVES));
    }
    if (is_good) {
        executable->handle = state;
        executable->unload = unload;
    } else if (state)
        tcc_delete(state);
    pthread_mutex_unlock(&libtcc_lock);
    if (!is_good) {
        executable_destroy(executable);
        executable = NULL;
        *why = arena_format(why_arena, "libtcc: %s", messages.first ? messages.first : "cannot compile");
    }
    arena_destroy(scratch);
    return executable;
}
