/* Common subexpressions: what is computed once, what is not, and that no bit changes. Counts are those of the
 * operations in the sections of the Program; values are compared with the evaluation of each equation by itself. */
#include "base/diag.h"
#include "base/text.h"
#include "emit/code.h"
#include "emit/placement.h"
#include "emit/program.h"
#include "emit/runs.h"
#include "ir/evaluate.h"
#include "ir/read.h"
#include "passes/pipeline.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
    Arena *arena;
    Pool *pool;
    Compile compile;
    const Program *program;
    const Code *code;
} World;

/* Equations need labels: here they are numbered. */
static const char *with_labels(const char *body, Arena *arena)
{
    Text text = { .arena = arena };
    uint32_t n = 0;
    for (const char *next; (next = strstr(body, "eq ")); body = next + 3) {
        text_bytes(&text, body, (size_t)(next - body));
        text_format(&text, "eq e%u ", ++n);
    }
    text_add(&text, body);
    return text.at;
}

static World make(const char *body)
{
    World w = { .arena = arena_create(NULL) };
    Sources *sources = sources_create(w.arena);
    Diag *diag = diag_create(w.arena, sources);
    const char *text = arena_format(w.arena, "koine-ir 1\nmodel m\n%send m\n", with_labels(body, w.arena));
    const uint32_t source = sources_add_text(sources, "m.ir", text, strlen(text));
    w.pool = pool_create(w.arena, names_create(w.arena));
    w.compile = (Compile){ .model = model_read(w.pool, sources, source, diag), .arena = w.arena, .diag = diag };
    const bool is_good = w.compile.model && run_pipeline(&w.compile, NULL, NULL);
    if (!is_good)
        diag_print(diag, stderr, (DiagStyle){ 0 });
    assert_true(is_good);
    w.program = program_create(w.compile.schedule, w.arena);
    w.code = program_code(w.program);
    return w;
}

static void drop(World *w)
{
    arena_destroy(w->arena);
}

static const Section *section_of(const World *w, const char *name)
{
    for (uint32_t k = 0; k < w->code->n_sections; k++)
        if (strcmp(w->code->sections[k].name, name) == 0)
            return &w->code->sections[k];
    return NULL;
}

typedef struct {
    uint32_t all;
    uint32_t by_op[OP_COUNT];
    uint32_t runs;
} Count;

/* Operations of one execution of a section, those in branches included. */
static Count count(const World *w, const char *name)
{
    const Section *section = section_of(w, name);
    Count found = { 0 };
    Placement placement;
    placement_init(&placement, w->pool, w->arena);
    for (uint32_t k = 0; section && k < section->n_runs; k++) { /* no section: there is nothing to do */
        const Run *run = &w->code->runs[section->first_run + k];
        placement_of(&placement, &w->code->kernels[run->kernel]);
        for (uint32_t j = 0; j < placement.nodes.n; j++) {
            const PlacedNode *node = &placement.nodes.at[j];
            if (!node->uses || node->expr->kind == EXPR_LEAF || expr_is_constant(node->expr))
                continue;
            found.all += run->n;
            if (node->expr->kind == EXPR_CALL)
                found.by_op[node->expr->op] += run->n;
        }
    }
    found.runs = section ? section->n_runs : 0;
    return found;
}

#define STATES                                                                                                         \
    "var q Real continuous der start 0.3 fixed\n"                                                                      \
    "var w Real continuous der start 0.1 fixed\n"                                                                      \
    "eq der(q) := w\n"

