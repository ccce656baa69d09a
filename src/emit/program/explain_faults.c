/* Faults of functions in the user's words; see explain.h. */
#include "emit/program/explain.h"
#include "emit/routines.h"
#include "ir/external.h"

void add_failing(const Explainer *of, Text *to, const Routine *routine, Span span)
{
    text_format(to, "function %s fails", names_of(pool_names(of->model->pool), routine->function->name));
    if (span.source != SOURCE_NONE)
        text_add(to, " at ");
    add_place(of, to, span);
    text_add(to, ": ");
}

void add_fault_kind(const Explainer *of, Text *to, RoutineFaultKind kind, const RoutineStep *step, uint32_t steps)
{
    switch (kind) {
    case ROUTINE_NO_FAULT:
    case ROUTINE_NOT_FINITE: text_add(to, "no finite value"); return;
    case ROUTINE_INDEX: text_add(to, "index outside of its array"); return;
    case ROUTINE_CHECK:
        text_add(to, step->looks ? "a variable is read before it has a value"
                                 : names_of(pool_names(of->model->pool), step->text));
        return;
    case ROUTINE_ENDLESS: text_format(to, "more than %u steps in one call: does a loop not end?", steps); return;
    case ROUTINE_TOO_DEEP: text_add(to, "calls are nested too deep: does a recursion not end?"); return;
    case ROUTINE_NO_INT: text_add(to, "a number that is no int of C, or no value of its enumeration"); return;
    case ROUTINE_REFUSED: text_add(to, "it says that it has failed"); return;
    case ROUTINE_ROUNDED: text_add(to, "it leaves another mode of arithmetic behind (rounding, exceptions)"); return;
    case ROUTINE_LOCALE: text_add(to, "it changes the locale of the process"); return;
    case ROUTINE_SIGNALS: text_add(to, "it changes what the process does with signals"); return;
    case ROUTINE_NO_TEXT: text_add(to, "it gives NULL for a text"); return;
    case ROUTINE_LONG_TEXT: text_format(to, "it gives a text that is longer than %d bytes", KOINE_TEXT_LONGEST); return;
    case ROUTINE_NO_UTF8: text_add(to, "it gives a text that is not UTF-8"); return;
    case ROUTINE_NO_OBJECT: text_add(to, "there is no external object: what makes it gives NULL"); return;
    }
}

void add_external(const Explainer *of, Text *to, const Function *f, RoutineFaultKind kind)
{
    const External *e = f->external;
    const char *said = kind == ROUTINE_REFUSED && e->code ? e->code->failure(e->code) : "";
    if (said[0])
        text_add(to, said);
    else
        add_fault_kind(of, to, kind, NULL, 0);
    text_format(to, " (%s of C)", names_of(pool_names(of->model->pool), e->symbol));
}

/* A text of the model whose block this is. */
static const char *text_in(const Explainer *of, const KoineSlot *m, KoineSlot value)
{
    uint32_t n;
    return koine_text_at(m + of->slots->calls, value.i, &n);
}

bool add_site(const Explainer *of, Text *to, uint32_t site, const KoineSlot *m)
{
    const Routine *routine;
    const RoutineStep *step = routine_at_site(of->code, site, &routine);
    if (!step)
        return false;
    add_failing(of, to, routine, step == routine->steps ? routine->function->span : step->span);
    const RoutineFaultKind kind = (RoutineFaultKind)(site & ((1u << SITE_KIND_BITS) - 1));
    if (routine->function->external)
        add_external(of, to, routine->function, kind);
    else if (kind == ROUTINE_CHECK && step->message)
        text_add(to, text_in(of, m, m[of->slots->calls + CALL_MESSAGE]));
    else if (kind == ROUTINE_NOT_FINITE && step->value && expr_has_texts(step->value))
        text_add(to, "a text, or a number of it, that there is not");
    else
        add_fault_kind(of, to, kind, step, routine_limits(m + of->slots->calls).steps);
    return true;
}
