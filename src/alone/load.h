/* Foreign components of a model that stands alone: found in their libraries before there is an instance. */
#ifndef ALONE_LOAD_H
#define ALONE_LOAD_H

#include "koine/support.h"

/* NULL: all are there, and what they were when the model was written; else what is wrong. Once is enough. */
const char *koine_alone_load(const KoineAlone *alone);

#endif
