/* The printer of the text form: functions of C. */
#include "base/bug.h"
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
