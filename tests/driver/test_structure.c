/* The structure of models as text and picture. Coordinates are read back from the SVG: SX-199. */
#include "driver/compile.h"
#include "explain/structure.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define EXAMPLES KOINE_SOURCE_DIR "/examples/"

typedef struct {
    double x, y, width, height;
    bool is_frame;
} Rect;

enum { MOST = 400 };
typedef struct {
    Compilation *c;
    const char *svg;
    Rect rects[MOST];
    uint32_t n, n_boxes, n_frames, n_wires, n_tips;
} Picture;

static double number_after(const char *at, const char *name)
{
    const char *found = strstr(at, name);
    assert_non_null(found);
    return atof(found + strlen(name));
}

static uint32_t count(const char *text, const char *what)
{
    uint32_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

static void draw(Picture *p, const char *path, uint32_t depth)
{
    *p = (Picture){ .c = compilation_create(NULL) };
    if (!compilation_load(p->c, &(CompileRequest){ .path = path }))
        fail_msg("%s", diag_json(p->c->diag, p->c->arena));
    uint32_t n;
    Text svg = { .arena = p->c->arena };
    assert_true(structure_svg(p->c->model, depth, MOST, p->c->arena, &n, &svg));
    p->svg = svg.at;
    for (const char *at = svg.at; (at = strstr(at, "<rect class=\"")); at++) {
        const char *class = at + strlen("<rect class=\"");
        const bool is_box = strncmp(class, "box\"", 4) == 0, is_frame = strncmp(class, "frame\"", 6) == 0;
        if (!is_box && !is_frame)
            continue;
        assert_true(p->n < MOST);
        p->rects[p->n++] = (Rect){ number_after(at, " x=\""), number_after(at, " y=\""), number_after(at, " width=\""),
                                   number_after(at, " height=\""), is_frame };
        p->n_boxes += is_box;
        p->n_frames += is_frame;
    }
    assert_int_equal(p->n, n);
    p->n_wires = count(svg.at, "<path class=\"wire\"");
    p->n_tips = count(svg.at, "<path class=\"tip\"");
}

static bool is_inside(const Rect *a, const Rect *b) /* a in b */
{
    return a->x > b->x && a->y > b->y && a->x + a->width < b->x + b->width && a->y + a->height < b->y + b->height;
}

static bool is_apart(const Rect *a, const Rect *b)
{
    return a->x + a->width < b->x || b->x + b->width < a->x || a->y + a->height < b->y || b->y + b->height < a->y;
}

/* Boxes do not overlap and lie inside their frames. */
static void assert_no_overlap(const Picture *p)
{
    for (uint32_t k = 0; k < p->n; k++)
        for (uint32_t j = 0; j < k; j++) {
            const Rect *a = &p->rects[k], *b = &p->rects[j];
            if (!(is_apart(a, b) || (b->is_frame && is_inside(a, b)) || (a->is_frame && is_inside(b, a))))
                fail_msg("boxes %u and %u overlap", j, k);
        }
}

static bool cuts(const Rect *r, double x1, double y1, double x2, double y2)
{
    return fmax(x1, x2) > r->x + 6 && fmin(x1, x2) < r->x + r->width - 6 && fmax(y1, y2) > r->y + 1 &&
           fmin(y1, y2) < r->y + r->height - 1;
}

/* No wire runs through a box. */
static void assert_wires_are_clear(const Picture *p)
{
    for (const char *at = p->svg; (at = strstr(at, "<path class=\"wire\" d=\"")); at++) {
        const char *d = at + strlen("<path class=\"wire\" d=\"");
        double x = 0, y = 0;
        for (bool is_first = true; *d != '"'; is_first = false) {
            char *end;
            d += strcspn(d, "0123456789.-");
            const double next_x = strtod(d, &end), next_y = strtod(end, &end);
            d = end;
            for (uint32_t k = 0; !is_first && k < p->n; k++)
                if (!p->rects[k].is_frame && cuts(&p->rects[k], x, y, next_x, next_y))
                    fail_msg("a wire from %g, %g to %g, %g cuts box %u", x, y, next_x, next_y, k);
            x = next_x;
            y = next_y;
        }
    }
}

static void test_sx199_heating(void **state)
{
    (void)state;
    Picture p;
    draw(&p, EXAMPLES "heating/Heizung.mdl", 1);
    assert_int_equal(p.n_boxes, 3);
    assert_int_equal(p.n_frames, 1);
    assert_int_equal(p.n_wires, 8); /* the document's connections: 3 in, 1 out, 4 among the components */
    assert_int_equal(p.n_tips, 8);
    assert_int_equal(count(p.svg, "<rect class=\"input\""), 2 + 3 + 2 + 2);  /* hollow: sensors */
    assert_int_equal(count(p.svg, "<rect class=\"output\""), 1 + 1 + 2 + 1); /* filled: outputs */
    assert_non_null(strstr(p.svg, ">Regler</text>"));
    assert_non_null(strstr(p.svg, "prefers-color-scheme: dark"));
    assert_no_overlap(&p);
    assert_wires_are_clear(&p);
    compilation_destroy(p.c);
}

static void test_sx199_adder_at_all_depths(void **state)
{
    (void)state;
    static const uint32_t boxes[] = { 1, 4, 12, 20 }, frames[] = { 0, 1, 5, 13 };
    for (uint32_t depth = 0; depth <= 3; depth++) {
        Picture p;
        draw(&p, EXAMPLES "adder/Addi4Bit.mdl", depth);
        assert_int_equal(p.n_boxes, boxes[depth]);
        assert_int_equal(p.n_frames, frames[depth]);
        assert_no_overlap(&p);
        assert_wires_are_clear(&p);
        assert_true((strstr(p.svg, ">Logic</text>") != NULL) == (depth >= 2)); /* the version in use of the gates */
        compilation_destroy(p.c);
    }
}

static void test_sx199_other_examples(void **state)
{
    (void)state;
    static const char *const paths[] = { EXAMPLES "triangle/Dreieck.mdl",   EXAMPLES "sincos/SinCos.mdl",
                                         EXAMPLES "bouncing-ball/Ball.mdl", EXAMPLES "predator-prey/HaFuchs.mdl",
                                         EXAMPLES "adder/Addi.mdl",         EXAMPLES "adder/HalfAddi.mdl" };
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        Picture p;
        draw(&p, paths[k], 3);
        assert_no_overlap(&p);
        assert_wires_are_clear(&p);
        compilation_destroy(p.c);
    }
}

