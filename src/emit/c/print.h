/* Code as C17 that a person can read and gcc, clang and tcc compile.
 *
 * Exports koine_table (see below) and, when the code has a derivatives section, koine_derivatives.
 * The text grows with the number of kernels and of single equations, not with the number of rows. */
#ifndef EMIT_C_PRINT_H
#define EMIT_C_PRINT_H

#include "base/text.h"
#include "emit/code.h"

/* The symbol koine_table of generated C has this layout. */
typedef KoineCompiled NativeTable;
#define NATIVE_TABLE       "koine_table"
#define NATIVE_DERIVATIVES "koine_derivatives"

/* The text, terminated by 0, in `arena`. */
Text print_c(const Code *code, Arena *arena);

/* The same for a compiler; false: it is not a text that Koine writes, and no compiler may see it. Where is_foreign is
 * given and is_foreign[k] is true, section k only calls koine_foreign_section(context, k, m). */
#define NATIVE_FOREIGN "koine_foreign_section"
bool print_c_for_compiler(const Code *code, const bool *is_foreign, const void *context, Arena *arena, Text *text,
                          const char **why);

#endif
