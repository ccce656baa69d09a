/* The table of targets: forms in which a Program leaves Koine, for `koine build`. A target is not executed here; what
 * is executed is a tier (tiers.h). A new target is a file with its row, and one line in target.c. */
#ifndef EMIT_TARGET_H
#define EMIT_TARGET_H

#include "base/text.h"
#include "emit/program.h"
#include "formats/folder.h"

typedef struct {
    const char *name;    /* the word after --to */
    const char *summary; /* what it makes, for help texts: "C17 of the equations" */
    /* Appends the bytes of the file to `to`. False: *why says in one line why there are none. */
    bool (*make)(const Program *program, Text *to, const char **why);
    /* The same as the files of a folder. NULL: it is always one file. */
    bool (*make_folder)(const Program *program, FolderFiles *to, const char **why);
} BuildTarget;

/* Row k; NULL after the last one. */
const BuildTarget *build_target_at(uint32_t k);

#endif
