/* The structure of an analysed model, for people and programs: index, states, blocks, comparisons. docs/cli.md
 * describes the JSON. */
#ifndef EXPLAIN_REPORT_H
#define EXPLAIN_REPORT_H

#include "base/text.h"
#include "ir/schedule.h"

typedef struct {
    bool has_all_blocks; /* not only systems of equations */
    bool is_json;
    uint32_t index; /* of the equations */
} ReportStyle;
void report_structure(const Schedule *schedule, ReportStyle style, Text *to);

#endif
