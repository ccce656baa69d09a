/* The printer of the text form: functions of C, and what is declared of functions. */
#include "base/bug.h"
#include "ir/declared.h"
#include "ir/external.h"
#include "ir/print_model.h"

void printer_put_external(Printer *p, const Function *f)
{
    const External *e = f->external;
    if (!e)
        return;
    printer_put_word(p, WORD_EXTERNAL);
    printer_put_space(p);
    printer_put_string(p, e->symbol);
    printer_put_text_attribute(p, WORD_DESTRUCTOR, e->destructor);
    for (uint32_t k = 0; k < e->libraries.n; k++)
        printer_put_text_attribute(p, WORD_LIBRARY, e->libraries.at[k]);
    for (uint32_t k = 0; k < e->directories.n; k++)
        printer_put_text_attribute(p, WORD_DIRECTORY, e->directories.at[k]);
    printer_put_text_attribute(p, WORD_INCLUDE, e->include);
}

static void put_external_argument(Printer *p, const Function *f, const ExternalArgument *a)
{
    switch ((ExternalArgumentKind)a->kind) {
    case EXTERNAL_INTEGER: text_integer(p->to, a->number.i); return;
    case EXTERNAL_REAL: text_real_point(p->to, a->number.r); return;
    case EXTERNAL_FIELD: printer_put_name(p, f->body->variables.at[a->field].name); return;
    case EXTERNAL_SIZE:
        printer_put(p, "size(");
        printer_put_name(p, f->body->variables.at[a->field].name);
        text_format(p->to, ", %u)", a->dimension);
        return;
    }
    BUG("unknown ExternalArgumentKind");
}

void printer_put_mapping(Printer *p, const Function *f)
{
    const External *e = f->external;
    if (!e || !e->is_mapped)
        return;
    printer_begin_line(p, WORD_ARGUMENTS);
    for (uint32_t k = 0; k < e->arguments.n; k++) {
        printer_put(p, k ? ", " : " ");
        put_external_argument(p, f, &e->arguments.at[k]);
    }
    text_char(p->to, '\n');
    if (e->result == ID_NONE)
        return;
    printer_begin_line(p, WORD_RETURNS);
    printer_put_space(p);
    printer_put_name(p, f->body->variables.at[e->result].name);
    text_char(p->to, '\n');
}

static void put_function_name(Printer *p, const Function *f)
{
    uint32_t k = 0;
    while (k < p->labelled->functions.n && p->labelled->functions.at[k] != f)
        k++;
    if (k < p->labelled->functions.n)
        printer_put_label(p, LABEL_FUNCTION, k);
    else
        printer_put_name(p, f->name);
}

static void put_field(Printer *p, const Function *f, uint32_t field)
{
    printer_put_name(p, f->body->variables.at[field].name);
}

static void put_derivative(Printer *p, const Function *f, const DeclaredDerivative *d)
{
    printer_begin_line(p, WORD_DERIVATIVE);
    printer_put_space(p);
    put_function_name(p, d->by);
    if (d->order > 1) {
        printer_put_word(p, WORD_ORDER);
        text_format(p->to, " %u", d->order);
    }
    for (uint32_t k = 0; k < f->n_inputs; k++) {
        if (d->inputs[k] == INPUT_MOVES)
            continue;
        printer_put_word(p, d->inputs[k] == INPUT_ZERO ? WORD_ZERO : WORD_NONE);
        printer_put_space(p);
        put_field(p, f, k);
    }
    printer_end_line(p, d->span);
}

void printer_put_declared(Printer *p, const Function *f)
{
    const Declared *declared = f->declared;
    for (uint32_t k = 0; declared && k < declared->derivatives.n; k++)
        put_derivative(p, f, &declared->derivatives.at[k]);
    for (uint32_t k = 0; declared && k < declared->inverses.n; k++) {
        const DeclaredInverse *i = &declared->inverses.at[k];
        printer_begin_line(p, WORD_INVERSE);
        printer_put_space(p);
        put_field(p, f, i->input);
        printer_put_space(p);
        put_function_name(p, i->by);
        for (uint32_t j = 0; j < i->by->n_inputs; j++) {
            printer_put(p, j ? ", " : "(");
            put_field(p, f, i->args[j]);
        }
        printer_put(p, ")");
        printer_end_line(p, i->span);
    }
}
