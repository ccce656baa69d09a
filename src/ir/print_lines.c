/* Lines of the text form and the parts that many of them have; see print_model.h. */
#include "base/bug.h"
#include "ir/print_model.h"

void printer_begin_line(Printer *p, Word keyword)
{
    for (uint32_t k = 0; k < p->indent; k++)
        printer_put(p, "  ");
    printer_put(p, word_text(keyword));
}

void printer_begin_plain(Printer *p)
{
    for (uint32_t k = 0; k < p->indent; k++)
        printer_put(p, "  ");
}

void printer_end_line(Printer *p, Span span)
{
    printer_put_place(p, span);
    text_char(p->to, '\n');
}

void printer_put_space(Printer *p)
{
    text_char(p->to, ' ');
}

void printer_put_attribute(Printer *p, Word word, Term term)
{
    if (term_is_absent(term))
        return;
    printer_put_word(p, word);
    printer_put_space(p);
    printer_put_term(p, term, BINDS_OR);
}

void printer_put_text_attribute(Printer *p, Word word, NameId text)
{
    if (name_is_empty(text))
        return;
    printer_put_word(p, word);
    printer_put_space(p);
    printer_put_string(p, text);
}

void printer_put_choice(Printer *p, const WordList *list, uint32_t value)
{
    REQUIRE(value < list->n);
    printer_put_word(p, list->words[value]);
}

void printer_put_clock(Printer *p, uint32_t clock)
{
    if (!clock)
        return;
    printer_put_word(p, WORD_CLOCK);
    printer_put_space(p);
    printer_put_label(p, LABEL_CLOCK, clock - 1);
}

void printer_put_region_ref(Printer *p, RegionId region, uint32_t branch)
{
    if (region.index == ID_NONE)
        return;
    printer_put_word(p, WORD_REGION);
    printer_put_space(p);
    printer_put_label(p, LABEL_REGION, region.index);
    text_char(p->to, '.');
    printer_put_number(p, branch);
}

void printer_put_origin(Printer *p, const Origin *origin)
{
    if (origin->parent.index != ID_NONE) {
        printer_put_word(p, WORD_FROM);
        printer_put_space(p);
        printer_put_label(p, LABEL_EQUATION, origin->parent.index);
    }
    if (origin->made_by) {
        printer_put_word(p, WORD_BY);
        printer_put_space(p);
        printer_put_quoted(p, origin->made_by, strlen(origin->made_by), '"');
    }
}

void printer_put_end(Printer *p, Word what)
{
    printer_begin_line(p, WORD_END);
    printer_put_word(p, what);
    text_char(p->to, '\n');
}

void printer_put_end_label(Printer *p, LabelKind kind, uint32_t index)
{
    printer_begin_line(p, WORD_END);
    printer_put_space(p);
    printer_put_label(p, kind, index);
    text_char(p->to, '\n');
}
