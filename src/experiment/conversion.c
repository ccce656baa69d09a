#include "experiment/conversion.h"
#include "formats/replay.h"
#include "formats/store.h"

static const StoreInfo *info_of(const Conversion *conversion)
{
    return conversion->series->store ? store_info(conversion->series->store) : NULL;
}

const char *conversion_unknown(const Conversion *conversion)
{
    for (uint32_t g = 0; g < conversion->n_globs; g++)
        if (!series_glob(conversion->series, conversion->globs[g]))
            return conversion->globs[g];
    return NULL;
}

uint64_t conversion_damages(const Conversion *conversion)
{
    const StoreInfo *info = info_of(conversion);
    return info ? info->n_damaged : 0;
}

/* Parameters that were stored by change stay so. */
static bool has_changing_parameters(const StoreInfo *info)
{
    for (uint32_t k = 0; info && k < info->n_variables; k++)
        if (info->variables[k].variability == KOINE_VARIABILITY_PARAMETER &&
            info->variables[k].storage == STORE_CHANGES)
            return true;
    return false;
}

bool conversion_write(const Conversion *conversion, Arena *arena, const char **error)
{
    const StoreInfo *info = info_of(conversion);
    Text begin = { .arena = arena };
    text_add(&begin, "{\"format\": \"koine-result\", \"koine\": \"" KOINE_VERSION "\", \"converted_from\": ");
    text_json(&begin, conversion->from);
    text_add(&begin, "}\n");
    const ResultOptions options = { .path = conversion->to,
                                    .has_parameters = true,
                                    .has_phases = has_changing_parameters(info),
                                    .globs = conversion->globs,
                                    .n_globs = conversion->n_globs,
                                    .begin = info ? info->begin : begin.at };
    const ResultFormat *format = conversion->format;
    KoineSink *sink = format->sink(&options, arena);
    const bool is_played = replay(conversion->series, sink, arena);
    const bool is_finished = !format->finish || format->finish(sink, info ? info->end : NULL);
    *error = sink->error;
    return is_played && is_finished;
}
