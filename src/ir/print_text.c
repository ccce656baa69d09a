/* Terms, shapes and relations as text, for messages; see model.h. */
#include "ir/print_term.h"

void term_print(const Model *model, Term term, DomainId domain, Text *to)
{
    Printer p = printer_create(model, to, (PrintOptions){ 0 });
    const Domain *d = &model->domains.at[domain.index];
    for (uint32_t k = 0; k < d->n; k++)
        vec_push(p.arena, &p.iterators, model->iterators.at[d->first + k].name);
    printer_put_term(&p, term, BINDS_IF);
}

char *term_text(const Model *model, Term term, Arena *arena)
{
    Text text = { .arena = arena };
    text_add(&text, "");
    if (!term_is_absent(term))
        term_print(model, term, (DomainId){ 0 }, &text);
    return text.at;
}

char *expr_text(const Model *model, const Expr *shape, const Ref *refs, Arena *arena)
{
    Text text = { .arena = arena };
    Printer p = printer_create(model, &text, (PrintOptions){ 0 });
    text_add(&text, "");
    printer_put_expr(&p, shape, refs, BINDS_IF);
    return text.at;
}

char *relation_text(const Model *model, const Relation *relation, Arena *arena)
{
    const bool is_turned = expr_is_literal(relation->left.shape) && !expr_is_literal(relation->right.shape);
    const Term first = is_turned ? relation->right : relation->left,
               second = is_turned ? relation->left : relation->right;
    Text text = { .arena = arena };
    term_print(model, first, relation->domain, &text);
    text_format(&text, " %s%s ", is_turned ? "<" : ">", relation->is_strict ? "" : "=");
    term_print(model, second, relation->domain, &text);
    return text.at;
}