/* ---- what is computed once ---- */
/* Ten equations with sin(q), one sin; the tangents take it from the derivatives. */
static void ten_equations_one_sine(void **unused)
{
    (void)unused;
    char text[4000] = STATES, sum[400] = "eq der(w) := -w";
    for (int k = 0; k < 10; k++) {
        char line[200];
        snprintf(line, sizeof line, "var y%d Real continuous\neq y%d := %d.5*sin(q) + cos(q)*w\n", k, k, k + 1);
        strcat(text, line);
        snprintf(line, sizeof line, " + y%d", k);
        strcat(sum, line);
    }
    strcat(text, sum);
    strcat(text, "\n");
    World w = make(text);
    const Count derivatives = count(&w, "derivatives"), tangents = count(&w, "tangents"), slopes = count(&w, "slopes");
    assert_int_equal(derivatives.by_op[OP_SIN], 1); /* 10 as written */
    assert_int_equal(derivatives.by_op[OP_COS], 1); /* 10 */
    assert_int_equal(tangents.by_op[OP_SIN], 0);    /* 10 */
    assert_int_equal(slopes.by_op[OP_SIN], 0);      /* the derivatives have it */
    assert_int_equal(tangents.by_op[OP_COS], 0);    /* 10 */
    assert_int_equal(slopes.by_op[OP_COS], 1);      /* 10; the derivatives keep cos(q)*w only */
    assert_int_equal(derivatives.all,
                     2 + 1 + 10 + 10 + 10); /* 60 as written: of each row sin, cos, 2 products, 2 sums */
    drop(&w);
}

/* The order of the operands of sums and products does not matter, that of others does. */
static void operands_commute(void **unused)
{
    (void)unused;
    World w = make(STATES "var a, b, c, d Real continuous\n"
                          "eq a := exp(q + w)\neq b := 2.0*exp(w + q)\n"
                          "eq c := exp(q - w)\neq d := 2.0*exp(w - q)\n"
                          "eq der(w) := a + b + c + d\n");
    const Count derivatives = count(&w, "derivatives");
    assert_int_equal(derivatives.by_op[OP_EXP], 3);
    assert_int_equal(derivatives.by_op[OP_ADD], 1 + 3);
    drop(&w);
}

/* What a variable holds is read from it, however it was written, and in later sections and outputs, too. */
static void variables_hold_values(void **unused)
{
    (void)unused;
    World w = make(STATES "var s, y, o Real continuous\nvar p Real continuous causality output\n"
                          "eq s := sin(q)\neq y := w*sin(q)\neq o := w + sqrt(sin(q) + 2.0)\n"
                          "eq p := 3.0*sin(q) + 5.0*sqrt(s + 2.0)\neq der(w) := y + s - o\n");
    assert_int_equal(count(&w, "derivatives").by_op[OP_SIN], 1);
    assert_int_equal(count(&w, "derivatives").by_op[OP_SQRT], 1);
    assert_int_equal(count(&w, "outputs").by_op[OP_SIN], 0);
    drop(&w);
}

/* A sum of two or a product is not worth a slot when two equations need it, a division is. */
static void cheap_values_are_computed_where_needed(void **unused)
{
    (void)unused;
    World w = make(STATES "var a, b, c, d Real continuous\n"
                          "eq a := (q + w)*2.0\neq b := (q + w)*3.0\n"
                          "eq c := 1.0 + q/w\neq d := 2.0 - q/w\n"
                          "eq der(w) := a + b + c + d\n");
    const Count derivatives = count(&w, "derivatives");
    assert_int_equal(derivatives.by_op[OP_DIV], 1);
    assert_int_equal(derivatives.by_op[OP_MUL], 2);
    assert_int_equal(derivatives.by_op[OP_ADD] + derivatives.by_op[OP_SUB], 2 + 2 + 3);
    drop(&w);
}

/* What parameters alone determine is computed with them. */
static void parameters_are_computed_once(void **unused)
{
    (void)unused;
    World w = make(STATES "param a Real = 2.0\nparam b Real = 3.0\nvar y Real continuous\n"
                          "eq y := a/b*q + sqrt(a)\neq der(w) := y - a/b*w - 2.0*a\n");
    const KoinePart *parameters = &program_data(w.program)->parts.parameters;
    const Count derivatives = count(&w, "derivatives"), fixed = count(&w, "fixed");
    assert_int_equal(derivatives.by_op[OP_DIV] + derivatives.by_op[OP_SQRT], 0);
    assert_int_equal(derivatives.by_op[OP_MUL], 3); /* 2.0*a is not worth a slot */
    assert_int_equal(fixed.by_op[OP_DIV], 1);
    assert_int_equal(fixed.by_op[OP_SQRT], 1);
    assert_int_equal(fixed.all, 2);
    assert_int_equal(parameters->n, 1);
    assert_ptr_equal(&w.code->sections[parameters->steps[0].section], section_of(&w, "fixed"));
    drop(&w);
}

