/* Answers about results: what there is, curves, values at a time, CSV. */
#include "base/vec.h"
#include "web/curves.h"
#include "web/session.h"
#include <math.h>
#include <stdlib.h>

/* { "names": [...], "units": [...], "comments": [...], "discrete": "0112..." }; the first one is the time; 2:
 * constant */
void answer_variables(View *view, HttpRequest *request, HttpResponse *response)
{
    const Run *run = request_run(view, request, response);
    if (!run)
        return;
    const uint32_t n = result_columns(run->result);
    Text names = { .arena = request->arena }, units = names, comments = names, discrete = names;
    for (uint32_t k = 0; k < n; k++) {
        const ResultColumn *column = result_column(run->result, k);
        const char *comma = k ? "," : "";
        text_add(&names, comma);
        text_json(&names, column->name);
        text_add(&units, comma);
        text_json(&units, column->unit);
        text_add(&comments, comma);
        text_json(&comments, column->comment);
        text_char(&discrete, column->is_constant ? '2' : column->is_discrete ? '1' : '0');
    }
    Text text = { .arena = request->arena };
    text_format(&text, "{ \"names\": [%s],\n\"units\": [%s],\n\"comments\": [%s],\n\"discrete\": \"%s\" }\n",
                names.at ? names.at : "", units.at ? units.at : "", comments.at ? comments.at : "",
                discrete.at ? discrete.at : "");
    answer_text(response, JSON_TYPE, &text);
}

/* "3,5,7"; false: answered. */
static bool read_columns(const Run *run, HttpRequest *request, HttpResponse *response, uint32_t *columns, uint32_t *n)
{
    const char *at = http_field(request, "vars");
    const uint32_t most = result_columns(run->result);
    *n = 0;
    for (at = at ? at : ""; *at;) {
        char *end;
        const unsigned long column = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && *end != ',') || column >= most) {
            answer_error(request, response, 404, "there is no such variable");
            return false;
        }
        if (*n == CURVES_COLUMNS_MOST) {
            answer_error(request, response, 413, "more than %d variables at once", CURVES_COLUMNS_MOST);
            return false;
        }
        columns[(*n)++] = (uint32_t)column;
        at = end + (*end == ',');
    }
    return true;
}

/* Doubles, little-endian: points, whether they are reduced, first and last time of the run, then the times, then the
 * values of each variable. */
void answer_data(View *view, HttpRequest *request, HttpResponse *response)
{
    enum { HEAD = 4 };
    const Run *run = request_run(view, request, response);
    uint32_t columns[CURVES_COLUMNS_MOST], n;
    if (!run || !read_columns(run, request, response, columns, &n))
        return;
    const CurvesWindow window = { request_real(request, "from", -INFINITY), request_real(request, "to", INFINITY),
                                  request_integer(request, "width", 1000), http_field(request, "points") != NULL };
    Curves curves;
    if (!curves_read(run->result, columns, n, window, request->arena, &curves)) {
        answer_error(request, response, 503, "the result cannot be read any more");
        return;
    }
    const size_t size = HEAD + curves.n * (n + 1);
    double *all = NEW_ARRAY(request->arena, double, size);
    const uint64_t rows = result_rows(run->result);
    all[0] = (double)curves.n;
    all[1] = curves.is_reduced;
    all[2] = all[3] = NAN;
    if (rows) {
        result_read(run->result, 0, 0, 1, &all[2]);
        result_read(run->result, 0, rows - 1, 1, &all[3]);
    }
    if (curves.n)
        memcpy(all + HEAD, curves.times, curves.n * sizeof *all);
    for (uint32_t k = 0; k < n && curves.n; k++)
        memcpy(all + HEAD + (k + 1) * curves.n, curves.columns[k], curves.n * sizeof *all);
    *response =
        (HttpResponse){ .status = 200, .type = "application/octet-stream", .body = all, .size = size * sizeof *all };
}

/* { "times": [...], "all": true } */
void answer_events(View *view, HttpRequest *request, HttpResponse *response)
{
    enum { EVENTS_MOST = 1000 };
    const Run *run = request_run(view, request, response);
    if (!run)
        return;
    const CurvesEvents events = curves_events(run->result, request_real(request, "from", -INFINITY),
                                              request_real(request, "to", INFINITY), EVENTS_MOST, request->arena);
    Text text = { .arena = request->arena };
    text_add(&text, "{ \"times\": [");
    for (uint32_t k = 0; k < events.n; k++) {
        text_add(&text, k ? "," : "");
        json_real(&text, events.times[k]);
    }
    text_format(&text, "], \"all\": %s }\n", events.is_all ? "true" : "false");
    answer_text(response, JSON_TYPE, &text);
}

