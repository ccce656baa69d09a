/* Rules that every Model keeps, whatever made it: V1 to V14 of docs/ir.md.
 *
 * Run after a front end and, in debug and test builds, after every pass. What a user can have
 * written wrongly is reported by a code of its own with all places; an id out of range and the like
 * is a mistake of Koine and reported as such (DIAG_MODEL_BROKEN). Linear in the size of the model. */
#ifndef IR_VERIFY_H
#define IR_VERIFY_H

#include "base/diag.h"
#include "ir/model.h"

bool model_verify(const Model *model, Diag *diag); /* false: already reported */

#endif