/* ---- branches ---- */
/* What stands in branches only stays there: off, it costs nothing and divides by nothing. */
static void branches_stay_branches(void **unused)
{
    (void)unused;
    World w = make(STATES "var a, b Real continuous\n"
                          "eq a := if literal(q > 1.0) then exp(q)/w else 0.0\n"
                          "eq b := if literal(q > 2.0) then exp(q)/w else 1.0\n"
                          "eq der(w) := a + b\n");
    assert_int_equal(count(&w, "derivatives").by_op[OP_EXP], 2);
    assert_int_equal(count(&w, "derivatives").by_op[OP_DIV], 2);
    drop(&w);
}

/* What several equations need in the same branch is computed once, in that branch. */
static void branches_share_what_they_need(void **unused)
{
    (void)unused;
    World w = make(STATES "var a, b, c Real continuous\n"
                          "eq a := if literal(q > 1.0) then exp(q)/w else 0.0\n"
                          "eq b := if literal(q > 1.0) then 2.0*exp(q) else log(q)\n"
                          "eq c := if literal(q > 1.0) then 3.0 else 5.0*log(q)\n"
                          "eq der(w) := a + b + c\n");
    Placement placement;
    assert_int_equal(count(&w, "derivatives").by_op[OP_EXP], 1);
    assert_int_equal(count(&w, "derivatives").by_op[OP_LOG], 1);
    assert_int_equal(count(&w, "tangents").by_op[OP_EXP] + count(&w, "slopes").by_op[OP_EXP], 0);
    placement_init(&placement, w.pool, w.arena);
    const Section *section = section_of(&w, "derivatives");
    for (uint32_t k = 0; k < section->n_runs; k++) { /* in a branch: not in the region of the whole */
        placement_of(&placement, &w.code->kernels[w.code->runs[section->first_run + k].kernel]);
        for (uint32_t j = 0; j < placement.nodes.n; j++)
            if (placement.nodes.at[j].expr->kind == EXPR_CALL &&
                (placement.nodes.at[j].expr->op == OP_EXP || placement.nodes.at[j].expr->op == OP_LOG))
                assert_int_not_equal(placement.nodes.at[j].region, 0);
    }
    drop(&w);
}

/* What is computed in any case is also read in branches; what both branches have is computed in any case. */
static void branches_read_what_is_there(void **unused)
{
    (void)unused;
    World w = make(STATES "var a, b, c Real continuous\n"
                          "eq a := if literal(q > 1.0) then 2.0*exp(q) else 0.0\n"
                          "eq b := if literal(q > 2.0) then 2.0*sin(q) else 3.0*sin(q)\n"
                          "eq c := sin(q) + exp(q)\n"
                          "eq der(w) := a + b + c\n");
    assert_int_equal(count(&w, "derivatives").by_op[OP_EXP], 1);
    assert_int_equal(count(&w, "derivatives").by_op[OP_SIN], 1);
    drop(&w);
}

/* ---- systems ---- */
/* x and y are iterated: what depends on them is shared in one computation of the residuals, and in the Jacobian; what
 * does not is computed once before the iteration, for both. */
static void residuals_share(void **unused)
{
    (void)unused;
    World w = make(STATES "var x, y Real continuous start 0.5\n"
                          "eq x = 0.1*sin(x*y) + 0.1*exp(q)\neq y = 0.1*sin(x*y)*x + 0.2*exp(q)*x + 0.1*log(x + 2.0)\n"
                          "eq der(w) := x + y\n");
    const Count prepared = count(&w, "prepared_0"), residual = count(&w, "residual_0"),
                jacobian = count(&w, "jacobian_0");
    assert_int_equal(prepared.by_op[OP_EXP], 1);
    assert_int_equal(residual.by_op[OP_EXP], 0); /* 2 as written */
    assert_int_equal(jacobian.by_op[OP_EXP], 0); /* 1 */
    assert_int_equal(residual.by_op[OP_SIN], 1); /* 2 */
    assert_int_equal(prepared.by_op[OP_SIN], 0);
    assert_int_equal(jacobian.by_op[OP_SIN], 1);
    assert_int_equal(jacobian.by_op[OP_COS], 1); /* 4 */
    drop(&w);
}

