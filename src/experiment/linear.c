#include "experiment/linear.h"
#include "base/names.h"
#include "base/vec.h"
#include "formats/select.h"
#include <math.h>

/* ---- names ---- */
const char *const *linear_names(const char *list, Arena *arena)
{
    VEC(const char *) names = { 0 };
    uint32_t depth = 0;
    for (const char *begin = list, *at = list; begin; at++) {
        depth += *at == '[';
        depth -= *at == ']' && depth;
        if (*at && (*at != ',' || depth))
            continue;
        while (*begin == ' ')
            begin++;
        const char *end = at;
        while (end > begin && end[-1] == ' ')
            end--;
        if (end > begin) {
            const char *name = arena_text(arena, begin, (size_t)(end - begin));
            vec_push(arena, &names, name);
        }
        begin = *at ? at + 1 : NULL;
        if (!begin)
            break;
    }
    vec_push(arena, &names, NULL);
    return names.at;
}

static const char *port_name(const KoineTables *tables, KoinePort port, Arena *arena)
{
    Text text = { .arena = arena };
    column_name(tables, &(Column){ port.variable, port.element, 0 }, &text);
    return text.at;
}

/* ---- choosing ---- */
typedef struct {
    const KoineTables *tables;
    const KoinePort *ports;
    uint32_t n;
    const char *what;
    Arena *arena;
    Diag *diag;
} Chooser;

static void report_name(const Chooser *c, const char *name)
{
    enum { MOST_LISTED = 8 };
    const char *nearest = NULL;
    uint32_t best = 4;
    diag_error(c->diag, DIAG_LINEAR_NAME, SPAN_NONE, "'%.80s' is no %s of '%s'", name, c->what, c->tables->name);
    for (uint32_t k = 0; k < c->tables->n_variables; k++) {
        const uint32_t distance = edit_distance(name, c->tables->variables[k].name, best);
        if (distance > 0 && distance < best) {
            best = distance;
            nearest = c->tables->variables[k].name;
        }
    }
    if (nearest)
        diag_help(c->diag, "did you mean '%s'?", nearest);
    else
        diag_help(c->diag, "koine check --symbols lists the names");
}

static bool choose(const Chooser *c, const char *const *names, const uint32_t **chosen, uint32_t *n)
{
    VEC(uint32_t) list = { 0 };
    for (uint32_t k = 0; names && names[k]; k++) {
        const uint32_t before = list.n;
        for (uint32_t j = 0; j < c->n; j++)
            if (c->tables->variables[c->ports[j].variable].type == KOINE_REAL &&
                (strcmp(names[k], c->tables->variables[c->ports[j].variable].name) == 0 ||
                 strcmp(names[k], port_name(c->tables, c->ports[j], c->arena)) == 0))
                vec_push(c->arena, &list, j);
        if (list.n == before) {
            report_name(c, names[k]);
            return false;
        }
    }
    *chosen = list.at;
    *n = list.n;
    return true;
}

bool linear_choose(const KoineTables *tables, const char *const *inputs, const char *const *outputs, Arena *arena,
                   Diag *diag, LinearChoice *choice)
{
    const Chooser in = { tables, tables->ports.inputs, tables->ports.n_inputs, "Real input or parameter", arena, diag },
                  out = { tables, tables->ports.outputs, tables->ports.n_outputs, "Real variable", arena, diag };
    VEC(uint32_t) all_in = { 0 }, all_out = { 0 };
    if (!choose(&in, inputs, &choice->inputs, &choice->n_inputs) ||
        !choose(&out, outputs, &choice->outputs, &choice->n_outputs))
        return false;
    for (uint32_t k = 0; !inputs && k < in.n; k++) {
        const KoineVariable *v = &tables->variables[in.ports[k].variable];
        if (v->type == KOINE_REAL && v->variability >= KOINE_VARIABILITY_DISCRETE)
            vec_push(arena, &all_in, k);
    }
    for (uint32_t k = 0; !outputs && k < out.n; k++) {
        const KoineVariable *v = &tables->variables[out.ports[k].variable];
        if (v->type == KOINE_REAL && v->causality == KOINE_CAUSALITY_OUTPUT)
            vec_push(arena, &all_out, k);
    }
    if (!inputs)
        choice->inputs = all_in.at, choice->n_inputs = all_in.n;
    if (!outputs)
        choice->outputs = all_out.at, choice->n_outputs = all_out.n;
    return true;
}

