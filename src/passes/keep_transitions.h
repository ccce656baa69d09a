/* Which transitions over a range stay whole: each point of the range has a condition of its own, all conditions are one
 * relation or formula over the range, and the arrays that are assigned stay arrays. */
#ifndef PASSES_KEEP_TRANSITIONS_H
#define PASSES_KEEP_TRANSITIONS_H

#include "passes/pipeline.h"

/* Per transition: it can stay whole, if no array that it mentions is split. */
bool *find_whole_transitions(const Model *model, Arena *arena);

/* Transitions of a group, and those that define one array now, stay whole together and over the same ranges: the others
 * are taken back. False: nothing changes. */
bool join_whole_transitions(const Model *model, bool *is_whole, Arena *arena);

/* Calls `visit` for every term of the transition. */
void transition_visit_terms(const Model *model, const Transition *transition, void (*visit)(void *context, Term term),
                            void *context);

#endif
