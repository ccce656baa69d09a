/* Reading a range of time and thinning it out to what a picture shows; see curves.h. */
#include "web/curves.h"
#include <math.h>

enum { PIECE = 1 << 14, ROWS_A_PIXEL = 4 };

typedef struct {
    uint64_t first, last; /* rows [first, last) */
    double from, to;
} Rows;

/* The rows inside, and one on either side so that lines reach the border. */
static Rows rows_of(const Result *result, CurvesWindow window)
{
    Rows rows = { 0, result_rows(result), window.from, window.to };
    if (rows.last == 0)
        return rows;
    double ends[2];
    result_read(result, 0, 0, 1, &ends[0]);
    result_read(result, 0, rows.last - 1, 1, &ends[1]);
    if (!(rows.from > ends[0]))
        rows.from = ends[0];
    if (!(rows.to < ends[1]))
        rows.to = ends[1];
    const uint64_t n = rows.last;
    rows.first = result_row_at(result, rows.from);
    rows.last = rows.to < ends[1] ? result_row_at(result, nextafter(rows.to, INFINITY)) : n;
    if (rows.first > 0)
        rows.first--;
    if (rows.last < n)
        rows.last++;
    return rows;
}

/* Which curves are wanted, and from which rows; at most about `width` points of each if there are more rows. */
typedef struct {
    const Result *result;
    const uint32_t *columns;
    uint32_t n_columns;
    Rows rows;
    uint32_t width;
} Wanted;

static bool read_all(const Wanted *w, Arena *arena, Curves *curves)
{
    const Rows rows = w->rows;
    curves->n = rows.last - rows.first;
    curves->times = NEW_ARRAY(arena, double, curves->n + 1);
    bool is_good = result_read(w->result, 0, rows.first, curves->n, curves->times);
    for (uint32_t k = 0; k < w->n_columns && is_good; k++) {
        curves->columns[k] = NEW_ARRAY(arena, double, curves->n + 1);
        is_good = result_read(w->result, w->columns[k], rows.first, curves->n, curves->columns[k]);
    }
    return is_good;
}

/* Smallest and largest value of one piece of time. */
typedef struct {
    double low, high;
    uint64_t low_row, high_row;
    bool is_known;
} Extremes;

static void extremes_add(Extremes *e, double value, uint64_t row)
{
    if (!(value - value == 0))
        return;
    if (!e->is_known || value < e->low) {
        e->low = value;
        e->low_row = row;
    }
    if (!e->is_known || value > e->high) {
        e->high = value;
        e->high_row = row;
    }
    e->is_known = true;
}

typedef struct {
    const Wanted *wanted;
    uint32_t *piece; /* of each row of the block under way */
    double *values;
    double *first, *last; /* times of the pieces; first is nan: no row lies in it */
} Reduction;

/* Which piece of time each row of a block belongs to. */
static bool find_pieces(Reduction *r, uint64_t row, uint64_t n)
{
    if (!result_read(r->wanted->result, 0, row, n, r->values))
        return false;
    const double scale = r->wanted->width / (r->wanted->rows.to - r->wanted->rows.from);
    for (uint64_t k = 0; k < n; k++) {
        const double at = (r->values[k] - r->wanted->rows.from) * scale;
        const uint32_t piece = !(at > 0) ? 0 : at >= r->wanted->width ? r->wanted->width - 1 : (uint32_t)at;
        r->piece[k] = piece;
        if (isnan(r->first[piece]))
            r->first[piece] = r->values[k];
        r->last[piece] = r->values[k];
    }
    return true;
}

static bool add_block(Reduction *r, uint64_t row, uint64_t n, Extremes *extremes)
{
    if (!find_pieces(r, row, n))
        return false;
    for (uint32_t c = 0; c < r->wanted->n_columns; c++) {
        if (!result_read(r->wanted->result, r->wanted->columns[c], row, n, r->values))
            return false;
        for (uint64_t k = 0; k < n; k++)
            extremes_add(&extremes[(size_t)c * r->wanted->width + r->piece[k]], r->values[k], row + k);
    }
    return true;
}

static void write_pieces(const Reduction *r, const Extremes *extremes, Arena *arena, Curves *curves)
{
    const uint32_t width = r->wanted->width, n_columns = r->wanted->n_columns;
    curves->is_reduced = true;
    curves->times = NEW_ARRAY(arena, double, 2 * (size_t)width);
    for (uint32_t c = 0; c < n_columns; c++)
        curves->columns[c] = NEW_ARRAY(arena, double, 2 * (size_t)width);
    for (uint32_t p = 0; p < width; p++) {
        if (isnan(r->first[p]))
            continue;
        const uint64_t at = curves->n;
        curves->times[at] = r->first[p];
        curves->times[at + 1] = r->last[p];
        for (uint32_t c = 0; c < n_columns; c++) {
            const Extremes *e = &extremes[(size_t)c * width + p];
            const bool is_rising = e->low_row <= e->high_row;
            curves->columns[c][at] = !e->is_known ? NAN : is_rising ? e->low : e->high;
            curves->columns[c][at + 1] = !e->is_known ? NAN : is_rising ? e->high : e->low;
        }
        curves->n += 2;
    }
}

