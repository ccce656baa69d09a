/* Expressions of the corpus: values in long double, and their texts. */
#include "corpus.h"
#include <math.h>
#include <stdlib.h>

/* ---- dice ---- */
static uint64_t next(Dice *dice)
{
    uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t dice_below(Dice *dice, uint32_t n)
{
    return (uint32_t)((next(dice) >> 32) * n >> 32);
}

double dice_between(Dice *dice, double low, double high)
{
    return low + (high - low) * ((double)(next(dice) >> 11) * 0x1p-53);
}

bool dice_chance(Dice *dice, double p)
{
    return dice_between(dice, 0, 1) < p;
}

double dice_scale(Dice *dice, double low, double high)
{
    return exp(dice_between(dice, log(low), log(high)));
}

double short_number(double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", x);
    return strtod(text, NULL);
}

/* ---- values ---- */
const Node *node_make(Plan *plan, NodeKind kind, double number, uint32_t index, const Node *a, const Node *b)
{
    if (plan->n_nodes == MOST_NODES)
        abort();
    Node *node = &plan->nodes[plan->n_nodes++];
    *node = (Node){ kind, number, index, a, b };
    return node;
}

typedef struct {
    const Plan *plan;
    Wide t;
    const Wide *x;
    Wide argument, local;
} Place;

static Wide value_at(const Place *place, const Node *node);

static Wide table_value(const Knots *table, Wide x)
{
    uint32_t k = 1;
    while (k + 1 < table->n && x > table->x[k])
        k++;
    const Wide x0 = table->x[k - 1], y0 = table->y[k - 1];
    return y0 + (table->y[k] - y0) * (x - x0) / (table->x[k] - x0);
}

static Wide called(const Place *outer, Wide argument)
{
    Place place = *outer;
    place.argument = argument;
    place.local = value_at(&place, place.plan->function.first);
    return value_at(&place, place.plan->function.second);
}

static Wide element_value(const Place *place, uint32_t k)
{
    const Wide angle = (Wide)place->plan->array.slope[k] * place->t + place->plan->array.shift[k];
    return place->plan->array.is_sine ? sinl(angle) : angle;
}

static Wide value_at(const Place *place, const Node *node)
{
    const Wide a = node->a ? value_at(place, node->a) : 0, b = node->b ? value_at(place, node->b) : 0;
    switch (node->kind) {
    case NODE_NUMBER: return node->number;
    case NODE_TIME: return place->t;
    case NODE_STATE: return place->x[node->index];
    case NODE_ARGUMENT: return place->argument;
    case NODE_LOCAL: return place->local;
    case NODE_ADD: return a + b;
    case NODE_MUL: return a * b;
    case NODE_MIN: return fminl(a, b);
    case NODE_MAX: return fmaxl(a, b);
    case NODE_SIN: return sinl(a);
    case NODE_COS: return cosl(a);
    case NODE_EXP: return expl(a);
    case NODE_ABS: return fabsl(a);
    case NODE_SQUARE: return a * a;
    case NODE_MOD: return a - node->number * truncl(a / node->number);
    case NODE_TABLE: return table_value(&place->plan->table, a);
    case NODE_CALL: return called(place, a);
    case NODE_ELEMENT: return element_value(place, node->index);
    }
    return NAN;
}

Wide node_value(const Plan *plan, const Node *node, Wide t, const Wide *x)
{
    return value_at(&(Place){ .plan = plan, .t = t, .x = x }, node);
}

Wide node_at(const Plan *plan, const Node *node, Wide t)
{
    Wide x[MOST_STATES];
    for (uint32_t k = 0; k < plan->n_motions; k++)
        motion_at(&plan->motions[k], t, x + plan->motions[k].first_state);
    return node_value(plan, node, t, x);
}

/* ---- texts ---- */
/* All digits, without an exponent. */
void literal_write(double x, FILE *file)
{
    char text[80];
    int n = 0;
    for (int digits = 1; digits < 30; digits++) {
        n = snprintf(text, sizeof text, "%.*f", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    fprintf(file, "%.*s", n, text);
}

void number_write(double x, FILE *file)
{
    fprintf(file, x < 0 ? "(" : "");
    literal_write(x, file);
    fprintf(file, x < 0 ? ")" : "");
}

static void write_call(const Plan *plan, const char *name, const Node *a, const Node *b, FILE *file)
{
    fprintf(file, "%s(", name);
    node_write(plan, a, file);
    if (b)
        fprintf(file, ", ");
    if (b)
        node_write(plan, b, file);
    fprintf(file, ")");
}

static void write_pair(const Plan *plan, const Node *node, const char *sign, FILE *file)
{
    fprintf(file, "(");
    node_write(plan, node->a, file);
    fprintf(file, "%s", sign);
    node_write(plan, node->b ? node->b : node->a, file);
    fprintf(file, ")");
}

static void write_remainder(const Plan *plan, const Node *node, FILE *file)
{
    fprintf(file, plan->is_dymola ? "(" : "MOD(");
    node_write(plan, node->a, file);
    if (plan->is_dymola) {
        fprintf(file, " - ");
        number_write(node->number, file);
        fprintf(file, "*int(");
        node_write(plan, node->a, file);
        fprintf(file, "/");
    } else {
        fprintf(file, ", ");
    }
    number_write(node->number, file);
    fprintf(file, plan->is_dymola ? "))" : ")");
}

void node_write(const Plan *plan, const Node *node, FILE *file)
{
    static const char *const names[2][NODE_ELEMENT + 1] = {
        { [NODE_MIN] = "MIN",
          [NODE_MAX] = "MAX",
          [NODE_SIN] = "SIN",
          [NODE_COS] = "COS",
          [NODE_EXP] = "EXP",
          [NODE_ABS] = "ABS",
          [NODE_TABLE] = "Tab",
          [NODE_CALL] = "Fun" },
        { [NODE_MIN] = "min",
          [NODE_MAX] = "max",
          [NODE_SIN] = "sin",
          [NODE_COS] = "cos",
          [NODE_EXP] = "exp",
          [NODE_ABS] = "abs",
          [NODE_CALL] = "fun" },
    };
    switch (node->kind) {
    case NODE_NUMBER: number_write(node->number, file); break;
    case NODE_TIME: fprintf(file, plan->is_dymola ? "Time" : "T"); break;
    case NODE_STATE: fprintf(file, "x%u", (unsigned)node->index); break;
    case NODE_ARGUMENT: fprintf(file, "u"); break;
    case NODE_LOCAL: fprintf(file, "w"); break;
    case NODE_ADD: write_pair(plan, node, " + ", file); break;
    case NODE_MUL: write_pair(plan, node, "*", file); break;
    case NODE_SQUARE: write_pair(plan, node, "*", file); break;
    case NODE_MOD: write_remainder(plan, node, file); break;
    case NODE_ELEMENT: fprintf(file, plan->is_dymola ? "a(%u)" : "a[%u]", (unsigned)node->index + 1); break;
    default: write_call(plan, names[plan->is_dymola][node->kind], node->a, node->b, file); break;
    }
}
