/* Values that are given from outside before a model is analysed. */
#ifndef IR_GIVEN_H
#define IR_GIVEN_H

#include "ir/model.h"

typedef struct {
    const char *name, *value; /* as written */
    bool is_nominal;          /* the usual size of the variable */
    const char *place;        /* "command line", or file and line of an experiment */
} GivenValue;

/* Numbers for scalar parameters, start values and unknowns take the place of those in the text: so nothing is divided
 * by a parameter that is 0, and an unknown with a guess is one that a system is solved for. All else is left to whoever
 * sets values in the compiled model, also what is wrong. */
void give_values(Model *model, const GivenValue *values, uint32_t n, Arena *scratch);

/* The variable of that name, exactly or else without regard to case where that is unique; ID_NONE: there is none. */
uint32_t find_given(const Model *model, const char *name, Arena *scratch);

#endif
