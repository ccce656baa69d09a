#include "experiment/note.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

/* Also of a file that is still to be made, if its folder is there. */
static const char *absolute_path(const char *path, Arena *arena)
{
    if (strcmp(path, "-") == 0)
        return "";
    char *real = realpath(path, NULL);
    const char *copy = real ? arena_text(arena, real, strlen(real)) : NULL;
    if (!copy) {
        const char *slash = strrchr(path, '/');
        real = realpath(slash ? arena_text(arena, path, (size_t)(slash + 1 - path)) : ".", NULL);
        copy = real ? arena_format(arena, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash ? slash + 1 : path) : path;
    }
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

/* What is to be said of a catalogue that does not take the run. */
static const char *refusal(CatalogueStatus status, const char *path, Diag *diag, Arena *arena)
{
    switch (status) {
    case CATALOGUE_GOOD: return NULL;
    case CATALOGUE_DAMAGED:
    case CATALOGUE_NEWER: note_problem(status, path, false, diag); return NULL;
    case CATALOGUE_ABSENT:
    case CATALOGUE_REFUSED:
    case CATALOGUE_BUSY:
    case CATALOGUE_FAILED: break;
    }
    return arena_format(arena, "this run is not noted: '%s' cannot be written", path);
}

const char *note_begin(Note *note, const NoteOf *of, Diag *diag, Arena *arena)
{
    const RunRecord *record = of->record;
    Text settings = { .arena = arena }, origins = { .arena = arena };
    provenance_settings(of->experiment, &settings);
    provenance_origins(of->sources, &origins);
    note->run = (CatalogueRun){ .created = now(arena),
                                .koine = KOINE_VERSION,
                                .tags = of->tags,
                                .model = record->model,
                                .file = absolute_path(record->file, arena),
                                .experiment = record->experiment ? absolute_path(record->experiment, arena) : "",
                                .hash = provenance_hash(of->sources, arena),
                                .origins = origins.at,
                                .settings = settings.at,
                                .result = absolute_path(record->output, arena),
                                .end.outcome = "running",
                                .end.message = "",
                                .process = process_self(arena),
                                .start = record->start,
                                .stop = record->stop,
                                .end.time = record->start,
                                .end.compile_seconds = record->compile_seconds };
    const char *path = catalogue_path(arena);
    CatalogueStatus status = catalogue_open(path, true, arena, &note->catalogue);
    if (status == CATALOGUE_GOOD)
        status = catalogue_add(note->catalogue, &note->run);
    if (status != CATALOGUE_GOOD) {
        catalogue_close(note->catalogue);
        note->catalogue = NULL;
    }
    return refusal(status, path, diag, arena);
}

void note_end(Note *note, const RunRecord *record)
{
    if (!note->catalogue)
        return;
    const KoineRunReport *run = &record->run;
    note->run.end.outcome = run_end_word(run->end);
    note->run.end.message = run->text;
    note->run.end.time = run->time;
    note->run.end.points = run->statistics.events.points;
    note->run.end.run_seconds = record->run_seconds;
    /* What cannot be written now was told when the run began; the entry says then that it crashed. */
    if (run->end == KOINE_RUN_OPTIONS)
        catalogue_forget(note->catalogue, note->run.id);
    else
        catalogue_close_run(note->catalogue, &note->run);
    catalogue_close(note->catalogue);
}
