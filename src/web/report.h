/* A report: one HTML file without any other, with what is known of one or more runs and their curves.
 *
 * Pictures are in it twice: drawn, and as data for the script that makes them answer to the mouse. */
#ifndef WEB_REPORT_H
#define WEB_REPORT_H

#include "driver/compile.h"
#include "web/result.h"

typedef struct {
    const char *path;
    const Result *result;
} ReportRun;

typedef struct {
    const char *version, *title;
    const ReportRun *runs;
    uint32_t n_runs;
    const char *const *panes; /* lists of globs, a picture each; none: some variables that change */
    uint32_t n_panes;
    Compilation *compilation; /* of the model, with its diagnostics; NULL: none was given */
    const char *model;        /* its file */
    const Text *diagram;      /* SVG; NULL: none */
} ReportOptions;

/* False: *error says why, in the arena of the text. */
bool report_html(const ReportOptions *options, Text *to, const char **error);

#endif
