/* Dormand and Prince 8(5,3) with the seventh-order interpolant of Hairer and Wanner; see pair.h.
 *
 * Coefficients: Hairer, Norsett, Wanner I, II.5 and II.6 (the method DOP853). Slopes k[0] .. k[11] are the stages,
 * k[12] the slope at the end of the step, k[13] .. k[15] the three further stages of the interpolant, which are
 * evaluated only if something is interpolated. */
#include "runtime/embedded.h"

static KoineStatus at(KoineEmbedded *pair, double *clock, double time)
{
    *clock = time;
    return pair->derivatives(pair->base.problem->model);
}

/* Evaluates at the trial state, stores the slope and writes the next trial state: y + h*(weight*slope + the others).
 * The slope comes last, so that the sum of the others need not wait for it. */
#define STAGE(time, k, weight, others)                                                                                 \
    if ((status = at(pair, clock, time)) != KOINE_OK)                                                                  \
        return status;                                                                                                 \
    KOINE_INDEPENDENT                                                                                                  \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        x[i] = y[i] + h * (others) + h * (weight)*dx[i];                                                               \
        k[i] = dx[i];                                                                                                  \
    }

/* Two error estimates, of fifth and third order, combined to one of eighth (book, II.10). */
KOINE_FOR_EACH_SIZE double error_of(size_t n, const KoineEmbedded *pair, double h)
{
    const double *atol = pair->base.problem->atol, tolerance = pair->base.problem->tolerance;
    const double *y = pair->y_old, *y_new = pair->y;
    const double *k1 = pair->k[0], *k6 = pair->k[5], *k7 = pair->k[6], *k8 = pair->k[7], *k9 = pair->k[8],
                 *k10 = pair->k[9], *k11 = pair->k[10], *k12 = pair->k[11];
    double fifth = 0, third = 0;
    for (size_t i = 0; i < n; i++) {
        const double a = fabs(y[i]), b = fabs(y_new[i]);
        const double w = 1 / (atol[i] + tolerance * (a > b ? a : b));
        const double slope = (y_new[i] - y[i]) / h;
        const double e3 = w * (slope - 0.244094488188976377952755905512 * k1[i] -
                               0.733846688281611857341361741547 * k9[i] - 0.0220588235294117647058823529412 * k12[i]);
        const double e5 = w * (0.1312004499419488073250102996e-1 * k1[i] - 0.1225156446376204440720569753e1 * k6[i] -
                               0.4957589496572501915214079952 * k7[i] + 0.1664377182454986536961530415e1 * k8[i] -
                               0.3503288487499736816886487290 * k9[i] + 0.3341791187130174790297318841 * k10[i] +
                               0.8192320648511571246570742613e-1 * k11[i] - 0.2235530786388629525884427845e-1 * k12[i]);
        fifth += e5 * e5;
        third += e3 * e3;
    }
    const double both = fifth + 0.01 * third;
    return both > 0 ? h * h * fifth * fifth / ((double)n * both) : both; /* both: 0 or NaN */
}

