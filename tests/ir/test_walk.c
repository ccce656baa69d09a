/* The walk over terms and ids meets all of those that the table of fields knows, in a model that has every element. */
#include "ir/fields.h"
#include "text_test.h"
#include <stdio.h>

static Model *read_elements(World *w)
{
    static char text[1 << 16];
    FILE *file = fopen(KOINE_SOURCE_DIR "/tests/ir/elements.ir", "rb");
    assert_non_null(file);
    const size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    Model *model = read_text(w, "elements.ir", text, n);
    assert_non_null(model);
    return model;
}

/* ---- terms ---- */
static Term mark(void *context, Term term, const TermPlace *place)
{
    const Term *const marker = context;
    assert_non_null(term.shape);
    assert_true(place->element < LIST_COUNT && place->list < LIST_COUNT && place->list != LIST_CONDITIONS);
    assert_false(model_lists[place->element].is_part);
    return *marker;
}

/* Rows that no element refers to are none in a model that was read. */
static void every_term_is_rewritten(void **state)
{
    (void)state;
    World w = world_create();
    Model *m = read_elements(&w);
    Term marker = term_integer(m, 4711);
    uint32_t n = 0;
    model_rewrite_terms(m, ELEMENTS_ALL | ELEMENTS_DROPPED, mark, &marker);
    for (ModelList list = 0; list < LIST_COUNT; list++) {
        const ListFields *l = &model_lists[list];
        for (uint32_t k = 0; k < model_rows(m, list).n; k++)
            for (const Field *f = l->fields; f < l->fields + l->n_fields; f++) {
                const Term *term = (const void *)(model_rows(m, list).at + (size_t)k * l->row_size + f->at);
                if (f->kind != FIELD_TERM || term_is_absent(*term))
                    continue;
                if (term->shape != marker.shape)
                    fail_msg("list %d, row %u: a term was left out", (int)list, k);
                n++;
            }
    }
    for (uint32_t k = 0; k < m->state_sets.n; k++)
        for (uint32_t j = 0; j < m->state_sets.at[k].n_entries; j++, n++)
            assert_ptr_equal(m->state_sets.at[k].entry[j].shape, marker.shape);
    assert_true(n > 150);
    world_destroy(&w);
}

static void count(void *context, Term term, const TermPlace *place)
{
    uint32_t *n = context;
    assert_non_null(term.shape);
    n[place->element]++;
}

static void only_chosen_elements_are_visited(void **state)
{
    (void)state;
    World w = world_create();
    const Model *m = read_elements(&w);
    uint32_t all[LIST_COUNT] = { 0 }, some[LIST_COUNT] = { 0 }, dropped[LIST_COUNT] = { 0 };
    model_visit_terms(m, ELEMENTS_ALL, count, all);
    model_visit_terms(m, ELEMENTS(LIST_EQUATIONS) | ELEMENTS(LIST_DELAYS), count, some);
    model_visit_terms(m, ELEMENTS(LIST_EQUATIONS) | ELEMENTS_DROPPED, count, dropped);
    for (ModelList list = 0; list < LIST_COUNT; list++)
        assert_int_equal(some[list], list == LIST_EQUATIONS || list == LIST_DELAYS ? all[list] : 0);
    assert_true(all[LIST_TRANSITIONS] && all[LIST_REGIONS] && all[LIST_CLOCKS] && all[LIST_ASSERTIONS]);
    assert_int_equal(dropped[LIST_EQUATIONS], all[LIST_EQUATIONS] + 2); /* dropped e9 a = b */
    world_destroy(&w);
}

/* ---- ids ---- */
static void reverse(World *w, Model *m, ModelList list)
{
    const Rows rows = model_rows(m, list);
    const size_t size = model_lists[list].row_size;
    uint32_t *to = NEW_ARRAY(w->arena, uint32_t, rows.n);
    unsigned char *old = arena_alloc(w->arena, rows.n * size, 16);
    memcpy(old, rows.at, rows.n * size);
    for (uint32_t k = 0; k < rows.n; k++) {
        to[k] = rows.n - 1 - k;
        memcpy(rows.at + to[k] * size, old + k * size, size);
    }
    model_renumber(m, list, to);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of the model, whatever their order. */
static Text sorted_lines(World *w, const Model *m)
{
    const Text printed = print_text(w, m, (PrintOptions){ 0 });
    char *lines[1000];
    size_t n = 0;
    for (char *line = strtok(printed.at, "\n"); line && n < 1000; line = strtok(NULL, "\n"))
        lines[n++] = line;
    qsort(lines, n, sizeof *lines, compare_lines);
    Text text = { .arena = w->arena };
    for (size_t k = 0; k < n; k++)
        text_format(&text, "%s\n", lines[k]);
    return text;
}

static void every_variable_is_renumbered(void **state)
{
    (void)state;
    World w = world_create();
    Model *m = read_elements(&w);
    const Text before = sorted_lines(&w, m);
    reverse(&w, m, LIST_VARIABLES);
    assert_string_equal(sorted_lines(&w, m).at, before.at);
    world_destroy(&w);
}

/* What is in a region is printed inside of it, in the order of its list: after two reversals all is as it was. */
static void regions_equations_and_transitions_are_renumbered(void **state)
{
    static const ModelList lists[] = { LIST_REGIONS, LIST_EQUATIONS, LIST_TRANSITIONS };
    (void)state;
    World w = world_create();
    Model *m = read_elements(&w);
    const Text before = print_text(&w, m, (PrintOptions){ 0 });
    for (size_t k = 0; k < 3; k++) {
        reverse(&w, m, lists[k]);
        assert_fixed_point(&w, m, (PrintOptions){ 0 }, "reversed");
        assert_string_not_equal(print_text(&w, m, (PrintOptions){ 0 }).at, before.at);
        reverse(&w, m, lists[k]);
        assert_string_equal(print_text(&w, m, (PrintOptions){ 0 }).at, before.at);
    }
    world_destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_term_is_rewritten),
        cmocka_unit_test(only_chosen_elements_are_visited),
        cmocka_unit_test(every_variable_is_renumbered),
        cmocka_unit_test(regions_equations_and_transitions_are_renumbered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
