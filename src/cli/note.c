#include "cli/note.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

bool note_tags(const Command *command, const char **tags)
{
    Text list = { .arena = command->arena };
    for (uint32_t k = 0; k < command->n_given; k++) {
        if (strcmp(command->given[k].name, "tag") != 0)
            continue;
        if (!catalogue_is_tag(command->given[k].value)) {
            usage_error(command, "a tag has neither blanks nor commas, and is not empty: '%s'",
                        command->given[k].value);
            return false;
        }
        text_format(&list, "%s%s", list.n ? "," : "", command->given[k].value);
    }
    *tags = list.n ? list.at : "";
    return true;
}

void note_problem(CatalogueStatus status, const char *path, bool is_error, Diag *diag)
{
    const char *const what =
        status == CATALOGUE_NEWER ? "was written by a later version of Koine" : "is damaged or is no catalogue";
    if (is_error)
        diag_error(diag, DIAG_CATALOGUE, SPAN_NONE, "the run catalogue '%s' %s", path, what);
    else
        diag_warning(diag, DIAG_CATALOGUE, SPAN_NONE, "the run catalogue '%s' %s; this run is not noted", path, what);
    diag_help(diag, "move the file away: the next run begins a new one; results are not touched");
}

static const char *absolute_path(const char *path, Arena *arena)
{
    if (strcmp(path, "-") == 0)
        return "";
    char *const real = realpath(path, NULL);
    const char *const copy = real ? arena_text(arena, real, strlen(real)) : path;
    free(real);
    return copy;
}

static const char *now(Arena *arena)
{
    char text[32] = "";
    const time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return arena_text(arena, text, strlen(text));
}

static CatalogueStatus add(const char *path, CatalogueRun *run, Arena *arena)
{
    Catalogue *catalogue;
    CatalogueStatus status = catalogue_open(path, true, arena, &catalogue);
    if (status == CATALOGUE_GOOD)
        status = catalogue_add(catalogue, run);
    catalogue_close(catalogue);
    return status;
}

void note_run(const Command *command, const RunRecord *record, const Experiment *experiment, const Sources *sources,
              Diag *diag, Arena *arena)
{
    if (command_option(command, "no-catalogue"))
        return;
    Text settings = { .arena = arena };
    provenance_settings(experiment, &settings);
    const KoineRunReport *const run = &record->run;
    CatalogueRun entry = { .created = now(arena),
                           .koine = KOINE_VERSION,
                           .model = record->model.model,
                           .file = absolute_path(record->file, arena),
                           .experiment = record->experiment ? absolute_path(record->experiment, arena) : "",
                           .hash = provenance_hash(sources, arena),
                           .settings = settings.at,
                           .result = absolute_path(record->output, arena),
                           .outcome = run_end_word(run->end),
                           .message = run->text,
                           .start = record->start,
                           .stop = record->stop,
                           .time = run->time,
                           .points = run->statistics.points,
                           .compile_seconds = record->compile_seconds,
                           .run_seconds = record->run_seconds };
    const char *const path = catalogue_path(arena);
    if (!note_tags(command, &entry.tags))
        return;
    switch (add(path, &entry, arena)) {
    case CATALOGUE_GOOD: break;
    case CATALOGUE_DAMAGED: note_problem(CATALOGUE_DAMAGED, path, false, diag); break;
    case CATALOGUE_NEWER: note_problem(CATALOGUE_NEWER, path, false, diag); break;
    case CATALOGUE_ABSENT:
    case CATALOGUE_REFUSED:
    case CATALOGUE_BUSY:
    case CATALOGUE_FAILED:
        if (!command_option(command, "quiet"))
            say("this run is not noted: '%s' cannot be written", path);
        break;
    }
}
