/* A ten-line language that proves the seam: nothing outside this folder knows of it.
 *
 *     # comment
 *     input u = 0.0          an input and its value while unconnected
 *     gain y = 2.5 * u       y follows u
 *
 * One class a file, file name = class name, ending .toy, or .mdl where the text looks like this language. It has a
 * profile with a setting, as the originals of languages do. */
#ifndef TESTS_TOY_H
#define TESTS_TOY_H

#include "ir/language.h"

extern const Language toy_language;

#endif
