/* Explaining what happens in a run by the user's text: the functions of KoineProgram that do so.
 *
 * They read what was made with the program and make what they need in memory of their own, so instances may fail in
 * several threads at once. An origin is a number: of a block, behind these of an assignment of a transition, then of
 * an action of one, then of a block of the initial system. */
#ifndef EMIT_PROGRAM_EXPLAIN_H
#define EMIT_PROGRAM_EXPLAIN_H

#include "base/text.h"
#include "emit/program/events.h"
#include "ir/routine.h"

typedef struct {
    const Schedule *schedule;
    const Model *model; /* the schedule's */
    const Slots *slots;
    const Code *code;
    const KoineProgram *program;
    const char *const *paths;       /* see Events */
    const char *const *comparisons; /* see Roots */
    const uint32_t *system_of;      /* see Blocks */
    Entries executed[PART_COUNT];   /* of the parts derivatives, roots and outputs */
    const Arena *arena;             /* arenas for explanations are created like it */
} Explainer;

/* locate.c */
/* The block an origin stands for, and the schedule it belongs to; NULL: an effect of a transition. */
const Block *origin_block(const Explainer *of, uint32_t origin, const Schedule **schedule);
/* Where it stands in the text; of equations in branches, that of the branch in force. */
Span origin_span(const Explainer *of, uint32_t origin, const KoineSlot *values);
InstanceId origin_owner(const Explainer *of, uint32_t origin);
typedef struct {      /* of a transition: an assignment, or an action */
    const char *what; /* "the assignment to x" */
    Span span;
    Term guard;
    const Term *values;
    uint32_t n_values;
} OriginEffect;
/* What an origin that is no block stands for. */
OriginEffect origin_effect(const Explainer *of, uint32_t origin, Arena *arena);
KoineOrigin origin_at(const Model *m, const char *path, Span span); /* path NULL: "" */
void add_place(const Explainer *of, Text *to, Span span);           /* "Ball.mdl:7:3", or nothing */

/* explain_faults.c: "function Gauss fails at Gauss.mdl:7:3: ", why, for a function of C with what it said itself; and
 * both for a site (emit/routines.h). */
void add_failing(const Explainer *of, Text *to, const Routine *routine, Span span);
void add_fault_kind(const Explainer *of, Text *to, RoutineFaultKind kind, const RoutineStep *step, uint32_t steps);
void add_external(const Explainer *of, Text *to, const Function *f, RoutineFaultKind kind);
bool add_site(const Explainer *of, Text *to, uint32_t site, const KoineSlot *m);

/* origins.c: what each origin is, where it stands and whose it is; *n: how many there are. Texts of comparisons are the
 * comparisons, those of others begin with "in the ". */
const KoineOrigin *list_origins(const Explainer *of, Arena *arena, uint32_t *n);

/* Functions of KoineProgram; the context is an Explainer. */
void locate_origin(void *context, const KoineModel *model, uint32_t origin, KoineOrigin *where); /* locate.c */
void explain_fault(void *context, KoineModel *model, uint32_t origin);
bool fault_matters(void *context, const KoineModel *model, uint32_t origin);
void describe_row(void *context, const KoineModel *model, uint32_t origin, uint32_t row, char *to, size_t size);
void blame_system(void *context, const KoineModel *model, uint32_t origin, char *to, size_t size); /* blame.c */
void attribute_work(void *context, const KoineCounts *counts, void (*visit)(void *context, const KoineWork *work),
                    void *visit_context); /* work.c */

#endif
