/* The files of a run: results, observers, protocol, preview; and the signals it reads. Private to experiment/run.c. */
#ifndef EXPERIMENT_RUN_FILES_H
#define EXPERIMENT_RUN_FILES_H

#include "base/vec.h"
#include "experiment/drive.h"
#include "experiment/run.h"
#include "formats/protocol.h"
#include "formats/result_file.h"

typedef struct {
    const RunRequest *request;
    Arena *arena;
    Diag *diag;
    const char *const *globs; /* the variables that are recorded; NULL: those of every result */
    const char *protocol_path;
    Protocol *protocol;     /* NULL: none is asked for */
    Drive *drive;           /* signals for the inputs; NULL: none */
    VEC(KoineSink *) sinks; /* the first one writes the results, if a file is named for them */
} RunFiles;

/* These look at names before a file is touched. False: reported. */
bool files_select(RunFiles *files, const KoineTables *tables);
bool files_read_inputs(RunFiles *files, const KoineTables *tables);
bool files_check(const RunFiles *files,
                 const KoineTables *tables); /* that they may be written, and have one writer each */

/* The depth of the protocol that is asked for by name or by a control parameter; not above 0: it has no firings. */
double files_protocol_depth(const RunFiles *files, const Controls *controls);
void files_choose_protocol(RunFiles *files, const Controls *controls);

void files_open(RunFiles *files, const RunRecord *record, bool has_phases);
void files_add_sink(RunFiles *files, KoineSink *sink);
/* After the sinks have ended. Results get what the record says and what `model` remembers (NULL: it is not asked); what
 * cannot be written is a failure of the run. */
void files_close(const RunFiles *files, KoineModel *model, RunRecord *record, Arena *arena);

#endif