/* ---- what is shown ---- */
typedef struct { /* names and numbers of states, inputs or outputs */
    const char **names;
    const double *values;
    uint32_t n;
} Side;

typedef struct {
    Side states, inputs, outputs;
    const LinearChoice *choice;
    const KoineLinearModel *linear;
} Shown;

/* chosen NULL: all. */
static Side side_of(const KoineTables *tables, const KoinePort *ports, const uint32_t *chosen, uint32_t n,
                    const double *values, Arena *arena)
{
    Side side = { NEW_ARRAY(arena, const char *, n + 1), NULL, n };
    double *picked = NEW_ARRAY(arena, double, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        side.names[k] = port_name(tables, ports[chosen ? chosen[k] : k], arena);
        picked[k] = values[chosen ? chosen[k] : k];
    }
    side.values = picked;
    return side;
}

static Shown shown_of(const KoineLinearModel *l, const KoineTables *t, const LinearChoice *c, Arena *arena)
{
    return (Shown){ .states = side_of(t, l->states, NULL, l->n_states, l->x, arena),
                    .inputs = side_of(t, t->ports.inputs, c->inputs, c->n_inputs, l->u, arena),
                    .outputs = side_of(t, t->ports.outputs, c->outputs, c->n_outputs, l->y, arena),
                    .choice = c,
                    .linear = l };
}

typedef enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D, MATRICES } MatrixName;

static const Side *rows_of(const Shown *s, MatrixName name)
{
    return name < MATRIX_C ? &s->states : &s->outputs;
}

static const Side *columns_of(const Shown *s, MatrixName name)
{
    return name == MATRIX_A || name == MATRIX_C ? &s->states : &s->inputs;
}

static double number_of(const Shown *s, MatrixName name, uint32_t row, uint32_t column)
{
    const KoineLinearModel *l = s->linear;
    const bool is_output = name >= MATRIX_C, by_input = name == MATRIX_B || name == MATRIX_D;
    const size_t i = is_output ? s->choice->outputs[row] : row, j = by_input ? s->choice->inputs[column] : column;
    const double *const all[] = { l->a, l->b, l->c, l->d };
    return all[name][i * (by_input ? l->n_inputs : l->n_states) + j] + 0.0; /* no minus before 0 */
}

/* ---- JSON ---- */
static void add_number(Text *text, double value)
{
    if (isfinite(value))
        text_real(text, value + 0.0);
    else
        text_add(text, "null");
}

static void add_names(Text *text, const char *key, const Side *side)
{
    text_format(text, "  \"%s\": [", key);
    for (uint32_t k = 0; k < side->n; k++) {
        text_add(text, k ? ", " : "");
        text_json(text, side->names[k]);
    }
    text_add(text, "],\n");
}

static void add_values(Text *text, const char *key, const Side *side)
{
    text_format(text, "  \"%s\": [", key);
    for (uint32_t k = 0; k < side->n; k++) {
        text_add(text, k ? ", " : "");
        add_number(text, side->values[k]);
    }
    text_add(text, "],\n");
}

static void add_matrix(Text *text, const Shown *s, MatrixName name)
{
    text_format(text, "  \"%c\": [", "ABCD"[name]);
    for (uint32_t row = 0; row < rows_of(s, name)->n; row++) {
        text_add(text, row ? ",\n        [" : "[");
        for (uint32_t column = 0; column < columns_of(s, name)->n; column++) {
            text_add(text, column ? ", " : "");
            add_number(text, number_of(s, name, row, column));
        }
        text_add(text, "]");
    }
    text_add(text, "],\n");
}

void linear_json(const KoineLinearModel *linear, const KoineTables *tables, const LinearChoice *choice, Text *text)
{
    const Shown s = shown_of(linear, tables, choice, text->arena);
    text_add(text, "{\n");
    add_names(text, "states", &s.states);
    add_names(text, "inputs", &s.inputs);
    add_names(text, "outputs", &s.outputs);
    text_add(text, "  \"time\": ");
    add_number(text, linear->time);
    text_add(text, ",\n");
    add_values(text, "x0", &s.states);
    add_values(text, "u0", &s.inputs);
    add_values(text, "y0", &s.outputs);
    for (MatrixName name = MATRIX_A; name < MATRICES; name++)
        add_matrix(text, &s, name);
    text_add(text, "  \"eigenvalues\": ");
    text_add(text, linear->eigenvalues ? "[" : "null");
    for (uint32_t k = 0; linear->eigenvalues && k < linear->n_states; k++) {
        text_add(text, k ? ", [" : "[");
        add_number(text, linear->eigenvalues[2 * k]);
        text_add(text, ", ");
        add_number(text, linear->eigenvalues[2 * k + 1]);
        text_add(text, "]");
    }
    text_add(text, linear->eigenvalues ? "]\n}\n" : "\n}\n");
}