/* The value between two rows: on a line, or held. */
static double value_at(const Result *result, uint32_t column, uint64_t row, double time, const double times[2])
{
    double ends[2];
    if (!result_read(result, column, row, 1, &ends[0]))
        return NAN;
    if (!(times[0] < time) || !(time < times[1]) || result_column(result, column)->is_discrete ||
        !result_read(result, column, row + 1, 1, &ends[1]))
        return ends[0];
    return ends[0] + (ends[1] - ends[0]) * ((time - times[0]) / (times[1] - times[0]));
}

/* { "time": 1.5, "values": [...] }: at an event the values behind it */
void answer_values(View *view, HttpRequest *request, HttpResponse *response)
{
    const Run *run = request_run(view, request, response);
    uint32_t columns[CURVES_COLUMNS_MOST], n;
    if (!run || !read_columns(run, request, response, columns, &n))
        return;
    const double time = request_real(request, "time", NAN);
    const uint64_t rows = result_rows(run->result), behind = result_row_at(run->result, nextafter(time, INFINITY));
    const uint64_t row = behind > 0 ? behind - 1 : 0;
    double times[2] = { NAN, NAN };
    const bool is_inside = rows > 0 && result_read(run->result, 0, row, 1, &times[0]) && times[0] <= time;
    if (is_inside && row + 1 < rows)
        result_read(run->result, 0, row + 1, 1, &times[1]);
    Text text = { .arena = request->arena };
    text_add(&text, "{ \"time\": ");
    json_real(&text, time);
    text_add(&text, ", \"values\": [");
    for (uint32_t k = 0; k < n; k++) {
        text_add(&text, k ? "," : "");
        const bool is_beyond = is_inside && row + 1 == rows && time > times[0];
        json_real(&text, is_inside && !is_beyond ? value_at(run->result, columns[k], row, time, times) : NAN);
    }
    text_add(&text, "] }\n");
    answer_text(response, JSON_TYPE, &text);
}

/* ---- CSV ---- */
typedef struct {
    View *view;
    uint32_t run, n;
    uint32_t columns[CURVES_COLUMNS_MOST];
    uint64_t row, last;
    bool has_head;
} Export;

enum { EXPORT_ROWS = 512 };

static void export_name(Text *part, const char *name)
{
    const bool is_quoted = strpbrk(name, ",\"\r\n ") != NULL;
    text_add(part, is_quoted ? "\"" : "");
    for (; *name; name++) {
        text_add(part, *name == '"' ? "\"" : "");
        text_char(part, *name);
    }
    text_add(part, is_quoted ? "\"" : "");
}

static HttpStream export_part(void *context, Text *part)
{
    Export *e = context;
    const Result *result = e->view->runs.at[e->run]->result; /* it may have been opened again meanwhile */
    if (!result)
        return HTTP_STREAM_END;
    for (uint32_t k = 0; k <= e->n && !e->has_head; k++) {
        text_add(part, k ? "," : "");
        export_name(part, result_column(result, k ? e->columns[k - 1] : 0)->name);
    }
    text_add(part, e->has_head ? "" : "\n");
    e->has_head = true;
    const uint64_t end = result_rows(result) < e->last ? result_rows(result) : e->last;
    const uint64_t n = e->row >= end ? 0 : end - e->row < EXPORT_ROWS ? end - e->row : EXPORT_ROWS;
    double *values = malloc((size_t)(e->n + 1) * EXPORT_ROWS * sizeof *values);
    bool is_good = values && n > 0;
    for (uint32_t k = 0; k <= e->n && is_good; k++)
        is_good = result_read(result, k ? e->columns[k - 1] : 0, e->row, n, values + (size_t)k * EXPORT_ROWS);
    for (uint64_t r = 0; r < n && is_good; r++) {
        for (uint32_t k = 0; k <= e->n; k++) {
            text_add(part, k ? "," : "");
            text_real(part, values[(size_t)k * EXPORT_ROWS + r]);
        }
        text_char(part, '\n');
    }
    free(values);
    e->row += n;
    return is_good && e->row < end ? HTTP_STREAM_MORE : HTTP_STREAM_END;
}

void answer_export(View *view, HttpRequest *request, HttpResponse *response)
{
    const Run *run = request_run(view, request, response);
    Export *e = NEW(request->arena, Export);
    if (!run || !read_columns(run, request, response, e->columns, &e->n))
        return;
    e->view = view;
    e->run = run->id;
    const double from = request_real(request, "from", -INFINITY), to = request_real(request, "to", INFINITY);
    e->row = result_row_at(run->result, from);
    e->last = to < INFINITY ? result_row_at(run->result, nextafter(to, INFINITY)) : result_rows(run->result);
    *response = (HttpResponse){ .status = 200,
                                .type = "text/csv; charset=utf-8",
                                .headers = "Content-Disposition: attachment; filename=\"koine.csv\"\r\n",
                                .stream = export_part,
                                .context = e };
}
