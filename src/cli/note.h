/* Runs noted in the catalogue of the project. */
#ifndef CLI_NOTE_H
#define CLI_NOTE_H

#include "cli/command.h"
#include "cli/provenance.h"
#include "experiment/catalogue.h"

/* Notes a run, unless --no-catalogue says not to. Whatever goes wrong is said and changes nothing else. */
void note_run(const Command *command, const RunRecord *record, const Experiment *experiment, const Sources *sources,
              Diag *diag, Arena *arena);
/* Tags of --tag, separated by commas. False: one cannot be a tag; said. */
bool note_tags(const Command *command, const char **tags);
/* Reports why the catalogue cannot be used, as an error or as a warning. */
void note_problem(CatalogueStatus status, const char *path, bool is_error, Diag *diag);

#endif
