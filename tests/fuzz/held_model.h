/* A small model, compiled once and held for the life of the process: for what is given to a run from outside. */
#ifndef TESTS_FUZZ_HELD_MODEL_H
#define TESTS_FUZZ_HELD_MODEL_H

#include "driver/compile.h"
#include "place.h"
#include <stdlib.h>

/* Quantities of all types, an array, inputs of two kinds, a guess. */
static const char HELD_MODEL[] = "koine-ir 1\n"
                                 "enum Mode (off, on)\n"
                                 "model Held\n"
                                 "param p Real = 1.0 min 0.0 max 100.0\n"
                                 "param n Integer = 2 min 0 max 9\n"
                                 "param b Boolean = true\n"
                                 "param m Mode = Mode.on\n"
                                 "param a Real[2, 3] = 1.0\n"
                                 "param A Real = 1.0\n"
                                 "var u Real continuous input\n"
                                 "var k Integer discrete input\n"
                                 "var x Real continuous der start 1.0 fixed\n"
                                 "var y Real continuous der start 0.0 fixed\n"
                                 "var c Integer discrete next start 0 fixed\n"
                                 "var z Real continuous now start 0.5\n"
                                 "eq e1 der(x) := y + u + a[1, 2]\n"
                                 "eq e2 der(y) := -p*x + (if b then A else 0.0) + real(k)\n"
                                 "eq e3 z*z*z + z = x\n"
                                 "trans t1 edge next set when x > 0.5 :\n"
                                 "  next(c) := c + n\n"
                                 "end t1\n"
                                 "end Held\n";

static inline Compilation *held_compilation(void)
{
    static Compilation *held;
    if (held)
        return held;
    const char *const path = place_path("Held.ir");
    place_write(path, HELD_MODEL, sizeof HELD_MODEL - 1);
    held = compilation_create(NULL);
    if (!compilation_load(held, &(CompileRequest){ .path = path, .task_span = SPAN_NONE }) ||
        !compilation_schedule(held)) {
        diag_print(held->diag, stderr, (DiagStyle){ 0 });
        abort();
    }
    return held;
}

static inline const KoineModelKind *held_kind(void)
{
    const char *why;
    const KoineModelKind *const kind = compilation_kind(held_compilation(), "interp", &why);
    if (!kind)
        abort();
    return kind;
}

#endif