KOINE_FOR_EACH_SIZE KoineStatus trial_of(size_t n, KoineEmbedded *pair, double h, double *error2)
{
    KoineModel *model = pair->base.problem->model;
    const double t = pair->base.time, *y = pair->y_old, *dx = koine_slopes(model), *k1 = pair->k[0];
    double *x = koine_states(model), *clock = koine_time(model);
    double *k2 = pair->k[1], *k3 = pair->k[2], *k4 = pair->k[3], *k5 = pair->k[4], *k6 = pair->k[5], *k7 = pair->k[6],
           *k8 = pair->k[7], *k9 = pair->k[8], *k10 = pair->k[9], *k11 = pair->k[10], *k12 = pair->k[11];
    KoineStatus status;

    KOINE_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] + h * (5.26001519587677318785587544488e-2 * k1[i]);
    STAGE(t + 0.0526001519587677318785587544488 * h, k2, 5.91751709536136983633785987549e-2,
          1.97250569845378994544595329183e-2 * k1[i])
    STAGE(t + 0.0789002279381515978178381316732 * h, k3, 8.87627564304205475450678981324e-2,
          2.95875854768068491816892993775e-2 * k1[i])
    STAGE(t + 0.118350341907227396726757197510 * h, k4, 9.24834003261792003115737966543e-1,
          2.41365134159266685502369798665e-1 * k1[i] - 8.84549479328286085344864962717e-1 * k3[i])
    STAGE(t + 0.281649658092772603273242802490 * h, k5, 1.25467687566822425016691814123e-1,
          3.7037037037037037037037037037e-2 * k1[i] + 1.70828608729473871279604482173e-1 * k4[i])
    STAGE(t + 1.0 / 3.0 * h, k6, -1.7578125e-2,
          3.7109375e-2 * k1[i] + 1.70252211019544039314978060272e-1 * k4[i] +
              6.02165389804559606850219397283e-2 * k5[i])
    STAGE(t + 0.25 * h, k7, 8.27378916381402288758473766002e-3,
          3.70920001185047927108779319836e-2 * k1[i] + 1.70383925712239993810214054705e-1 * k4[i] +
              1.07262030446373284651809199168e-1 * k5[i] - 1.53194377486244017527936158236e-2 * k6[i])
    STAGE(t + 4.0 / 13.0 * h, k8, -4.34898841810699588477366255144e1,
          6.24110958716075717114429577812e-1 * k1[i] - 3.36089262944694129406857109825 * k4[i] -
              8.68219346841726006818189891453e-1 * k5[i] + 2.75920996994467083049415600797e1 * k6[i] +
              2.01540675504778934086186788979e1 * k7[i])
    STAGE(t + 0.651282051282051282051282051282 * h, k9, -2.03312017085086261358222928593e-2,
          4.77662536438264365890433908527e-1 * k1[i] - 2.48811461997166764192642586468 * k4[i] -
              5.90290826836842996371446475743e-1 * k5[i] + 2.12300514481811942347288949897e1 * k6[i] +
              1.52792336328824235832596922938e1 * k7[i] - 3.32882109689848629194453265587e1 * k8[i])
    STAGE(t + 0.6 * h, k10, -3.0467644718982195003823669022,
          -9.3714243008598732571704021658e-1 * k1[i] + 5.18637242884406370830023853209 * k4[i] +
              1.09143734899672957818500254654 * k5[i] - 8.14978701074692612513997267357 * k6[i] -
              1.85200656599969598641566180701e1 * k7[i] + 2.27394870993505042818970056734e1 * k8[i] +
              2.49360555267965238987089396762 * k9[i])
    STAGE(t + 6.0 / 7.0 * h, k11, 6.43392746015763530355970484046e-1,
          2.27331014751653820792359768449 * k1[i] - 1.05344954667372501984066689879e1 * k4[i] -
              2.00087205822486249909675718444 * k5[i] - 1.79589318631187989172765950534e1 * k6[i] +
              2.79488845294199600508499808837e1 * k7[i] - 2.85899827713502369474065508674 * k8[i] -
              8.87285693353062954433549289258 * k9[i] + 1.23605671757943030647266201528e1 * k10[i])
    STAGE(t + h, k12, 4.47106157277725905176885569043e-2,
          5.42937341165687622380535766363e-2 * k1[i] + 4.45031289275240888144113950566 * k6[i] +
              1.89151789931450038304281599044 * k7[i] - 5.8012039600105847814672114227 * k8[i] +
              3.1116436695781989440891606237e-1 * k9[i] - 1.52160949662516078556178806805e-1 * k10[i] +
              2.01365400804030348374776537501e-1 * k11[i])
    if ((status = at(pair, clock, t + h)) != KOINE_OK)
        return status;
    memcpy(pair->k[12], dx, n * sizeof *dx);
    memcpy(pair->y, x, n * sizeof *x);
    *error2 = error_of(n, pair, h);
    return KOINE_OK;
}

static KoineStatus trial(KoineEmbedded *pair, double h, double *error2)
{
    return KOINE_BY_SIZE(trial_of, pair->n, pair, h, error2);
}

