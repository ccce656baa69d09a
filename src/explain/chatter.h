/* Comparisons that may chatter: what they decide changes how fast their own sides move. Whether they do depends on the
 * signs; that they can follows from the structure alone. */
#ifndef EXPLAIN_CHATTER_H
#define EXPLAIN_CHATTER_H

#include "ir/schedule.h"

typedef enum { CHATTER_NO, CHATTER_POSSIBLE, CHATTER_UNKNOWN } Chatter; /* UNKNOWN: the model is too large to look */

typedef struct {
    uint8_t verdict; /* Chatter */
    Ref through;     /* POSSIBLE: a state that the sides depend on, and whose derivative depends on the comparison */
} ChatterOf;

/* One for each relation of the model. */
ChatterOf *find_chatter(const Schedule *schedule, Arena *arena);

#endif
