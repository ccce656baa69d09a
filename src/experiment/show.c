#include "experiment/show.h"
#include "base/vec.h"
#include "formats/select.h"

enum { SERIES_UNASKED = 4 };

typedef struct {
    Column column;
    VEC(double) values;
} Track;

typedef struct {
    const char *title;
    Selection selection;
    Track *tracks;
} Pane;

struct Show {
    KoineSink sink; /* first: the sink is the show */
    Arena *arena;
    const ExperimentPane *wanted;
    uint32_t n_wanted;
    const KoineTables *tables;
    Pane *panes;
    uint32_t n_panes;
    VEC(double) times;
};

static bool select_wanted(Show *show, Pane *pane, const ExperimentPane *wanted)
{
    const uint32_t n = wanted->variables.n;
    const char **const globs = NEW_ARRAY(show->arena, const char *, n);
    for (uint32_t k = 0; k < n; k++)
        globs[k] = wanted->variables.at[k].glob;
    SelectionMiss miss;
    pane->title = wanted->title;
    if (select_columns(show->tables, globs, n, 0, show->arena, &pane->selection, &miss))
        return true;
    char text[200];
    selection_miss_text(&miss, globs, text, sizeof text);
    snprintf(show->sink.error, sizeof show->sink.error, "plot: %s", text);
    return false;
}

/* Nothing was asked for: the first states, else the first variables that change. */
static bool select_unasked(Show *show, Pane *pane)
{
    Selection all;
    SelectionMiss miss;
    if (!select_columns(show->tables, NULL, 0, 0, show->arena, &all, &miss))
        return false;
    Column *chosen = NEW_ARRAY(show->arena, Column, SERIES_UNASKED);
    uint32_t n = 0;
    for (int wants_states = 1; wants_states >= 0; wants_states--) {
        if (!wants_states && n > 0)
            break;
        for (uint32_t k = 0; k < all.n && n < SERIES_UNASKED; k++)
            if ((show->tables->variables[all.at[k].variable].state >= 0) == wants_states)
                chosen[n++] = all.at[k];
    }
    *pane = (Pane){ .title = "", .selection = { chosen, n } };
    return true;
}

static KoineStatus show_begin(KoineSink *sink, const KoineModel *model)
{
    Show *show = (Show *)sink;
    show->tables = model->kind->tables;
    show->n_panes = show->n_wanted ? show->n_wanted : 1;
    show->panes = NEW_ARRAY(show->arena, Pane, show->n_panes);
    for (uint32_t p = 0; p < show->n_panes; p++) {
        Pane *pane = &show->panes[p];
        if (!(show->n_wanted ? select_wanted(show, pane, &show->wanted[p]) : select_unasked(show, pane)))
            return KOINE_FAILED;
        pane->tracks = NEW_ARRAY(show->arena, Track, pane->selection.n);
        for (uint32_t k = 0; k < pane->selection.n; k++)
            pane->tracks[k].column = pane->selection.at[k];
    }
    return KOINE_OK;
}

static KoineStatus show_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    Show *show = (Show *)sink;
    vec_push(show->arena, &show->times, point->time);
    for (uint32_t p = 0; p < show->n_panes; p++) {
        const Pane *pane = &show->panes[p];
        for (uint32_t k = 0; k < pane->selection.n; k++) {
            Track *track = &pane->tracks[k];
            KoineSlot slot;
            memcpy(&slot, model->block + track->column.offset, sizeof slot);
            vec_push(show->arena, &track->values, column_value(&show->tables->variables[track->column.variable], slot));
        }
    }
    return KOINE_OK;
}

static KoineStatus show_end(KoineSink *sink, const KoineModel *model)
{
    (void)sink;
    (void)model;
    return KOINE_OK;
}

Show *show_create(const ExperimentPane *panes, uint32_t n_panes, Arena *arena)
{
    Show *show = NEW(arena, Show);
    show->sink = (KoineSink){ .begin = show_begin, .point = show_point, .end = show_end };
    show->arena = arena;
    show->wanted = panes;
    show->n_wanted = n_panes;
    return show;
}

KoineSink *show_sink(Show *show)
{
    return &show->sink;
}

static PlotSeries plot_series(const Show *show, const Track *track)
{
    Text name = { .arena = show->arena };
    column_name(show->tables, &track->column, &name);
    const KoineVariable *variable = &show->tables->variables[track->column.variable];
    if (variable->unit && variable->unit[0])
        text_format(&name, " [%s]", variable->unit);
    return (PlotSeries){ .name = name.at,
                         .times = show->times.at,
                         .values = track->values.at,
                         .n = track->values.n,
                         .is_discrete = variable->variability != KOINE_VARIABILITY_CONTINUOUS };
}

const PlotPane *show_panes(const Show *show, uint32_t *n)
{
    *n = 0;
    if (show->times.n == 0)
        return NULL;
    PlotPane *panes = NEW_ARRAY(show->arena, PlotPane, show->n_panes);
    for (uint32_t p = 0; p < show->n_panes; p++) {
        const Pane *pane = &show->panes[p];
        PlotSeries *series = NEW_ARRAY(show->arena, PlotSeries, pane->selection.n);
        for (uint32_t k = 0; k < pane->selection.n; k++)
            series[k] = plot_series(show, &pane->tracks[k]);
        if (pane->selection.n > 0)
            panes[(*n)++] = (PlotPane){ pane->title, series, pane->selection.n };
    }
    return panes;
}
