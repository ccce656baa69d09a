/* Private to the kernel: a run that is saved, and one that takes it up. */
#ifndef KOINE_RUNTIME_SAVE_H
#define KOINE_RUNTIME_SAVE_H

#include "runtime/run.h"

/* The run is one of the same model, before anything else is known of it. */
bool koine_saved_is_of(const KoineRun *run, const KoineSavedRun *saved, KoineReason *why);

/* The run is one of the same model with the same options, and does not end before. */
bool koine_saved_fits(const KoineRun *run, const KoineSavedRun *saved, KoineReason *why);

/* The block becomes the one that the run went on with. False: nothing was changed. */
bool koine_saved_put_block(KoineModel *model, const KoineSavedRun *saved, KoineReason *why);

/* All else becomes what it was; a solver that was not saved begins anew. */
KoineStatus koine_saved_put(KoineRun *run, const KoineSavedRun *saved);

#endif
