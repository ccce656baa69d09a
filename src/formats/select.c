#include "formats/select.h"
#include "base/names.h"
#include "base/vec.h"

static bool has_wildcard(const char *glob)
{
    return strpbrk(glob, "*?") != NULL;
}

/* Length in bytes of the UTF-8 character at `at`; a stray byte counts as one. */
static size_t character_length(const char *at)
{
    size_t n = 1;
    while (((unsigned char)at[0] & 0xc0) == 0xc0 && ((unsigned char)at[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool matches(const char *glob, const char *name, bool any_case)
{
    const char *star = NULL, *retry = NULL; /* after the last `*`, and how far it reaches by now */
    while (*name) {
        if (*glob == '*') {
            star = ++glob;
            retry = name;
        } else if (*glob == '?') {
            glob++;
            name += character_length(name);
        } else if (*glob == *name || (any_case && fold(*glob) == fold(*name))) {
            glob++;
            name++;
        } else if (star) {
            glob = star;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == 0;
}

bool glob_matches(const char *glob, const char *name)
{
    return matches(glob, name, false);
}

bool glob_matches_any_case(const char *glob, const char *name)
{
    return matches(glob, name, true);
}

uint32_t globs_split(const char *list, Arena *arena, const char *const **globs)
{
    VEC(const char *) parts = { 0 };
    for (const char *at = list;; at++) {
        while (*at == ' ')
            at++;
        const char *begin = at;
        int depth = 0;
        bool is_quoted = false;
        for (; *at && (*at != ',' || depth > 0 || is_quoted); at++) {
            if (*at == '\'' && (is_quoted || at == begin || strchr(".([,", at[-1]))) /* else it is x' */
                is_quoted = !is_quoted;
            depth += is_quoted ? 0 : *at == '[' ? 1 : *at == ']' ? -1 : 0;
        }
        const char *end = at;
        while (end > begin && end[-1] == ' ')
            end--;
        if (end > begin)
            vec_push(arena, &parts, arena_text(arena, begin, (size_t)(end - begin)));
        if (*at == 0)
            break;
    }
    *globs = parts.at;
    return parts.n;
}

void column_name(const KoineTables *tables, const Column *column, Text *name)
{
    enum { MOST_DIMS = 32 };
    const KoineVariable *variable = &tables->variables[column->variable];
    size_t length = strlen(variable->name);
    if (variable->n_dims == 0) {
        text_bytes(name, variable->name, length);
        return;
    }
    uint32_t index[MOST_DIMS], below = variable->count; /* elements of one step of the dimension before */
    const uint32_t n = variable->n_dims < MOST_DIMS ? variable->n_dims : MOST_DIMS;
    for (uint32_t d = 0; d < n; d++) {
        const uint32_t extent = tables->types.dims[variable->first_dim + d];
        below = extent ? below / extent : 0;
        index[d] = below ? column->element / below % extent + 1 : 1;
    }
    const bool is_derivative = (variable->flags & KOINE_VARIABLE_DERIVATIVE) && length > 5 &&
                               memcmp(variable->name, "der(", 4) == 0 && variable->name[length - 1] == ')';
    text_element(name, variable->name, length - is_derivative, n, index);
    if (is_derivative)
        text_char(name, ')');
}

static bool is_recordable(const KoineVariable *variable)
{
    return variable->type != KOINE_STRING && variable->now != KOINE_NO_OFFSET && variable->count > 0;
}

/* May a wildcard, or no glob at all, choose this row? */
static bool is_open(const KoineVariable *variable, unsigned flags)
{
    return !(variable->flags & KOINE_VARIABLE_HIDDEN) &&
           ((flags & SELECT_PARAMETERS) || variable->variability > KOINE_VARIABILITY_PARAMETER);
}

typedef struct {
    const KoineTables *tables;
    Arena *arena;
    Text name;
    bool any_case;   /* nothing has the capitals that were given */
    uint8_t **taken; /* per row a flag per element, NULL: none taken yet */
    VEC(Column) columns;
} Selector;

static void take(Selector *selector, uint32_t row, uint32_t element)
{
    const KoineVariable *variable = &selector->tables->variables[row];
    if (!selector->taken[row])
        selector->taken[row] = NEW_ARRAY(selector->arena, uint8_t, variable->count);
    if (selector->taken[row][element])
        return;
    selector->taken[row][element] = 1;
    const Column column = { row, element, variable->now + 8 * (uint64_t)element };
    vec_push(selector->arena, &selector->columns, column);
}

/* Also the name of an array whose elements are variables of their own: `x` for x[1], x[2]. */
static bool names_variable(Selector *selector, const char *glob, const KoineVariable *variable)
{
    const char *bracket = strchr(variable->name, '[');
    if (matches(glob, variable->name, selector->any_case))
        return true;
    if (variable->n_dims || !bracket || variable->name[strlen(variable->name) - 1] != ']')
        return false;
    selector->name.n = 0;
    text_bytes(&selector->name, variable->name, (size_t)(bracket - variable->name));
    return matches(glob, selector->name.at, selector->any_case);
}

/* Takes what the glob matches of one row; returns whether there was something. */
static bool take_matching(Selector *selector, const char *glob, uint32_t row)
{
    const KoineVariable *variable = &selector->tables->variables[row];
    const bool is_whole = names_variable(selector, glob, variable);
    bool is_any = is_whole;
    for (uint32_t e = 0; e < variable->count && (is_whole || variable->n_dims > 0); e++) {
        if (!is_whole) {
            selector->name.n = 0;
            column_name(selector->tables, &(Column){ row, e, 0 }, &selector->name);
            if (!matches(glob, selector->name.at, selector->any_case))
                continue;
            is_any = true;
        }
        take(selector, row, e);
    }
    return is_any;
}

static bool matches_closed_row(const KoineTables *tables, const char *glob)
{
    for (uint32_t row = 0; row < tables->n_variables; row++)
        if (is_recordable(&tables->variables[row]) && glob_matches(glob, tables->variables[row].name))
            return true;
    return false;
}

/* A name that ends like the glob ("Integ.Z" for "Z"), else the one with the fewest edits. */
static const char *nearest_name(const KoineTables *tables, const char *glob)
{
    const size_t length = strlen(glob);
    const uint32_t limit = 2 + (uint32_t)(length < 60 ? length / 3 : 20);
    uint32_t best = limit;
    const char *nearest = NULL;
    for (uint32_t row = 0; row < tables->n_variables; row++) {
        const KoineVariable *variable = &tables->variables[row];
        if (!is_recordable(variable))
            continue;
        const size_t n = strlen(variable->name);
        if (n > length && variable->name[n - length - 1] == '.' && strcmp(variable->name + n - length, glob) == 0)
            return variable->name;
        const uint32_t distance = edit_distance(glob, variable->name, limit);
        if (distance < best) {
            best = distance;
            nearest = variable->name;
        }
    }
    return nearest;
}

/* x' is the derivative of x; a name in quotes is something else. */
static const char *spell_out(const char *glob, Arena *arena)
{
    const size_t n = strlen(glob);
    if (n < 2 || strchr(glob, '\'') != glob + n - 1)
        return glob;
    return arena_format(arena, "der(%.*s)", (int)(n - 1), glob);
}

/* The derivative of a synonym of a state is that of the state. */
static bool take_derivative(Selector *selector, const char *glob)
{
    const KoineTables *tables = selector->tables;
    const size_t n = strlen(glob);
    if (n < 6 || memcmp(glob, "der(", 4) != 0 || glob[n - 1] != ')')
        return false;
    const char *name = arena_text(selector->arena, glob + 4, n - 5);
    for (uint32_t row = 0; row < tables->n_variables; row++) {
        const KoineVariable *synonym = &tables->variables[row];
        if (synonym->state < 0 || synonym->flags & KOINE_VARIABLE_NEGATED || synonym->n_dims ||
            !matches(name, synonym->name, selector->any_case))
            continue;
        const KoineVariable *state = &tables->variables[tables->state_variable[synonym->state]];
        const char *own = arena_format(selector->arena, "der(%s)", state->name);
        for (uint32_t k = 0; k < tables->n_variables; k++)
            if (is_recordable(&tables->variables[k]) && strcmp(tables->variables[k].name, own) == 0) {
                take(selector, k, 0);
                return true;
            }
    }
    return false;
}

/* Takes all that one glob matches; false: nothing. */
static bool take_all(Selector *selector, const char *glob, unsigned flags)
{
    const bool is_exact = !has_wildcard(glob);
    bool is_any = false;
    for (uint32_t row = 0; row < selector->tables->n_variables; row++) {
        const KoineVariable *variable = &selector->tables->variables[row];
        const bool is_text = variable->type == KOINE_STRING && (flags & SELECT_TEXTS) && is_exact;
        if (is_text || (is_recordable(variable) && (is_exact || is_open(variable, flags))))
            is_any |= take_matching(selector, glob, row);
    }
    return is_any || (is_exact && take_derivative(selector, glob));
}

static bool matches_text(const KoineTables *tables, const char *glob)
{
    for (uint32_t row = 0; row < tables->n_variables; row++)
        if (tables->variables[row].type == KOINE_STRING && strcmp(tables->variables[row].name, glob) == 0)
            return true;
    return false;
}

bool select_columns(const KoineTables *tables, const char *const *globs, uint32_t n_globs, unsigned flags, Arena *arena,
                    Selection *selection, SelectionMiss *miss)
{
    Selector selector = { .tables = tables, .arena = arena, .name = { .arena = arena } };
    selector.taken = NEW_ARRAY(arena, uint8_t *, tables->n_variables);
    static const char *const everything[] = { "*" };
    const bool is_filtered = n_globs > 0;
    for (uint32_t g = 0; g < (is_filtered ? n_globs : 1); g++) {
        const char *glob = is_filtered ? spell_out(globs[g], arena) : everything[0];
        bool is_any = take_all(&selector, glob, flags);
        selector.any_case = !is_any;
        is_any = is_any || take_all(&selector, glob, flags);
        selector.any_case = false;
        if (is_filtered && !is_any) {
            *miss = (SelectionMiss){ g, nearest_name(tables, glob), matches_text(tables, glob),
                                     matches_closed_row(tables, glob) };
            return false;
        }
    }
    *selection = (Selection){ selector.columns.at, selector.columns.n };
    return true;
}

void selection_miss_text(const SelectionMiss *miss, const char *const *globs, char *text, size_t size)
{
    if (miss->is_text)
        snprintf(text, size, "'%.80s' is a String: only CSV holds texts", globs[miss->glob]);
    else if (miss->is_closed)
        snprintf(text, size,
                 "'%.80s' matches only parameters and hidden variables; they are recorded when named in full",
                 globs[miss->glob]);
    else if (miss->nearest)
        snprintf(text, size, "no variable matches '%.80s'; did you mean '%.100s'?", globs[miss->glob], miss->nearest);
    else
        snprintf(text, size, "no variable matches '%.80s'", globs[miss->glob]);
}
