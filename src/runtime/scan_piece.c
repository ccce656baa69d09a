/* One piece of a step in the search for crossings: whether some root function crosses in it; see scan.c. */
#include "runtime/scan.h"

enum {
    MOST_MEASURED = 4, /* looks at rounding in one piece */
    MOST_DEEP = 500    /* looks into the shortest parts of one piece: what still asks for more is rounding */
};
static const double DIFFERENCE = 1e-3; /* of a piece, for slopes */
static const double WIDEST = 0.02;     /* of a piece: secants over more are no slopes */
static const double MARGIN = 4;        /* on the bound: it is proved for degree 5 only */
static const double VALUE_MARGIN = 2;  /* on the bound without a slope inside */
static const double ALIKE = 0.25;      /* of the swing: deviations above are no cubic at all */
static const double MOST_BENT =
    1e-8; /* of the largest value: what bends more in a thousandth of a piece is no rounding */
static const double LARGEST_NOISE = 1e-5; /* of the largest value: more is no rounding */
static const double END_NOISE = 1e-14;    /* of the values at the ends */
static const double VALUE_NOISE = 128 * DBL_EPSILON;
static const double SLOPE_NOISE = 4 * DBL_EPSILON / 1e-3; /* of a slope times the piece */

/* One piece, as all roots see it. */
typedef struct {
    const Point *left, *right, *look;
    double h, s;     /* length; share of the look */
    double second_s; /* share of the second look; NAN: none */
} Piece;

typedef struct {
    Verdict verdict;
    double deviation; /* from the cubic */
    double minimum;   /* where the cubic has one that is worth a look; NAN: nowhere */
} Judgement;

/* --- Looks --- */