/* The stages that only the interpolant needs. */
static KoineStatus further_stages(KoineEmbedded *pair)
{
    KoineModel *model = pair->base.problem->model;
    const size_t n = pair->n;
    const double h = pair->last, t = pair->base.from, *y = pair->y_old, *dx = koine_slopes(model);
    double *x = koine_states(model), *clock = koine_time(model);
    const double *k1 = pair->k[0], *k6 = pair->k[5], *k7 = pair->k[6], *k8 = pair->k[7], *k9 = pair->k[8],
                 *k10 = pair->k[9], *k11 = pair->k[10], *k12 = pair->k[11], *k13 = pair->k[12];
    double *k14 = pair->k[13], *k15 = pair->k[14];
    KoineStatus status;
    pair->base.placed = NAN;
    pair->evaluations += 3;
    KOINE_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] + h * (5.61675022830479523392909219681e-2 * k1[i] + 2.53500210216624811088794765333e-1 * k7[i] -
                           2.46239037470802489917441475441e-1 * k8[i] - 1.24191423263816360469010140626e-1 * k9[i] +
                           1.5329179827876569731206322685e-1 * k10[i] + 8.20105229563468988491666602057e-3 * k11[i] +
                           7.56789766054569976138603589584e-3 * k12[i] - 8.298e-3 * k13[i]);
    STAGE(t + 0.1 * h, k14, 1.41312443674632500278074618366e-1,
          3.18346481635021405060768473261e-2 * k1[i] + 2.83009096723667755288322961402e-2 * k6[i] +
              5.35419883074385676223797384372e-2 * k7[i] - 5.49237485713909884646569340306e-2 * k8[i] -
              1.08347328697249322858509316994e-4 * k11[i] + 3.82571090835658412954920192323e-4 * k12[i] -
              3.40465008687404560802977114492e-4 * k13[i])
    STAGE(t + 0.2 * h, k15, -9.15095847217987001081870187138,
          -4.28896301583791923408573538692e-1 * k1[i] - 4.69762141536116384314449447206 * k6[i] +
              7.68342119606259904184240953878 * k7[i] + 4.06898981839711007970213554331 * k8[i] +
              3.56727187455281109270669543021e-1 * k9[i] - 1.39902416515901462129418009734e-3 * k13[i] +
              2.9475147891527723389556272149 * k14[i])
    if ((status = at(pair, clock, t + 7.0 / 9.0 * h)) != KOINE_OK)
        return status;
    memcpy(pair->k[15], dx, n * sizeof *dx);
    return KOINE_OK;
}

