#include "study/findings.h"
#include "driver/dump.h"
#include "explain/figures.h"
#include "explain/report.h"
#include "explain/segments.h"
#include "explain/symbols.h"

typedef struct {
    Text symbols, classes; /* empty: not wanted, or the model could not be loaded */
    Text hints;
} Lists;

/* Before the passes work on the model. */
static Lists make_lists(const Compilation *c, const FindingsWanted *wanted, bool is_json)
{
    Lists lists = { .symbols = { .arena = c->arena },
                    .classes = { .arena = c->arena },
                    .hints = { .arena = c->arena } };
    model_list(c->model, LIST_HINTS, is_json, &lists.hints);
    if (wanted->symbols)
        model_list(c->model, LIST_SYMBOLS, is_json, &lists.symbols);
    if (wanted->classes)
        model_list(c->model, LIST_CLASSES, is_json, &lists.classes);
    return lists;
}

static void add_list(Text *to, const char *key, const Text *list)
{
    if (list->n)
        text_format(to, ",\"%s\":%s", key, list->at);
}

static void write_json(const Compilation *c, const Lists *lists, const FindingsWanted *wanted, bool is_good, Text *to)
{
    text_format(to, "{\"koine\":\"%s\",\"file\":", KOINE_VERSION);
    text_json(to, c->request.path);
    text_format(to, ",\"good\":%s,\"model\":", is_good ? "true" : "false");
    if (is_good) {
        const CompileReport report = compile_report(c->schedule, c->program, c->arena);
        text_json(to, report.model);
        text_add(to, ",\"language\":");
        text_json(to, report.language);
        text_add(to, ",\"figures\":");
        figures_json(&report, to);
        text_add(to, ",\"structure\":");
        report_structure(c->schedule, (ReportStyle){ wanted->blocks, true, (uint32_t)report.index }, to);
    } else {
        text_add(to, "null,\"language\":null,\"figures\":null,\"structure\":null");
    }
    if (is_good && wanted->segments) {
        text_add(to, ",\"dependence\":");
        report_segments(c->schedule, true, to);
    }
    add_list(to, "symbols", &lists->symbols);
    add_list(to, "classes", &lists->classes);
    add_list(to, "hints", &lists->hints);
    text_add(to, ",\"diagnostics\":");
    text_add(to, diag_json(c->diag, c->arena));
    text_add(to, "\n}\n");
}

static void write_text(const Compilation *c, const Lists *lists, const FindingsWanted *wanted, bool is_good, Text *to)
{
    const bool has_structure = wanted->structure || wanted->blocks;
    if (wanted->listing)
        compilation_listing(c, c->request.path, wanted->line_numbers, wanted->no_messages, to);
    text_bytes(to, lists->symbols.at, lists->symbols.n);
    text_bytes(to, lists->classes.at, lists->classes.n);
    if (!is_good)
        return;
    const CompileReport report = compile_report(c->schedule, c->program, c->arena);
    if (has_structure)
        report_structure(c->schedule, (ReportStyle){ wanted->blocks, false, (uint32_t)report.index }, to);
    if (wanted->segments)
        report_segments(c->schedule, false, to);
    if (has_structure || wanted->segments || wanted->listing || wanted->symbols || wanted->classes)
        return;
    figures_text(&report, to);
    text_bytes(to, lists->hints.at, lists->hints.n);
}

bool compilation_findings(Compilation *c, const CompileRequest *request, const FindingsWanted *wanted, bool is_json,
                          Text *to)
{
    CompileRequest with_ports = *request;
    with_ports.derivatives.is_wanted |= wanted->segments;
    bool is_good = compilation_load(c, &with_ports);
    const Lists lists = is_good ? make_lists(c, wanted, is_json) : (Lists){ 0 };
    is_good = is_good && compilation_schedule(c);
    if (is_json)
        write_json(c, &lists, wanted, is_good, to);
    else
        write_text(c, &lists, wanted, is_good, to);
    return is_good;
}
