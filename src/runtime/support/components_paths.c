/* Is it true that an output of a component does not depend on an input at once?
 *
 * What is false there gives wrong numbers without a word: the output is computed before the input is known. So outputs
 * are evaluated once with other inputs. What cannot be computed there says nothing. */
#include "components.h"

static KoineStatus false_path(Machine *m, const Component *c, uint32_t output, uint32_t input)
{
    char text[400];
    KoineText words = koine_text_in(text, sizeof text);
    koine_text_add(&words, "gives another value for %.100s when %.100s changes, and its tables say that it does not",
                   c->foreign->outputs.at[output].name, c->foreign->inputs.at[input].name);
    return koine_component_fault(m, c, KOINE_FAILED, text);
}

static KoineSlot other_value(const KoineForeignLink *input, KoineSlot value)
{
    if (input->type == KOINE_REAL)
        value.r = 1.5 * value.r + 1;
    else if (input->type == KOINE_BOOLEAN)
        value.i = !value.i; /* of other types not every number is a value */
    return value;
}

static bool evaluate(const Component *c)
{
    const KoineEvaluation at = { .time = c->time, .x = c->x, .want = KOINE_WANT_OUTPUTS, .der = c->der };
    return c->model->kind->evaluate(c->model, &at) == KOINE_OK;
}

static KoineStatus probe_input(Machine *m, const Component *c, uint32_t input)
{
    const KoineForeign *f = c->foreign;
    KoineSlot *at = place_in(c, f->inputs.at[input].at);
    const KoineSlot value = *at;
    KoineStatus status = KOINE_OK;
    if (!evaluate(c))
        return KOINE_OK;
    for (uint32_t k = 0; k < f->outputs.n; k++)
        c->base[k] = output_of(c, k).r;
    *at = other_value(&f->inputs.at[input], value);
    const bool is_known = evaluate(c);
    for (uint32_t k = 0; k < f->outputs.n && is_known && status == KOINE_OK; k++) {
        const double now = output_of(c, k).r;
        if (!f->paths[k * f->inputs.n + input] && memcmp(&c->base[k], &now, sizeof now) != 0)
            status = false_path(m, c, k, input);
    }
    *at = value;
    return status;
}

KoineStatus koine_component_probe(Machine *m, Component *c)
{
    const KoineForeign *f = c->foreign;
    KoineStatus status = KOINE_OK;
    for (uint32_t j = 0; f->paths && j < f->inputs.n && status == KOINE_OK; j++) {
        bool is_open = false; /* something is said to be independent of it */
        for (uint32_t k = 0; k < f->outputs.n; k++)
            is_open |= !f->paths[k * f->inputs.n + j];
        if (is_open)
            status = probe_input(m, c, j);
    }
    c->known = 0;
    return status;
}
