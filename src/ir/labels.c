/* See labels.h. */
#include "ir/labels.h"
#include "base/bug.h"

char label_letter(LabelKind kind)
{
    static const char letters[LABEL_COUNT] = { 'e', 'r', 't', 'q', 'k', 'd', 'g', 'f', 'a', 'p', 'x' };
    return letters[kind];
}

const char *label_noun(LabelKind kind)
{
    static const char *const nouns[LABEL_COUNT] = { "equation",  "region", "transition",       "channel",
                                                    "clock",     "delay",  "stream",           "function",
                                                    "assertion", "port",   "foreign component" };
    return nouns[kind];
}

uint32_t label_count(const Model *model, LabelKind kind)
{
    switch (kind) {
    case LABEL_EQUATION: return model->equations.n;
    case LABEL_REGION: return model->regions.n;
    case LABEL_TRANSITION: return model->transitions.n;
    case LABEL_CHANNEL: return model->channels.n;
    case LABEL_CLOCK: return model->clocks.n;
    case LABEL_DELAY: return model->delays.n;
    case LABEL_STREAM: return model->streams.n;
    case LABEL_FUNCTION: return model->functions.n;
    case LABEL_ASSERTION: return model->assertions.n;
    case LABEL_PORT: return model->ports.n;
    case LABEL_FOREIGN: return model->foreigns.n;
    case LABEL_COUNT: break;
    }
    BUG("unknown LabelKind");
}

Label label_of(const Model *model, LabelKind kind, uint32_t index)
{
#define LABEL(array) ((Label){ model->array.at[index].owner, model->array.at[index].name })
    switch (kind) {
    case LABEL_EQUATION: return LABEL(equations);
    case LABEL_REGION: return LABEL(regions);
    case LABEL_TRANSITION: return LABEL(transitions);
    case LABEL_CHANNEL: return LABEL(channels);
    case LABEL_CLOCK: return LABEL(clocks);
    case LABEL_DELAY: return LABEL(delays);
    case LABEL_STREAM: return LABEL(streams);
    case LABEL_FUNCTION: return (Label){ { 0 }, model->functions.at[index]->name };
    case LABEL_ASSERTION: return LABEL(assertions);
    case LABEL_PORT: return LABEL(ports);
    case LABEL_FOREIGN: return LABEL(foreigns);
    case LABEL_COUNT: break;
    }
#undef LABEL
    BUG("unknown LabelKind");
}

Span label_span(const Model *model, LabelKind kind, uint32_t index)
{
    switch (kind) {
    case LABEL_EQUATION: return model->equations.at[index].origin.span;
    case LABEL_REGION: return model->regions.at[index].span;
    case LABEL_TRANSITION: return model->transitions.at[index].origin.span;
    case LABEL_CHANNEL: return model->channels.at[index].span;
    case LABEL_CLOCK: return model->clocks.at[index].span;
    case LABEL_DELAY: return model->delays.at[index].span;
    case LABEL_STREAM: return model->streams.at[index].span;
    case LABEL_FUNCTION: return model->functions.at[index]->span;
    case LABEL_ASSERTION: return model->assertions.at[index].span;
    case LABEL_PORT: return model->ports.at[index].span;
    case LABEL_FOREIGN: return model->foreigns.at[index].span;
    case LABEL_COUNT: break;
    }
    BUG("unknown LabelKind");
}
