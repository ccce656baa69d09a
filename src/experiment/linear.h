/* A linear model (koine/linearize.h) of chosen inputs and outputs, as JSON and as a table for people. */
#ifndef EXPERIMENT_LINEAR_H
#define EXPERIMENT_LINEAR_H

#include "base/diag.h"
#include "base/text.h"
#include "koine/linearize.h"

typedef struct { /* numbers of scalars among tables->ports, in the order in which they were asked for */
    const uint32_t *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
} LinearChoice;

/* The names of a list "a,b[1,2],c", ended by NULL. */
const char *const *linear_names(const char *list, Arena *arena);
/* NULL: all Real inputs of the model, all outputs at the top. The name of an array stands for its elements. False: a
 * name is none of the model, reported. */
bool linear_choose(const KoineTables *tables, const char *const *inputs, const char *const *outputs, Arena *arena,
                   Diag *diag, LinearChoice *choice);
/* The keys are those of docs/cli.md. */
void linear_json(const KoineLinearModel *linear, const KoineTables *tables, const LinearChoice *choice, Text *text);
void linear_table(const KoineLinearModel *linear, const KoineTables *tables, const LinearChoice *choice, Text *text);

typedef struct {
    const char *const *inputs, *const *outputs; /* as in linear_choose */
    bool is_json;                               /* else a table */
} LinearWanted;

typedef enum {
    LINEAR_TOLD,   /* without eigenvalues where `why` says something */
    LINEAR_NAMES,  /* a name is none of the model: reported */
    LINEAR_ABSENT, /* the model has no derivatives, or there is no memory: `why` */
    LINEAR_REFUSED /* there is none at this point: `why` */
} LinearEnd;

/* The linear model at the point where `model` stands, added to the text. */
LinearEnd linear_tell(KoineModel *model, const LinearWanted *wanted, Diag *diag, Text *text, KoineReason *why);

#endif
