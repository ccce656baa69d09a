#include "bench_emit.h"

void hand_lorenz(double *m, const unsigned *rows)
{
    (void)rows;
    const double s = m[0], r = m[1], b = m[2], x = m[3], y = m[4], z = m[5];
    m[6] = s * (y - x);
    m[7] = x * (r - z) - y;
    m[8] = x * y - b * z;
}

void hand_van_der_pol(double *m, const unsigned *rows)
{
    (void)rows;
    const double mu = m[0], x = m[1], y = m[2];
    m[3] = y;
    m[4] = mu * (1.0 - x * x) * y - x;
}

static void heat(double a, const double *restrict t, double *restrict dt, int n)
{
    for (int i = 0; i < n; i++)
        dt[i] = a * (t[i] - 2.0 * t[i + 1] + t[i + 2]);
}

void hand_heat_100(double *m, const unsigned *rows)
{
    (void)rows;
    heat(m[0], m + 1, m + 1 + 102, 100);
}

void hand_heat_10000(double *m, const unsigned *rows)
{
    (void)rows;
    heat(m[0], m + 1, m + 1 + 10002, 10000);
}

static void shuffled(double *m, const unsigned *rows, int n)
{
    for (int i = 0; i < n; i++, rows += 5)
        m[rows[0]] = m[rows[1]] * (m[rows[2]] - 2.0 * m[rows[3]] + m[rows[4]]);
}

void hand_shuffled_100(double *m, const unsigned *rows)
{
    shuffled(m, rows, 100);
}

void hand_shuffled_10000(double *m, const unsigned *rows)
{
    shuffled(m, rows, 10000);
}
