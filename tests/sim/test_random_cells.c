/* Random models of cells with events, over ranges and written out by hand: both give the same bits, in all tiers. A
 * model is a list of lines in which the loop variable is i; written out, x[i] is the scalar x_3 and real(i) real(3). */
#include "assertions.h"
#include "run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST_LINES = 64, LINE = 400, MOST_CELLS = 5 };

typedef struct {
    uint64_t seed;
    int n, n_lines;
    char lines[MOST_LINES][LINE];
    bool has_times; /* clocks of the cells, as entries of the calendar */
} Cells;

/* ---- making ---- */
static unsigned pick(Cells *c, unsigned n)
{
    c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(c->seed >> 33) % n;
}

static const char *one_of(Cells *c, unsigned n, const char *const *from)
{
    return from[pick(c, n)];
}
#define ONE_OF(c, ...)                                                                                                 \
    one_of(c, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), (const char *const[]){ __VA_ARGS__ })

static void add(Cells *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(Cells *c, const char *format, ...)
{
    va_list args;
    assert_true(c->n_lines < MOST_LINES);
    va_start(args, format);
    assert_true(vsnprintf(c->lines[c->n_lines++], LINE, format, args) < LINE);
    va_end(args);
}

static const char *comparison(Cells *c)
{
    return ONE_OF(c, "x[i] > 0.6", "x[i] > k[i]", "x[i] <= 0.3", "y[i] >= 0.3*real(i) + 0.2", "y[i] < -0.1",
                  "x[i] - y[i] > 0.35", "c[i] < 3", "d[i] > 1 and x[i] > 0.2", "p[i]", "not p[i]", "time > 0.8",
                  "a[i] > 0.7 and y[i] > 0.4", "x[i]*y[i] > 0.2", "w[i] > 0.55");
}

static const char *value(Cells *c)
{
    return ONE_OF(c, "0.2", "k[i]", "0.5*a[i]", "0.3*x[i]", "0.1*real(d[i])", "0.4*sin(y[i] + real(i))",
                  "(if p[i] then 0.1 else 0.6)", "0.5*w[i]");
}

static void add_transition(Cells *c, int number)
{
    const bool is_level = pick(c, 3) == 0;
    const char *one = comparison(c), *other = comparison(c);
    if (is_level)
        add(c, "trans t%d level next set for i in 1:n when %s and c[i] < %u :", number, one, 2 + pick(c, 4));
    else if (c->has_times && pick(c, 3) == 0)
        add(c, "trans t%d edge next set for i in 1:n when time >= b[i] :", number);
    else
        add(c, "trans t%d edge next set for i in 1:n when %s%s%s :", number, one, ONE_OF(c, ", ", " and "), other);
    if (is_level || pick(c, 2))
        add(c, "  next(c[i]) := c[i] + 1");
    if (c->has_times)
        add(c, "  next(b[i]) := b[i] + 0.3");
    if (pick(c, 2))
        add(c, "  next(a[i]) := 0.5 + %s", value(c));
    if (pick(c, 2))
        add(c, "  if %s then next(p[i]) := not p[i]", comparison(c));
    add(c, "  next(%s[i]) := %s - 0.3", ONE_OF(c, "x", "y"), value(c));
    add(c, "end t%d", number);
}

/* What acts now, as an elsewhen group of each cell. */
static void add_group(Cells *c)
{
    static const char *const known[] = { "x[i] > 0.6",
                                         "y[i] < 0.05",
                                         "x[i] - y[i] > 0.3 and c[i] < 3",
                                         "d[i] > 1",
                                         "p[i] and x[i] > 0.11*real(i)",
                                         "time > 0.9 + 0.1*real(i)" };
    for (unsigned rank = 1; rank <= 2; rank++) {
        add(c, "trans now%u edge now set group 1 %u for i in 1:n when %s :", rank, rank, one_of(c, 6, known));
        add(c, "  v[i] := %s", ONE_OF(c, "pre(v[i]) + 1", "d[i]", "if y[i] > 0.3 then 2 else pre(v[i])"));
        if (rank == 2 || pick(c, 2))
            add(c, "  if %s then u[i] := 0.1*x[i] + %s", ONE_OF(c, "d[i] < 3", "x[i] > 0.1"),
                ONE_OF(c, "pre(u[i])", "0.2", "real(pre(v[i]))"));
        add(c, "end now%u", rank);
    }
}

/* Declared or given by equations over the range, in either direction. */
static void add_starts(Cells *c)
{
    const bool is_given = pick(c, 3) != 0, is_counted = pick(c, 2) != 0;
    add(c, "var x Real[n] continuous der start 0.0%s", is_given ? "" : " fixed");
    add(c, "var d Integer[n] discrete next start 0%s", is_counted ? "" : " fixed");
    if (is_given)
        add(c, "eq initial s1 for i in 1:n: %s",
            ONE_OF(c, "x[i] = 0.2*sin(real(i))", "x[i] := 0.3*k[i]", "0.1*real(i) - k[i] = x[i]",
                   "x[i] = start(y[i]) + 0.3*time", "x[i] = 0.2*y[i]", "0.3*a[i] + x[i] = 0.5*k[i]",
                   "x[i] = if k[i] > 0.4 then 0.05 else 0.1*b[i]"));
    if (is_counted)
        add(c, "eq initial s2 for i in 1:n: d[i] %s %s", ONE_OF(c, "=", ":="),
            ONE_OF(c, "2 - (i)", "c[i]", "start(d[i]) + 1"));
}

static void make(Cells *c)
{
    static const char *const rates[] = { "1.0",
                                         "cos(0.9*time)",
                                         "sin(1.7*time) + 0.3",
                                         "1.0 - 0.2*y[i]",
                                         "0.3 + a[i]",
                                         "a[i]*(if x[i] > 0.5 then 0.5 else 1.0)",
                                         "0.5 + 0.1*real(m[i])",
                                         "0.4 + 0.2*real(v[i])",
                                         "0.3 + 0.2*u[i]",
                                         "(if x[i] > 0.4*a[i] then 0.4 else 1.2)",
                                         "1.0 - 0.3*(if y[i] > b[i] then y[i] else 0.1)" };
    enum { N_RATES = sizeof rates / sizeof rates[0] };
    c->n = 2 + (int)pick(c, MOST_CELLS - 1);
    add_starts(c);
    add(c, "var y Real[n] continuous der start 0.1 fixed");
    add(c, "var a Real[n] discrete next start 1.0 fixed");
    add(c, "var b Real[n] discrete next start 0.7 fixed");
    add(c, "var c Integer[n] discrete next start 0 fixed");
    add(c, "var p Boolean[n] discrete next start %s fixed", ONE_OF(c, "true", "false"));
    add(c, "var m Integer[n] discrete now");
    add(c, "var w Real[n] continuous now");
    add(c, "var v Integer[n] discrete now start 0");
    add(c, "var u Real[n] discrete now start 0.5");
    add(c, "param k Real[n] = 0.%u", 2 + pick(c, 7));
    add(c, "eq e1 for i in 1:n: der(x[i]) := %s + 0.1*real(i)", one_of(c, N_RATES, rates));
    add(c, "eq e2 for i in 1:n: der(y[i]) := %s + 0.05*real(i)", one_of(c, N_RATES, rates));
    add(c, "eq e3 for i in 1:n: m[i] := if d[i] > 1 then 1 else c[i] - d[i]");
    add(c, "eq e4 for i in 1:n: w[i] := 0.5*x[i] + 0.3*a[i]");
    for (int k = 1 + (int)pick(c, 3); k > 0; k--)
        add_transition(c, k);
    add_group(c);
    add(c, "trans high edge next set for i in 1:n when x[i] > 0.9 :");
    add(c, "  next(d[i]) := d[i] + 1");
    add(c, "  next(x[i]) := -0.2");
    add(c, "end high");
}

/* ---- writing ---- */
static void put_point(FILE *f, const char *line, int i)
{
    for (const char *at = line; *at;) {
        if (strncmp(at, "[i]", 3) == 0 || strncmp(at, "(i)", 3) == 0) {
            fprintf(f, at[0] == '[' ? "_%d" : "(%d)", i);
            at += 3;
        } else if (strncmp(at, " for i in ", 10) == 0) {
            at += at[13] == ':' ? 14 : 13; /* an equation has a colon behind its ranges only */
        } else if (strncmp(at, " group 1", 8) == 0) {
            fprintf(f, " group %d", i);
            at += 8;
        } else if (at[0] == '[' && at[1] == 'n') {
            at += 3;
        } else {
            fputc(*at++, f);
        }
    }
    fputc('\n', f);
}

/* A line without its name: "var x Real..." of cell 3 is "var x_3 Real...". */
static void put_named(FILE *f, const char *line, int i)
{
    char word[16], name[16], named[LINE];
    int length = 0;
    const char *first = strncmp(line, "eq initial ", 11) == 0 ? "eq " : "";
    assert_int_equal(sscanf(line + strlen(first), "%15s %15[a-z0-9]%n", word, name, &length), 2);
    snprintf(named, sizeof named, "%s%s %s_%d%s", first, word, name, i, line + strlen(first) + length);
    put_point(f, named, i);
}

static void put_written_out(FILE *f, const Cells *c)
{
    for (int k = 0; k < c->n_lines; k++) {
        int end = k + 1;
        while (strncmp(c->lines[k], "trans", 5) == 0 && strncmp(c->lines[end - 1], "end", 3) != 0)
            end++;
        for (int i = 1; i <= c->n; i++) {
            put_named(f, c->lines[k], i);
            for (int j = k + 1; j < end - 1; j++)
                put_point(f, c->lines[j], i);
            if (end > k + 1)
                put_named(f, c->lines[end - 1], i);
        }
        k = end - 1;
    }
}

static void write_model(const Cells *c, const char *path, bool is_written_out)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "koine-ir 1\nmodel cells\n");
    if (!is_written_out)
        fprintf(f, "param n Integer structural = %d\n", c->n);
    if (is_written_out)
        put_written_out(f, c);
    else
        for (int k = 0; k < c->n_lines; k++) {
            const char *extent = strstr(c->lines[k], "[n]");
            if (extent)
                fprintf(f, "%.*s[n = %d]%s\n", (int)(extent - c->lines[k]), c->lines[k], c->n, extent + 3);
            else
                fprintf(f, "%s\n", c->lines[k]);
        }
    fprintf(f, "end cells\n");
    fclose(f);
}

