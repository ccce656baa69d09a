/* A model whose structure changes: a kind made of the kinds of its modes.
 *
 * Each mode is a program of its own (KoineProgram.mode) with the same variables, comparisons, step functions,
 * transitions and clocks by the same numbers, made by koine_machine_kind. Which kind belongs to the values that an
 * instance has come to, KoineModes says when a run comes there: it may compile it. */
#ifndef KOINE_MODES_H
#define KOINE_MODES_H

#include "koine/api.h"
#include "koine/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { /* a choice that is fixed in the equations; its slot says what it is */
    uint32_t slot;
    int64_t value;
    const char *name; /* for messages */
} KoineFixedChoice;
typedef struct { /* a variable without row that all modes have: slots, or KOINE_NONE */
    uint32_t now, pre, n;
} KoineCarried;
typedef struct { /* a combination of choices that are not fixed, in which the equations are singular */
    uint32_t n;
    const KoineFixedChoice *at;
} KoineExcluded;
typedef struct {     /* this program is one mode of the model: it holds while all of them have these values */
    uint64_t number; /* of these values of these choices, whatever other modes there are; not 0 */
    uint32_t n, n_excluded, n_carried, n_rows; /* rows: of the tables, that all modes have */
    const KoineFixedChoice *at;
    const KoineExcluded *excluded; /* another mode is tried in these */
    const KoineCarried *carried;   /* in the same order in all modes */
} KoineMode;

typedef struct {
    void *context;
    /* The kind of the mode that this instance, of another one, has come to. NULL: `why` says why there is none. It is
     * held until it is released. */
    const KoineModelKind *(*find)(void *context, const KoineModel *model, char *why, size_t size);
    /* The mode of this number, if a run has been in it; 0: `first`. NULL: none has. */
    const KoineModelKind *(*again)(void *context, uint64_t number);
    void (*release)(void *context, const KoineModelKind *kind);
    const KoineModelKind *first; /* the mode that the start is tried with */
    uint32_t n_rows;             /* of the tables, that all modes have */
    uint32_t n_x;                /* states of all modes: rows and elements, the same in all of them */
    const KoinePort *states;
} KoineModes;

/* What of a program keeps its model from having modes; NULL: nothing. */
struct KoineProgram;
KOINE_API const char *koine_modes_refusal(const struct KoineProgram *program);
/* `modes` must outlive the kind. NULL: there is no memory. */
KOINE_API KoineModelKind *koine_modes_kind(const KoineModes *modes);
KOINE_API void koine_modes_free(KoineModelKind *kind);

#ifdef __cplusplus
}
#endif

#endif
