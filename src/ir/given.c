/* Writing given values into a model, where a number can stand; see given.h. */
#include "ir/given.h"
#include "base/map.h"
#include "base/text.h"
#include <math.h>
#include <strings.h>

uint32_t find_given(const Model *m, const char *name, Arena *scratch)
{
    uint32_t found = ID_NONE, n = 0;
    const char *dot = strrchr(name, '.');
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const char *last = names_of(pool_names(m->pool), m->variables.at[k].name);
        if (strcasecmp(last, dot ? dot + 1 : name) != 0) /* paths are built of few */
            continue;
        const char *path = variable_path(m, (VarId){ k }, scratch);
        if (strcmp(path, name) == 0)
            return k;
        if (strcasecmp(path, name) == 0) {
            found = k;
            n++;
        }
    }
    return n == 1 ? found : ID_NONE;
}

static bool is_literal_or_absent(Term term)
{
    return term_is_absent(term) || expr_is_literal(term.shape);
}

static void give(Model *m, uint32_t index, double value)
{
    const bool has_binding = !term_is_absent(m->variables.at[index].binding);
    const Variable *v = &m->variables.at[index];
    if (v->type.kind != TYPE_REAL || v->type.rank || v->is_free || v->variability < VARIABILITY_PARAMETER ||
        !is_literal_or_absent(has_binding ? v->binding : v->start))
        return;
    const Term term = term_real(m, value);
    Variable *to = &m->variables.at[index];
    if (has_binding) {
        to->binding = term;
    } else {
        to->start = term;
        to->is_guessed = to->variability == VARIABILITY_CONTINUOUS;
    }
}

static void give_nominal(Model *m, uint32_t index, double value)
{
    const Variable *v = &m->variables.at[index];
    if (v->type.kind != TYPE_REAL || v->variability <= VARIABILITY_PARAMETER || !(value > 0))
        return; /* the run says so */
    const Term term = term_real(m, value);
    m->variables.at[index].nominal = term;
}

void give_values(Model *model, const GivenValue *values, uint32_t n, Arena *scratch)
{
    for (uint32_t k = 0; k < n; k++) {
        const char *end = values[k].value + strlen(values[k].value);
        double value;
        if (values[k].value == end || text_to_real(values[k].value, end, &value) != end || !isfinite(value))
            continue;
        const uint32_t index = find_given(model, values[k].name, scratch);
        if (index != ID_NONE && values[k].is_nominal)
            give_nominal(model, index, value);
        else if (index != ID_NONE)
            give(model, index, value);
    }
}