/* A mass matrix that depends on the angle: its entries are computed once, for residuals and matrix. */
static void matrices_are_prepared(void **unused)
{
    (void)unused;
    char text[3000] = STATES "eq der(w) := a1 + a4\n";
    for (int k = 1; k <= 4; k++) {
        char line[500];
        snprintf(line, sizeof line,
                 "var a%d Real continuous\neq 4.0*a%d + a1*cos(q) + a2*sin(q) + a3*cos(2.0*q) + a4*sin(2.0*q) = "
                 "cos(q) + %d.0\n",
                 k, k, k);
        strcat(text, line);
    }
    World w = make(text);
    const Count prepared = count(&w, "prepared_0"), residual = count(&w, "residual_0"),
                jacobian = count(&w, "jacobian_0");
    assert_int_equal(prepared.by_op[OP_SIN], 2);
    assert_int_equal(prepared.by_op[OP_COS], 2);
    assert_int_equal(residual.by_op[OP_SIN] + residual.by_op[OP_COS], 0); /* 20 as written */
    assert_int_equal(jacobian.by_op[OP_SIN] + jacobian.by_op[OP_COS], 0); /* 16 */
    drop(&w);
}

/* ---- many instances ---- */
/* 1,000 equal components stay loops: the number of runs does not depend on their number, each has one sine. */
static void instances_stay_loops(void **unused)
{
    (void)unused;
    uint32_t runs[2];
    for (int k = 0; k < 2; k++) {
        const uint32_t n = k ? 1000 : 100;
        char *text = malloc(200 * (size_t)n);
        assert_non_null(text);
        size_t at = 0;
        for (uint32_t j = 0; j < n; j++)
            at += (size_t)sprintf(text + at,
                                  "var x%04u, v%04u Real continuous der start 0.1 fixed\nvar y%04u Real continuous\n"
                                  "eq y%04u := 2.0*sin(x%04u) + v%04u\n",
                                  j, j, j, j, j, j);
        for (uint32_t j = 0; j < n; j++)
            at += (size_t)sprintf(text + at, "eq der(x%04u) := v%04u\neq der(v%04u) := y%04u - 3.0*sin(x%04u)\n", j, j,
                                  j, j, j);
        World w = make(text);
        assert_int_equal(count(&w, "derivatives").by_op[OP_SIN], n);
        runs[k] = count(&w, "derivatives").runs;
        free(text);
        drop(&w);
    }
    assert_int_equal(runs[0], runs[1]);
    assert_true(runs[0] <= 4);
}

/* A row of neighbours: sin(x) of each is needed by two equations of the same loop, at the ends by one. */
static void neighbours_share(void **unused)
{
    (void)unused;
    enum { N = 64 };
    char *text = malloc(200 * N);
    assert_non_null(text);
    size_t at = 0;
    for (uint32_t j = 0; j < N; j++)
        at += (size_t)sprintf(text + at, "var x%02u Real continuous der start 0.1 fixed\n", j);
    for (uint32_t j = 0; j < N; j++)
        at += j > 0 && j + 1 < N
                  ? (size_t)sprintf(text + at, "eq der(x%02u) := sin(x%02u) - 2.0*sin(x%02u) + sin(x%02u)\n", j, j - 1,
                                    j, j + 1)
                  : (size_t)sprintf(text + at, "eq der(x%02u) := 0.0\n", j);
    World w = make(text);
    assert_int_equal(count(&w, "derivatives").by_op[OP_SIN], N); /* 3*(N - 2) as written */
    assert_true(count(&w, "derivatives").runs <= 8);
    free(text);
    drop(&w);
}

/* ---- no bit changes ---- */
static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % n);
}

