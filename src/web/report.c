/* Writing a report: tables, drawn curves and their data in one file; see report.h. */
#include "web/report.h"
#include "formats/plot.h"
#include "formats/select.h"
#include "web/curves.h"
#include "web/json_rows.h"
#include "web/origin.h"
#include "web/page.h"
#include <math.h>

enum { POINTS = 1200, DEFAULT_CURVES = 6, CURVES_MOST = 64, PARAMETERS_MOST = 400 };

typedef struct {
    const ReportOptions *options;
    Text *to;
    Arena *arena;
    JsonRows *begins, *ends; /* of each run */
    Text data;               /* of the curves, JSON */
} Report;

/* ---- HTML ---- */
static void add_cell(Text *to, const char *tag, const char *text)
{
    text_format(to, "<%s>", tag);
    text_xml(to, text);
    text_format(to, "</%s>", tag);
}

static void add_base64(Text *to, const char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *all = NEW_ARRAY(to->arena, char, 4 * (size / 3 + 1));
    size_t n = 0;
    for (size_t k = 0; k < size; k += 3) {
        const unsigned char *b = (const unsigned char *)bytes + k;
        const uint32_t three =
            (uint32_t)b[0] << 16 | (k + 1 < size ? (uint32_t)b[1] << 8 : 0) | (k + 2 < size ? b[2] : 0);
        all[n++] = digits[three >> 18];
        all[n++] = digits[three >> 12 & 63];
        all[n++] = k + 1 < size ? digits[three >> 6 & 63] : '=';
        all[n++] = k + 2 < size ? digits[three & 63] : '=';
    }
    text_bytes(to, all, n);
}

/* A picture of its own, so that its styles stay inside. */
static void add_picture(Text *to, const Text *svg, const char *label)
{
    text_add(to, "<img alt=\"");
    text_xml(to, label);
    text_add(to, "\" src=\"data:image/svg+xml;base64,");
    add_base64(to, svg->at, svg->n);
    text_add(to, "\">\n");
}

static const PageFile *page_file(const char *name)
{
    for (uint32_t k = 0; k < n_page_files; k++)
        if (strcmp(page_files[k].name, name) == 0)
            return &page_files[k];
    return NULL;
}

static void add_page_file(Text *to, const char *name)
{
    const PageFile *file = page_file(name);
    if (file)
        text_bytes(to, (const char *)file->bytes, file->size);
}

/* ---- runs ---- */
static void add_row(const Report *r, const char *label, const JsonRows *rows, const char *key)
{
    bool is_known = false;
    for (uint32_t k = 0; k < r->options->n_runs; k++)
        is_known |= json_row(&rows[k], key) != NULL;
    if (!is_known)
        return;
    text_add(r->to, "<tr>");
    add_cell(r->to, "th", label);
    for (uint32_t k = 0; k < r->options->n_runs; k++) {
        const char *value = json_row(&rows[k], key);
        add_cell(r->to, "td", value ? value : "");
    }
    text_add(r->to, "</tr>\n");
}

static void add_times(const Report *r)
{
    text_add(r->to, "<tr><th>points</th>");
    for (uint32_t k = 0; k < r->options->n_runs; k++) {
        const Result *result = r->options->runs[k].result;
        const uint64_t n = result_rows(result);
        double ends[2] = { NAN, NAN };
        if (n) {
            result_read(result, 0, 0, 1, &ends[0]);
            result_read(result, 0, n - 1, 1, &ends[1]);
        }
        text_format(r->to, "<td>%llu, time %.9g to %.9g</td>", (unsigned long long)n, ends[0], ends[1]);
    }
    text_add(r->to, "</tr>\n");
}

/* Rows for all keys that begin with a prefix, of the first run that has them. */
static void add_settings(const Report *r)
{
    static const char PREFIX[] = "settings.";
    for (uint32_t k = 0; k < r->options->n_runs; k++) {
        for (uint32_t row = 0; row < r->begins[k].n; row++) {
            const char *key = r->begins[k].at[row].key;
            bool is_new = strncmp(key, PREFIX, sizeof PREFIX - 1) == 0;
            for (uint32_t before = 0; before < k; before++)
                is_new &= json_row(&r->begins[before], key) == NULL;
            if (is_new)
                add_row(r, key + sizeof PREFIX - 1, r->begins, key);
        }
    }
}

