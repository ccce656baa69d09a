/* Connections: their operators join points; sets of joined points become connections of ports. */
#ifndef LANG_DYMOLA_CONNECTIONS_H
#define LANG_DYMOLA_CONNECTIONS_H

#include "lang/dymola/points.h"

void dym_join_wires(Translation *translation); /* cuts without variables get theirs, too */
void dym_emit_connections(Translation *translation);

#endif
