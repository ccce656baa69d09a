/* Comments: each kernel says which equation it was made of, and where that stands. For readers of generated C. */
#ifndef EMIT_PROGRAM_COMMENTS_H
#define EMIT_PROGRAM_COMMENTS_H

#include "emit/program/events.h"

void comment_kernels(const Schedule *schedule, const Parts *parts, const Events *events, Kernels *ks);

#endif