/* ---- comparing ---- */
static RunResult *run(const char *path, const char *tier)
{
    return run_model(&(RunRequest){
        .path = path, .tier = tier, .solver = "rk4", .stop = 3, .interval = 0.125, .every_event_step = true });
}

static void compare(const RunResult *whole, const RunResult *by_hand, unsigned seed)
{
    static const char names[] = "xyabcdpmwvu";
    fail_if(whole->report.end != by_hand->report.end, "model %u: ends with %d, by hand %d: %s", seed, whole->report.end,
            by_hand->report.end, by_hand->report.text);
    fail_if(whole->n_rows != by_hand->n_rows, "model %u: %u rows, by hand %u", seed, whole->n_rows, by_hand->n_rows);
    for (const char *name = names; *name; name++)
        for (int i = 1; i <= MOST_CELLS; i++) {
            char own[16], other[16];
            snprintf(own, sizeof own, "%c[%d]", *name, i);
            snprintf(other, sizeof other, "%c_%d", *name, i);
            for (uint32_t k = 0; k < by_hand->n_columns; k++)
                for (uint32_t j = 0; strcmp(by_hand->names[k], other) == 0 && j < whole->n_rows; j++)
                    fail_if(memcmp(&whole->rows[j].time, &by_hand->rows[j].time, sizeof(double)) != 0 ||
                                memcmp(&whole->rows[j].values[run_column(whole, own)], &by_hand->rows[j].values[k],
                                       sizeof(double)) != 0,
                            "model %u: %s differs at %.17g", seed, own, whole->rows[j].time);
        }
}

