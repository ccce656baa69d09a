/* What a run was and did: for people in a few lines, and as JSON (docs/cli.md lists the keys). */
#ifndef EXPERIMENT_STATISTICS_H
#define EXPERIMENT_STATISTICS_H

#include "base/text.h"
#include "koine/simulate.h"

typedef struct {
    const char *file, *output;
    const char *experiment, *protocol; /* files; NULL: there is none */
    const char *tier, *tier_note;
    double start, stop;
    double compile_seconds, run_seconds; /* of the wall clock */
    const char *model, *language;
    uint64_t compiler_bytes; /* memory of the compiler */
    KoineRunReport run;
} RunRecord;

const char *run_end_word(KoineRunEnd end); /* "done", ... */
/* Adds what a further phase of the run did. Solver and its choice are those of the last phase. */
void statistics_add(KoineRunStatistics *sum, const KoineRunStatistics *part);
void statistics_text(const RunRecord *record, Text *text);
void statistics_table(const RunRecord *record, Text *text); /* all figures, for people */
void statistics_json(const RunRecord *record, Text *text);

#endif