/* Files of the model that were edited since a run. */
static void add_changes(const Report *r)
{
    Text cells = { .arena = r->arena };
    bool is_any = false;
    for (uint32_t k = 0; k < r->options->n_runs; k++) {
        RunOrigin *origin = origin_create(result_provenance(r->options->runs[k].result), r->arena);
        const char *changes = origin && origin_look(origin) ? origin_changes(origin) : NULL;
        add_cell(&cells, "td", changes ? changes : "");
        is_any |= changes != NULL;
    }
    if (is_any)
        text_format(r->to, "<tr class=\"bad\"><th>the model has changed since this run</th>%s</tr>\n", cells.at);
}

/* Damaged results, and such whose runs did not end. */
static void add_notes(const Report *r)
{
    Text cells = { .arena = r->arena };
    bool is_any = false;
    for (uint32_t k = 0; k < r->options->n_runs; k++) {
        const char *note = result_note(r->options->runs[k].result);
        add_cell(&cells, "td", note ? note : "");
        is_any |= note != NULL;
    }
    if (is_any)
        text_format(r->to, "<tr class=\"bad\"><th>the result is not whole</th>%s</tr>\n", cells.at);
}

static void add_runs(const Report *r)
{
    static const struct {
        const char *label, *key;
    } figures[] = { { "ended", "end" },
                    { "message", "message" },
                    { "solver", "solver" },
                    { "chosen because", "solver_choice" },
                    { "steps", "steps" },
                    { "rejected steps", "rejected_steps" },
                    { "evaluations", "evaluations" },
                    { "Jacobians", "jacobians" },
                    { "state events", "state_events" },
                    { "time events", "time_events" },
                    { "Newton iterations", "newton_iterations" },
                    { "linear systems solved", "linear_solves" },
                    { "compiling [s]", "compile_seconds" },
                    { "running [s]", "run_seconds" } };
    text_add(r->to, "<h2>Runs</h2>\n<div class=\"scroll\"><table><thead><tr><th></th>");
    for (uint32_t k = 0; k < r->options->n_runs; k++)
        add_cell(r->to, "th", r->options->runs[k].path);
    text_add(r->to, "</tr></thead>\n");
    add_row(r, "model", r->begins, "model");
    add_row(r, "file", r->begins, "file");
    add_row(r, "hash of the model", r->begins, "hash");
    add_changes(r);
    add_notes(r);
    add_row(r, "Koine", r->begins, "koine");
    add_row(r, "created", r->begins, "created");
    add_settings(r);
    add_times(r);
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        add_row(r, figures[k].label, r->ends, figures[k].key);
    text_add(r->to, "</table></div>\n");
}

/* ---- parameters: columns that hold one value ---- */
static void add_parameters(const Report *r)
{
    const Result *first = r->options->runs[0].result;
    uint32_t n = 0;
    for (uint32_t k = 1; k < result_columns(first); k++) {
        const ResultColumn *column = result_column(first, k);
        if (!column->is_constant || n++ >= PARAMETERS_MOST)
            continue;
        if (n == 1) {
            text_add(r->to, "<h2>Parameters</h2>\n<div class=\"scroll\"><table><thead><tr><th>name</th>");
            for (uint32_t run = 0; run < r->options->n_runs; run++)
                add_cell(r->to, "th", r->options->runs[run].path);
            text_add(r->to, "<th>unit</th><th></th></tr></thead>\n");
        }
        text_add(r->to, "<tr>");
        add_cell(r->to, "th", column->name);
        for (uint32_t run = 0; run < r->options->n_runs; run++) {
            const Result *result = r->options->runs[run].result;
            const uint32_t at = result_find(result, column->name);
            double value = NAN;
            text_add(r->to, "<td class=\"number\">");
            if (at != UINT32_MAX && result_rows(result) && result_read(result, at, 0, 1, &value))
                text_real(r->to, value);
            text_add(r->to, "</td>");
        }
        add_cell(r->to, "td", column->unit);
        add_cell(r->to, "td", column->comment);
        text_add(r->to, "</tr>\n");
    }
    if (n)
        text_add(r->to, "</table></div>\n");
    if (n > PARAMETERS_MOST)
        text_format(r->to, "<p class=\"soft\">and %u more</p>\n", n - PARAMETERS_MOST);
}

