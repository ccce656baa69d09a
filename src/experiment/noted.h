/* Runs as they stand in the catalogue: what became of them and of their results. */
#ifndef EXPERIMENT_NOTED_H
#define EXPERIMENT_NOTED_H

#include "base/text.h"
#include "experiment/catalogue.h"

/* "" if the result is there, else why it is not: "gone", ... */
const char *noted_result_state(const CatalogueRun *run);
/* Runs of the catalogue. Of those that were noted as running and whose process is gone what their result holds is noted
 * for good. */
CatalogueStatus noted_runs(Catalogue *catalogue, const CatalogueFilter *filter, Arena *arena, CatalogueRun **runs,
                           uint32_t *n);
/* A catalogue may come from somebody else: what it names is deleted only if it is a result in the project of
 * `catalogue`, a path. False: *why says what speaks against it, or is "" where there is no result. */
bool noted_is_deletable(const CatalogueRun *run, const char *catalogue, const char **why, Arena *arena);

/* A path below the current folder without the way to that folder. */
const char *noted_short_path(const char *path, Arena *arena);
/* A line for each run, and what is known of one. `changes`: files of the model that are others now; NULL: none. */
void noted_list(const CatalogueRun *runs, uint32_t n, Text *text);
void noted_text(const CatalogueRun *run, const char *changes, Text *text);
void noted_list_json(const CatalogueRun *runs, uint32_t n, Text *text);
void noted_json(const CatalogueRun *run, Text *text);
/* The newest run of the catalogue whose result is still there. False: there is none. */
bool noted_newest(const char *path, CatalogueRun *run, Arena *arena);

#endif
