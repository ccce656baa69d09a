/* The verbs: one file each. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/command.h"

extern const Verb verb_check, verb_run, verb_plot, verb_convert, verb_compare, verb_runs, verb_bank, verb_structure,
    verb_linearize, verb_inspect, verb_view, verb_report, verb_build, verb_dump, verb_explain, verb_doctor, verb_cache,
    verb_trust, verb_help;

#endif
