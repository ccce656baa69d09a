/* The system's C compiler, started without a shell. Private to emit/c. */
#ifndef EMIT_C_COMPILER_H
#define EMIT_C_COMPILER_H

#include "base/arena.h"
#include <signal.h>
#include <stdbool.h>

typedef struct {
    const char *command; /* as the user wrote it: $CC or cc */
    uint32_t n_words;
    const char *const *words; /* split on blanks; the first is the full path */
    const char *identity;     /* what changes when the compiler does: path, size, time */
} Compiler;

/* false: there is none; *why. */
bool find_compiler(Compiler *compiler, Arena *arena, const char **why);
extern const char *const compiler_flags[]; /* ends with NULL */

typedef enum { COMPILED, COMPILER_REJECTED, COMPILER_ENVIRONMENT } CompileResult;
/* model.c of the folder to model.so. ENVIRONMENT: another folder may help (no space, not allowed). Ends early when
 * *interrupt becomes non-zero; it may be NULL. Signals are held, `let` are those to be let in while the compiler
 * works. */
CompileResult compile_file(const Compiler *compiler, const char *folder, volatile const int *interrupt,
                           const sigset_t *let, Arena *arena, const char **why);
/* The same with arguments of any kind, the first of which are words of the compiler. `made` tells that it was good
 * where the system keeps that to itself. */
typedef struct {
    const Compiler *compiler;
    const char *folder; /* the work folder */
    volatile const int *interrupt;
    const sigset_t *let;
    Arena *arena;
} CompilerWork;
CompileResult compiler_run(const CompilerWork *work, const char *const *args, const char *made, const char **why);
bool compiler_is_walled(const Compiler *compiler); /* its process may write to its folder only, see process.h */

#endif
