/* Diagnostics: collected, sorted by place, printed with the line and a caret, or as JSON.
 *
 * A message says what is wrong and, in `help`, what would be right. Its code is stable; diag.def
 * lists the codes, docs/diagnostics/ has a page each. A function that reports returns false or
 * NULL, which always means: already reported.
 *
 *     model.mdl:12:10: error KN1010: expected a factor after '+'
 *         x := y + ;
 *                  ^
 *       note: model.mdl:3:4: y is declared here
 *         y (REAL)
 *         ^
 *       help: remove the '+' or write what is to be added
 *
 * JSON: an array of objects with the keys code ("KN1010"; null in the last object, which tells how
 * many were left out), level ("error", "warning", "note"), message, file, line, column, end_line,
 * end_column, notes (array of objects with message, file ... end_column), help. Lines and columns
 * count from 1, the end is the first place after the span; the five are null without a place, help is
 * null when there is none. Where the message is about sets of equations and variables, these are there, too: equations
 * (array of objects with text, file ... end_column) and variables (name, file ... end_column). All text is valid
 * UTF-8. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "base/source.h"
#include <stdio.h>

typedef enum {
#define DIAG(code, name, title) DIAG_##name = code,
#include "base/diag.def"
#undef DIAG
} DiagCode;

typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagLevel;

typedef struct Diag Diag;
typedef struct {
    bool json, colour;
} DiagStyle;

/* The arena must not be reset to a mark older than a report: messages live in it. */
Diag *diag_create(Arena *arena, const Sources *sources);
void diag_set_limit(Diag *diag, uint32_t errors); /* more are counted, not kept; default 50; warnings alike */

/* The same level, code, span and message again is no new diagnostic and is not counted. */
void diag_error(Diag *diag, DiagCode code, Span span, const char *format, ...) __attribute__((format(printf, 4, 5)));
void diag_warning(Diag *diag, DiagCode code, Span span, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Further places and advice for the diagnostic reported last. At most 20 notes are kept, more are counted; they are
 * dropped with a diagnostic that was not kept. */
void diag_note(Diag *diag, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Equations and variables that the diagnostic reported last is about, for programs: they are not printed. At most 1000
 * of each are kept. */
void diag_equation(Diag *diag, Span span, const char *text);
void diag_variable(Diag *diag, Span span, const char *name);
void diag_help(Diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint32_t diag_errors(const Diag *diag);
uint32_t diag_warnings(const Diag *diag);
/* Sorted by source, place, code. Prints what no earlier call has printed. */
void diag_print(Diag *diag, FILE *to, DiagStyle style);
/* The JSON array of all diagnostics, for reports that embed it. */
char *diag_json(Diag *diag, Arena *arena);

/* The diagnostics kept, in the order of reporting, for whoever stores them. False: there are no more. */
typedef struct {
    Span span;
    const char *message;
} DiagPlace;
typedef struct {
    DiagLevel level;
    DiagCode code;
    DiagPlace at;
    uint32_t n_notes;
    const DiagPlace *notes;
    const char *help; /* NULL: none */
} DiagItem;
bool diag_item(const Diag *diag, uint32_t k, DiagItem *item);

const char *diag_title(uint32_t code); /* NULL: no such code */
uint32_t diag_code_at(uint32_t k);     /* k-th code of the table, 0 after the last */

#endif