static void test_too_many_boxes_are_refused(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL);
    assert_true(compilation_load(c, &(CompileRequest){ .path = EXAMPLES "adder/Addi4Bit.mdl" }));
    uint32_t n;
    Text svg = { .arena = c->arena };
    assert_false(structure_svg(c->model, 3, 32, c->arena, &n, &svg));
    assert_int_equal(n, 33);
    compilation_destroy(c);
}

static void test_the_tree(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL);
    assert_true(compilation_load(c, &(CompileRequest){ .path = EXAMPLES "adder/Addi.mdl" }));
    Text text = { .arena = c->arena };
    structure_text(c->model, 1, &text);
    assert_string_equal(text.at, "Addi\n"
                                 "  □ cl --> Half2.a\n"
                                 "  □ a --> Half1.a\n"
                                 "  □ b --> Half1.b\n"
                                 "  ■ s <-- Half2.s\n"
                                 "  ■ c <-- Or.Out\n"
                                 "  Half1 (HalfAddi)\n"
                                 "    □ a <-- a\n"
                                 "    □ b <-- b\n"
                                 "    ■ s --> Half2.b\n"
                                 "    ■ c --> Or.In1\n"
                                 "  Half2 (HalfAddi)\n"
                                 "    □ a <-- cl\n"
                                 "    □ b <-- Half1.s\n"
                                 "    ■ s --> s\n"
                                 "    ■ c --> Or.In2\n"
                                 "  Or (Logic)\n"
                                 "    ■ Out --> c\n"
                                 "    □ In1 <-- Half1.c\n"
                                 "    □ In2 <-- Half2.c\n"
                                 "    □ In3\n"
                                 "    □ In4\n");
    compilation_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx199_heating),
        cmocka_unit_test(test_sx199_adder_at_all_depths),
        cmocka_unit_test(test_sx199_other_examples),
        cmocka_unit_test(test_too_many_boxes_are_refused),
        cmocka_unit_test(test_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
