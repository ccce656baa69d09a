/* Runs noted in the catalogue of the project. */
#ifndef EXPERIMENT_NOTE_H
#define EXPERIMENT_NOTE_H

#include "experiment/catalogue.h"
#include "experiment/provenance.h"

typedef struct {
    Catalogue *catalogue; /* NULL: the run is not noted */
    CatalogueRun run;
} Note;

typedef struct {      /* what is noted when a run begins */
    const char *tags; /* separated by commas */
    const RunRecord *record;
    const Experiment *experiment;
    const Sources *sources; /* of the model */
} NoteOf;

/* Notes that a run begins. What goes wrong changes nothing else: a catalogue that cannot be used is a warning, one that
 * cannot be written a text, which is returned; NULL: there is nothing to say. A run that is killed stays as it is noted
 * here: others see that its process is gone. */
const char *note_begin(Note *note, const NoteOf *of, Diag *diag, Arena *arena);
/* And what came of it; settings that cannot be used are no run. */
void note_end(Note *note, const RunRecord *record);
/* Reports why the catalogue cannot be used, as an error or as a warning. */
void note_problem(CatalogueStatus status, const char *path, bool is_error, Diag *diag);

#endif
