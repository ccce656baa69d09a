/* Where a model serves what happens at a time: the rule of continuous time, or that of another notion of time.
 *
 * The resolution that the host names selects it when a run begins. Times are served where they lie if time is
 * continuous; another rule may move them. */
#ifndef SUPPORT_TIME_RULE_H
#define SUPPORT_TIME_RULE_H

#include <stdbool.h>

typedef struct {
    /* Something happens at *time itself or, if *is_late, just behind it: moves both to where that is served. NULL: it
     * is served where it lies. */
    void (*serve)(double resolution, double *time, bool *is_late);
    /* The same decision for a value: what happens at `time`, or just behind it, has happened at the instant `now`.
     * NULL: by comparison. */
    bool (*has_passed)(double resolution, double time, bool is_late, double now);
    /* A search has found a crossing at `time`. True: it is served at *served, and may be undone by then. */
    bool (*postpones)(double resolution, double time, double *served);
    bool decides_edges; /* has_passed says on which side of an edge a step function of the time is, not its argument */
    bool puts_on_borders; /* crossings are served at their borders: the states that have crossed are put there */
} KoineTimeRule;

static inline bool koine_has_passed(const KoineTimeRule *rule, double resolution, double time, bool is_late, double now)
{
    if (rule->has_passed)
        return rule->has_passed(resolution, time, is_late, now);
    return is_late ? now > time : now >= time;
}

extern const KoineTimeRule koine_rule_continuous, koine_rule_on_grid;

/* The rule of a run with this resolution; 0: time is continuous. */
const KoineTimeRule *koine_time_rule(double resolution);

/* What users call the counts and limits that messages name. */
typedef struct {
    const char *event_step, *max_event_steps, *max_cycles;
} KoineControlNames;

extern const KoineControlNames koine_control_names;

#endif
