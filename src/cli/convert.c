/* koine convert: a result in another form. */
#include "formats/result_file.h"
#include "cli/verbs.h"
#include "formats/replay.h"
#include "formats/select.h"
#include "formats/store.h"
#include <sys/stat.h>

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int check_globs(const Command *command, const Series *series, const ResultOptions *options)
{
    for (uint32_t g = 0; g < options->n_globs; g++) {
        bool is_any = false;
        for (uint32_t k = 1; k < series->n_columns && !is_any; k++)
            is_any = glob_matches(options->globs[g], series->columns[k].name);
        const char *const nearest = is_any ? NULL : series_nearest(series, options->globs[g]);
        if (nearest)
            return usage_error(command, "no variable matches '%s'; did you mean '%s'?", options->globs[g], nearest);
        if (!is_any)
            return usage_error(command, "no variable matches '%s'", options->globs[g]);
    }
    return EXIT_GOOD;
}

/* They were stored by change then, and stay so. */
static bool has_changing_parameters(const StoreInfo *info)
{
    for (uint32_t k = 0; info && k < info->n_variables; k++)
        if (info->variables[k].variability == KOINE_VARIABILITY_PARAMETER &&
            info->variables[k].storage == STORE_CHANGES)
            return true;
    return false;
}

static int write_result(const Command *command, const Series *series, const ResultFormat *format,
                        ResultOptions *options)
{
    const StoreInfo *const info = series->store ? store_info(series->store) : NULL;
    Text begin = { .arena = command->arena };
    text_add(&begin, "{\"format\": \"koine-result\", \"koine\": \"" KOINE_VERSION "\", \"converted_from\": ");
    text_json(&begin, command->arguments[0]);
    text_add(&begin, "}\n");
    options->begin = info ? info->begin : begin.at;
    options->has_phases = has_changing_parameters(info);
    const char *const globs = command_option(command, "variables");
    if (globs)
        options->n_globs = globs_split(globs, command->arena, &options->globs);
    const int status = check_globs(command, series, options);
    if (status != EXIT_GOOD)
        return status;
    KoineSink *const sink = format->sink(options, command->arena);
    const bool is_played = replay(series, sink, command->arena);
    const bool is_finished = !format->finish || format->finish(sink, info ? info->end : NULL);
    if (info && info->n_damaged)
        say("%llu damaged pieces of '%s' were replaced by nan", (unsigned long long)info->n_damaged,
            command->arguments[0]);
    if (is_played && is_finished)
        return EXIT_GOOD;
    say("%s", sink->error);
    return EXIT_ENVIRONMENT;
}

static int run_convert(const Command *command)
{
    ResultOptions options = { .path = command->arguments[1], .has_parameters = true };
    const ResultFormat *const format = result_format_to_write(options.path);
    if (!format)
        return usage_error(command, "the form follows from the ending of the file, %s; '%s' has none",
                           words_listed(result_ending, " or ", command->arena), options.path);
    if (is_same_file(command->arguments[0], options.path))
        return usage_error(command, "'%s' would be overwritten while it is read", options.path);
    Sources *const sources = sources_create(command->arena);
    Diag *const diag = diag_create(command->arena, sources);
    const Series *const series = series_lazy(command->arguments[0], command->arena, diag);
    diag_print(diag, stderr, (DiagStyle){ .colour = command->colour_err });
    if (!series)
        return error_status(diag, EXIT_MODEL);
    const int status = write_result(command, series, format, &options);
    series_done(series);
    return status;
}

static const Option options_of_convert[] = {
    { .name = "variables", .value = "GLOB,...", .help = "what is taken over; default everything" },
    { 0 },
};

static const Example examples[] = {
    { "koine convert ball.h5 ball.csv", "a native result as CSV, parameters as columns." },
    { "koine convert other.mat other.h5 --variables 'engine.*'", "a part of a MATLAB file as a native result." },
    { "koine convert ball.h5 - --variables Y | head", "a variable as a stream." },
    { 0 },
};

const Verb verb_convert = {
    .name = "convert",
    .arguments = "FROM TO",
    .summary = "write a result in another form",
    .text =
        "Reads a result (of any form, told apart by content) and writes it as {endings}. Values keep "
        "every bit. Units, descriptions and aliases stay where both forms have them; types, events and the settings "
        "of the run are known to native results only. A damaged native result is taken over as far as it is whole.",
    .least = 2,
    .most = 2,
    .options = options_of_convert,
    .examples = examples,
    .run = run_convert,
};
