/* Failed runs: the runtime says in one text what happened, its parts divided by semicolons, and which cause it is. The
 * first part is the headline, the others are notes; help follows from the cause. */
#include "experiment/failure.h"
#include "base/text.h"
#include <string.h>

typedef struct {
    int32_t cause;
    DiagCode code;
    const char *help; /* NULL: the text says it all */
} Remedy;

static const Remedy remedies[] = {
    { KOINE_CAUSE_ZENO, DIAG_RUN_ZENO, "let a comparison with a small speed or distance end the motion" },
    { KOINE_CAUSE_CHATTERING, DIAG_RUN_CHATTERING,
      "without --stop-at-chattering the run goes on, and the comparison changes a little beyond its border" },
    { KOINE_CAUSE_SLIDING, DIAG_RUN_SLIDING,
      "give the comparison a hysteresis, or write an equation for the sliding motion" },
    { KOINE_CAUSE_EVENT_STEPS, DIAG_RUN_EVENT_STEPS,
      "let the event make its own condition false; --control MaxTkt=N allows more event steps" },
    { KOINE_CAUSE_TIME_STANDS, DIAG_RUN_TIME_STANDS, "let the event set its next time behind the present one" },
    { KOINE_CAUSE_CONFLICT, DIAG_RUN_CONFLICT, "let the conditions of the two events exclude each other" },
    { KOINE_CAUSE_CROSSING, DIAG_RUN_CROSSING, "allow more steps by --control MaxCro=N, or a coarser time grid" },
    { KOINE_CAUSE_DIVISION, DIAG_RUN_DIVISION, "write an equation of its own for where the divisor is 0" },
    { KOINE_CAUSE_DOMAIN, DIAG_RUN_DOMAIN,
      "write the equation with a branch for arguments outside, or end the motion by an event before" },
    { KOINE_CAUSE_NOT_FINITE, DIAG_RUN_NOT_FINITE,
      "look at the results shortly before: a quantity grows without bound" },
    { KOINE_CAUSE_INDEX, DIAG_RUN_INDEX, "keep the index within the bounds of the array" },
    { KOINE_CAUSE_TABLE, DIAG_RUN_TABLE, "give the table points that cover the range, or limit its argument" },
    { KOINE_CAUSE_FUNCTION, DIAG_RUN_FUNCTION,
      "look at the statement and its operands: the function has no value there" },
    { KOINE_CAUSE_OVERFLOW, DIAG_RUN_OVERFLOW, "declare the quantity REAL, or reset it before it grows so large" },
    { KOINE_CAUSE_DISTRIBUTION, DIAG_RUN_DISTRIBUTION, "give the distribution parameters that it is defined for" },
    { KOINE_CAUSE_SINGULAR, DIAG_RUN_SINGULAR, NULL },
    { KOINE_CAUSE_NO_CONVERGENCE, DIAG_RUN_NO_CONVERGENCE, NULL },
    { KOINE_CAUSE_CYCLES, DIAG_RUN_CYCLES,
      "allow more by --control MaxCyc=N, or write the formula so that it contracts" },
    { KOINE_CAUSE_NO_COMBINATION, DIAG_RUN_NO_COMBINATION,
      "of ideal switches, a large resistance beside one of them, or a small one in series with it, decides" },
    { KOINE_CAUSE_INITIAL, DIAG_RUN_INITIAL, "give start values that decide the comparisons" },
    { KOINE_CAUSE_START_VALUE, DIAG_RUN_START_VALUE, "give a finite start value, in the text or by --set" },
    { KOINE_CAUSE_DEAD_TIME, DIAG_RUN_DEAD_TIME, "see the parameter of the delay" },
    { KOINE_CAUSE_JUMP, DIAG_RUN_JUMP,
      "let it change in a finite time, or set the states in the event that makes it jump" },
    { KOINE_CAUSE_STATES, DIAG_RUN_STATES,
      "take back the wish for it ('variable state', 'select always'): the states are then chosen while the model "
      "runs" },
    { KOINE_CAUSE_ASSERTION, DIAG_RUN_ASSERTION, NULL },
    { KOINE_CAUSE_CHANNEL, DIAG_RUN_CHANNEL,
      "give the channel a larger capacity, or take messages as fast as they are sent: one in an event step" },
    { KOINE_CAUSE_MODE, DIAG_RUN_MODE, NULL },
    { KOINE_CAUSE_STEP_SIZE, DIAG_RUN_STEP_SIZE, "try another --solver, or look at the results shortly before" },
    { KOINE_CAUSE_SOLVER, DIAG_RUN_SOLVER, "try another --solver; 'koine run' without it chooses one" },
    { KOINE_CAUSE_FOREIGN, DIAG_RUN_FOREIGN, NULL },
    { KOINE_CAUSE_MEMORY, DIAG_RUN_MEMORY, "close other programs, or make the model smaller" },
};

