/* Parameters and start values of a model that stands alone, by name. */
#ifndef ALONE_SET_H
#define ALONE_SET_H

#include "koine/model.h"
#include <stdbool.h>

/* NAME=VALUE, where NAME may end with indices from 1 as in x[2,1]; before the model is initialised. False: *why says in
 * one line why not. */
bool set_by_name(KoineModel *model, const char *setting, char *why, size_t size);

#endif
