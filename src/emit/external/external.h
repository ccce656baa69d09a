/* Functions of C that a model names: their files, their compilation, and how they are called.
 *
 * All functions of a model are in one shared object, so that they may share state: texts that are included, C files,
 * and for each function an entry that calls it with exactly the types that Koine uses; so the compiler checks the
 * arguments against what headers or C files say. Models that name libraries only need no compiler: their functions are
 * looked up. The object lies in the cache; its key is made of what the preprocessor gives, so a header that has changed
 * makes another one.
 *
 * Nothing here asks whether that is allowed: who calls externals_load has asked (outside/permission.h). */
#ifndef EMIT_EXTERNAL_EXTERNAL_H
#define EMIT_EXTERNAL_EXTERNAL_H

#include "base/source.h"
#include "ir/external.h"

/* ---- what would be executed ---- */
typedef enum {
    EXTERNAL_FILE_SYSTEM, /* a library by its name: "m"; found by the system */
    EXTERNAL_FILE_C,
    EXTERNAL_FILE_OBJECT,
    EXTERNAL_FILE_ARCHIVE,
    EXTERNAL_FILE_HEADER,
    EXTERNAL_FILE_SYSTEM_HEADER, /* "math.h" */
    EXTERNAL_FILE_TEXT,          /* C text in the model; the path is that of the model's file */
    EXTERNAL_FILE_MISSING        /* the name of a file that is not there */
} ExternalFileKind;
typedef struct {
    const char *path; /* real; of SYSTEM, SYSTEM_HEADER and MISSING the name */
    uint8_t kind;
} ExternalFile;
typedef VEC(ExternalFile) ExternalFiles;

/* The files of a function: its include first, then its libraries; without any the library m. */
ExternalFiles external_files(const Function *function, const Sources *sources, Arena *arena);
/* The folders where they are looked for. */
uint32_t external_folders(const Function *function, const Sources *sources, Arena *arena, const char ***folders);

/* ---- loading ---- */
typedef struct Externals Externals;
typedef struct {
    const Function *function; /* NULL: all of them */
    const char *what, *help;  /* help may be NULL */
} ExternalProblem;

/* Gives every external function among them its code. NULL: *problem says why not, in `arena`. */
Externals *externals_load(const Function *const *functions, uint32_t n, const Sources *sources,
                          volatile const int *interrupt, Arena *arena, ExternalProblem *problem);
/* Takes the code away from the functions again; NULL is allowed. */
void externals_release(Externals *externals);

#endif
