/* For end-to-end tests: compile a file, run it, keep what was recorded. */
#ifndef TESTS_SIM_RUN_H
#define TESTS_SIM_RUN_H

#include "driver/compile.h"
#include "koine/simulate.h"

typedef struct {
    const char *path, *tier, *solver;
    double start, stop, interval, tolerance, step;
    double resolution, max_time;
    uint32_t max_steps, max_crossing;
    bool every_event_step, keeps_last; /* a row each event step; only the last row */
    const char *systems;               /* CompileRequest.systems */
    bool evaluate_parameters, remove_unneeded, split_comparisons;
    bool allows_modes;
    const Language *const *languages;
    const char *task;
    ExternalPermission external;
    void (*prepare)(KoineModel *model); /* sets parameters and start values; may be NULL */
    uint32_t n_pieces;                  /* above 0: the run advances in as many pieces */
    bool changes_hands;                 /* ... and between two of them goes as bytes to another instance */
    double pause;                       /* above 0: the run stops here and is continued */
    void (*between)(KoineModel *model); /* called at the pause; may be NULL */
} RunRequest;

typedef struct {
    double time;
    uint32_t event_step;
    int kind;
    double *values; /* one a column */
} RunRow;

typedef struct {
    bool is_compiled;
    bool is_anew;   /* it changed hands, and its solver began anew */
    char *messages; /* diagnostics as text */
    uint32_t n_columns, n_rows, capacity;
    char **names;
    RunRow *rows;
    KoineRunReport report;
    char **texts; /* of Strings: values are their numbers from 0, in the order in which they appeared */
    uint32_t n_texts;
    uint32_t n_before; /* rows up to the pause */
    char *output;      /* DISPLAY */
    char note[512];    /* what `auto` did */
} RunResult;

RunResult *run_model(const RunRequest *request);
void run_free(RunResult *result);
uint32_t run_column(const RunResult *result, const char *name);        /* fails the test if there is none */
double run_at(const RunResult *result, const char *name, double time); /* last row at that time */
double run_last(const RunResult *result, const char *name);
const char *run_text_at(const RunResult *result, const char *name, double time); /* of a String */
/* Writes a value before the run starts; fails the test if it cannot be set. */
void set_value(KoineModel *model, const char *name, double value);
double value_of(const KoineModel *model, const char *name);

void expect_near(double actual, double expected, double tolerance);
void expect_done(const RunResult *result); /* it was compiled and ran to its end */
/* Runs it in interp, tcc and cc, checks each result, and that all have the same bits. */
void run_in_all_tiers(RunRequest request, void (*check)(const RunResult *result));

#endif
