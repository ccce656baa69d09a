/* The viewer: a page on this machine that shows results, the model behind them, and runs it again.
 *
 * One thread serves (http.h); a model is compiled in a second one, and runs are processes of their own, started with
 * the same program by a process that stands outside (starter.h): a model that fails, hangs or eats memory takes nothing
 * else with it. Requests never name files. */
#ifndef WEB_VIEW_H
#define WEB_VIEW_H

#include "driver/compile.h"

typedef struct {
    const char *version;  /* of Koine */
    const char *program;  /* that runs models; NULL: this one */
    const char *target;   /* the model as the command line names it; NULL: the one a result names, where it is there */
    CompileRequest model; /* of the target */
    const char *const *run_arguments; /* of `koine run`, behind the target, ended by NULL; may be NULL */
    const char *const *results;
    uint32_t n_results;
    const char *layout; /* JSON text of a layout saved earlier; NULL: none */
    uint16_t port;      /* the first to try */
    bool may_move;      /* or one of the next */
    bool is_walled;     /* from view_begin on it reads what it was given only and writes nothing (base/walls.h) */
    OutOfMemory out_of_memory;
} ViewOptions;

typedef struct View View;

/* Takes the layout that is in a file, as the page saved it: JSON that only the page looks into. */
typedef enum { LAYOUT_GOOD, LAYOUT_UNREADABLE /* errno says why */, LAYOUT_OTHER } LayoutStatus;
LayoutStatus view_read_layout(ViewOptions *options, const char *path, Arena *arena);

/* The texts of the options must stay. NULL: *error says why. Results that cannot be read are shown as such. */
View *view_create(const ViewOptions *options, Arena *arena, const char **error);
const char *view_address(const View *view);                       /* with the token */
const char *view_result_error(const View *view, uint32_t result); /* NULL: it can be read */
/* Before it serves: the process that starts runs, the walls, which hold for this thread and those that it starts, and
 * the compilation of the model. `forwarder`: a file that is removed in the end; may be NULL. */
void view_begin(View *view, const char *forwarder);
void view_serve(View *view, volatile const int *stop); /* until *stop is not zero */
/* Stops a run that is under way. False: the model is still being compiled, which only the end of the process stops. */
bool view_end(View *view);
void view_destroy(View *view); /* ends it if that was not done, and waits for the compilation */

#endif
