/* What the viewer knows: shared by the files that answer requests. Private to this folder. */
#ifndef WEB_SESSION_H
#define WEB_SESSION_H

#include "base/vec.h"
#include "experiment/experiment.h"
#include "koine/model.h"
#include "web/guard.h"
#include "web/origin.h"
#include "web/result.h"
#include "web/starter.h"
#include "web/view.h"
#include <pthread.h>
#include <stdatomic.h>

typedef enum { RUN_DONE, RUN_GOING, RUN_STOPPED, RUN_FAILED, RUN_UNREADABLE } RunState;

typedef struct {
    uint32_t id;
    const char *name, *path; /* of the result */
    RunState state;
    Result *result;       /* NULL: there is nothing to see yet, or it cannot be read */
    const char *message;  /* what the run said, or why it cannot be read; "": nothing */
    bool is_live;         /* the result is the preview */
    int64_t look_after;   /* milliseconds of the clock: not sooner again at the file */
    RunOrigin *origin;    /* the model it was made from; NULL: not known */
    int64_t origin_after; /* the same for the files of the model */
    /* of runs started here */
    bool is_going;
    uint32_t number; /* for the starter */
    const char *live_path, *profile_path, *message_path;
    const char *settings; /* JSON array of what was set */
    double start, stop;   /* wanted; nan: not known */
    bool wants_profile;
} Run;

enum { DIAGRAM_DEPTHS = 4 }; /* 0 to 3 levels below the model */
typedef enum { MODEL_NONE, MODEL_WORKING, MODEL_GOOD, MODEL_FAILED } ModelState;

typedef struct {
    _Atomic int state; /* ModelState: the others may be read once it is not WORKING */
    pthread_t thread;
    bool is_started;
    CompileRequest request;
    OutOfMemory out_of_memory;
    Compilation *compilation;
    const KoineModelKind *kind; /* with GOOD */
    KoineModel *instance;       /* never run: it holds the values that can be set; NULL: no memory */
    KoineHost host;
    bool has_origin;               /* its files were listed, with GOOD or FAILED */
    RunOrigin *origin;             /* NULL: none */
    int64_t origin_after;          /* milliseconds of the clock: not sooner again at them */
    Text diagrams[DIAGRAM_DEPTHS]; /* of the model as it was loaded, by depth; empty: too many boxes */
} ModelView;

struct View {
    ViewOptions options;
    Arena *arena;
    Guard guard;
    HttpServer *server;
    const char *address;
    const char *folder;       /* temporary: previews, statistics; NULL: there is none */
    const char *folder_error; /* why not, or why nothing can be started */
    Starter *starter;         /* NULL: not begun yet, or it cannot be started */
    VEC(Run *) runs;
    ModelView model;
    uint64_t revision;  /* grows with whatever the page should look at again */
    uint32_t n_started; /* runs */
};

/* ---- settings.c ---- */
const char *experiment_in_force(const View *view, Arena *arena); /* its file; NULL: none */
/* The settings that a run of the model would have if nothing is changed, read anew; nothing is given where there is
 * none. */
Experiment settings_in_force(const View *view, Arena *arena);
/* { "stop", "interval", "tolerance", "solver" }, null where nothing is given */
void add_settings(const Experiment *experiment, Text *to);
/* What the experiment says of a variable; NULL: nothing. *is_part: it sets elements of it, not the whole. */
const char *setting_of(const Experiment *experiment, const char *name, bool *is_part);

/* ---- answers ---- */
void answer_text(HttpResponse *response, const char *type, const Text *text);
void answer_error(HttpRequest *request, HttpResponse *response, int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define JSON_TYPE "application/json; charset=utf-8"
void json_real(Text *to, double value); /* null where JSON has no number */
/* The run named by the field `run`, with a result; NULL: answered. */
Run *request_run(View *view, HttpRequest *request, HttpResponse *response);
double request_real(const HttpRequest *request, const char *name, double otherwise);
uint32_t request_integer(const HttpRequest *request, const char *name, uint32_t otherwise);

typedef void Answer(View *view, HttpRequest *request, HttpResponse *response);
/* api_data.c */
Answer answer_variables, answer_data, answer_events, answer_values, answer_export;
/* api_model.c */
Answer answer_structure, answer_diagram, answer_variable, answer_source, answer_blocks, answer_incidence,
    answer_parameters, answer_names;
/* api_run.c */
Answer answer_state, answer_changes, answer_run, answer_stop, answer_statistics, answer_profile;

/* walls.c */
void view_wall(View *view); /* what the server may read from here on, see docs/security.md */

/* model.c */
void model_begin(ModelView *model, const CompileRequest *request, OutOfMemory out_of_memory);
void model_end(ModelView *model);

/* runs.c */
Run *runs_open(View *view, const char *path);
/* Starts a run; NULL: *error says why, and only the scratch has grown. `shown`: its settings for the page, as JSON. */
Run *runs_start(View *view, const StartRequest *request, const char *shown, Arena *scratch, const char **error);
void runs_stop(View *view, const Run *run);
void runs_watch(View *view); /* looks what has changed */
void runs_end(View *view);

#endif
