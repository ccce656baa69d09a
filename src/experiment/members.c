/* See members.h. */
#include "experiment/members.h"
#include "base/text.h"
#include "base/vec.h"
#include "formats/select.h"
#include <stdlib.h>
#include <strings.h>

enum { MOST_INDICES = 8 };

typedef struct { /* an element of what a name without indices stands for */
    uint32_t index[MOST_INDICES];
    const char *name;
} Member;

typedef struct {
    const KoineTables *tables;
    const Setting *settings;
    uint32_t n;
    Arena *arena;
    Diag *diag;
    VEC(Setting) all;
    VEC(Member) members;
    uint32_t n_indices, extent[MOST_INDICES];
} Expander;

static bool is_settable(const KoineVariable *variable)
{
    return !(variable->flags & (KOINE_VARIABLE_HIDDEN | KOINE_VARIABLE_DERIVATIVE));
}

/* `[*]` stands for any indices in brackets. */
static bool matches(const char *pattern, const char *name)
{
    while (*pattern) {
        if (strncmp(pattern, "[*]", 3) == 0) {
            const char *end = *name == '[' ? strchr(name, ']') : NULL;
            if (!end)
                return false;
            pattern += 3;
            name = end + 1;
        } else if (*pattern++ != *name++) {
            return false;
        }
    }
    return *name == 0;
}

/* A setting of its own wins over a pattern. */
static void add_member(Expander *x, const Setting *setting, const char *name)
{
    for (uint32_t k = 0; k < x->n; k++)
        if (strcasecmp(x->settings[k].name, name) == 0)
            return;
    vec_push(x->arena, &x->all, ((Setting){ name, setting->value, setting->span }));
}

static const char *element_name(const Expander *x, uint32_t row, uint32_t element)
{
    Text name = { .arena = x->arena };
    column_name(x->tables, &(Column){ row, element, 0 }, &name);
    return name.at;
}

static bool expand_pattern(Expander *x, const Setting *setting)
{
    const uint32_t before = x->all.n;
    bool is_found = false;
    for (uint32_t row = 0; row < x->tables->n_variables; row++) {
        const KoineVariable *variable = &x->tables->variables[row];
        if (!is_settable(variable))
            continue;
        if (matches(setting->name, variable->name)) {
            is_found = true;
            add_member(x, setting, variable->name);
            continue;
        }
        for (uint32_t k = 0; variable->n_dims > 0 && k < variable->count; k++) {
            const char *name = element_name(x, row, k);
            if (!matches(setting->name, name))
                break; /* nor do the others */
            is_found = true;
            add_member(x, setting, name);
        }
    }
    if (is_found)
        return true;
    x->all.n = before;
    diag_error(x->diag, DIAG_SET_UNKNOWN, setting->span, "'%s' has no variable '%s'", x->tables->name, setting->name);
    diag_help(x->diag, "[*] stands for the indices of an array: --set 'M[*].K=5'; 'koine check --symbols' lists the "
                       "variables of a model");
    return false;
}

/* Whether the name is `plain` with indices; they are put into the member. */
static bool read_member(const char *plain, const char *name, Member *member, uint32_t *n_indices)
{
    *n_indices = 0;
    for (; *name; name++) {
        if (*name != '[') {
            if (*plain++ != *name)
                return false;
            continue;
        }
        for (name++; *name != ']'; name += *name == ',') {
            char *end;
            const unsigned long number = strtoul(name, &end, 10);
            if (end == name || number == 0 || number > UINT32_MAX || *n_indices == MOST_INDICES ||
                (*end != ',' && *end != ']'))
                return false;
            member->index[(*n_indices)++] = (uint32_t)number;
            name = end;
        }
    }
    return *plain == 0;
}

static int compare_members(const void *a, const void *b)
{
    const Member *one = a, *other = b;
    for (uint32_t k = 0; k < MOST_INDICES; k++)
        if (one->index[k] != other->index[k])
            return one->index[k] < other->index[k] ? -1 : 1;
    return 0;
}

/* The members in the order of their indices; false: none, or not all have the same number of indices, or some are
 * missing. */
