/* koine convert: a result in another form. */
#include "base/source.h"
#include "cli/results.h"
#include "cli/verbs.h"
#include "experiment/conversion.h"
#include "formats/select.h"

static int no_variable(const Command *command, const Series *series, const char *glob)
{
    const char *nearest = series_nearest(series, glob);
    return nearest ? usage_error(command, "no variable matches '%s'; did you mean '%s'?", glob, nearest)
                   : usage_error(command, "no variable matches '%s'", glob);
}

static int write_result(const Command *command, Conversion *conversion)
{
    const char *globs = command_option(command, "variables"), *error;
    if (globs)
        conversion->n_globs = globs_split(globs, command->arena, &conversion->globs);
    const char *unknown = conversion_unknown(conversion);
    if (unknown)
        return no_variable(command, conversion->series, unknown);
    const bool is_written = conversion_write(conversion, command->arena, &error);
    if (conversion_damages(conversion))
        say("%llu damaged pieces of '%s' were replaced by nan", (unsigned long long)conversion_damages(conversion),
            conversion->from);
    if (is_written)
        return EXIT_GOOD;
    say("%s", error);
    return EXIT_ENVIRONMENT;
}

static int run_convert(const Command *command)
{
    Conversion conversion = { .from = command->arguments[0], .to = command->arguments[1] };
    conversion.format = result_format_to_write(conversion.to);
    if (!conversion.format)
        return usage_error(command, "the form follows from the ending of the file, %s; '%s' has none",
                           words_listed(result_ending, " or ", command->arena), conversion.to);
    if (source_is_same(conversion.from, conversion.to))
        return usage_error(command, "'%s' would be overwritten while it is read", conversion.to);
    int status = read_results(command, 1, &conversion.series);
    if (status == EXIT_GOOD)
        status = write_result(command, &conversion);
    series_done(conversion.series);
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
