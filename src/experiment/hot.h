/* Where the work of a run was done: by line of the source and by component, the most expensive first. */
#ifndef EXPERIMENT_HOT_H
#define EXPERIMENT_HOT_H

#include "base/source.h"
#include "base/text.h"
#include "koine/model.h"

typedef struct {
    KoineWork work;   /* of a line: its place; of a component: its path */
    const char *text; /* of the line; "" without a place */
} HotRow;

typedef struct {
    const char *model; /* name of the top */
    const char *const *files;
    uint32_t n_files, n_lines, n_components;
    HotRow *lines, *components;
    uint64_t operations; /* of all */
} Hot;

/* From an instance whose host wanted its work counted; everything lives in `arena`. */
Hot hot_collect(const KoineModel *model, const Sources *sources, Arena *arena);
void hot_table(const Hot *hot, uint32_t most, Text *text); /* at most so many lines and components */
void hot_json(const Hot *hot, Text *text);

#endif
