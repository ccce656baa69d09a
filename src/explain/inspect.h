/* One block of a scheduled model and how it was solved, or the list of blocks; for `koine inspect`. */
#ifndef EXPLAIN_INSPECT_H
#define EXPLAIN_INSPECT_H

#include "base/source.h"
#include "base/text.h"
#include "emit/program.h"
#include "koine/model.h"

typedef struct {
    KoineIterate at;
    const double *values; /* of the unknowns that are iterated */
} TraceRow;

typedef struct { /* iterates of the last time that a system was solved */
    Arena *arena;
    const KoineSystem *system; /* NULL: none is traced */
    VEC(TraceRow) rows;
} Trace;

/* For KoineHost.iterated, with a Trace as its context. */
void trace_iterated(void *context, const KoineModel *model, const KoineIterate *iterate);

typedef struct {
    const Schedule *schedule; /* of the run; `initial` is asked for by is_initial */
    const Program *program;
    const char *file;
    bool is_json;
} Inspection;

Inspection inspection_of(const Schedule *schedule, const Program *program, const Sources *sources, bool is_json);

/* "b12" or "12" of the run, "i12" of the initial system. False: there is no such block. */
bool inspect_find(const Inspection *of, const char *name, uint32_t *block, bool *is_initial);
const KoineSystem *inspect_system(const Inspection *of, uint32_t block, bool is_initial); /* NULL: no system */
/* Systems of equations; all blocks if is_complete. */
void inspect_list(const Inspection *of, bool is_complete, Text *to);
typedef struct {
    uint32_t block;
    bool is_initial;
    const KoineModel *model; /* at the time of the values */
    double time;
    const char *failure; /* NULL: none */
    const Trace *trace;
} InspectedBlock;
void inspect_block(const Inspection *of, const InspectedBlock *what, Text *to);

#endif
