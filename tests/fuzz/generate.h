/* Models from choices: well formed up to their names and numbers, so that most of them get through the readers and many
 * run. The same choices give the same model in each language as far as that can say it. */
#ifndef TESTS_FUZZ_GENERATE_H
#define TESTS_FUZZ_GENERATE_H

#include "base/text.h"
#include "choices.h"

typedef enum { GENERATE_IR, GENERATE_SIMPLEX, GENERATE_DYMOLA, GENERATE_LANGUAGES } GenerateLanguage;

typedef enum {
    NAMES_PLAIN,   /* the same model, but with names that cannot harm */
    NAMES_ORDERED, /* any bytes behind plain names: sorted like those */
    NAMES_ANY
} GenerateNames;

void generate_model(Choices *choices, GenerateLanguage language, GenerateNames names, Text *to);

/* Any bytes but 0, often pieces of C, of paths or of control sequences. */
void generate_name(Choices *choices, Text *to);
/* The name as the text form writes it. */
void generate_quoted(const char *name, char quote, Text *to);

#endif