static void fill_high(KoineEmbedded *pair)
{
    const size_t n = pair->n;
    const double h = pair->last;
    const double *k1 = pair->k[0], *k6 = pair->k[5], *k7 = pair->k[6], *k8 = pair->k[7], *k9 = pair->k[8],
                 *k10 = pair->k[9], *k11 = pair->k[10], *k12 = pair->k[11], *k13 = pair->k[12], *k14 = pair->k[13],
                 *k15 = pair->k[14], *k16 = pair->k[15];
    double *r4 = pair->interpolant.coefficients + 3 * n, *r5 = r4 + n, *r6 = r5 + n, *r7 = r6 + n;
    KOINE_INDEPENDENT
    for (size_t i = 0; i < n; i++) {
        r4[i] = h * (-0.84289382761090128651353491142e1 * k1[i] + 0.56671495351937776962531783590 * k6[i] -
                     0.30689499459498916912797304727e1 * k7[i] + 0.23846676565120698287728149680e1 * k8[i] +
                     0.21170345824450282767155149946e1 * k9[i] - 0.87139158377797299206789907490 * k10[i] +
                     0.22404374302607882758541771650e1 * k11[i] + 0.63157877876946881815570249290 * k12[i] -
                     0.88990336451333310820698117400e-1 * k13[i] + 0.18148505520854727256656404962e2 * k14[i] -
                     0.91946323924783554000451984436e1 * k15[i] - 0.44360363875948939664310572000e1 * k16[i]);
        r5[i] = h * (0.10427508642579134603413151009e2 * k1[i] + 0.24228349177525818288430175319e3 * k6[i] +
                     0.16520045171727028198505394887e3 * k7[i] - 0.37454675472269020279518312152e3 * k8[i] -
                     0.22113666853125306036270938578e2 * k9[i] + 0.77334326684722638389603898808e1 * k10[i] -
                     0.30674084731089398182061213626e2 * k11[i] - 0.93321305264302278729567221706e1 * k12[i] +
                     0.15697238121770843886131091075e2 * k13[i] - 0.31139403219565177677282850411e2 * k14[i] -
                     0.93529243588444783865713862664e1 * k15[i] + 0.35816841486394083752465898540e2 * k16[i]);
        r6[i] = h * (0.19985053242002433820987653617e2 * k1[i] - 0.38703730874935176555105901742e3 * k6[i] -
                     0.18917813819516756882830838328e3 * k7[i] + 0.52780815920542364900561016686e3 * k8[i] -
                     0.11573902539959630126141871134e2 * k9[i] + 0.68812326946963000169666922661e1 * k10[i] -
                     0.10006050966910838403183860980e1 * k11[i] + 0.77771377980534432092869265740 * k12[i] -
                     0.27782057523535084065932004339e1 * k13[i] - 0.60196695231264120758267380846e2 * k14[i] +
                     0.84320405506677161018159903784e2 * k15[i] + 0.11992291136182789328035130030e2 * k16[i]);
        r7[i] = h * (-0.25693933462703749003312586129e2 * k1[i] - 0.15418974869023643374053993627e3 * k6[i] -
                     0.23152937917604549567536039109e3 * k7[i] + 0.35763911791061412378285349910e3 * k8[i] +
                     0.93405324183624310003907691704e2 * k9[i] - 0.37458323136451633156875139351e2 * k10[i] +
                     0.10409964950896230045147246184e3 * k11[i] + 0.29840293426660503123344363579e2 * k12[i] -
                     0.43533456590011143754432175058e2 * k13[i] + 0.96324553959188282948394950600e2 * k14[i] -
                     0.39177261675615439165231486172e2 * k15[i] - 0.14972683625798562581422125276e3 * k16[i]);
    }
}

/* Where the further stages cannot be evaluated the cubic through both ends has to do. */
static KoineStatus prepare(KoineEmbedded *pair)
{
    const size_t n = pair->n;
    const double h = pair->last, *a = pair->y_old, *b = pair->y, *k1 = pair->k[0], *k13 = pair->k[12];
    double *r = pair->interpolant.coefficients;
    const KoineStatus status = further_stages(pair);
    TRY(status);
    for (size_t i = 0; i < n; i++) {
        const double change = b[i] - a[i], bend = h * k1[i] - change;
        r[i] = change;
        r[n + i] = bend;
        r[2 * n + i] = change - h * k13[i] - bend;
    }
    if (status == KOINE_OK)
        fill_high(pair);
    if (status != KOINE_OK || !koine_is_finite(r + 3 * n, 4 * n))
        memset(r + 3 * n, 0, 4 * n * sizeof *r);
    return KOINE_OK;
}

KOINE_FOR_EACH_SIZE void interpolate_of(size_t n, const KoineEmbedded *pair, double s, double *x)
{
    const double r = 1 - s, *a = pair->y_old, *d = pair->interpolant.coefficients;
    for (size_t i = 0; i < n; i++) {
        const double high = d[3 * n + i] + s * (d[4 * n + i] + r * (d[5 * n + i] + s * d[6 * n + i]));
        x[i] = a[i] + s * (d[i] + r * (d[n + i] + s * (d[2 * n + i] + r * high)));
    }
}

static void interpolate(const KoineEmbedded *pair, double s, double *x)
{
    KOINE_BY_SIZE(interpolate_of, pair->n, pair, s, x);
}

/* The interpolant is the sum of s, s*r, s^2*r, s^2*r^2 and so on, where r = 1-s, times the coefficients; these are the
 * Bernstein values of each. */