static void compare_models(unsigned first, unsigned end, bool has_times, unsigned most_failed)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    char whole[64], by_hand[64];
    unsigned n_events = 0, n_failed = 0;
    snprintf(whole, sizeof whole, "/tmp/koine-cells-%d.ir", (int)getpid());
    snprintf(by_hand, sizeof by_hand, "/tmp/koine-cells-%d-by-hand.ir", (int)getpid());
    for (unsigned seed = first; seed < end; seed++) {
        Cells c = { .seed = seed, .has_times = has_times };
        make(&c);
        write_model(&c, whole, false);
        write_model(&c, by_hand, true);
        RunResult *expected = run(by_hand, "interp");
        fail_if(!expected->is_compiled, "model %u by hand: %s", seed, expected->messages);
        n_events += (unsigned)expected->report.statistics.events.state_events;
        n_failed += expected->report.end != KOINE_RUN_DONE;
        for (size_t t = 0; t < (seed % 8 == 0 ? 3 : 1); t++) {
            RunResult *r = run(whole, tiers[t]);
            fail_if(!r->is_compiled, "model %u: %s", seed, r->messages);
            compare(r, expected, seed);
            run_free(r);
        }
        run_free(expected);
    }
    remove(whole);
    remove(by_hand);
    fail_if(n_events < 10 * (end - first), "only %u events", n_events);
    fail_if(n_failed > most_failed, "%u of the runs ended early", n_failed);
}

static void test_cells_whose_states_cross_limits(void **state)
{
    (void)state;
    compare_models(1, 41, false, 20);
}

static void test_cells_with_clocks(void **state)
{
    (void)state;
    compare_models(1001, 1041, true, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_whose_states_cross_limits),
        cmocka_unit_test(test_cells_with_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
