/* The fixed part of generated C: no header is included, so that the text compiles with nothing but
 * a compiler. Only what a model uses is printed. */
#ifndef EMIT_C_PRELUDE_H
#define EMIT_C_PRELUDE_H

#include "base/text.h"

/* Functions generated code may call: those of koine/ops.h, word for word, and those of libm. */
typedef enum {
#define FUNCTION(name, arity) FUNCTION_##name,
#include "emit/c/functions.def"
#undef FUNCTION
    FUNCTION_COUNT
} Helper;

typedef struct {
    bool functions[FUNCTION_COUNT];
    bool loops;       /* loops whose elements are independent */
    bool parts;       /* sections in several functions */
    bool calls;       /* functions of the model */
    bool externals;   /* ... some of them of C */
    bool texts;       /* operations on texts */
    bool derivatives; /* koine_derivatives: needs the head of KoineModel */
} PreludeNeeds;

const char *function_name(Helper function);
const char *function_text(Helper function); /* definition as in koine/ops.h; NULL: of libm */
void print_prelude(Text *text, const PreludeNeeds *needs);
bool has_prelude_prefix(const char *name); /* koine: all of ours begin so */
bool is_prelude_name(const char *name);    /* a keyword of C or a name the prelude may declare */

#endif