static void polynomial(const KoineEmbedded *pair, size_t i, double *values)
{
    const size_t n = pair->n;
    const double a = pair->y_old[i], *d = pair->interpolant.coefficients;
    values[0] = a;
    values[1] = a + 1.0 / 7.0 * d[i] + 1.0 / 7.0 * d[n + i];
    values[2] = a + 2.0 / 7.0 * d[i] + 5.0 / 21.0 * d[n + i] + 1.0 / 21.0 * d[2 * n + i] + 1.0 / 21.0 * d[3 * n + i];
    values[3] = a + 3.0 / 7.0 * d[i] + 2.0 / 7.0 * d[n + i] + 4.0 / 35.0 * d[2 * n + i] + 3.0 / 35.0 * d[3 * n + i] +
                1.0 / 35.0 * d[4 * n + i] + 1.0 / 35.0 * d[5 * n + i];
    values[4] = a + 4.0 / 7.0 * d[i] + 2.0 / 7.0 * d[n + i] + 6.0 / 35.0 * d[2 * n + i] + 3.0 / 35.0 * d[3 * n + i] +
                2.0 / 35.0 * d[4 * n + i] + 1.0 / 35.0 * d[5 * n + i] + 1.0 / 35.0 * d[6 * n + i];
    values[5] = a + 5.0 / 7.0 * d[i] + 5.0 / 21.0 * d[n + i] + 4.0 / 21.0 * d[2 * n + i] + 1.0 / 21.0 * d[3 * n + i] +
                1.0 / 21.0 * d[4 * n + i];
    values[6] = a + 6.0 / 7.0 * d[i] + 1.0 / 7.0 * d[n + i] + 1.0 / 7.0 * d[2 * n + i];
    values[7] = a + d[i];
}

/* Stage 12 and the end stand at the same time: the change of the slope shows the largest eigenvalue. */
KOINE_FOR_EACH_SIZE double stiffness_of(size_t n, const KoineEmbedded *pair)
{
    const double h = pair->last;
    const double *y = pair->y_old, *y_new = pair->y;
    const double *k1 = pair->k[0], *k4 = pair->k[3], *k5 = pair->k[4], *k6 = pair->k[5], *k7 = pair->k[6],
                 *k8 = pair->k[7], *k9 = pair->k[8], *k10 = pair->k[9], *k11 = pair->k[10];
    double slopes = 0, states = 0;
    for (size_t i = 0; i < n; i++) {
        const double stage =
            y[i] + h * (2.27331014751653820792359768449 * k1[i] - 1.05344954667372501984066689879e1 * k4[i] -
                        2.00087205822486249909675718444 * k5[i] - 1.79589318631187989172765950534e1 * k6[i] +
                        2.79488845294199600508499808837e1 * k7[i] - 2.85899827713502369474065508674 * k8[i] -
                        8.87285693353062954433549289258 * k9[i] + 1.23605671757943030647266201528e1 * k10[i] +
                        6.43392746015763530355970484046e-1 * k11[i]);
        const double dk = pair->k[12][i] - pair->k[11][i], dy = y_new[i] - stage;
        const double w = koine_embedded_weight(pair, i);
        slopes += w * dk * (w * dk);
        states += w * dy * (w * dy);
    }
    return states > 0 ? h * sqrt(slopes / states) : 0;
}

static double stiffness(const KoineEmbedded *pair)
{
    return KOINE_BY_SIZE(stiffness_of, pair->n, pair);
}

const KoineEmbeddedMethod koine_dop853 = {
    .kind = &koine_solver_dop853,
    .n_slopes = 16,
    .last = 12,
    .n_dense = 7,
    .stages = 12,
    .exponent = 1.0 / 8.0,
    .beta = 0,
    .min_factor = 0.333,
    .max_factor = 6,
    .stable = 6.1,
    .checks_dense = true,
    .trial = trial,
    .prepare = prepare,
    .interpolate = interpolate,
    .polynomial = polynomial,
    .stiffness = stiffness,
};
