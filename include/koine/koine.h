/* Koine for other programs: open a model, run it, read what came out.
 *
 * A project is one opened model with its settings and at most one run at a time. It belongs to one thread at a time;
 * several projects may be used in several threads at once. Nothing prints, nothing exits: what is wrong is a diagnostic
 * (koine_diagnostic), how a run ended is a KoineEnd. Texts and arrays that are returned belong to the project or
 * result they were asked of. docs/api.md is the manual; this header is stable within a version number of the library.
 */
#ifndef KOINE_KOINE_H
#define KOINE_KOINE_H

#include "koine/api.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KoineProject KoineProject;
typedef struct KoineResult KoineResult;

KOINE_API const char *koine_version(void); /* "0.1.0" */

/* ---- Models ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *class_name; /* NULL: the one in the file */
    const char *text;       /* the text of the model, which is then not read from the file; NULL: it is */
    size_t size;            /* of `text` in bytes */
    const char *tier;       /* how it is executed: "auto" (also NULL), "interp", "tcc", "cc" */
    /* Called when the compiler finds no memory; must not return. NULL: the process is aborted. */
    void (*out_of_memory)(size_t wanted);
    bool allow_external; /* functions of C that the model names may be compiled and executed (docs/security.md) */
    /* Parameters by which and variables of which derivatives are wanted, beside inputs and outputs, separated by
     * commas;
     * "": none beside; NULL: derivatives are not wanted at all. For koine_linearize. */
    const char *derivatives;
} KoineOpening;

/* Opens and compiles FILE, or the model of the experiment NAME.exp.yaml, whose settings then hold. `opening` may be
 * NULL. The result is always a project, to be closed; whether it can run is what koine_is_ready says. */
KOINE_API KoineProject *koine_open(const char *file, const KoineOpening *opening);
KOINE_API void koine_close(KoineProject *project);
KOINE_API bool koine_is_ready(const KoineProject *project);

enum { KOINE_LEVEL_ERROR, KOINE_LEVEL_WARNING, KOINE_LEVEL_NOTE };

typedef struct {
    int level;                                   /* KOINE_LEVEL_... */
    uint32_t code;                               /* 1010 of KN1010 */
    const char *message;                         /* what is wrong */
    const char *help;                            /* what would be right; NULL: not known */
    const char *file;                            /* NULL: no place */
    uint32_t line, column, end_line, end_column; /* from 1; the end is the first place after it */
} KoineDiagnostic;

/* Diagnostic number k of the last thing that was done with the model. False: there are no more. */
KOINE_API bool koine_diagnostic(const KoineProject *project, uint32_t k, KoineDiagnostic *diagnostic);
/* Why the last call did not do what it should, in one sentence; "": it did. */
KOINE_API const char *koine_message(const KoineProject *project);

typedef struct {
    const char *name, *unit, *comment;
    const char *type;        /* "real", "integer", "boolean", "enumeration", "string" */
    const char *variability; /* "constant", "structural", "parameter", "discrete", "continuous" */
    const char *causality;   /* "local", "input", "output", "parameter" */
    uint32_t count;          /* of scalars */
    uint32_t n_extents;      /* 0: a scalar */
    const uint32_t *extents;
    const char *const *labels; /* n_labels; value k of an enumeration is labels[k - 1] */
    uint32_t n_labels;
    bool is_settable; /* before a run */
    bool is_state, is_hidden;
} KoineVariableInfo;

/* Variable number k. False: there are no more, or the model is not ready. */
KOINE_API bool koine_variable(const KoineProject *project, uint32_t k, KoineVariableInfo *info);
/* The number of the variable of that name; -1: there is none. */
KOINE_API int64_t koine_find(const KoineProject *project, const char *name);

/* ---- Settings and values ---------------------------------------------------------------------------------------- */

/* A setting of the experiment, by the names of docs/experiments.md: koine_give(p, "stop", "10"). Value NULL: it is
 * taken back. Settings that concern the analysis (set, nominal, task, stop-when, profile, use) compile the model again
 * with the next run. */
KOINE_API void koine_give(KoineProject *project, const char *key, const char *value);

/* A parameter or start value, as text: "3", "true", "red", "{1, 2, 3}". Between runs it holds for those that begin
 * later, without compiling again. While a run is open it changes a parameter, input or state where the run stands, for
 * this run; that is an event. False: the diagnostics say why not. */
KOINE_API bool koine_set(KoineProject *project, const char *name, const char *value);

/* Up to `most` values of `name` ("x", "x[2]", "der(x)") as numbers: where the run stands, at the end of the last one,
 * or, before the first one, those it would start from (nan: computed). The number of values there are; -1: no such
 * name. */
KOINE_API int64_t koine_get(const KoineProject *project, const char *name, double *values, uint32_t most);
/* The same of a String, whose values as numbers are nan: the text of its element, from 0; it holds until the next call
 * for the project. NULL: there is no such String, or it is computed. */
