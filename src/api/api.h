/* What the files of the public interface share. Private to src/api. */
#ifndef API_API_H
#define API_API_H

#include "base/vec.h"
#include "driver/compile.h"
#include "experiment/run.h"
#include "formats/select.h"
#include "koine/koine.h"

struct KoineResult {
    uint32_t n_columns;
    uint64_t n_rows, capacity;
    char **names;    /* n_columns */
    double **values; /* n_columns, of n_rows values */
    char *why;       /* it could not be read; NULL: it could */
};

/* Without memory NULL. The columns get names by result_name. */
KoineResult *result_create(uint32_t n_columns);
bool result_name(KoineResult *result, uint32_t k, const char *name);
/* Room for one more row. False: there is no memory. */
bool result_grow(KoineResult *result);

/* A sink that fills a result which it creates. The selected variables: see formats/select.h. */
typedef struct {
    KoineSink sink; /* first: the sink is this */
    const char *const *globs;
    uint32_t n_globs;
    Arena *arena;
    Selection selection;
    KoineResult *result; /* NULL: the run has not begun */
} MemorySink;
void memory_sink(MemorySink *sink, const char *const *globs, uint32_t n_globs, Arena *arena);

typedef struct {
    const char *key, *value;
} GivenSetting;

/* What a run needs while it is open, and what is left of it then. */
typedef struct {
    Arena *arena; /* NULL: there was no run */
    Diag *diag;
    Experiment experiment;
    StartState start;
    RunRequest request;
    RunCaller caller;
    MemorySink memory;
    ExperimentRun *run;   /* NULL: none is open */
    RunRecord record;     /* of the run that has ended */
    KoineModel last;      /* with the block of its end; block NULL: none */
    const char **texts;   /* of its Strings, element by element in the order of the table */
    KoineSavedRun *saved; /* by koine_save; NULL: none */
} ApiRun;

struct KoineProject {
    Arena *arena; /* of the settings */
    const char *file;
    KoineOpening how;        /* its texts are in the arena */
    VEC(GivenSetting) given; /* by koine_give; each key of a single value once */
    VEC(Setting) settings;   /* by koine_set; each name once */
    bool is_stale;           /* the model is to be compiled again */
    Compilation *c;
    const KoineModelKind *kind; /* NULL: it cannot run */
    KoineModel *idle;           /* an instance that never runs */
    ApiRun run;
    volatile int interrupt;
    KoineListener listener;
    char message[2048];
    const Diag *latest; /* of the last run or of the last value that was set; NULL: none */
    Arena *reports;
};

/* Settings of the project's experiment and of koine_give, in `arena`. False: reported. */
bool project_settings(const KoineProject *project, Arena *arena, Diag *diag, Experiment *experiment);
/* Compiles the model again if it has to be. False: the diagnostics say why it cannot run. */
bool project_compile(KoineProject *project);
/* The run that is open ends; without one nothing happens. */
void project_end_run(KoineProject *project);
/* Frees what is left of the last run. */
void project_forget_run(KoineProject *project);
/* The message becomes the first error of the diagnostics. */
void project_tell_error(KoineProject *project, const Diag *diag);

#endif