/* A number in [0, 1) that has nothing to do with the model: made of the time's digits. */
static double scatter(double time)
{
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

/* Slopes by difference over a small share of h, forwards, but at the end of the step backwards. */
static KoineStatus need_slope(KoineRun *run, Point *point, double h)
{
    const KoineSolver *solver = run->solver;
    double *near_z = run->roots.mid;
    if (point->has_slope && fabs(point->offset) <= WIDEST * h)
        return KOINE_OK;
    const double d = koine_max(DIFFERENCE * h, 16 * koine_ulp(point->time));
    double base = point->time;
    if (base <= solver->from && (!solver->is_smooth || base < solver->from) && point == run->roots.scan->points) {
        /* the value known is that of the step before; on a time grid, of an earlier one */
        base = solver->from;
        const KoineStatus status = koine_roots_evaluate_at(run, base, near_z);
        if (status != KOINE_OK)
            return status;
        for (uint32_t k = 0; k < run->roots.n; k++)
            point->z[k] = point->z[k] > 0 && near_z[k] > 0 ? near_z[k] : point->z[k];
        memcpy(point->slope, near_z, run->roots.n * sizeof *near_z);
    } else {
        memcpy(point->slope, point->z, run->roots.n * sizeof *near_z);
    }
    const double near_time = base + d < solver->time ? base + d : base - d;
    const KoineStatus status = koine_roots_evaluate_at(run, near_time, near_z);
    if (status != KOINE_OK)
        return status;
    const double distance = near_time - base;
    for (uint32_t k = 0; k < run->roots.n; k++)
        point->slope[k] = (near_z[k] - point->slope[k]) / distance;
    point->offset = near_time - point->time;
    point->has_slope = true;
    return KOINE_OK;
}

/* A share of the piece, moved to where root functions may be looked at. */
static double share_to_look_at(const KoineRun *run, const Piece *piece, double share)
{
    const KoineTimeStrategy *strategy = run->problem.strategy;
    return strategy->share ? strategy->share(&run->problem, piece->left->time, piece->right->time, share) : share;
}

static double time_of(const Piece *piece, double share)
{
    return piece->left->time + share * piece->h;
}

static KoineStatus look_at(KoineRun *run, Point *point, double time, double h)
{
    point->time = koine_snap_nearest(run, time);
    point->has_slope = false;
    const KoineStatus status = koine_roots_evaluate_at(run, point->time, point->z);
    return status == KOINE_OK && h > 0 ? need_slope(run, point, h) : status;
}

/* --- The verdict on one root --- */

/* Where in (0, 1) the cubic has its minimum; NAN: nowhere. */
static double minimum_of(double a, double b, double m, double n)
{
    const double c2 = 3 * (b - a) - 2 * m - n, c3 = m + n - 2 * (b - a), d = c2 * c2 - 3 * m * c3;
    const double s = d > 0 ? -m / (c2 + sqrt(d)) : NAN;
    return s > 0.02 && s < 0.98 ? s : NAN;
}

/* The cubic that has the values and secants known at both ends: a + m*s + c2*s^2 + c3*s^3. */
typedef struct {
    double a, b, m, n, c2, c3; /* m, n: slopes at 0 and 1 */
} Cubic;

static double cubic_at(const Cubic *c, double s)
{
    return c->a + s * (c->m + s * (c->c2 + s * c->c3));
}

static Cubic cubic_of(const Piece *piece, uint32_t k)
{
    const double h = piece->h, e = piece->left->offset / h, f = piece->right->offset / h;
    const double first = h * piece->left->slope[k], last = h * piece->right->slope[k];
    Cubic c = { .a = piece->left->z[k], .b = piece->right->z[k], .m = first, .n = last };
    const double change = c.b - c.a;
    for (int round = 0;; round++) { /* from secants to slopes: each round gains two or three digits */
        c.c2 = 3 * change - 2 * c.m - c.n;
        c.c3 = c.m + c.n - 2 * change;
        if (round == 3)
            return c;
        c.m = first - e * (c.c2 + e * c.c3);
        c.n = last - f * (c.c2 + 3 * c.c3 + f * c.c3);
    }
}

/* How far the root may be from the cubic, in units of 16 s^2 (1-s)^2. */
static double deviation_of(const Scan *scan, const Piece *piece, uint32_t k, const Cubic *c)
{
    const double s = piece->s, r = 1 - s, weight = s * s * r * r;
    const double first = (piece->look->z[k] - cubic_at(c, s)) / weight;
    double deviation = VALUE_MARGIN * fabs(first) / 16;
    if (piece->look->has_slope) {
        const double e = piece->look->offset / piece->h;
        const double bend = c->c2 + 3 * s * c->c3; /* of the secant as well */
        const double slope = piece->h * piece->look->slope[k] - (c->m + s * (c->c2 + bend) + e * (bend + e * c->c3));
        const double second = (slope - 2 * s * r * (r - s) * first) / weight;
        deviation = (fabs(first) + fabs(second) * koine_max(s, r)) / 16;
    }
    if (!isnan(piece->second_s)) {
        const double t = piece->second_s, q = 1 - t;
        const double other = fabs(scan->roots.second[k] - cubic_at(c, t)) / (16 * t * t * q * q);
        deviation = scan->roots.second[k] > 0 ? koine_max(deviation, other) : INFINITY;
    }
    return deviation;
}

/* True if the signs of the five change once, from plus to minus; numbers within `blur` of 0 have none. */
static bool changes_once(const double *c, const double *blur)
{
    bool is_below = false;
    for (int k = 0; k < 5; k++) {
        if (fabs(c[k]) <= blur[k])
            continue;
        if (is_below && c[k] > 0)
            return false;
        is_below |= c[k] < 0;
    }
    return true;
}

static double size_in(const Scan *scan, const Piece *piece, uint32_t k)
{
    return koine_max(scan->roots.size[k], koine_max(fabs(piece->left->z[k]), fabs(piece->right->z[k])));
}

/* Smaller values round less. A step may have looked at very large ones, where a branch goes on beyond its end. */
static double noise_in(const Scan *scan, uint32_t k, double size)
{
    return size < scan->roots.noise_size[k] ? scan->roots.noise[k] * (size / scan->roots.noise_size[k])
                                            : scan->roots.noise[k];
}

static void note_noise(Scan *scan, const Piece *piece, uint32_t k, double noise)
{
    const double size = size_in(scan, piece, k);
    if (noise > noise_in(scan, k, size)) {
        scan->roots.noise[k] = noise;
        scan->roots.noise_size[k] = size;
    }
}

static Judgement judge(const Scan *scan, const Piece *piece, uint32_t k)
{
    const Cubic cubic = cubic_of(piece, k);
    const double a = cubic.a, b = cubic.b, m = cubic.m, n = cubic.n, middle = piece->look->z[k];
    const double size = size_in(scan, piece, k);
    const double blur = SLOPE_NOISE * size + noise_in(scan, k, size);
    const double deviation = koine_max(0, deviation_of(scan, piece, k, &cubic) - VALUE_NOISE * size - blur);
    const double b1 = a + m / 3, b2 = b - n / 3, bound = 8.0 / 3.0 * MARGIN * deviation;
    const double c[5] = { a, 0.25 * (a + 3 * b1), 0.5 * (b1 + b2), 0.25 * (3 * b2 + b), b };
    double least = c[0], most = c[0];
    for (int j = 1; j < 5; j++) {
        least = koine_min(least, c[j]);
        most = koine_max(most, c[j]);
    }
    const bool is_alike =
        deviation <= ALIKE * (most - least) + END_NOISE * (fabs(a) + fabs(b)) || 100 * deviation <= least;
    Judgement judgement = { .verdict = UNCLEAR, .deviation = deviation, .minimum = NAN };
    if (!is_alike)
        return judgement;
    if (b > 0 && middle > 0) {
        judgement.minimum = minimum_of(a, b, m, n);
        if (c[1] > -blur && c[3] > -blur && c[2] > bound - blur)
            judgement.verdict = CLEAR;
    }
    if (b <= 0 && changes_once(c, (const double[5]){ 0, blur, koine_max(bound, blur), blur, 0 }))
        judgement.verdict = CROSSED;
    return judgement;
}

/* --- One piece --- */

/* Up to an event that was found the roots that made it have been judged already. */
static bool is_watched(const KoineRoots *roots, const Piece *piece, uint32_t k)
{
    return piece->left->z[k] > 0 && !(roots->scan->is_repeated && roots->crossed[k]);
}

/* By the signs at its ends. */
static Verdict judge_ends(const KoineRoots *roots, const Piece *piece)
{
    for (uint32_t k = 0; k < roots->n; k++)
        if (piece->left->z[k] > 0 && piece->right->z[k] <= 0)
            return CROSSED;
    return CLEAR;
}

/* All roots have been seen through in pieces of this length. */
static bool is_usual(const KoineRun *run, const Piece *piece)
{
    const Scan *scan = run->roots.scan;
    for (uint32_t k = 0; k < run->roots.n; k++)
        if (is_watched(&run->roots, piece, k) &&
            piece->h > koine_min(scan->roots.span[k], GROWTH * scan->roots.longest[k]))
            return false;
    return true;
}

/* Pieces longer than any before: a second point tells more. */
static KoineStatus look_twice(KoineRun *run, Piece *piece)
{
    const Scan *scan = run->roots.scan;
    bool is_new = false;
    for (uint32_t k = 0; k < run->roots.n && !is_new; k++)
        is_new = is_watched(&run->roots, piece, k) && piece->h > GROWTH * scan->roots.longest[k];
    if (!is_new || !run->problem.strategy->looks_between)
        return KOINE_OK;
    const double s = 0.15 + 0.18 * scatter(piece->look->time);
    piece->second_s = scatter(piece->right->time) < 0.5 ? s : 1 - s;
    return koine_roots_evaluate_at(run, time_of(piece, piece->second_s), run->roots.scan->roots.second);
}

static void note(Scan *scan, const Piece *piece, uint32_t k, Verdict verdict)
{
    if (verdict == UNCLEAR) {
        scan->roots.was_divided[k] |= piece->look->has_slope && scan->deep <= MOST_DEEP;
        return;
    }
    scan->roots.least[k] = koine_min(scan->roots.least[k], piece->h);
    scan->roots.rate[k] = koine_max(fabs(piece->left->slope[k]), fabs(piece->right->slope[k]));
    if (verdict == CLEAR)
        scan->roots.longest[k] = koine_max(scan->roots.longest[k], piece->h);
}

/* All roots. *split: where to divide, as a share. */
static Verdict judge_all(KoineRun *run, const Piece *piece, double *split)
{
    Scan *scan = run->roots.scan;
    Verdict all = CLEAR;
    for (uint32_t k = 0; k < run->roots.n; k++) {
        if (!is_watched(&run->roots, piece, k)) {
            if (piece->left->z[k] > 0 && piece->right->z[k] <= 0 && all == CLEAR)
                all = CROSSED;
            continue;
        }
        Judgement judgement = judge(scan, piece, k);
        if (judgement.verdict == UNCLEAR && piece->look->has_slope && scan->deep > MOST_DEEP &&
            judgement.deviation < LARGEST_NOISE * scan->roots.largest[k]) {
            note_noise(scan, piece, k, 2 * (noise_in(scan, k, size_in(scan, piece, k)) + judgement.deviation));
            judgement = judge(scan, piece, k);
        }
        note(scan, piece, k, judgement.verdict);
        if (judgement.verdict == UNCLEAR && all != UNCLEAR)
            *split = !isnan(piece->second_s) && scan->roots.second[k] <= 0 ? piece->second_s
                     : isnan(judgement.minimum)                            ? piece->s
                                                                           : judgement.minimum;
        if (judgement.verdict != CLEAR && all != UNCLEAR)
            all = judgement.verdict;
    }
    return all;
}

/* What the value inside does not tell: slopes, and those of this step. */
static KoineStatus see_more(KoineRun *run, Piece *piece)
{
    Scan *scan = run->roots.scan;
    Point *left = &scan->points[0], *look = &scan->points[scan->top + 1];
    if (scan->is_inherited)
        left->has_slope = scan->is_inherited = false;
    KoineStatus status = need_slope(run, left, piece->h);
    if (status == KOINE_OK)
        status = need_slope(run, look, piece->h);
    return status == KOINE_OK ? look_twice(run, piece) : status;
}

/* Rounding shows in three values next to each other: they bend more than the cubic does. What bends much more moves. */
static KoineStatus measure_noise(KoineRun *run, const Piece *piece)
{
    Scan *scan = run->roots.scan;
    const Point *look = piece->look;
    double *between = run->roots.mid;
    const KoineStatus status = koine_roots_evaluate_at(run, look->time + 0.5 * look->offset, between);
    if (status != KOINE_OK)
        return status;
    scan->measured++;
    const double e = look->offset / piece->h, most = MOST_BENT * sqrt(koine_max(1, scan->step / piece->h));
    for (uint32_t k = 0; k < run->roots.n; k++) {
        const Cubic c = cubic_of(piece, k);
        const double bend = 2 * look->z[k] + look->offset * look->slope[k] - 2 * between[k];
        const double excess = fabs(bend) - 2 * e * e * fabs(c.c2 + 3 * piece->s * c.c3);
        if (excess > 0 && excess < most * scan->roots.largest[k])
            note_noise(scan, piece, k, 4 * excess / fabs(e));
    }
    return KOINE_OK;
}

/* Where the search does not end: whether values bend over a sixteenth of the distance as much as over the whole. What
 * moves bends 256 times less there, rounding does not, however large it is. Systems of equations round by the size of
 * what stands in them, which may be far above the values that are compared. */
static KoineStatus tell_noise(KoineRun *run, Piece *piece)
{
    Scan *scan = run->roots.scan;
    const Point *look = piece->look;
    double *z = run->roots.mid, *bend = scan->roots.second;
    const double e = look->offset / piece->h;
    piece->second_s = NAN; /* its values make room */
    for (int part = 0; part < 3; part++) {
        static const double shares[3] = { 0.5, 1.0 / 32, 1.0 / 16 };
        const KoineStatus status = koine_roots_evaluate_at(run, look->time + shares[part] * look->offset, z);
        if (status != KOINE_OK)
            return status;
        for (uint32_t k = 0; k < run->roots.n; k++) {
            const double whole = look->z[k] + 0.5 * look->offset * look->slope[k];
            if (part == 0)
                scan->roots.wide[k] = fabs(z[k] - whole);
            else if (part == 1)
                bend[k] = look->z[k] - 2 * z[k];
            else if (fabs(bend[k] + z[k]) > scan->roots.wide[k] / 16)
                note_noise(scan, piece, k, 8 * koine_max(scan->roots.wide[k], fabs(bend[k] + z[k])) / fabs(e));
        }
    }
    return KOINE_OK;
}

/* Judge the piece from points[0] to points[top]. UNCLEAR: there is a point more. RETRY: that one has no values. */
KoineStatus koine_scan_examine(KoineRun *run, Verdict *verdict)
{
    Scan *scan = run->roots.scan;
    Point *left = &scan->points[0], *right = &scan->points[scan->top], *look = right + 1;
    Piece piece = { .left = left, .right = right, .look = look, .h = right->time - left->time, .second_s = NAN };
    if (piece.h <= scan->floor || scan->top + 2 >= MOST_POINTS) {
        *verdict = judge_ends(&run->roots, &piece);
        return KOINE_OK;
    }
    scan->deep += piece.h < DEEP * scan->step;
    piece.s = share_to_look_at(run, &piece, 0.4 + 0.2 * scatter(left->time + 0.618 * right->time));
    KoineStatus status = look_at(run, look, time_of(&piece, piece.s), 0);
    if (status == KOINE_OK)
        status = need_slope(run, left, piece.h);
    if (status == KOINE_OK)
        status = need_slope(run, right, piece.h);
    piece.s = (look->time - left->time) / piece.h;
    double split = piece.s;
    if (status == KOINE_OK && is_usual(run, &piece)) {
        *verdict = judge_all(run, &piece, &split);
        if (*verdict != UNCLEAR)
            return KOINE_OK;
    }
    if (status == KOINE_OK)
        status = see_more(run, &piece);
    if (status == KOINE_OK) {
        *verdict = judge_all(run, &piece, &split);
        if (*verdict == UNCLEAR && scan->measured < MOST_MEASURED) {
            status = measure_noise(run, &piece);
            *verdict = judge_all(run, &piece, &split);
        }
        if (status == KOINE_OK && *verdict == UNCLEAR && scan->deep > MOST_DEEP) {
            status = tell_noise(run, &piece);
            *verdict = judge_all(run, &piece, &split);
        }
    }
    if (status == KOINE_OK) {
        split = share_to_look_at(run, &piece, split);
        if (*verdict == UNCLEAR && split != piece.s)
            status = look_at(run, look, time_of(&piece, split), 0);
    }
    return status;
}