static bool collect_members(Expander *x, const char *plain)
{
    x->members.n = 0;
    x->n_indices = 0;
    memset(x->extent, 0, sizeof x->extent);
    for (uint32_t row = 0; row < x->tables->n_variables; row++) {
        const KoineVariable *variable = &x->tables->variables[row];
        Member member = { .name = NULL };
        uint32_t n;
        if (!is_settable(variable) || !read_member(plain, variable->name, &member, &n))
            continue;
        for (uint32_t k = 0; k < variable->count; k++) {
            member = (Member){ .name = element_name(x, row, k) };
            if (!read_member(plain, member.name, &member, &n) || (x->n_indices && n != x->n_indices))
                return false;
            x->n_indices = n;
            for (uint32_t j = 0; j < n; j++)
                x->extent[j] = member.index[j] > x->extent[j] ? member.index[j] : x->extent[j];
            vec_push(x->arena, &x->members, member);
        }
    }
    uint64_t wanted = x->members.n > 0;
    for (uint32_t k = 0; k < x->n_indices && wanted <= x->members.n; k++)
        wanted *= x->extent[k];
    if (x->members.n == 0 || x->n_indices == 0 || wanted != x->members.n)
        return false;
    qsort(x->members.at, x->members.n, sizeof *x->members.at, compare_members);
    return true;
}

static bool skip(const char **at, char c)
{
    *at += strspn(*at, " \t\n");
    if (**at != c)
        return false;
    *at += 1;
    *at += strspn(*at, " \t\n");
    return true;
}

/* {item, item} along index `d`; `next` counts the members that have their value. */
static bool read_values(Expander *x, const Setting *setting, uint32_t d, const char **at, uint32_t *next)
{
    if (!skip(at, '{'))
        return false;
    for (uint32_t k = 0; k < x->extent[d]; k++) {
        if (k > 0 && !skip(at, ','))
            return false;
        if (d + 1 < x->n_indices) {
            if (!read_values(x, setting, d + 1, at, next))
                return false;
            continue;
        }
        size_t n = strcspn(*at, ",{}");
        const char *begin = *at;
        *at += n;
        while (n > 0 && strchr(" \t\n", begin[n - 1]))
            n--;
        if (n == 0)
            return false;
        const Setting one = { x->members.at[(*next)++].name, arena_text(x->arena, begin, n), setting->span };
        vec_push(x->arena, &x->all, one);
    }
    return skip(at, '}');
}

static bool expand_members(Expander *x, const Setting *setting)
{
    const char *at = setting->value;
    const uint32_t before = x->all.n;
    uint32_t next = 0;
    if (read_values(x, setting, 0, &at, &next) && *at == 0)
        return true;
    x->all.n = before;
    diag_error(x->diag, DIAG_SET_VALUE, setting->span, "'%s' stands for %u quantities, which '%.60s' does not fit",
               setting->name, x->members.n, setting->value);
    diag_help(x->diag,
              "give a value for each from '%s' to '%s', in braces for each index, or one for all: --set '%s=5'",
              x->members.at[0].name, x->members.at[x->members.n - 1].name, "M[*].K");
    return false;
}

static bool is_variable(const Expander *x, const char *name)
{
    for (uint32_t row = 0; row < x->tables->n_variables; row++)
        if (strcasecmp(x->tables->variables[row].name, name) == 0)
            return true;
    return false;
}

bool members_expand(const KoineTables *tables, const Setting **settings, uint32_t *n, Arena *arena, Diag *diag)
{
    Expander x = { .tables = tables, .settings = *settings, .n = *n, .arena = arena, .diag = diag };
    bool is_good = true;
    for (uint32_t k = 0; k < *n; k++) {
        const Setting *setting = &(*settings)[k];
        if (strstr(setting->name, "[*]"))
            is_good &= expand_pattern(&x, setting);
        else if (*setting->value == '{' && !is_variable(&x, setting->name) && collect_members(&x, setting->name))
            is_good &= expand_members(&x, setting);
        else
            vec_push(arena, &x.all, *setting);
    }
    *settings = x.all.at;
    *n = x.all.n;
    return is_good;
}
