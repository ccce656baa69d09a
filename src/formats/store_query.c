/* Questions a picture asks of a native store: which rows, what extremes, which events. */
#include "formats/store_read.h"
#include <math.h>
#include <stdlib.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t span_first(const Store *s, uint64_t span)
{
    return span * s->shape.span_rows;
}

static uint64_t span_count(const Store *s, uint64_t span)
{
    return least(s->shape.span_rows, s->info.n_rows - span_first(s, span));
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* The time never falls, so its extremes in a span are those of its ends. What is lost takes the time before it. */
static void mend_span(Store *s, uint64_t span, double before)
{
    StorePair *pair = &s->times.at[span];
    if (!isnan(pair->smallest))
        return;
    const uint64_t first = span_first(s, span), n = span_count(s, span);
    store_values(s, 0, first, 1, &pair->smallest);
    store_values(s, 0, first + n - 1, 1, &pair->largest);
    if (isnan(pair->smallest) || isnan(pair->largest))
        *pair = (StorePair){ before, before };
}

/* First and last time of every span. False: there is no memory for them. */
static bool load_spans(Store *s)
{
    const uint64_t n = (s->info.n_rows + s->shape.span_rows - 1) / s->shape.span_rows;
    if (s->times.n_rows == s->info.n_rows && s->times.at)
        return true;
    StorePair *grown = realloc(s->times.at, (n + 1) * sizeof *grown);
    if (!grown)
        return false;
    s->times.at = grown;
    const uint64_t from = s->times.n_rows / s->shape.span_rows; /* the last one may have been short */
    store_read_spans(s, 0, from, n - from, s->times.at + from);
    for (uint64_t k = from; k < n; k++)
        mend_span(s, k, k > 0 ? s->times.at[k - 1].largest : 0);
    s->times.n = n;
    s->times.n_rows = s->info.n_rows;
    return true;
}

/* The first span that has a time not before `time`, or after it. */
static uint64_t find_span(const Store *s, double time, bool is_after)
{
    uint64_t from = 0, to = s->times.n;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        if (is_after ? s->times.at[middle].largest > time : s->times.at[middle].largest >= time)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

static uint64_t find_row(Store *s, double time, bool is_after)
{
    if (s->info.n_rows == 0 || !load_spans(s))
        return s->info.n_rows;
    const uint64_t span = find_span(s, time, is_after);
    if (span == s->times.n)
        return s->info.n_rows;
    for (uint64_t row = span_first(s, span), end = row + span_count(s, span); row < end;) {
        double times[64];
        const uint64_t n = least(end - row, 64);
        store_values(s, 0, row, n, times);
        for (uint64_t k = 0; k < n; k++)
            if (is_after ? times[k] > time : times[k] >= time)
                return row + k;
        row += n;
    }
    return span_first(s, span) + span_count(s, span);
}

uint64_t store_row_at(Store *store, double time)
{
    return find_row(store, time, false);
}

/* ---- buckets ----------------------------------------------------------------------------------------------------- */

typedef struct {
    double from, width;
    uint32_t n;
    StoreBucket *at;
} Buckets;

static StoreBucket *bucket_of(const Buckets *b, double time)
{
    const double k = b->width > 0 ? floor((time - b->from) / b->width) : 0;
    return &b->at[k < 0 ? 0 : k >= b->n ? b->n - 1 : (uint32_t)k];
}

static void add(StoreBucket *bucket, uint64_t row, uint64_t n, StorePair time, StorePair value)
{
    if (bucket->n == 0)
        *bucket = (StoreBucket){ row, 0, (double)NAN, (double)NAN, time.smallest, 0 };
    bucket->n += n;
    bucket->last_time = time.largest;
    if (!(bucket->minimum <= value.smallest) && !isnan(value.smallest))
        bucket->minimum = value.smallest;
    if (!(bucket->maximum >= value.largest) && !isnan(value.largest))
        bucket->maximum = value.largest;
}

static void add_rows(Store *s, uint32_t variable, uint64_t row, uint64_t end, const Buckets *b)
{
    enum { PIECE = 4096 }; /* a block at a time: its chunks are decoded once */
    double times[PIECE], values[PIECE];
    while (row < end) {
        const uint64_t n = least(end - row, PIECE - row % PIECE);
        store_values(s, 0, row, n, times);
        store_values(s, variable, row, n, values);
        for (uint64_t k = 0; k < n; k++)
            add(bucket_of(b, times[k]), row + k, 1, (StorePair){ times[k], times[k] },
                (StorePair){ values[k], values[k] });
        row += n;
    }
}

/* Smallest and largest values of spans: known for dense columns, looked for in others, which change rarely. */
static void find_extremes(Store *s, uint32_t variable, uint64_t span, uint64_t n, StorePair *pairs)
{
    const StoreVariable *v = &s->info.variables[variable];
    if (v->storage == STORE_DENSE) {
        store_read_spans(s, v->column, span, n, pairs);
        for (uint64_t k = 0; k < n && v->is_negated; k++)
            pairs[k] = (StorePair){ -pairs[k].largest, -pairs[k].smallest };
        return;
    }
    enum { PIECE = 4096 };
    double values[PIECE];
    uint64_t row = 0, there = 0; /* rows in `values` */
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t first = span_first(s, span + k), count = span_count(s, span + k);
        if (first < row || first + count > row + there) {
            row = first;
            there = least(s->info.n_rows - row, PIECE - row % PIECE);
            store_values(s, variable, row, there, values);
        }
        double smallest = values[first - row], largest = smallest; /* nan: lost; each row is looked at */
        for (uint64_t i = first - row; i < first - row + count && i < there; i++) {
            smallest = values[i] < smallest ? values[i] : smallest;
            largest = values[i] > largest ? values[i] : largest;
        }
        pairs[k] = (StorePair){ smallest, largest };
    }
}

/* A span that is narrow beside a bucket goes there as a whole: its extremes are known without reading it. What lies
 * between such spans is read row by row, as much as possible in one go. */
static void add_spans(Store *s, uint32_t variable, uint64_t row, uint64_t end, const Buckets *b)
{
    enum { PIECE = 64, NARROW = 4 };
    uint64_t open = row; /* first row that is not in a bucket yet */
    for (uint64_t span = row / s->shape.span_rows; span_first(s, span) < end;) {
        StorePair pairs[PIECE];
        const uint64_t n = least((end - 1) / s->shape.span_rows + 1 - span, PIECE);
        find_extremes(s, variable, span, n, pairs);
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t first = span_first(s, span + k), last = first + span_count(s, span + k);
            const StorePair time = s->times.at[span + k];
            if (first < row || last > end || (time.largest - time.smallest) * NARROW >= b->width ||
                isnan(pairs[k].smallest))
                continue;
            add_rows(s, variable, open, first, b);
            add(bucket_of(b, time.smallest), first, last - first, time, pairs[k]);
            open = last;
        }
        span += n;
    }
    add_rows(s, variable, open, end, b);
}

