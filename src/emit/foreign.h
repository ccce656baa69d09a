/* Foreign components as their tables say: which value of theirs a port is. */
#ifndef EMIT_FOREIGN_H
#define EMIT_FOREIGN_H

#include "ir/model.h"
#include "koine/model.h"

typedef struct {
    uint32_t row, element; /* in the tables of the component; row KOINE_NO_ROW: it has no such variable */
} ForeignPlace;
#define KOINE_NO_ROW UINT32_MAX

/* By its name in the component: v, v[2], v[2,1]. */
ForeignPlace foreign_place(const KoineTables *tables, const char *name);
/* Such a name. */
const char *foreign_name(const KoineTables *tables, ForeignPlace place, Arena *arena);
/* The place of state `state` of x. */
ForeignPlace foreign_state(const KoineTables *tables, uint32_t state);
/* What the port is called in the component. */
const char *foreign_port_name(const Model *model, const ForeignPort *port);
/* Its library: files are named from the folder of the model. */
const char *foreign_path(const Model *model, const Foreign *foreign, Arena *arena);

#endif