/* ---- curves ---- */
typedef VEC(const char *) NameList;

/* Adds the names that a glob chooses and that are not there yet. False: it chooses none. */
static bool choose_names(const Report *r, const char *glob, GlobMatch *finds, NameList *names)
{
    bool is_any = false;
    for (uint32_t run = 0; run < r->options->n_runs; run++) {
        const Result *result = r->options->runs[run].result;
        for (uint32_t k = 1; k < result_columns(result); k++) {
            const char *name = result_column(result, k)->name;
            bool is_new = finds(glob, name);
            is_any |= is_new;
            for (uint32_t j = 0; j < names->n && is_new; j++)
                is_new = strcmp(names->at[j], name) != 0;
            if (is_new && names->n < CURVES_MOST)
                vec_push(r->arena, names, name);
        }
    }
    return is_any;
}

/* The names that a list of globs chooses, in the order of the globs; in any capitals where no name has those that are
 * given. False: a glob chooses none. */
static bool choose(const Report *r, const char *list, NameList *names, const char **error)
{
    const char *const *globs;
    const uint32_t n = globs_split(list, r->arena, &globs);
    for (uint32_t g = 0; g < n; g++) {
        if (!choose_names(r, globs[g], glob_matches, names) &&
            !choose_names(r, globs[g], glob_matches_any_case, names)) {
            *error = arena_format(r->arena, "no variable matches '%s'", globs[g]);
            return false;
        }
    }
    return true;
}

static void choose_some(const Report *r, NameList *names)
{
    const Result *result = r->options->runs[0].result;
    for (uint32_t k = 1; k < result_columns(result) && names->n < DEFAULT_CURVES; k++)
        if (!result_column(result, k)->is_constant)
            vec_push(r->arena, names, result_column(result, k)->name);
}

static void add_numbers(Text *to, const double *values, uint64_t n)
{
    text_char(to, '[');
    for (uint64_t k = 0; k < n; k++) {
        text_add(to, k ? "," : "");
        if (values[k] - values[k] == 0)
            text_real(to, values[k]);
        else
            text_add(to, "null");
    }
    text_char(to, ']');
}

/* JSON inside of a script element must not close it. */
static void add_script_text(Text *to, const char *text)
{
    Text quoted = { .arena = to->arena };
    text_json(&quoted, text);
    for (size_t k = 0; k < quoted.n; k++)
        if (quoted.at[k] == '<')
            text_add(to, "\\u003c");
        else
            text_char(to, quoted.at[k]);
}

static bool add_curve(Report *r, const char *name, uint32_t run, PlotSeries *series, uint32_t *n)
{
    const ReportRun *from = &r->options->runs[run];
    const uint32_t column = result_find(from->result, name);
    if (column == UINT32_MAX)
        return true;
    Curves curves;
    if (!curves_read(from->result, &column, 1, (CurvesWindow){ -INFINITY, INFINITY, POINTS, false }, r->arena, &curves))
        return false;
    const ResultColumn *about = result_column(from->result, column);
    const char *label = r->options->n_runs > 1 ? arena_format(r->arena, "%s (%s)", name, from->path) : name;
    series[(*n)++] = (PlotSeries){ .name = label,
                                   .times = curves.times,
                                   .values = curves.columns[0],
                                   .n = curves.n,
                                   .is_discrete = about->is_discrete };
    text_add(&r->data, *n > 1 ? ",\n{\"name\":" : "{\"name\":");
    add_script_text(&r->data, label);
    text_add(&r->data, ",\"unit\":");
    add_script_text(&r->data, about->unit);
    text_format(&r->data, ",\"discrete\":%s,\"times\":", about->is_discrete ? "true" : "false");
    add_numbers(&r->data, curves.times, curves.n);
    text_add(&r->data, ",\"values\":");
    add_numbers(&r->data, curves.columns[0], curves.n);
    text_char(&r->data, '}');
    return true;
}

