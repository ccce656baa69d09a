/* The walls around the server: it reads the folders of what it was given, and writes nothing. Its runs are processes of
 * somebody else (starter.h), which also removes what is temporary. */
#include "base/walls.h"
#include "bank/reach.h"
#include "web/session.h"

/* What lies beneath the folder of a file, and the file itself: it may be a link. */
static void let_around(int rules, const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    walls_let(rules, slash ? arena_text(arena, path, (size_t)(slash + 1 - path)) : ".", WALL_READ);
    walls_let(rules, path, WALL_READ);
}

static void let_model(int rules, const View *view, Arena *arena)
{
    Reach reach = { 0 };
    reach_model(view->options.model.path, arena, &reach);
    for (uint32_t k = 0; k < reach.n; k++)
        walls_let(rules, reach.at[k].path, reach.at[k].kind == REACH_LIST ? WALL_LIST : WALL_READ);
    const char *experiment = experiment_in_force(view, arena);
    if (experiment)
        let_around(rules, experiment, arena);
}

void view_wall(View *view)
{
    /* Libraries that the system opens only when they are needed. */
    static const char *const LIBRARIES[] = { "/usr/lib", "/lib", "/lib64", "/etc/ld.so.cache" };
    Arena *scratch = arena_create_like(view->arena);
    const int rules = walls_begin(WALL_WRITE | WALL_READ | WALL_START);
    for (size_t k = 0; k < sizeof LIBRARIES / sizeof *LIBRARIES; k++)
        walls_let(rules, LIBRARIES[k], WALL_READ);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    walls_let(rules, "/proc", WALL_READ); /* they look at their own process in the end */
#endif
    walls_let(rules, ".", WALL_READ); /* results of new runs */
    if (view->folder)
        walls_let(rules, view->folder, WALL_READ);
    for (uint32_t k = 0; k < view->runs.n; k++) {
        let_around(rules, view->runs.at[k]->path, scratch);
        if (view->runs.at[k]->origin)
            origin_look(view->runs.at[k]->origin); /* files of its model may lie outside */
    }
    if (view->options.target && view->options.model.path)
        let_model(rules, view, scratch);
    walls_stand(rules);
    walls_without_network();
    arena_destroy(scratch);
}
