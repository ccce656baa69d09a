/* The segments of an analysed model and what reaches what; docs/cli.md describes the JSON. */
#ifndef EXPLAIN_SEGMENTS_H
#define EXPLAIN_SEGMENTS_H

#include "base/text.h"
#include "ir/schedule.h"

void report_segments(const Schedule *schedule, bool is_json, Text *to);

#endif