KOINE_API const char *koine_get_text(const KoineProject *project, const char *name, uint32_t element);

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

typedef enum {
    KOINE_END_DONE,        /* at its stop */
    KOINE_END_TERMINATED,  /* the model, or stop-when, ended it */
    KOINE_END_INTERRUPTED, /* by koine_interrupt, or koine_end before the stop */
    KOINE_END_FAILED,      /* koine_message says why */
    KOINE_END_SINK,        /* results could not be written */
    KOINE_END_OPTIONS      /* settings are wrong: the diagnostics say which */
} KoineEnd;

typedef struct {
    void *context;
    void (*message)(void *context, int level, const char *text); /* the model says something; may be NULL */
    void (*progress)(void *context, double time);                /* now and then; may be NULL */
} KoineListener;

KOINE_API void koine_listen(KoineProject *project, const KoineListener *listener);

/* A whole run: begin, step to the stop, end. */
KOINE_API KoineEnd koine_run(KoineProject *project);
/* False: the run cannot begin, the diagnostics say why. A run that is open is ended first. */
KOINE_API bool koine_begin(KoineProject *project);
/* Goes on to the time `to` and serves all that happens up to it. False: the run has ended. Any division into steps
 * gives the same results. */
KOINE_API bool koine_step(KoineProject *project, double to);
KOINE_API KoineEnd koine_end(KoineProject *project);
/* The entry of the model with this name is called where the run stands. False: koine_message says why not. */
KOINE_API bool koine_enter(KoineProject *project, const char *entry);

/* The run as it stands, as bytes that hold until the next call with the project. NULL: koine_message says why not; a
 * run in phases, or one whose results go to files, is not saved. */
KOINE_API const void *koine_save(KoineProject *project, size_t *size);
/* The open run goes back, or ahead, to where a run of the same model and settings was saved; its results, too, if it is
 * the one that was saved. With solvers of our own it goes on with the same bits. False: koine_message says why not. */
KOINE_API bool koine_restore(KoineProject *project, const void *bytes, size_t size);

/* The model near the point where the open run stands: JSON with the keys of 'koine linearize', docs/cli.md. `inputs`
 * and `outputs` are names separated by commas, NULL: all inputs, the outputs at the top. The model was opened with
 * `derivatives`. The text holds until the next report. NULL: the diagnostics or koine_message say why not. */
KOINE_API const char *koine_linearize_report(KoineProject *project, const char *inputs, const char *outputs);
/* The time the run has come to; of the last run, if none is open. */
KOINE_API double koine_reached(const KoineProject *project);
/* The run of the project ends in order, its results are kept. May be called from any thread and in signal handlers. */
KOINE_API void koine_interrupt(KoineProject *project);

typedef enum {
    KOINE_REPORT_DIAGNOSTICS, /* JSON, docs/cli.md */
    KOINE_REPORT_STRUCTURE,   /* JSON: index, states, systems, comparisons */
    KOINE_REPORT_COMPONENTS,  /* a text: the tree of components and their connections */
    KOINE_REPORT_STATISTICS   /* JSON, of the last run */
} KoineReport;

/* A report; NULL: there is none. It stays until the next one is asked for. */
KOINE_API const char *koine_report(KoineProject *project, KoineReport report);

/* ---- Results ---------------------------------------------------------------------------------------------------- */

/* What the run has recorded so far, or the last run; a copy that outlives the project. NULL: there was no run, or there
 * is no memory. */
KOINE_API KoineResult *koine_result(const KoineProject *project);
/* Reads a result file: CSV, MAT or native. It is never NULL; without columns it could not be read, and *why, if it is
 * not NULL, says why, in memory of the result. */
KOINE_API KoineResult *koine_result_open(const char *file, const char **why);
KOINE_API void koine_result_free(KoineResult *result);
KOINE_API uint64_t koine_result_rows(const KoineResult *result);
/* The name of column k, the first one being the time; NULL after the last. */
KOINE_API const char *koine_result_name(const KoineResult *result, uint32_t k);
KOINE_API int64_t koine_result_find(const KoineResult *result, const char *name);   /* -1: no such column */
KOINE_API const double *koine_result_values(const KoineResult *result, uint32_t k); /* a value each row */

typedef struct {
    const char *name; /* of the column, in memory of the reference */
    double deviation; /* largest distance from the reference */
    double allowed;   /* by the tube */
    double time;      /* where it is */
} KoineDeviation;

/* Compares the columns that both have within a tube: `tube` times the range of time and of the signal, `absolute` at
 * least; below 0: the usual 0.002 and 1e-9. The worst come first, up to `most`; the number of columns that differ. */
KOINE_API uint32_t koine_compare(const KoineResult *reference, const KoineResult *other, double tube, double absolute,
                                 KoineDeviation *worst, uint32_t most);

#ifdef __cplusplus
}
#endif

#endif
