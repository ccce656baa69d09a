/* Plots: what must be seen is there, what is not in the data is not drawn. Golden texts were looked at. */
#include "formats/plot_trace.h"
#include "../base/comma_locale.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

static int set_up(void **state)
{
    *state = arena_create(NULL);
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

static const char *ascii(Arena *arena, const PlotSeries *series, uint32_t n, uint32_t width, uint32_t height)
{
    const PlotPane pane = { NULL, series, n };
    const PlotOptions options = { .width = width, .height = height, .is_ascii = true };
    return plot_terminal(&pane, 1, &options, arena).at;
}

static void a_ramp_is_a_diagonal_with_axes(void **state)
{
    static const double t[] = { 0, 10 }, y[] = { 0, 5 };
    const PlotSeries ramp = { .name = "y", .times = t, .values = y, .n = 2 };
    assert_string_equal(ascii(*state, &ramp, 1, 28, 9), "  |                      ***\n"
                                                        "4 +                 *****\n"
                                                        "  |            *****\n"
                                                        "2 +        ****\n"
                                                        "  |   *****\n"
                                                        "0 +***\n"
                                                        "  ++-----------+-----------+\n"
                                                        "   0           5          10\n"
                                                        "   * y                  time\n");
}

static void a_jump_is_dotted_and_not_a_slope(void **state)
{
    static const double t[] = { 0, 1, 1, 2 }, y[] = { 0, 0, 4, 4 };
    const PlotSeries jump = { .name = "y", .times = t, .values = y, .n = 4 };
    assert_string_equal(ascii(*state, &jump, 1, 27, 9), "4 +            ************\n"
                                                        "  |            :\n"
                                                        "2 +            :\n"
                                                        "  |            :\n"
                                                        "  |            :\n"
                                                        "0 +*************\n"
                                                        "  ++-----------+----------+\n"
                                                        "   0           1          2\n"
                                                        "   * y                 time\n");
}

static void a_discrete_series_is_steps(void **state)
{
    static const double t[] = { 0, 1, 2 }, y[] = { 0, 4, 2 };
    const PlotSeries steps = { .name = "y", .times = t, .values = y, .n = 3, .is_discrete = true };
    Trace trace = trace_series(&steps, (Range){ 0, 2 }, 1000, *state);
    static const TracePoint expected[] = {
        { 0, 0, LINK_GAP }, { 1, 0, LINK_LINE }, { 1, 4, LINK_JUMP }, { 2, 4, LINK_LINE }, { 2, 2, LINK_JUMP }
    };
    assert_int_equal(trace.n, 5);
    for (int i = 0; i < 5; i++) {
        assert_true(trace.at[i].x == expected[i].x && trace.at[i].y == expected[i].y);
        assert_int_equal(trace.at[i].link, expected[i].link);
    }
}

static void what_is_not_finite_is_a_gap(void **state)
{
    static const double t[] = { 0, 1, 2, 3, 4, 5 }, y[] = { 1, 1, NAN, 1, INFINITY, 1 };
    const PlotSeries gaps = { .name = "y", .times = t, .values = y, .n = 6 };
    const Trace trace = trace_series(&gaps, (Range){ 0, 5 }, 1000, *state);
    assert_int_equal(trace.n, 4);
    assert_int_equal(trace.at[1].link, LINK_LINE);
    assert_int_equal(trace.at[2].link, LINK_GAP);
    assert_int_equal(trace.at[3].link, LINK_GAP);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* others may use the machine */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { MANY = 2000000 };

static void narrow_peaks_stay_among_millions_of_points(void **state)
{
    Arena *const arena = *state;
    double *const t = NEW_ARRAY(arena, double, MANY), *const y = NEW_ARRAY(arena, double, MANY);
    for (int i = 0; i < MANY; i++) {
        t[i] = i;
        y[i] = i % 3;
    }
    y[1234567] = 1000;
    y[1900001] = -500;
    const PlotSeries series = { .name = "y", .times = t, .values = y, .n = MANY };
    const Trace trace = trace_series(&series, (Range){ 0, MANY }, 500, arena);
    assert_true(trace.n <= 501 * 8);
    bool has_peak = false, has_dip = false;
    for (uint32_t i = 0; i < trace.n; i++) {
        has_peak |= trace.at[i].x == 1234567 && trace.at[i].y == 1000;
        has_dip |= trace.at[i].x == 1900001 && trace.at[i].y == -500;
        assert_true(i == 0 || trace.at[i].x > trace.at[i - 1].x);
    }
    assert_true(has_peak && has_dip);
    const PlotPane pane = { NULL, &series, 1 };
    const double begin = seconds_now();
    const Text svg = plot_svg(&pane, 1, &(PlotOptions){ 0 }, arena);
    assert_true(svg.n < 200000);
    assert_true(seconds_now() - begin < 5);
}

/* Lines of the legend times names would be minutes. */
static void a_legend_grows_with_the_number_of_names(void **state)
{
    Arena *const arena = *state;
    enum { NAMES = 400000 };
    static const double t[] = { 0, 1 }, y[] = { 1, 2 };
    PlotSeries *const series = NEW_ARRAY(arena, PlotSeries, NAMES);
    for (int k = 0; k < NAMES; k++)
        series[k] = (PlotSeries){ .name = arena_format(arena, "n%d", k), .times = t, .values = y, .n = 2 };
    const PlotPane pane = { NULL, series, NAMES };
    const double begin = seconds_now();
    const Text text = plot_terminal(&pane, 1, &(PlotOptions){ 0 }, arena);
    assert_non_null(strstr(text.at, " n0 "));
    assert_non_null(strstr(text.at, " n399999\n"));
    assert_true(seconds_now() - begin < 10);
}

static void a_lonely_jump_among_many_points_stays_a_jump(void **state)
{
    Arena *const arena = *state;
    double *const t = NEW_ARRAY(arena, double, MANY), *const y = NEW_ARRAY(arena, double, MANY);
    for (int i = 0; i < MANY; i++) {
        t[i] = i < MANY / 2 ? i : i - 1;
        y[i] = i < MANY / 2 ? 0 : 1;
    }
    const PlotSeries series = { .name = "y", .times = t, .values = y, .n = MANY };
    const Trace trace = trace_series(&series, (Range){ 0, MANY }, 100, arena);
    int jumps = 0;
    for (uint32_t i = 0; i < trace.n; i++)
        jumps += trace.at[i].link == LINK_JUMP;
    assert_int_equal(jumps, 1);
}

/* The picture of the reduced series is the picture of the whole one. */
static void reduction_does_not_change_the_picture(void **state)
{
    Arena *const arena = *state;
    enum { N = 20000, W = 120, H = 60 };
    double *const t = NEW_ARRAY(arena, double, N), *const y = NEW_ARRAY(arena, double, N);
    uint64_t seed = 1;
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        t[i] = i;
        y[i] = sin(i * 0.001) + 0.3 * (double)(seed >> 40) / (1 << 24);
    }
    const PlotSeries series = { .name = "y", .times = t, .values = y, .n = N };
    const Range range = { 0, N };
    const Trace trace = trace_series(&series, range, W, arena);
    double low[W + 1], high[W + 1], kept_low[W + 1], kept_high[W + 1];
    for (int c = 0; c <= W; c++) {
        low[c] = kept_low[c] = INFINITY;
        high[c] = kept_high[c] = -INFINITY;
    }
    for (int i = 0; i < N; i++) {
        const int c = (int)floor(range_share(range, t[i]) * W);
        low[c] = fmin(low[c], y[i]);
        high[c] = fmax(high[c], y[i]);
    }
    for (uint32_t i = 0; i < trace.n; i++) {
        const int c = (int)floor(range_share(range, trace.at[i].x) * W);
        kept_low[c] = fmin(kept_low[c], trace.at[i].y);
        kept_high[c] = fmax(kept_high[c], trace.at[i].y);
    }
    for (int c = 0; c <= W; c++)
        assert_true(low[c] == kept_low[c] && high[c] == kept_high[c]);
}

static void ticks_are_one_two_or_five_times_a_power_of_ten(void **state)
{
    (void)state;
    static const struct {
        Range range;
        uint32_t most, n;
        double first, last;
    } cases[] = {
        { { 0, 1 }, 6, 6, 0, 1 },
        { { 0, 10 }, 6, 6, 0, 10 },
        { { -4.4, 3.5 }, 5, 4, -4, 2 },
        { { 0.3, 0.6 }, 4, 4, 0.3, 0.6 },
        { { 1e9, 1e9 + 0.5 }, 6, 6, 1e9, 1e9 + 0.5 },
        { { 0, 1e-300 }, 6, 6, 0, 1e-300 },
        { { 7, 8 }, 2, 2, 7, 8 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Ticks ticks = ticks_inside(cases[i].range, cases[i].most);
        assert_int_equal(ticks.n, cases[i].n);
        assert_true(tick_value(&ticks, 0) == cases[i].first);
        assert_true(tick_value(&ticks, ticks.n - 1) == cases[i].last);
    }
}

static void odd_data_gives_a_plot_or_says_so(void **state)
{
    Arena *const arena = *state;
    static const double zero[] = { 0, 1, 2 }, none[] = { NAN, NAN, NAN }, huge[] = { -DBL_MAX, DBL_MAX, 0 },
                        tiny[] = { 5e-324, 0, 1e-320 }, same[] = { 7, 7, 7 }, close[] = { 1e15, 1e15, 1e15 + 0.125 },
                        back[] = { 2, 1, 0 }, endless[] = { INFINITY, -INFINITY, NAN };
    const double *const values[] = { none, huge, tiny, same, close, back, endless };
    const double *const times[] = { zero, same, back, none, huge, tiny };
    for (int v = 0; v < 7; v++)
        for (int t = 0; t < 6; t++)
            for (uint64_t n = 0; n <= 3; n++)
                for (int variant = 0; variant < 8; variant++) {
                    const PlotSeries series = { "s", times[t], values[v], n, n > 0 && (variant & 4), variant & 1 };
                    const PlotPane pane = { "title", &series, 1 };
                    const PlotOptions options = { .width = 40, .height = 10, .is_ascii = variant & 2 };
                    assert_true(plot_terminal(&pane, 1, &options, arena).n > 0);
                    assert_true(plot_svg(&pane, 1, &options, arena).n > 0);
                }
    const PlotPane empty = { "Empty", NULL, 0 };
    assert_non_null(strstr(plot_terminal(&empty, 1, &(PlotOptions){ 0 }, arena).at, "(there is nothing to plot)"));
    assert_non_null(strstr(plot_svg(&empty, 1, &(PlotOptions){ 0 }, arena).at, "there is nothing to plot"));
    assert_string_equal(plot_terminal(NULL, 0, &(PlotOptions){ 0 }, arena).at, "");
}

static uint32_t longest_line(const char *text, uint32_t *lines)
{
    uint32_t longest = 0, width = 0;
    *lines = 0;
    for (; *text; text++) {
        if (*text == '\n') {
            longest = width > longest ? width : longest;
            width = 0;
            ++*lines;
        } else {
            width += ((unsigned char)*text & 0xc0) != 0x80;
        }
    }
    return longest;
}

static void the_plot_fits_the_terminal(void **state)
{
    Arena *const arena = *state;
    static const double t[] = { 0, 1000 }, y[] = { -1e-7, 1e6 };
    PlotSeries series[9];
    for (int i = 0; i < 9; i++)
        series[i] = (PlotSeries){ .name = "body.frame_a.r_0[1]", .times = t, .values = y, .n = 2 };
    const PlotPane pane = { "Title", series, 9 };
    for (uint32_t width = 30; width < 140; width += 11)
        for (uint32_t height = 24; height < 40; height += 5)
            for (int is_ascii = 0; is_ascii < 2; is_ascii++) {
                uint32_t lines;
                const PlotOptions options = { .width = width, .height = height, .is_ascii = is_ascii };
                assert_true(longest_line(plot_terminal(&pane, 1, &options, arena).at, &lines) <= width);
                assert_int_equal(lines, height);
            }
}

static void colours_are_only_there_when_asked_for(void **state)
{
    Arena *const arena = *state;
    static const double t[] = { 0, 1 }, y[] = { 0, 1 };
    const PlotSeries series[] = { { .name = "a", .times = t, .values = y, .n = 2 },
                                  { .name = "b", .times = t, .values = t, .n = 2 } };
    const PlotPane pane = { NULL, series, 2 };
    assert_null(strchr(plot_terminal(&pane, 1, &(PlotOptions){ 0 }, arena).at, 033));
    const char *const coloured = plot_terminal(&pane, 1, &(PlotOptions){ .has_colour = true }, arena).at;
    assert_non_null(strstr(coloured, "\033[36m"));
    assert_non_null(strstr(coloured, "\033[33m"));
}

static void names_cannot_break_out(void **state)
{
    Arena *const arena = *state;
    static const double t[] = { 0, 1 }, y[] = { 0, 1 };
    const PlotSeries series = { .name = "\033[2J<script>&\xff\"", .times = t, .values = y, .n = 2 };
    const PlotPane pane = { "\x07<b>", &series, 1 };
    const char *const text = plot_terminal(&pane, 1, &(PlotOptions){ 0 }, arena).at;
    assert_null(strpbrk(text, "\033\x07"));
    assert_null(strchr(text, '\xff'));
    const char *const svg = plot_svg(&pane, 1, &(PlotOptions){ 0 }, arena).at;
    assert_null(strstr(svg, "<script>"));
    assert_null(strstr(svg, "<b>"));
    assert_non_null(strstr(svg, "?[2J&lt;script&gt;&amp;?&quot;"));
}

static void a_comma_locale_changes_no_byte(void **state)
{
    Arena *const arena = *state;
    static const double t[] = { 0, 0.5 }, y[] = { 0.25, 1.75 };
    const PlotSeries series = { .name = "a", .times = t, .values = y, .n = 2 };
    const PlotPane pane = { "T", &series, 1 };
    const char *const text = plot_terminal(&pane, 1, &(PlotOptions){ 0 }, arena).at;
    const char *const svg = plot_svg(&pane, 1, &(PlotOptions){ 0 }, arena).at;
    if (!set_comma_locale()) {
        print_message("no locale with a decimal comma can be had: skipped\n");
        skip();
    }
    const char *const text_again = plot_terminal(&pane, 1, &(PlotOptions){ 0 }, arena).at;
    const char *const svg_again = plot_svg(&pane, 1, &(PlotOptions){ 0 }, arena).at;
    setlocale(LC_ALL, "C");
    assert_string_equal(text, text_again);
    assert_string_equal(svg, svg_again);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_ramp_is_a_diagonal_with_axes),
        TEST(a_jump_is_dotted_and_not_a_slope),
        TEST(a_discrete_series_is_steps),
        TEST(what_is_not_finite_is_a_gap),
        TEST(narrow_peaks_stay_among_millions_of_points),
        TEST(a_legend_grows_with_the_number_of_names),
        TEST(a_lonely_jump_among_many_points_stays_a_jump),
        TEST(reduction_does_not_change_the_picture),
        TEST(ticks_are_one_two_or_five_times_a_power_of_ten),
        TEST(odd_data_gives_a_plot_or_says_so),
        TEST(the_plot_fits_the_terminal),
        TEST(colours_are_only_there_when_asked_for),
        TEST(names_cannot_break_out),
        TEST(a_comma_locale_changes_no_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
