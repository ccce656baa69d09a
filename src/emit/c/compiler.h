/* The system's C compiler, started without a shell. Private to emit/c. */
#ifndef EMIT_C_COMPILER_H
#define EMIT_C_COMPILER_H

#include "base/arena.h"
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
/* source to a shared object. ENVIRONMENT: another folder may help (no space, not allowed). */
CompileResult compile_file(const Compiler *compiler, const char *source, const char *object, Arena *arena,
                           const char **why);

#endif
