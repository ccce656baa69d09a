/* The tcc tier: libtcc compiles into memory.
 *
 * Needs no file: the text includes nothing, the functions of libm are handed over by address, and
 * -nostdlib keeps libtcc from looking for its run-time library. libtcc knows no vector instructions:
 * sections that are mostly long loops are left to the interpreter, whose loops do. */
#include "emit/c/external.h"
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
#define SYMBOL_PREFIX(operator)
#define SYMBOL_INFIX(operator)
#define SYMBOL_FIRST(none)
#define SYMBOL_NONE(none)
#define SYMBOL_CALL(function)
#define SYMBOL_WHOLE(function)
#define SYMBOL_LIBM(function) { #function, (void (*)(void))function },
    static const struct {
        const char *name;
        void (*function)(void);
    } rows[] = {
#define OP(name, text, arity, result, takes, course, cost, on_reals, by_real, ...) SYMBOL_##on_reals(by_real)
#include "ir/op.def"
#undef OP
    };
    const void *address;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        memcpy(&address, &rows[k].function, sizeof address); /* POSIX: function pointers fit void * */
        tcc_add_symbol(state, rows[k].name, address);
    }
}

/* What an executable of this tier holds. */
typedef struct {
    TCCState *state;
    Executable *loops; /* the interpreter, for sections with long loops; NULL: there are none */
} Compiled;

/* Sections with long loops, or NULL. */
static bool *find_loops(const Code *code, Arena *arena)
{
    enum { LONG = 32, MUCH_MORE = 4 };
    bool *is_loop = NEW_ARRAY(arena, bool, code->n_sections + 1), any = false;
    for (uint32_t s = 0; s < code->n_sections; s++) {
        uint64_t in_loops = 0, others = 0;
        for (uint32_t k = 0; k < code->sections[s].n_runs; k++) {
            const uint32_t n = code->runs[code->sections[s].first_run + k].n;
            *(n >= LONG ? &in_loops : &others) += n;
        }
        is_loop[s] = in_loops > MUCH_MORE * others;
        any |= is_loop[s];
    }
    return any ? is_loop : NULL;
}

static void add_loops(TCCState *state, const Executable *loops)
{
    const void *address;
    memcpy(&address, &loops->code.run_section, sizeof address);
    tcc_add_symbol(state, NATIVE_FOREIGN, address);
}

static bool compile(TCCState *state, const Executable *loops, const char *text)
{
    tcc_set_options(state, "-nostdlib -w");
    if (tcc_set_output_type(state, TCC_OUTPUT_MEMORY) != 0)
        return false;
    add_libm(state);
    if (loops)
        add_loops(state, loops);
    return tcc_compile_string(state, text) == 0 && tcc_relocate(state, TCC_RELOCATE_AUTO) >= 0;
}

static void unload(Executable *executable)
{
    const Compiled *compiled = executable->handle;
    pthread_mutex_lock(&libtcc_lock);
    tcc_delete(compiled->state);
    pthread_mutex_unlock(&libtcc_lock);
    executable_destroy(compiled->loops);
}

Executable *tcc_load(const Code *code, const char **why, Arena *why_arena)
{
    Arena *scratch = arena_create(NULL);
    const bool *is_loop = find_loops(code, scratch);
    Executable *loops = is_loop ? interp_load(code, why, why_arena) : NULL;
    Text text;
    const char *refusal;
    if (!print_c_for_compiler(code, is_loop, loops ? loops->code.context : NULL, scratch, &text, &refusal)) {
        *why = arena_text(why_arena, refusal, strlen(refusal));
        executable_destroy(loops);
        arena_destroy(scratch);
        return NULL;
    }
    Messages messages = { .arena = why_arena };
    Executable *executable = NULL;
    pthread_mutex_lock(&libtcc_lock);
    TCCState *state = tcc_new();
    bool is_good = false;
    if (state) {
        tcc_set_error_func(state, &messages, on_message);
        is_good = compile(state, loops, text.at);
    }
    if (is_good) {
        const NativeParts parts = { tcc_get_symbol(state, NATIVE_TABLE),
                                    code->derivatives_section == KOINE_NONE ? NULL
                                                                            : tcc_get_symbol(state, NATIVE_DERIVATIVES),
                                    has_externals(code) ? tcc_get_symbol(state, NATIVE_EXTERNALS) : NULL };
        executable = executable_create("tcc");
        is_good = native_fill(executable, code, &parts);
    }
    if (is_good) {
        Compiled *compiled = NEW(executable->arena, Compiled);
        *compiled = (Compiled){ state, loops };
        executable->handle = compiled;
        executable->unload = unload;
    } else if (state)
        tcc_delete(state);
    pthread_mutex_unlock(&libtcc_lock);
    if (!is_good) {
        executable_destroy(loops);
        executable_destroy(executable);
        executable = NULL;
        *why = arena_format(why_arena, "libtcc: %s", messages.first ? messages.first : "cannot compile");
    }
    arena_destroy(scratch);
    return executable;
}
