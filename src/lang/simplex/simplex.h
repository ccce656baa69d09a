/* SIMPLEX-MDL, the model description language of SIMPLEX-II: docs/languages/simplex.md.
 *
 * Text -> lex -> parse -> Component (ast.h) -> check -> lower or compose -> Model. The profile
 * "simplex" reads as strictly as the original; without a profile longer names, longer lines and a
 * comma after the last item of a declaration list are accepted. Names that the linker sees begin with
 * mdl_, whatever file they are in. */
#ifndef LANG_SIMPLEX_SIMPLEX_H
#define LANG_SIMPLEX_SIMPLEX_H

#include "ir/language.h"

extern const Language simplex_language;

#endif
