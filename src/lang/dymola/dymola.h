/* The modelling language Dymola 1.9.5: docs/languages/dymola.md.
 *
 * Text -> lex (with @file) -> parse -> Class (ast.h) -> lower -> Model. Each class becomes a Model once; an object
 * is that Model composed under its name. Names that the linker sees begin with dym_. */
#ifndef LANG_DYMOLA_DYMOLA_H
#define LANG_DYMOLA_DYMOLA_H

#include "ir/language.h"

extern const Language dymola_language;

#endif