void store_buckets(Store *s, uint32_t variable, double from, double to, uint32_t n, StoreBucket *buckets)
{
    const Buckets b = { from, (to - from) / n, n, buckets };
    memset(buckets, 0, n * sizeof *buckets);
    if (n == 0 || !(from <= to))
        return;
    const uint64_t row = find_row(s, from, false), end = find_row(s, to, true);
    if (row >= end)
        return;
    if (end - row > 4 * (uint64_t)n)
        add_spans(s, variable, row, end, &b);
    else
        add_rows(s, variable, row, end, &b);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

uint64_t store_events(Store *s, double from, double to, uint64_t most, uint64_t *rows)
{
    enum { PIECE = 1024 };
    uint8_t kinds[PIECE];
    uint64_t n_found = 0;
    const uint64_t end = find_row(s, to, true);
    for (uint64_t row = find_row(s, from, false); row < end;) {
        const uint64_t n = least(end - row, PIECE);
        store_kinds(s, row, n, kinds, NULL);
        for (uint64_t k = 0; k < n; k++) {
            if (kinds[k] != KOINE_POINT_RIGHT && kinds[k] != KOINE_POINT_REGION)
                continue;
            if (n_found < most)
                rows[n_found] = row + k;
            n_found++;
        }
        row += n;
    }
    return n_found;
}
