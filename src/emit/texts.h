/* Texts of a model: the numbers of those that stand in its expressions, and the operations as the runtime knows them.
 */
#ifndef EMIT_TEXTS_H
#define EMIT_TEXTS_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/model.h"
#include "koine/support.h"

typedef struct Literals {
    bool is_used; /* the model has texts */
    Names *names;
    VEC(const char *) texts; /* number k + 1 of the table of each instance */
    Map numbers;             /* name: its place in texts */
} Literals;

bool model_has_texts(const Model *model); /* some are held, or computed */
/* All texts in expressions of its pool, in the order in which they were made. */
const Literals *literals_list(const Model *model, Arena *arena);
/* What a slot holds that has this text. */
int64_t literal_number(const Literals *literals, NameId text);

/* Where the second operand of `and` and `or` works with texts, and so may fail, it is evaluated only if it decides. */
const Expr *texts_lazy(Pool *pool, const Expr *e);

KoineTextOp text_operation(const Expr *e); /* of EXPR_TEXT */

#endif