/* An expression over x0 .. x3 and y0 .. y(n - 1); few constants and operations, so that much occurs twice. */
static void add_random(Text *text, uint32_t n, uint32_t depth)
{
    static const char *const binary[] = { " + ", " - ", "*", "/" };
    static const char *const unary[] = { "sin", "cos", "exp", "abs", "sqrt" };
    const uint32_t kind = depth ? below(10) : 9;
    if (kind >= 8) {
        const bool is_state = n == 0 || below(2);
        text_format(text, is_state ? "x%u" : "y%u", below(is_state ? 4 : n));
    } else if (kind >= 6) {
        text_format(text, "(if literal(x%u > y0) then ", below(4));
        add_random(text, n, depth - 1);
        text_add(text, " else ");
        add_random(text, n, depth - 1);
        text_add(text, ")");
    } else if (kind >= 4) {
        text_format(text, "%s(", unary[below(5)]);
        add_random(text, n, depth - 1);
        text_add(text, ")");
    } else {
        text_add(text, "(");
        add_random(text, n, depth - 1);
        text_add(text, binary[below(4)]);
        add_random(text, n, depth - 1);
        text_add(text, ")");
    }
}

static Value value_at(const World *w, const KoineSlot *m, Ref ref)
{
    return (Value){ .i = m[program_slot(w->program, ref)].i };
}

/* Every equation of the part holds exactly between the values that are there now. */
static void check_part(const World *w, PartKind part, const KoineSlot *m)
{
    const Schedule *s = w->compile.schedule;
    const Model *model = w->compile.model;
    for (uint32_t k = 0; k < s->parts[part].n; k++) {
        const Block *b = &s->blocks.at[s->parts[part].at[k]];
        Value leaves[64], expected;
        assert_true(b->kind == BLOCK_ASSIGN && b->u.assign.rhs.shape->n_leaves <= 64);
        for (uint32_t j = 0; j < b->u.assign.rhs.shape->n_leaves; j++)
            leaves[j] = value_at(w, m, term_refs(model, b->u.assign.rhs)[j]);
        assert_true(expr_evaluate(b->u.assign.rhs.shape, leaves, NULL, &expected));
        const Value actual = value_at(w, m, term_refs(model, b->u.assign.lhs)[0]);
        if (!(isnan(expected.r) && isnan(actual.r)))
            assert_int_equal(actual.i, expected.i);
    }
}

static void run_section(const World *w, const KoineCode *code, const char *name, KoineSlot *m)
{
    const Section *section = section_of(w, name);
    if (section)
        code->run_section(code->context, (uint32_t)(section - w->code->sections), m);
}

static void no_bit_changes(void **unused)
{
    (void)unused;
    enum { MODELS = 60, EQUATIONS = 24 };
    seed = 88172645463325252u;
    for (int round = 0; round < MODELS; round++) {
        Arena *arena = arena_create(NULL);
        Text text = { .arena = arena };
        for (uint32_t k = 0; k < 4; k++)
            text_format(&text, "var x%u Real continuous der start 0.5 fixed\n", k);
        for (uint32_t k = 0; k < EQUATIONS; k++) {
            text_format(&text, "var y%u Real continuous\neq y%u := ", k, k);
            add_random(&text, k, k ? 4 : 0);
            text_add(&text, "\n");
        }
        for (uint32_t k = 0; k < 4; k++) {
            text_format(&text, "eq der(x%u) := ", k);
            add_random(&text, 8 + below(EQUATIONS - 8), 4);
            text_add(&text, "\n");
        }
        World w = make(text.at);
        const char *why = NULL;
        Executable *executable = interp_load(w.code, &why, arena);
        assert_non_null(executable);
        KoineSlot *m = NEW_ARRAY(arena, KoineSlot, w.code->n_slots);
        for (int point = 0; point < 4; point++) {
            for (uint32_t k = 0; k < 4; k++)
                m[program_data(w.program)->slots.x + k].r = (double)below(2000) / 1000 - 1;
            run_section(&w, executable_code(executable), "derivatives", m);
            run_section(&w, executable_code(executable), "outputs", m);
            check_part(&w, PART_DERIVATIVES, m);
            check_part(&w, PART_OUTPUTS, m);
        }
        executable_destroy(executable);
        drop(&w);
        arena_destroy(arena);
    }
}

