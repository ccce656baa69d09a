/* The text form of a Model; docs/ir.md describes it.
 *
 * Order is the order of the model's arrays; what lies in a region is printed inside it, after the
 * equations outside. model_read of read.h gives the model back: printing that gives the same bytes.
 * Places in a text form itself (sources of the language TEXT_FORM) are not printed. */
#ifndef IR_PRINT_H
#define IR_PRINT_H

#include "base/text.h"
#include "ir/model.h"

#define TEXT_FORM "koine-ir" /* the language of sources in the text form */

typedef struct {
    bool shapes;    /* every expression as `row s7 (R, a, b)`, the shapes at the head */
    bool no_places; /* leave out @source:line:column and the spans section */
} PrintOptions;

void model_print(const Model *model, Text *to, PrintOptions options);
/* One term, with the iterators of the domain by their names. term_text of model.h is this for the scalar domain. */
void term_print(const Model *model, Term term, DomainId domain, Text *to);

#endif