static bool reduce(const Wanted *w, Arena *arena, Curves *curves)
{
    const uint32_t width = w->width;
    Reduction r = { .wanted = w,
                    .piece = NEW_ARRAY(arena, uint32_t, PIECE),
                    .values = NEW_ARRAY(arena, double, PIECE),
                    .first = NEW_ARRAY(arena, double, width),
                    .last = NEW_ARRAY(arena, double, width) };
    Extremes *extremes = NEW_ARRAY(arena, Extremes, (size_t)width * w->n_columns + 1);
    for (uint32_t p = 0; p < width; p++)
        r.first[p] = NAN;
    for (uint64_t row = w->rows.first; row < w->rows.last; row += PIECE) {
        const uint64_t n = w->rows.last - row < PIECE ? w->rows.last - row : PIECE;
        if (!add_block(&r, row, n, extremes))
            return false;
    }
    write_pieces(&r, extremes, arena, curves);
    return true;
}

/* The pieces as the file knows them. Which of the two came first it does not say: the nearer one to what was before. */
static bool take_buckets(const Wanted *w, Arena *arena, Curves *curves)
{
    const uint32_t width = w->width;
    ResultBucket *buckets = NEW_ARRAY(arena, ResultBucket, width);
    for (uint32_t c = 0; c < w->n_columns; c++) {
        if (!result_buckets(w->result, w->columns[c], w->rows.from, w->rows.to, width, buckets))
            return false;
        double *values = curves->columns[c] = NEW_ARRAY(arena, double, 2 * (size_t)width);
        if (c == 0)
            curves->times = NEW_ARRAY(arena, double, 2 * (size_t)width);
        uint64_t n = 0;
        for (uint32_t p = 0; p < width; p++) {
            const ResultBucket *b = &buckets[p];
            if (!b->n)
                continue;
            const double before = n ? values[n - 1] : NAN;
            const bool is_falling = fabs(before - b->maximum) < fabs(before - b->minimum);
            curves->times[n] = b->first_time;
            curves->times[n + 1] = b->last_time;
            values[n] = is_falling ? b->maximum : b->minimum;
            values[n + 1] = is_falling ? b->minimum : b->maximum;
            n += 2;
        }
        curves->n = n;
    }
    curves->is_reduced = true;
    return true;
}

/* Every so-many-th row. */
static bool thin_out(const Wanted *w, Arena *arena, Curves *curves)
{
    const Rows rows = w->rows;
    const uint32_t width = w->width;
    const uint64_t n = rows.last - rows.first, stride = (n + width - 1) / width;
    double *block = NEW_ARRAY(arena, double, PIECE);
    curves->times = NEW_ARRAY(arena, double, n / stride + 2);
    for (uint32_t c = 0; c < w->n_columns; c++)
        curves->columns[c] = NEW_ARRAY(arena, double, n / stride + 2);
    for (uint32_t c = 0; c <= w->n_columns; c++) {
        double *to = c ? curves->columns[c - 1] : curves->times;
        curves->n = 0;
        for (uint64_t row = rows.first; row < rows.last; row += PIECE) {
            const uint64_t size = rows.last - row < PIECE ? rows.last - row : PIECE;
            if (!result_read(w->result, c ? w->columns[c - 1] : 0, row, size, block))
                return false;
            for (uint64_t k = (stride - (row - rows.first) % stride) % stride; k < size; k += stride)
                to[curves->n++] = block[k];
        }
    }
    return true;
}

bool curves_read(const Result *result, const uint32_t *columns, uint32_t n_columns, CurvesWindow window, Arena *arena,
                 Curves *curves)
{
    *curves = (Curves){ .columns = NEW_ARRAY(arena, double *, n_columns + 1) };
    const uint32_t width = window.width < 1 ? 1 : window.width > CURVES_WIDTH_MOST ? CURVES_WIDTH_MOST : window.width;
    Wanted wanted = { result, columns, n_columns, rows_of(result, window), width };
    Rows *rows = &wanted.rows;
    if (rows->last < rows->first)
        *rows = (Rows){ 0 };
    if (rows->last == rows->first || rows->last - rows->first <= (uint64_t)ROWS_A_PIXEL * width ||
        !(rows->to > rows->from))
        return read_all(&wanted, arena, curves);
    if (window.wants_points)
        return thin_out(&wanted, arena, curves);
    return (n_columns && take_buckets(&wanted, arena, curves)) || reduce(&wanted, arena, curves);
}

CurvesEvents curves_events(const Result *result, double from, double to, uint32_t most, Arena *arena)
{
    const Rows rows = rows_of(result, (CurvesWindow){ .from = from, .to = to });
    double *times = NEW_ARRAY(arena, double, most + 1), *block = NEW_ARRAY(arena, double, PIECE);
    uint64_t n_events;
    if (result_events(result, rows.from, rows.to, most, times, &n_events)) {
        const bool is_all = n_events <= most;
        return (CurvesEvents){ times, is_all ? (uint32_t)n_events : most, is_all };
    }
    double before = NAN;
    CurvesEvents found = { .times = times, .is_all = true };
    for (uint64_t row = rows.first; row < rows.last; row += PIECE) {
        const uint64_t size = rows.last - row < PIECE ? rows.last - row : PIECE;
        if (!result_read(result, 0, row, size, block))
            break;
        for (uint64_t k = 0; k < size; k++) {
            const bool is_event = block[k] == before && (found.n == 0 || times[found.n - 1] != before);
            if (is_event && found.n == most)
                found.is_all = false;
            else if (is_event)
                times[found.n++] = before;
            before = block[k];
        }
    }
    return found;
}
