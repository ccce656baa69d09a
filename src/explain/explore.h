/* What stands behind a model that was compiled, as JSON for a viewer: its components, where a variable is declared and
 * which equations define it, the blocks in the order in which they are computed, and who depends on whom. */
#ifndef EXPLAIN_EXPLORE_H
#define EXPLAIN_EXPLORE_H

#include "base/text.h"
#include "ir/schedule.h"

/* { "components": [{ "name", "path", "class", "parent" (index, -1 for the top), "variables" (number of its own) }],
 *   "files": ["Ball.mdl"] } */
void explore_components(const Model *model, Text *to);

/* { "name", "declared": PLACE, "unit", "comment", "type", "use", "alias_of" (or null), "definitions": [{ "how":
 * "equation" | "system" | "event" | "value", "of": number of equations solved together, "place": PLACE }], "reads":
 * [names of what stands in these] }; PLACE is { "file", "source", "line", "text" } or null. False: there is none. */
bool explore_variable(const Schedule *schedule, const char *path, Text *to);

/* { "blocks": [{ "kind", "size", "unknowns": [at most 8 names], "place": PLACE, "moving" }], "total", "first" } */
void explore_blocks(const Schedule *schedule, uint32_t first, uint32_t most, Text *to);

/* { "size": equations, "cells": side of the picture, "at": [row, column, entries, ...], "systems": [row, size, ...] }:
 * the incidence of equations and unknowns in the order of computation, summed up in cells. */
void explore_incidence(const Schedule *schedule, uint32_t cells, Text *to);

/* One of these. EXPLORE_BLOCKS: `first` and `most` of them; EXPLORE_INCIDENCE: `most` cells a side; EXPLORE_VARIABLE:
 * by `name`, false: there is none. */
typedef enum { EXPLORE_COMPONENTS, EXPLORE_VARIABLE, EXPLORE_BLOCKS, EXPLORE_INCIDENCE } ExploreKind;
typedef struct {
    const char *name;
    uint32_t first, most;
} ExploreRequest;
bool explore(const Schedule *schedule, ExploreKind kind, const ExploreRequest *request, Text *to);

#endif
