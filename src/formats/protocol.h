/* The protocol of a run: what happened when, as text for people.
 *
 * By depth: 0 what the model displays, and errors; 1 also the times at which something happened, the transitions fired
 * with their Takt and the values they gave, and changes of region; 2 also the steps of the integration with their
 * estimated errors; 3 also the states after each step. Only what lies in the window of time is written; errors always
 * are. */
#ifndef FORMATS_PROTOCOL_H
#define FORMATS_PROTOCOL_H

#include "base/arena.h"
#include "koine/simulate.h"

typedef struct {
    const char *path; /* "-": the standard output */
    bool is_confined; /* named by a model or an experiment, see formats/writing.h */
    int depth;
    double from, to;
} ProtocolOptions;

typedef struct Protocol Protocol;

Protocol *protocol_create(const ProtocolOptions *options, Arena *arena);
/* Opens the file when the run begins and closes it when it ends. */
KoineSink *protocol_sink(Protocol *protocol);

/* For the hooks of the host and of the options of the run. */
void protocol_message(Protocol *protocol, const KoineModel *model, int level, const char *text);
void protocol_fired(Protocol *protocol, const KoineModel *model, const KoineFiring *firing);
void protocol_step(Protocol *protocol, const KoineModel *model, const KoineIntegrationStep *step);
/* How the run ended; after the sink has been ended. */
bool protocol_close(Protocol *protocol, const KoineRunReport *report);
bool protocol_wants_steps(const Protocol *protocol);

#endif
