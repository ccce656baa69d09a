/* The text form of a Schedule: what its printer and its reader share. Private to print_schedule.c and
 * read_schedule.c. */
#ifndef IR_SCHEDULE_TEXT_H
#define IR_SCHEDULE_TEXT_H

#include "ir/schedule.h"
#include "ir/words.h"

#define SCHEDULE_FORM "koine-schedule" /* how the text begins */

/* A number of the line `facts`. */
typedef struct {
    Word word;
    size_t offset;   /* of a uint32_t in Schedule */
    bool is_counted; /* what follows says it, too */
} ScheduleFact;
extern const ScheduleFact schedule_facts[];
uint32_t schedule_fact_count(void);

#endif