/* Expressions that can be differentiated anywhere, with little growth. */
static void add_smooth(Text *text, uint32_t n, uint32_t depth)
{
    static const char *const shapes[] = { "sin(", "cos(", "0.5*exp(-sin(", "(0.5 + " };
    if (depth == 0) {
        const bool is_state = n == 0 || below(2);
        text_format(text, is_state ? "x%u" : "y%u", below(is_state ? 4 : n));
        return;
    }
    const uint32_t shape = below(4);
    text_add(text, shapes[shape]);
    add_smooth(text, n, depth - 1);
    text_add(text, below(2) ? "*" : " - ");
    add_smooth(text, n, depth - 1);
    text_add(text, shape == 2 ? "))" : ")");
}

/* Tangents beside central differences of the derivatives; the values they share come from three sections. */
static void check_tangents(const World *w, const KoineCode *code, KoineSlot *m)
{
    const double step = 1e-5;
    const KoineProgram *p = program_data(w->program);
    for (uint32_t k = 0; k < 4; k++) {
        double slopes[2][4];
        const double x = m[p->slots.x + k].r;
        for (int side = 0; side < 2; side++) {
            m[p->slots.x + k].r = side ? x + step : x - step;
            run_section(w, code, "derivatives", m);
            for (uint32_t j = 0; j < 4; j++)
                slopes[side][j] = m[p->slots.dx + j].r;
        }
        m[p->slots.x + k].r = x;
        run_section(w, code, "derivatives", m);
        run_section(w, code, "slopes", m);
        m[p->slots.seed_x + k].r = 1;
        run_section(w, code, "tangents", m);
        m[p->slots.seed_x + k].r = 0;
        for (uint32_t j = 0; j < 4; j++) {
            const double difference = (slopes[1][j] - slopes[0][j]) / (2 * step);
            assert_true(fabs(m[p->slots.seed_dx + j].r - difference) <= 1e-5 * (1 + fabs(difference)));
        }
    }
}

static void tangents_agree_with_differences(void **unused)
{
    (void)unused;
    enum { MODELS = 20, EQUATIONS = 6 };
    seed = 362436069362436069u;
    for (int round = 0; round < MODELS; round++) {
        Arena *arena = arena_create(NULL);
        Text text = { .arena = arena };
        for (uint32_t k = 0; k < 4; k++)
            text_format(&text, "var x%u Real continuous der start 0.5 fixed\n", k);
        for (uint32_t k = 0; k < EQUATIONS + 4; k++) {
            text_format(&text, k < EQUATIONS ? "var y%u Real continuous\neq y%u := " : "eq der(x%u) := y%u + ",
                        k < EQUATIONS ? k : k - EQUATIONS, k < EQUATIONS ? k : k - EQUATIONS);
            add_smooth(&text, k < EQUATIONS ? k : EQUATIONS, 3);
            text_add(&text, "\n");
        }
        World w = make(text.at);
        const char *why = NULL;
        Executable *executable = interp_load(w.code, &why, arena);
        assert_non_null(executable);
        KoineSlot *m = NEW_ARRAY(arena, KoineSlot, w.code->n_slots);
        for (uint32_t k = 0; k < 4; k++)
            m[program_data(w.program)->slots.x + k].r = (double)below(2000) / 1000 - 1;
        check_tangents(&w, executable_code(executable), m);
        executable_destroy(executable);
        drop(&w);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_equations_one_sine),
        cmocka_unit_test(operands_commute),
        cmocka_unit_test(variables_hold_values),
        cmocka_unit_test(cheap_values_are_computed_where_needed),
        cmocka_unit_test(parameters_are_computed_once),
        cmocka_unit_test(branches_stay_branches),
        cmocka_unit_test(branches_share_what_they_need),
        cmocka_unit_test(branches_read_what_is_there),
        cmocka_unit_test(residuals_share),
        cmocka_unit_test(matrices_are_prepared),
        cmocka_unit_test(instances_stay_loops),
        cmocka_unit_test(neighbours_share),
        cmocka_unit_test(no_bit_changes),
        cmocka_unit_test(tangents_agree_with_differences),
    };
    return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
