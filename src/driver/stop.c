/* Adding a condition that ends a run to a loaded model; see stop.h. */
#include "driver/stop.h"
#include "ir/read.h"

static const char SOURCE_NAME[] = "stop-when";

bool stop_read(Model *model, Sources *sources, const char *text, Span span, Diag *diag)
{
    const uint32_t source = sources_add_text(sources, SOURCE_NAME, text, strlen(text));
    Term condition;
    if (!condition_read(model, sources, source, diag, &condition)) {
        if (span.source != SOURCE_NONE)
            diag_note(diag, span, "the experiment says so here");
        return false;
    }
    const Span whole = { source, 0, (uint32_t)strlen(text) };
    const Transition head = { .trigger = TRIGGER_EDGE,
                              .edge_start = EDGE_START_FALSE,
                              .effect = EFFECT_NEXT,
                              .form = FORM_SET,
                              .region = REGION_NONE,
                              .origin = { .span = whole, .parent = EQ_NONE } };
    const Action action = {
        .kind = ACTION_TERMINATE, .guard = TERM_NONE, .text = names_text(pool_names(model->pool), ""), .span = whole
    };
    model_add_transition(model, &head, 1, &condition, 0, NULL, 1, &action);
    return true;
}

bool stop_is_place(const KoineTables *tables, const KoinePlace *place)
{
    return place->line > 0 && place->source < tables->text.n_sources &&
           strcmp(tables->text.sources[place->source], SOURCE_NAME) == 0;
}