/* ---- a table ---- */
enum { LONGEST_NAME = 24, WIDTH = 12 };

static int name_width(const Side *side)
{
    int width = 4;
    for (uint32_t k = 0; k < side->n; k++)
        if ((int)strlen(side->names[k]) > width)
            width = (int)strlen(side->names[k]);
    return width < LONGEST_NAME ? width : LONGEST_NAME;
}

static void list_side(Text *text, const char *title, const Side *side)
{
    text_format(text, "%s%s\n", title, side->n ? "" : "  none");
    for (uint32_t k = 0; k < side->n; k++)
        text_format(text, "  %-*s  %.9g\n", name_width(side), side->names[k], side->values[k]);
}

static void list_matrix(Text *text, const Shown *s, MatrixName name)
{
    const Side *rows = rows_of(s, name), *columns = columns_of(s, name);
    const int width = name_width(rows);
    if (rows->n == 0 || columns->n == 0)
        return;
    text_format(text, "\n%-*c", width + 2, "ABCD"[name]);
    for (uint32_t k = 0; k < columns->n; k++)
        text_format(text, "  %*.*s", WIDTH, WIDTH, columns->names[k]);
    for (uint32_t row = 0; row < rows->n; row++) {
        text_format(text, "\n  %-*.*s", width, width, rows->names[row]);
        for (uint32_t k = 0; k < columns->n; k++)
            text_format(text, "  %*.6g", WIDTH, number_of(s, name, row, k));
    }
    text_add(text, "\n");
}

void linear_table(const KoineLinearModel *linear, const KoineTables *tables, const LinearChoice *choice, Text *text)
{
    const Shown s = shown_of(linear, tables, choice, text->arena);
    text_format(text, "time  %.9g\n", linear->time);
    list_side(text, "states", &s.states);
    list_side(text, "inputs", &s.inputs);
    list_side(text, "outputs", &s.outputs);
    for (MatrixName name = MATRIX_A; name < MATRICES; name++)
        list_matrix(text, &s, name);
    if (!linear->eigenvalues)
        return;
    text_add(text, "\neigenvalues\n");
    for (uint32_t k = 0; k < linear->n_states; k++) {
        const double re = linear->eigenvalues[2 * k] + 0.0, im = linear->eigenvalues[2 * k + 1];
        text_format(text, "  %.9g", re);
        if (im != 0)
            text_format(text, " %c %.9gi", im < 0 ? '-' : '+', fabs(im));
        text_add(text, "\n");
    }
}

/* ---- where a model stands ---- */
static LinearEnd fill_and_show(KoineModel *model, KoineLinearModel *linear, const LinearChoice *choice, bool is_json,
                               Text *text, KoineReason *why)
{
    const KoineStatus status = koine_linearize(model, linear, why);
    if (status == KOINE_ABSENT) /* all but the eigenvalues */
        linear->eigenvalues = NULL;
    else if (status != KOINE_OK)
        return LINEAR_REFUSED;
    (is_json ? linear_json : linear_table)(linear, model->kind->tables, choice, text);
    return LINEAR_TOLD;
}

LinearEnd linear_tell(KoineModel *model, const LinearWanted *wanted, Diag *diag, Text *text, KoineReason *why)
{
    KoineLinearModel *linear = koine_linear_model_create(model->kind, true, why);
    LinearChoice choice;
    if (!linear)
        return LINEAR_ABSENT;
    const LinearEnd end =
        linear_choose(model->kind->tables, wanted->inputs, wanted->outputs, text->arena, diag, &choice)
            ? fill_and_show(model, linear, &choice, wanted->is_json, text, why)
            : LINEAR_NAMES;
    koine_linear_model_free(linear);
    return end;
}