static bool add_pane(Report *r, const NameList *names, uint32_t pane)
{
    PlotSeries *series = NEW_ARRAY(r->arena, PlotSeries, (size_t)names->n * r->options->n_runs + 1);
    uint32_t n = 0;
    text_add(&r->data, pane ? ",\n{\"curves\":[" : "{\"curves\":[");
    for (uint32_t k = 0; k < names->n; k++)
        for (uint32_t run = 0; run < r->options->n_runs; run++)
            if (!add_curve(r, names->at[k], run, series, &n))
                return false;
    text_add(&r->data, "]}");
    const Text svg = plot_svg(&(PlotPane){ .series = series, .n_series = n }, 1, &(PlotOptions){ 0 }, r->arena);
    Text label = { .arena = r->arena };
    text_add(&label, "Curves of ");
    for (uint32_t k = 0; k < names->n; k++)
        text_format(&label, "%s%s", k ? ", " : "", names->at[k]);
    text_add(r->to, "<div class=\"report-plot\">");
    add_picture(r->to, &svg, label.at);
    text_add(r->to, "</div>\n");
    return true;
}

static bool add_plots(Report *r, const char **error)
{
    text_add(r->to, "<h2>Curves</h2>\n");
    const uint32_t n = r->options->n_panes ? r->options->n_panes : 1;
    for (uint32_t k = 0; k < n; k++) {
        NameList names = { 0 };
        if (!r->options->n_panes)
            choose_some(r, &names);
        else if (!choose(r, r->options->panes[k], &names, error))
            return false;
        *error = "the result cannot be read any more";
        if (!add_pane(r, &names, k))
            return false;
    }
    return true;
}

/* ---- the model ---- */
static void add_model(const Report *r)
{
    Compilation *c = r->options->compilation;
    if (!c)
        return;
    const Sources *sources = c->sources;
    text_add(r->to, "<h2>Model</h2>\n");
    if (r->options->diagram)
        add_picture(r->to, r->options->diagram, "Components of the model and their connections");
    Diag *diag = c->diag;
    DiagItem item;
    for (uint32_t k = 0; diag_item(diag, k, &item); k++) {
        const LineColumn place = span_begin(sources, item.at.span);
        text_format(r->to, "<p class=\"bad\">%s KN%u: ", item.level == DIAG_ERROR ? "error" : "warning", item.code);
        if (place.line)
            text_format(r->to, "line %u: ", place.line);
        text_xml(r->to, item.at.message);
        text_add(r->to, "</p>\n");
    }
    uint32_t id;
    if (sources_open(c->sources, r->options->model, &id) == SOURCE_OK) {
        text_add(r->to, "<details><summary>");
        text_xml(r->to, r->options->model);
        text_add(r->to, "</summary><pre>");
        text_xml(r->to, sources_get(sources, id)->text);
        text_add(r->to, "</pre></details>\n");
    }
}

bool report_html(const ReportOptions *options, Text *to, const char **error)
{
    Report r = { .options = options, .to = to, .arena = to->arena, .data = { .arena = to->arena } };
    r.begins = NEW_ARRAY(r.arena, JsonRows, options->n_runs);
    r.ends = NEW_ARRAY(r.arena, JsonRows, options->n_runs);
    for (uint32_t k = 0; k < options->n_runs; k++) {
        json_rows(result_provenance(options->runs[k].result), r.arena, &r.begins[k]);
        json_rows(result_statistics(options->runs[k].result), r.arena, &r.ends[k]);
    }
    text_add(to, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    text_xml(to, options->title);
    text_add(to, "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>");
    add_page_file(to, "report.css");
    text_add(to, "</style>\n</head>\n<body>\n");
    add_cell(to, "h1", options->title);
    text_format(to, "<p class=\"soft\">Report by Koine %s</p>\n", options->version);
    if (!add_plots(&r, error))
        return false;
    add_runs(&r);
    add_parameters(&r);
    add_model(&r);
    text_add(to, "<script type=\"application/json\" id=\"data\">[");
    text_bytes(to, r.data.at, r.data.n);
    text_add(to, "]</script>\n<script>");
    add_page_file(to, "report.js");
    text_add(to, "</script>\n</body>\n</html>\n");
    return true;
}