static const Remedy *remedy_of(const KoineRunReport *report)
{
    static const Remedy none = { KOINE_CAUSE_NONE, DIAG_RUN_FAILED, NULL };
    for (size_t k = 0; k < sizeof remedies / sizeof remedies[0]; k++)
        if (remedies[k].cause == report->fault.cause)
            return &remedies[k];
    return &none;
}

DiagCode failure_code(const KoineRunReport *report)
{
    return remedy_of(report)->code;
}

static Span span_of(Sources *sources, const KoineTables *tables, const KoinePlace *place)
{
    uint32_t source;
    if (place->line == 0 || place->source >= tables->text.n_sources ||
        sources_open(sources, tables->text.sources[place->source], &source) != SOURCE_OK)
        return SPAN_NONE;
    const uint32_t at = source_offset(sources, source, place->line, place->column);
    return (Span){ source, at, at + 1 };
}

/* `text` without "file:line:column: " at its begin, which is shown as the place of the message. */
static const char *without_place(const char *text, const KoineTables *tables, const KoinePlace *place)
{
    char begin[1024];
    if (place->line == 0 || place->source >= tables->text.n_sources)
        return text;
    const int n = snprintf(begin, sizeof begin, "%s:%u:%u: ", tables->text.sources[place->source],
                           (unsigned)place->line, (unsigned)place->column);
    return n > 0 && (size_t)n < sizeof begin && strncmp(text, begin, (size_t)n) == 0 ? text + n : text;
}

/* `text` without " (at time ...)" at its end, which is a note of its own. */
static const char *without_time(const char *text, char *to, size_t size)
{
    snprintf(to, size, "%s", text);
    char *last = NULL;
    for (char *at = to; (at = strstr(at, " (at time ")); at++)
        last = at;
    if (last)
        *last = '\0';
    return to;
}

/* The parts of a text that semicolons divide: the first to `headline`, the others as notes. */
static const char *next_part(const char *text, size_t *n)
{
    const char *end = strstr(text, "; ");
    *n = end ? (size_t)(end - text) : strlen(text);
    return end ? end + 2 : NULL;
}

static void help(Diag *diag, const Remedy *remedy, const KoineRunReport *report, const char *file)
{
    const char *block = report->fault.block;
    if (block[0] && file)
        diag_help(diag,
                  "'koine inspect %s --block %s --time %.6g' shows its equations, values and iterates; "
                  "'koine explain KN%u' tells more",
                  file, block, report->time, (unsigned)remedy->code);
    else if (remedy->help)
        diag_help(diag, "%s; 'koine explain KN%u' tells more", remedy->help, (unsigned)remedy->code);
    else
        diag_help(diag, "'koine explain KN%u' tells more", (unsigned)remedy->code);
}

void failure_tell(Diag *diag, Sources *sources, const KoineTables *tables, const KoineRunReport *report,
                  const char *file)
{
    const KoineFault *fault = &report->fault;
    const Remedy *remedy = remedy_of(report);
    char own[sizeof report->text];
    const char *told = fault->text[0] ? strstr(report->text, fault->text) : NULL;
    const int n_doing = told && told > report->text + 2 ? (int)(told - report->text) - 2 : 0; /* "integration: " */
    const char *text =
        without_place(told ? fault->text : without_time(report->text, own, sizeof own), tables, &fault->place);
    size_t n;
    const char *rest = next_part(text, &n);
    diag_error(diag, remedy->code, span_of(sources, tables, &fault->place), "%.*s", (int)n, text);
    const char *values = NULL; /* the last ones: they come behind what is to blame */
    size_t n_values = 0;
    while (rest) {
        text = rest;
        rest = next_part(text, &n);
        if (strncmp(text, "last values", 11) == 0) {
            values = text;
            n_values = n;
        } else {
            diag_note(diag, SPAN_NONE, "%.*s", (int)n, text);
        }
    }
    if (values)
        diag_note(diag, SPAN_NONE, "%.*s", (int)n_values, values);
    diag_note(diag, SPAN_NONE, "%.*s%sat time %.17g", n_doing, report->text, n_doing ? ", " : "", report->time);
    help(diag, remedy, report, file);
}
