/* Runs noted in the catalogue of the project. */
#ifndef CLI_NOTE_H
#define CLI_NOTE_H

#include "cli/command.h"
#include "experiment/provenance.h"
#include "experiment/catalogue.h"

typedef struct {
    Catalogue *catalogue;
    CatalogueRun run;
} Note;

/* Notes that a run begins, unless --no-catalogue says not to. Whatever goes wrong is said and changes nothing else; NULL:
 * it is not noted. A run that is killed stays as it is noted here: others see that its process is gone. */
Note *note_begin(const Command *command, const RunRecord *record, const Experiment *experiment, const Sources *sources,
                 Diag *diag, Arena *arena);
/* And what came of it; settings that cannot be used are no run. */
void note_end(Note *note, const RunRecord *record);
/* Tags of --tag, separated by commas. False: one cannot be a tag; said. */
bool note_tags(const Command *command, const char **tags);
/* Reports why the catalogue cannot be used, as an error or as a warning. */
void note_problem(CatalogueStatus status, const char *path, bool is_error, Diag *diag);

#endif
