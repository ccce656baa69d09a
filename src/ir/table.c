/* Coefficients of tables; see table.h. */
#include "ir/table.h"
#include "base/bug.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { ROW = 5 }; /* numbers of an interval: see koine_lookup */

uint32_t table_least(TableMethod method)
{
    return method == TABLE_LINEAR || method == TABLE_CONSTANT ? 2 : 3;
}

uint32_t table_degree(TableMethod method)
{
    return method == TABLE_CONSTANT ? 0 : method == TABLE_LINEAR ? 1 : 3;
}

bool table_has_kinks(TableMethod method)
{
    return method == TABLE_LINEAR || method == TABLE_CONSTANT;
}

bool table_equal(const Table *a, const Table *b)
{
    return name_equal(a->name, b->name) && a->method == b->method && a->outside == b->outside && a->n == b->n &&
           memcmp(a->x, b->x, a->n * sizeof *a->x) == 0 && memcmp(a->y, b->y, a->n * sizeof *a->y) == 0;
}

uint32_t table_data_size(const Table *table)
{
    return 2 + table->n + ROW * (table->n + 1);
}

/* ---- slopes at the points ---- */
static double width(const Table *t, uint32_t k)
{
    return t->x[k + 1] - t->x[k];
}

static double rise(const Table *t, uint32_t k) /* of the line to the next point */
{
    return (t->y[k + 1] - t->y[k]) / width(t, k);
}

/* Of the parabola through a point and its neighbours; at the ends through the last three. */
static double bessel_slope(const Table *t, uint32_t k)
{
    if (k == 0)
        return 2 * rise(t, 0) - bessel_slope(t, 1);
    if (k == t->n - 1)
        return 2 * rise(t, k - 1) - bessel_slope(t, k - 1);
    const double before = width(t, k - 1), behind = width(t, k);
    return (behind * rise(t, k - 1) + before * rise(t, k)) / (before + behind);
}

/* Those for which the second derivative is continuous, with the ends given: a tridiagonal system. */
static void fill_spline_slopes(const Table *t, double *slope, double *work)
{
    const uint32_t n = t->n;
    slope[0] = bessel_slope(t, 0);
    slope[n - 1] = bessel_slope(t, n - 1);
    work[0] = 0;
    for (uint32_t k = 1; k + 1 < n; k++) {
        const double before = 1 / width(t, k - 1), behind = 1 / width(t, k);
        const double right = 3 * (rise(t, k - 1) * before + rise(t, k) * behind);
        const double pivot = 2 * (before + behind) - before * work[k - 1];
        work[k] = behind / pivot;
        slope[k] = (right - before * slope[k - 1]) / pivot;
    }
    for (uint32_t k = n - 1; k-- > 1;)
        slope[k] -= work[k] * slope[k + 1];
}

/* Rise between points k and k + 1; beyond the ends continued as a parabola would. */
static double akima_rise(const Table *t, int64_t k)
{
    const int64_t last = (int64_t)t->n - 2;
    if (k < 0)
        return 2 * akima_rise(t, k + 1) - akima_rise(t, k + 2);
    if (k > last)
        return 2 * akima_rise(t, k - 1) - akima_rise(t, k - 2);
    return rise(t, (uint32_t)k);
}

static double akima_slope(const Table *t, int64_t k)
{
    const double a = akima_rise(t, k - 2), b = akima_rise(t, k - 1), c = akima_rise(t, k), d = akima_rise(t, k + 1);
    const double weight_b = fabs(d - c), weight_c = fabs(b - a);
    return weight_b + weight_c > 0 ? (weight_b * b + weight_c * c) / (weight_b + weight_c) : (b + c) / 2;
}

/* ---- intervals ---- */
static void fill_inner(const Table *t, uint32_t k, const double *slope, double *row)
{
    const double h = width(t, k), m = rise(t, k);
    row[0] = t->x[k];
    row[1] = t->y[k];
    if (t->method == TABLE_LINEAR)
        row[2] = m;
    if (table_degree((TableMethod)t->method) < 3)
        return;
    row[2] = slope[k];
    row[3] = (3 * m - 2 * slope[k] - slope[k + 1]) / h;
    row[4] = (slope[k] + slope[k + 1] - 2 * m) / (h * h);
}

static void fill_outer(const Table *t, double *first)
{
    double *last = first + (size_t)ROW * t->n;
    const double *inner = last - ROW;
    const double h = width(t, t->n - 2);
    first[0] = t->x[0];
    last[0] = t->x[t->n - 1];
    if (t->outside == OUTSIDE_ERROR)
        return;
    first[1] = t->y[0];
    last[1] = t->y[t->n - 1];
    if (t->outside == OUTSIDE_HOLD)
        return;
    memcpy(first + 2, first + ROW + 2, 3 * sizeof *first);
    last[2] = inner[2] + h * (2 * inner[3] + 3 * h * inner[4]);
    last[3] = inner[3] + 3 * h * inner[4];
    last[4] = inner[4];
}

static void fill_values(const Table *t, double *rows, Arena *arena)
{
    double *slope = NEW_ARRAY(arena, double, t->n), *work = NEW_ARRAY(arena, double, t->n);
    if (t->method == TABLE_SPLINE)
        fill_spline_slopes(t, slope, work);
    for (uint32_t k = 0; t->method == TABLE_BESSEL && k < t->n; k++)
        slope[k] = bessel_slope(t, k);
    for (uint32_t k = 0; t->method == TABLE_AKIMA && k < t->n; k++)
        slope[k] = akima_slope(t, k);
    for (uint32_t k = 0; k + 1 < t->n; k++)
        fill_inner(t, k, slope, rows + (size_t)ROW * (k + 1));
    fill_outer(t, rows);
}

/* How far beyond its ends an argument is taken to be at them, if it has no value there: what a remainder or a located
 * event leaves of an argument that is inside. It is far below what a solver's tolerance allows, and far above
 * rounding. */
static double rounding(const Table *t)
{
    const double first = t->x[0], last = t->x[t->n - 1];
    return 1e-10 * (last - first) + 16 * DBL_EPSILON * fmax(fabs(first), fabs(last));
}

const double *table_data(Table *table, uint32_t order, Arena *arena)
{
    REQUIRE(order < TABLE_ORDERS && table->n >= table_least((TableMethod)table->method));
    if (table->data[order])
        return table->data[order];
    double *data = NEW_ARRAY(arena, double, table_data_size(table)), *rows = data + 2 + table->n;
    data[0] = table->n;
    data[1] = table->outside == OUTSIDE_ERROR ? rounding(table) : 0;
    memcpy(data + 2, table->x, table->n * sizeof *data);
    if (order == 0)
        fill_values(table, rows, arena);
    else {
        const double *from = table_data(table, order - 1, arena) + 2 + table->n;
        for (size_t k = 0; k < (size_t)ROW * (table->n + 1); k += ROW) {
            rows[k] = from[k];
            for (uint32_t j = 1; j + 1 < ROW; j++)
                rows[k + j] = j * from[k + j + 1];
        }
    }
    table->data[order] = data;
    return data;
}
