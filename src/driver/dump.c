/* Which text of a model is asked for, and who writes it; see dump.h. */
#include "driver/dump.h"
#include "emit/alone/target.h"
#include "emit/program.h"
#include "explain/symbols.h"
#include "ir/print.h"
#include "ir/print_schedule.h"
#include "lang/languages.h"

bool compilation_dump(Compilation *c, const char *after, DumpForm form, Text *to)
{
    const bool everything = form >= DUMP_SCHEDULE;
    if (!everything && after && strcmp(after, "load") == 0) {
        model_print(c->model, to, (PrintOptions){ .shapes = form == DUMP_SHAPES });
        return true;
    }
    if (!compilation_run_passes(c, everything ? NULL : after))
        return false;
    if (form == DUMP_PROGRAM || form == DUMP_C)
        c->program = program_create(c->schedule, c->arena);
    if (form == DUMP_PROGRAM) {
        program_print(c->program, c->model, to);
        return true;
    }
    if (form == DUMP_C) {
        const char *why;
        return c_target.make(c->program, to, &why);
    }
    if (form == DUMP_SCHEDULE)
        schedule_print(c->schedule, to);
    else
        model_print(c->model, to, (PrintOptions){ .shapes = form == DUMP_SHAPES });
    return true;
}

void compilation_listing(const Compilation *c, const char *path, bool has_numbers, bool has_no_messages, Text *to)
{
    uint32_t source;
    const Language *language = language_of(NULL, path);
    const ListingStyle style = { has_numbers, has_no_messages, language && language->has_message_lines };
    if (sources_open(c->sources, path, &source) == SOURCE_OK)
        listing(c->sources, source, c->diag, style, to);
}
