/* Names, places and expressions of the text form. Private to print*.c. */
#ifndef IR_PRINT_TERM_H
#define IR_PRINT_TERM_H

#include "base/map.h"
#include "ir/labels.h"
#include "ir/print.h"
#include "ir/words.h"

/* Numbers in order of first use, for what is declared at the head. */
typedef struct {
    Map by_key;
    VEC(uint32_t) items;
} Uses;

/* What the head of the text declares, because the rest uses it. */
typedef struct {
    Uses sources, enumerations, tables, shapes, groups;
} HeadUses;

typedef struct {
    const Model *model;
    const Names *names;
    Arena *arena;
    Text *to;
    PrintOptions options;
    uint32_t indent;
    const Words *words;             /* NULL: for a single term */
    uint8_t *spelling;              /* per name: 0 not known yet, 1 plain, 2 quoted; NULL: for a single term */
    const char **paths;             /* per instance, with the dot behind; NULL: for a single term */
    uint32_t *numbers[LABEL_COUNT]; /* per element: the number that it is called by; 0: it is called by its name */
    const Model
        *labelled; /* the model whose labels hold: the whole one, also while the body of a function is printed */
    VEC(NameId) iterators; /* those in scope; an empty name: the iterator is called by its number */
    HeadUses used;
    Map enum_names, table_names, top_instances;
    uint32_t last_line; /* the line of the place printed last, from 0 */
} Printer;

Printer printer_create(const Model *model, Text *to, PrintOptions options);
void printer_put(Printer *p, const char *text);
void printer_put_number(Printer *p, uint64_t number);
void printer_put_word(Printer *p, Word word); /* with a space before it */
void printer_put_name(Printer *p, NameId name);
void printer_put_quoted(Printer *p, const char *text, size_t length, char quote); /* a text or a name, escaped */
void printer_put_plain_or_string(Printer *p, const char *text); /* a word such as the name of a language */
void printer_put_string(Printer *p, NameId text);
void printer_put_path(Printer *p, InstanceId owner, NameId name);
void printer_put_variable(Printer *p, VarId var);
void printer_put_label(Printer *p, LabelKind kind, uint32_t index);
void printer_put_type(Printer *p, Type type);                                   /* without dimensions */
void printer_put_place(Printer *p, Span span);                                  /* with a space before it, or nothing */
void printer_put_expr(Printer *p, const Expr *e, const Ref *refs, Binds least); /* refs NULL: leaves by number */
void printer_put_term(Printer *p, Term term, Binds least);
void printer_put_iterator_name(Printer *p, uint32_t level);
void printer_put_enum_literal(Printer *p, const Expr *e);
void printer_put_domain(Printer *p, DomainId domain); /* "for i in 1:N: "; its iterators are in scope then */
void printer_leave_domain(Printer *p, DomainId domain);
const char *printer_enumeration_label(Printer *p, uint32_t enumeration);
const char *printer_table_label(Printer *p, const Table *table);
void printer_put_table(Printer *p, const Table *table);
uint32_t printer_use(Printer *p, Uses *uses, uint32_t key); /* its number in the text, from 0 */

#endif
