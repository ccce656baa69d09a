/* A model whose structure changes at events: a Schedule for each mode that a run comes to, compiled when it does. */
#ifndef DRIVER_MODES_H
#define DRIVER_MODES_H

#include "driver/compile.h"
#include "passes/pipeline.h"

/* What the passes of a compilation are told. */
Compile compilation_passes(Compilation *c);
Compilation *compilation_create_like(const Compilation *c);
/* The passes have asked for these choices to be fixed: the mode that the start is tried with. False: reported. None:
 * only some combinations are excluded; where there can be no modes, there is one Schedule as ever. */
bool compilation_begin_modes(Compilation *c, const VarId *asked, uint32_t n);
const KoineModelKind *compilation_modes_kind(Compilation *c, const char *tier, const char **why);
/* Compilers of the modes are ended by what ends those of the compilation. */
void compilation_interrupt_modes(Compilation *c);
void compilation_release_modes(Compilation *c);
/* What `auto` did so far in the first mode. */
const char *compilation_modes_note(const Compilation *c);

#endif
