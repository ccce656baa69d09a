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

/* "[2,1]": the place of the element, row by row; UINT32_MAX: there is no such element. */
static uint32_t element_at(const Setting *s, const KoineVariable *v, const char *indices)
{
    uint32_t element = 0;
    for (uint32_t d = 0; d < v->n_dims; d++) {
        char *end;
        const unsigned long extent = s->tables->types.dims[v->first_dim + d], index = strtoul(indices + 1, &end, 10);
        if (end == indices + 1 || *end != (d + 1 < v->n_dims ? ',' : ']') || index < 1 || index > extent)
            return UINT32_MAX;
        element = element * (uint32_t)extent + (uint32_t)index - 1;
        indices = end;
    }
    return strcmp(indices, "]") == 0 ? element : UINT32_MAX;
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
    char indices[64] = "";
    const char *bracket = memchr(setting, '[', (size_t)s.n_name);
    if (!v && bracket) {
        snprintf(indices, sizeof indices, "%.*s", (int)(equals - bracket), bracket);
        s.n_name = (int)(bracket - setting);
        v = find(&s);
    }
    const uint32_t element = !v ? 0 : v->n_dims ? element_at(&s, v, indices) : *indices ? UINT32_MAX : 0;
    KoineSlot slot = { .i = 0 };
    if (!v || element == UINT32_MAX)
        snprintf(why, size, "there is no variable '%.*s%s'", s.n_name < 200 ? s.n_name : 200, setting, indices);
    else if (v->set == KOINE_NO_OFFSET)
        snprintf(why, size, "'%.100s' cannot be set: it is computed", v->name);
    else if (read_slot(&s, v, &slot)) {
        memcpy(model->block + v->set + sizeof slot * element, &slot, sizeof slot);
        return true;
    }
    return false;
}
