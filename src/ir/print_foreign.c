/* The printer of the text form: components that Koine does not compute. */
#include "ir/print_model.h"

static void put_ports(Printer *p, const Foreign *f, Word word, ForeignRole role)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->n_ports; k++) {
        const ForeignPort *port = &p->model->foreign_ports.at[f->first_port + k];
        if (port->role != role)
            continue;
        if (n == 0)
            printer_put_word(p, word);
        printer_put(p, n++ ? ", " : " (");
        printer_put_variable(p, port->var);
        if (!name_is_empty(port->name)) {
            printer_put(p, " = ");
            printer_put_string(p, port->name);
        }
    }
    if (n)
        text_char(p->to, ')');
}

static void put_paths(Printer *p, const Foreign *f)
{
    if (!f->has_paths)
        return;
    printer_put_word(p, WORD_THROUGH);
    printer_put(p, " (");
    for (uint32_t k = 0; k < f->n_paths; k++) {
        const ForeignPath path = p->model->foreign_paths.at[f->first_path + k];
        printer_put(p, k ? ", (" : "(");
        printer_put_variable(p, p->model->foreign_ports.at[f->first_port + path.output].var);
        printer_put(p, ", ");
        printer_put_variable(p, p->model->foreign_ports.at[f->first_port + path.input].var);
        text_char(p->to, ')');
    }
    text_char(p->to, ')');
}

void printer_print_foreigns(Printer *p)
{
    for (uint32_t k = 0; k < p->model->foreigns.n; k++) {
        const Foreign *f = &p->model->foreigns.at[k];
        printer_begin_line(p, WORD_FOREIGN);
        printer_put_space(p);
        printer_put_label(p, LABEL_FOREIGN, k);
        printer_put_space(p);
        printer_put_string(p, f->file);
        printer_put_space(p);
        printer_put_string(p, f->symbol);
        put_ports(p, f, WORD_IN, FOREIGN_IN);
        put_ports(p, f, WORD_OUT, FOREIGN_OUT);
        put_ports(p, f, WORD_SET, FOREIGN_SET);
        put_ports(p, f, WORD_STATES, FOREIGN_STATE);
        if (f->n_roots) {
            printer_put_word(p, WORD_ROOTS);
            text_format(p->to, " %u", f->n_roots);
        }
        put_paths(p, f);
        if (f->is_apart)
            printer_put_word(p, WORD_APART);
        if (f->limit > 0) {
            printer_put_word(p, WORD_LIMIT);
            printer_put_space(p);
            text_real_point(p->to, f->limit);
        }
        if (f->step > 0) {
            printer_put_word(p, WORD_STEP);
            printer_put_space(p);
            text_real_point(p->to, f->step);
        }
        if (f->is_lowered)
            printer_put_word(p, WORD_LOWERED);
        printer_end_line(p, f->span);
    }
}
