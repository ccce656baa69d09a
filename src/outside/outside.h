/* Code that a model names and Koine does not compute: functions of C and foreign components. It is loaded where the
 * user allows that (permission.h), and where it is what the model says. */
#ifndef OUTSIDE_OUTSIDE_H
#define OUTSIDE_OUTSIDE_H

#include "base/diag.h"
#include "ir/model.h"

struct Program;
struct Externals;
struct ForeignLibraries;

/* What the user says about such code. */
typedef struct {
    bool allows_all;
    const char *const *files; /* these may be compiled, loaded and executed; ended by NULL, may be NULL */
    bool counts_trust;        /* so may those of folders that are trusted (trust.h) */
} ExternalPermission;

typedef struct { /* whoever loads it */
    Arena *arena;
    Names *names;
    const Sources *sources;
    Diag *diag;
    ExternalPermission permission;
} Outside;

/* Loads the foreign components of a model, and puts into the model what their tables say: states, root functions, which
 * output depends on which input. False: the diagnostics say what may not be executed, is not there or does not fit. */
bool outside_components(const Outside *outside, Model *model, struct ForeignLibraries *libraries,
                        volatile const int *const *interrupt);

/* Loads the functions of C that the program calls; *loaded is NULL where there are none. False: the diagnostics say
 * which may not be executed, and what that would be, or what is missing. */
bool outside_functions(const Outside *outside, const struct Program *program, volatile const int *interrupt,
                       struct Externals **loaded);
/* Their symbols: "c_drag, erf"; NULL: there are none. */
const char *outside_symbols(const struct Program *program, const Names *names, Arena *arena);

#endif
