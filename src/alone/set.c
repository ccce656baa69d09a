#include "alone/set.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

typedef struct {
    KoineModel *model;
    const KoineTables *tables;
    const char *name, *value; /* the name without its indices */
    int n_name;
    char *why;
    size_t size;
} Setting;

/* The row with this name, in any case if there is but one; NULL: none. */
static const KoineVariable *find(const Setting *s)
{
    const KoineVariable *found = NULL;
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->tables->n_variables; k++) {
        const KoineVariable *v = &s->tables->variables[k];
        if (strlen(v->name) != (size_t)s->n_name || strncasecmp(v->name, s->name, (size_t)s->n_name) != 0)
            continue;
        if (memcmp(v->name, s->name, (size_t)s->n_name) == 0)
            return v;
        found = v;
        n++;
    }
    return n == 1 ? found : NULL;
}

/* The place of the element that the name means; UINT32_MAX: it means none of this variable. */
static uint32_t element_of(const Setting *s, const KoineVariable *v, bool any_case)
{
    enum { MOST_DIMS = 32 };
    uint32_t index[MOST_DIMS], element = 0;
    if (v->n_dims == 0 ||
        text_read_element(s->name, (size_t)s->n_name, v->name, any_case, index, MOST_DIMS) != v->n_dims)
        return UINT32_MAX;
    for (uint32_t d = 0; d < v->n_dims; d++) {
        const uint32_t extent = s->tables->types.dims[v->first_dim + d];
        if (index[d] > extent)
            return UINT32_MAX;
        element = element * extent + index[d] - 1;
    }
    return element;
}

static bool read_name(const Setting *s, const KoineVariable *v, int64_t *number)
{
    const KoineEnumeration *set = &s->tables->types.enumerations[v->enumeration];
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < set->n; k++)
            if ((pass ? strcasecmp : strcmp)(set->values[k], s->value) == 0) {
                *number = (int64_t)k + 1;
                return true;
            }
    snprintf(s->why, s->size, "'%.100s' has no value '%.60s'", v->name, s->value);
    return false;
}

static bool read_whole(const Setting *s, const KoineVariable *v, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(s->value, &end, 10);
    if (end != s->value && !*end && errno == 0 && (double)*number >= v->min && (double)*number <= v->max)
        return true;
    snprintf(s->why, s->size, "'%.100s' must be a whole number that it can have, not '%.60s'", v->name, s->value);
    return false;
}

static bool read_truth(const Setting *s, const KoineVariable *v, int64_t *number)
{
    static const char *const words[] = { "false", "0", "true", "1" };
    for (int64_t k = 0; k < 4; k++)
        if (strcasecmp(s->value, words[k]) == 0) {
            *number = k / 2;
            return true;
        }
    snprintf(s->why, s->size, "'%.100s' must be true or false, not '%.60s'", v->name, s->value);
    return false;
}

static bool read_number(const Setting *s, const KoineVariable *v, double *number)
{
    const char *end = s->value + strlen(s->value);
    if (end != s->value && text_to_real(s->value, end, number) == end && isfinite(*number))
        return true;
    snprintf(s->why, s->size, "'%.100s' must be a finite number, not '%.60s'", v->name, s->value);
    return false;
}

/* In the sense of the slot: an alias may hold its negation. */
static bool read_slot(const Setting *s, const KoineVariable *v, KoineSlot *slot)
{
    const bool is_negated = v->flags & KOINE_VARIABLE_NEGATED;
    bool is_good = false;
    switch ((KoineType)v->type) {
    case KOINE_REAL:
        is_good = read_number(s, v, &slot->r);
        slot->r = is_negated ? -slot->r : slot->r;
        break;
    case KOINE_INTEGER:
        is_good = read_whole(s, v, &slot->i);
        slot->i = is_negated ? (int64_t)(0u - (uint64_t)slot->i) : slot->i;
        break;
    case KOINE_BOOLEAN:
        is_good = read_truth(s, v, &slot->i);
        slot->i = is_negated ? !slot->i : slot->i;
        break;
    case KOINE_ENUMERATION: is_good = read_name(s, v, &slot->i); break;
    case KOINE_STRING:
        is_good = s->model->kind->texts.put(s->model, s->value, strlen(s->value), slot) == KOINE_OK;
        if (!is_good)
            snprintf(s->why, s->size, "the text for '%.100s' is too long", v->name);
        break;
    }
    return is_good;
}

bool set_by_name(KoineModel *model, const char *setting, char *why, size_t size)
{
    Setting s = { .model = model, .tables = model->kind->tables, .name = setting, .why = why, .size = size };
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting) {
        snprintf(why, size, "--set takes NAME=VALUE, not '%.100s'", setting);
        return false;
    }
    s.value = equals + 1;
    s.n_name = (int)(equals - setting);
    const KoineVariable *v = find(&s);
    uint32_t element = v && v->n_dims ? UINT32_MAX : 0;              /* an array is set element by element */
    for (uint32_t k = 0; !v && k < 2 * s.tables->n_variables; k++) { /* first with the capitals as they are */
        const KoineVariable *row = &s.tables->variables[k % s.tables->n_variables];
        element = element_of(&s, row, k >= s.tables->n_variables);
        v = element != UINT32_MAX ? row : NULL;
    }
    KoineSlot slot = { .i = 0 };
    if (!v || element == UINT32_MAX)
        snprintf(why, size, "there is no variable '%.*s'", s.n_name < 200 ? s.n_name : 200, setting);
    else if (v->set == KOINE_NO_OFFSET)
        snprintf(why, size, "'%.100s' cannot be set: it is computed", v->name);
    else if (read_slot(&s, v, &slot)) {
        memcpy(model->block + v->set + sizeof slot * element, &slot, sizeof slot);
        return true;
    }
    return false;
}
