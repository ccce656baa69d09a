/* What can be said of a model without running it: mistakes and figures, lists, its structure, its text with messages.
 */
#ifndef STUDY_FINDINGS_H
#define STUDY_FINDINGS_H

#include "driver/compile.h"

typedef struct { /* none of the lists: the figures of the model and its hints */
    bool symbols, classes, structure;
    bool blocks;       /* the structure with every block */
    bool segments;     /* parts that can be executed one by one, and what reaches what */
    bool listing;      /* the text with its messages */
    bool line_numbers; /* ... with numbers */
    bool no_messages;  /* ... without messages */
} FindingsWanted;

/* Compiles the model and writes what is wanted. False: the diagnostics say why; what can be told of a wrong model is
 * told. As JSON the diagnostics are part of it. */
bool compilation_findings(Compilation *c, const CompileRequest *request, const FindingsWanted *wanted, bool is_json,
                          Text *to);

#endif
