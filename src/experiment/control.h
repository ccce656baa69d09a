/* The control parameters of a run, by the names of SIMPLEX-II: time grid, limits of iterations, integration, protocol.
 *
 * They come from `control` and from `set` (where the model has no quantity of that name), or from the
 * profile. control_apply turns them into options of the runtime; what was given as a setting of its own
 * (`solver`, `tolerance`, ...) beats the profile and must agree with a control parameter given as well. */
#ifndef EXPERIMENT_CONTROL_H
#define EXPERIMENT_CONTROL_H

#include "experiment/experiment.h"
#include "koine/simulate.h"

typedef enum {
    CONTROL_TSCAL,
    CONTROL_TMAX,
    CONTROL_MAXTKT,
    CONTROL_MAXCRO,
    CONTROL_MAXCYC,
    CONTROL_EPS,
    CONTROL_INTMETH,
    CONTROL_INTSTEP,
    CONTROL_ERREVAL,
    CONTROL_HIGHRERR,
    CONTROL_LOWRERR,
    CONTROL_STEPMAX,
    CONTROL_PRTDEPTH,
    CONTROL_TPRTBEG,
    CONTROL_TPRTEND,
    CONTROL_MAXITER, /* not of SIMPLEX-II */
    CONTROL_MAXCALL,
    CONTROL_PARAMETERS
} ControlParameter;

typedef struct {
    bool is_given;   /* by the user or by the profile */
    bool is_profile; /* by the profile alone */
    double value;
    Span span; /* SPAN_NONE: command line or profile */
} Control;

typedef struct {
    Control at[CONTROL_PARAMETERS];
} Controls;

/* Names as in the table of the document and their variants, without regard to case. */
bool control_find(const char *name, ControlParameter *found);
const char *control_name(ControlParameter parameter);
const char *control_nearest(const char *name); /* NULL: none is near */

/* The control parameters of an experiment. Settings of `set` that are control parameters are taken out of it: the
 * model `tables` has no variable of that name. False: reported. */
bool control_gather(Experiment *experiment, const KoineTables *tables, Arena *arena, Diag *diag, Controls *controls);

/* Fills the host and the options of the runtime from settings and control parameters. False: they contradict each
 * other, reported. */
bool control_apply(const Experiment *experiment, const Controls *controls, KoineHost *host, KoineRunOptions *options,
                   Diag *diag);

#endif
