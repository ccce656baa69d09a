/* Connections: their operators join points; sets of joined points become connections of ports. */
#ifndef LANG_DYMOLA_CONNECTIONS_H
#define LANG_DYMOLA_CONNECTIONS_H

#include "lang/dymola/points.h"

void dym_join_wires(Translation *translation);
/* Cuts without variables get those of what they are joined with; then every set of points has a hub. */
void dym_fill_bare_cuts(Translation *translation);
void dym_check_connections(Translation *translation);
void dym_lower_connections(Translation *translation);

#endif
