/* Settings by name; see set.h. A name is the path of a variable, exactly or, where that is unique, without regard to
 * case; `x[2,1]` is an element of an array, `[*]` stands for all indices. The value is read by the type of the
 * variable; that of a whole array stands in braces, row by row: {{1, 2}, {3, 4}}. */
#include "experiment/set.h"
#include "base/names.h"
#include "base/text.h"
#include "base/vec.h"
#include "experiment/members.h"
#include "formats/select.h"
#include "koine/texts.h"
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

typedef struct { /* a value that was given */
    uint64_t place;
    bool is_whole;
    const Setting *setting;
} Placed;

typedef struct {
    KoineModel *model;
    const KoineTables *tables;
    Arena *arena;
    Diag *diag;
    SetWhat what;
    VEC(Placed) placed;
} Setter;

typedef struct {
    const KoineVariable *variable;
    uint32_t element;
    bool is_whole; /* the name has no index */
} Found;

enum { FOUND_NONE, FOUND_ONE, FOUND_SEVERAL };

static int find_variable(const KoineTables *tables, const char *name, const KoineVariable **found)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < tables->n_variables; k++)
        if (strcmp(tables->variables[k].name, name) == 0) {
            *found = &tables->variables[k];
            return FOUND_ONE;
        }
    for (uint32_t k = 0; k < tables->n_variables; k++)
        if (strcasecmp(tables->variables[k].name, name) == 0) {
            *found = &tables->variables[k];
            n++;
        }
    return n == 0 ? FOUND_NONE : n == 1 ? FOUND_ONE : FOUND_SEVERAL;
}

/* Row-major number of the element "[2,1]" (from 1 on), or UINT32_MAX. */
static uint32_t read_element(const KoineTables *tables, const KoineVariable *variable, const char *index)
{
    uint64_t element = 0;
    const char *at = index + 1;
    for (uint32_t d = 0; d < variable->n_dims; d++) {
        char *end;
        const unsigned long k = strtoul(at, &end, 10);
        const uint32_t extent = tables->types.dims[variable->first_dim + d];
        if (end == at || *at < '0' || *at > '9' || k < 1 || k > extent ||
            *end != (d + 1 < variable->n_dims ? ',' : ']'))
            return UINT32_MAX;
        element = element * extent + (k - 1);
        at = end + 1;
    }
    return *at == 0 ? (uint32_t)element : UINT32_MAX;
}

/* ---- Names like the one that does not exist --------------------------------------------------------------------- */

enum { MOST_NEAREST = 3 };

typedef struct {
    const char *names[MOST_NEAREST];
    uint32_t distances[MOST_NEAREST];
    uint32_t n;
} Nearest;

static void nearest_add(Nearest *nearest, const char *name, uint32_t distance)
{
    uint32_t k = nearest->n < MOST_NEAREST ? nearest->n++ : MOST_NEAREST - 1;
    for (; k > 0 && nearest->distances[k - 1] > distance; k--) {
        nearest->names[k] = nearest->names[k - 1];
        nearest->distances[k] = nearest->distances[k - 1];
    }
    nearest->names[k] = name;
    nearest->distances[k] = distance;
}

static bool ends_with_part(const char *path, const char *name)
{
    const size_t length = strlen(path), part = strlen(name);
    return length > part && path[length - part - 1] == '.' && strcasecmp(path + length - part, name) == 0;
}

static Nearest find_nearest(const KoineTables *tables, const char *name)
{
    Nearest nearest = { 0 };
    const uint32_t limit = strlen(name) < 4 ? 2 : strlen(name) < 9 ? 3 : 4;
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *variable = &tables->variables[k];
        if (variable->flags & (KOINE_VARIABLE_HIDDEN | KOINE_VARIABLE_DERIVATIVE))
            continue;
        const uint32_t bound = nearest.n < MOST_NEAREST ? limit : nearest.distances[MOST_NEAREST - 1];
        uint32_t distance = ends_with_part(variable->name, name) ? 1 : edit_distance(name, variable->name, bound);
        if (distance < bound)
            nearest_add(&nearest, variable->name, distance);
    }
    return nearest;
}

static bool report_unknown(const Setter *setter, const Setting *setting)
{
    const Nearest nearest = find_nearest(setter->tables, setting->name);
    diag_error(setter->diag, DIAG_SET_UNKNOWN, setting->span, "'%s' has no variable '%s'", setter->tables->name,
               setting->name);
    Text list = { .arena = setter->arena };
    for (uint32_t k = 0; k < nearest.n; k++)
        text_format(&list, "%s'%s'", k == 0 ? "" : k + 1 < nearest.n ? ", " : " or ", nearest.names[k]);
    if (nearest.n > 0)
        diag_help(setter->diag, "did you mean %s?", list.at);
    else
        diag_help(setter->diag, "'koine check --symbols' lists the variables of a model");
    return false;
}

static bool report_index(const Setter *setter, const Setting *setting, const KoineVariable *variable)
{
    Text extents = { .arena = setter->arena };
    for (uint32_t d = 0; d < variable->n_dims; d++)
        text_format(&extents, "%s%u", d ? "," : "", setter->tables->types.dims[variable->first_dim + d]);
    diag_error(setter->diag, DIAG_SET_UNKNOWN, setting->span, "'%s' is no element of '%s', which has the extents [%s]",
               setting->name, variable->name, extents.n ? extents.at : "");
    diag_help(setter->diag, "indices begin at 1 and are separated by commas, without blanks");
    return false;
}

/* "c[2].x[3]" is element [2,3] of the variable "c[].x" of an array of instances. */
static int find_in_instances(const Setter *setter, const char *name, Found *found)
{
    enum { MOST_DIMS = 32 };
    uint32_t index[MOST_DIMS];
    const uint32_t n = setter->tables->n_variables;
    for (uint32_t k = 0; k < 2 * n; k++) { /* first with the capitals as they are */
        const KoineVariable *v = &setter->tables->variables[k % n];
        if (v->n_dims == 0 || text_read_element(name, strlen(name), v->name, k >= n, index, MOST_DIMS) != v->n_dims)
            continue;
        *found = (Found){ .variable = v };
        for (uint32_t d = 0; d < v->n_dims; d++) {
            const uint32_t extent = setter->tables->types.dims[v->first_dim + d];
            const bool is_inside = index[d] <= extent && found->element != UINT32_MAX;
            found->element = is_inside ? found->element * extent + index[d] - 1 : UINT32_MAX;
        }
        return FOUND_ONE;
    }
    return FOUND_NONE;
}

static bool find_place(const Setter *setter, const Setting *setting, Found *found)
{
    *found = (Found){ .is_whole = true };
    int status = find_variable(setter->tables, setting->name, &found->variable);
    const char *bracket = strrchr(setting->name, '[');
    if (status == FOUND_NONE && bracket) {
        const char *name = arena_text(setter->arena, setting->name, (size_t)(bracket - setting->name));
        status = find_variable(setter->tables, name, &found->variable);
        if (status == FOUND_ONE) {
            found->is_whole = false;
            found->element = read_element(setter->tables, found->variable, bracket);
        } else if (status == FOUND_NONE) {
            status = find_in_instances(setter, setting->name, found);
        }
        if (status == FOUND_ONE && (found->variable->n_dims == 0 || found->element == UINT32_MAX))
            return report_index(setter, setting, found->variable);
    }
    if (status == FOUND_SEVERAL) {
        diag_error(setter->diag, DIAG_SET_UNKNOWN, setting->span,
                   "several variables differ from '%s' only in their capitals", setting->name);
        diag_help(setter->diag, "write the name with the capitals of the model");
        return false;
    }
    return status == FOUND_ONE || report_unknown(setter, setting);
}

/* ---- Values ----------------------------------------------------------------------------------------------------- */

static bool report_value(const Setter *setter, const Setting *setting, const char *wanted)
{
    diag_error(setter->diag, DIAG_SET_VALUE, setting->span, "'%s' must be %s, not '%.60s'", setting->name, wanted,
               setting->value);
    return false;
}

static bool read_real(const Setter *setter, const Setting *setting, double *value)
{
    const char *end = setting->value + strlen(setting->value);
    if (setting->value == end || text_to_real(setting->value, end, value) != end)
        return report_value(setter, setting, "a number");
    if (!(*value - *value == 0))
        return report_value(setter, setting, "a finite number");
    return true;
}

static bool read_integer(const Setter *setter, const Setting *setting, int64_t *value)
{
    const char *digits = setting->value + (*setting->value == '-' || *setting->value == '+');
    if (!*digits || digits[strspn(digits, "0123456789")])
        return report_value(setter, setting, "a whole number");
    errno = 0;
    *value = strtoll(setting->value, NULL, 10);
    return errno == 0 || report_value(setter, setting, "a whole number below 2^63");
}

static bool read_boolean(const Setter *setter, const Setting *setting, int64_t *value)
{
    static const char *const words[] = { "false", "0", "true", "1" };
    for (uint32_t k = 0; k < 4; k++)
        if (strcasecmp(setting->value, words[k]) == 0) {
            *value = k / 2;
            return true;
        }
    return report_value(setter, setting, "true or false");
}

static bool read_name(const Setter *setter, const Setting *setting, const KoineEnumeration *set, int64_t *value)
{
    const char *given = setting->value;
    const size_t length = strlen(given);
    if (length > 1 && given[0] == '\'' && given[length - 1] == '\'')
        given = arena_text(setter->arena, given + 1, length - 2);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < set->n; k++)
            if ((pass == 0 ? strcmp : strcasecmp)(set->values[k], given) == 0) {
                *value = k + 1;
                return true;
            }
    char *end;
    const unsigned long number = strtoul(given, &end, 10); /* as results have it */
    if (*given >= '1' && *given <= '9' && *end == 0 && number <= set->n) {
        *value = (int64_t)number;
        return true;
    }
    Text list = { .arena = setter->arena };
    for (uint32_t k = 0; k < set->n; k++)
        text_format(&list, "%s%s", k == 0 ? "" : k + 1 < set->n ? ", " : " or ", set->values[k]);
    return report_value(setter, setting, list.n ? list.at : "a value of its set");
}

/* As it stands; quotes around it belong to the shell or the experiment. */
static bool read_text(const Setter *setter, const Setting *setting, KoineSlot *slot)
{
    const size_t n = strlen(setting->value);
    const KoineModelKind *kind = setter->what == SET_CHECK ? NULL : setter->model->kind;
    if (n > KOINE_TEXT_LONGEST)
        return report_value(setter, setting, "a text of at most 1,048,576 bytes");
    if (!kind)
        return true;
    if (kind->texts.put && kind->texts.put(setter->model, setting->value, n, slot) == KOINE_OK)
        return true;
    return report_value(setter, setting, "a text for which there is memory");
}

static bool read_slot(const Setter *setter, const Setting *setting, const KoineVariable *variable, KoineSlot *slot)
{
    const bool is_negated = variable->flags & KOINE_VARIABLE_NEGATED;
    bool is_good = false;
    switch ((KoineType)variable->type) {
    case KOINE_REAL:
        is_good = read_real(setter, setting, &slot->r);
        if (is_negated)
            slot->r = -slot->r;
        break;
    case KOINE_INTEGER:
        is_good = read_integer(setter, setting, &slot->i);
        if (is_negated)
            slot->i = (int64_t)(0u - (uint64_t)slot->i); /* also for the smallest one */
        break;
    case KOINE_BOOLEAN:
        is_good = read_boolean(setter, setting, &slot->i);
        if (is_negated)
            slot->i = !slot->i;
        break;
    case KOINE_ENUMERATION:
        is_good = read_name(setter, setting, &setter->tables->types.enumerations[variable->enumeration], &slot->i);
        break;
    case KOINE_STRING: is_good = read_text(setter, setting, slot); break;
    }
    return is_good;
}

/* ---- Setting ---------------------------------------------------------------------------------------------------- */

static bool report_fixed(const Setter *setter, const Setting *setting, const KoineVariable *variable)
{
    const char *why = "it is computed by the model";
    if (variable->flags & KOINE_VARIABLE_DERIVATIVE)
        why = "it is a derivative";
    else if (variable->variability == KOINE_VARIABILITY_CONSTANT)
        why = "it is a constant";
    else if (variable->variability == KOINE_VARIABILITY_STRUCTURAL)
        why = "its value was used when the model was analysed, as a size or by --evaluate-parameters";
    else if (variable->flags & KOINE_VARIABLE_FIXED && variable->variability > KOINE_VARIABILITY_PARAMETER)
        why = "its start value is computed from other quantities";
    else if (variable->variability == KOINE_VARIABILITY_PARAMETER)
        why = "it is computed from other parameters";
    diag_error(setter->diag, DIAG_SET_FIXED, setting->span, "'%s' cannot be set: %s", setting->name, why);
    if (variable->place.line > 0 && variable->place.source < setter->tables->text.n_sources)
        diag_help(setter->diag, "it is declared at %s:%u", setter->tables->text.sources[variable->place.source],
                  variable->place.line);
    return false;
}

/* The range of an INTEGER is one of its type; that of a Real only what was meant. */
static bool check_range(const Setter *setter, const Setting *setting, const KoineVariable *variable, KoineSlot slot)
{
    double value = variable->type == KOINE_REAL ? slot.r : (double)slot.i;
    if (variable->flags & KOINE_VARIABLE_NEGATED)
        value = -value;
    if (value >= variable->min && value <= variable->max)
        return true;
    Text range = { .arena = setter->arena };
    text_real(&range, variable->min);
    text_add(&range, " to ");
    text_real(&range, variable->max);
    if (variable->type == KOINE_INTEGER) {
        diag_error(setter->diag, DIAG_SET_VALUE, setting->span, "'%s' must be from %s, not '%.60s'", setting->name,
                   range.at, setting->value);
        return false;
    }
    diag_warning(setter->diag, DIAG_SET_VALUE, setting->span, "'%s' is meant to be from %s", setting->name, range.at);
    return true;
}

static bool set_element(const Setter *setter, const Setting *setting, const KoineVariable *variable, uint64_t element)
{
    KoineSlot slot = { 0 };
    if (!read_slot(setter, setting, variable, &slot))
        return false;
    const bool is_number = variable->type == KOINE_REAL || variable->type == KOINE_INTEGER;
    if (is_number && !check_range(setter, setting, variable, slot))
        return false;
    const uint64_t offset = (setter->what == SET_NOW ? variable->now : variable->set) + 8 * element;
    if (setter->what != SET_CHECK)
        memcpy(setter->model->block + offset, &slot, sizeof slot);
    return true;
}

/* ---- Whole arrays ----------------------------------------------------------------------------------------------- */

typedef struct {
    const Setter *setter;
    const Setting *setting;
    const KoineVariable *variable;
    const char *at; /* what is not read yet */
} Braces;

typedef enum { BRACES_GOOD, BRACES_REPORTED, BRACES_MISFIT } BracesStatus;

static bool skip(Braces *b, char c)
{
    b->at += strspn(b->at, " \t\n");
    if (*b->at != c)
        return false;
    b->at++;
    b->at += strspn(b->at, " \t\n");
    return true;
}

static BracesStatus read_item(Braces *b, uint64_t element)
{
    size_t n = strcspn(b->at, ",{}");
    const char *next = b->at + n;
    while (n > 0 && strchr(" \t\n", b->at[n - 1]))
        n--;
    if (n == 0)
        return BRACES_MISFIT;
    const Setting item = { .name = b->setting->name,
                           .value = arena_text(b->setter->arena, b->at, n),
                           .span = b->setting->span };
    b->at = next;
    return set_element(b->setter, &item, b->variable, element) ? BRACES_GOOD : BRACES_REPORTED;
}

/* {item, item} along dimension `d`; `first` is the number of what stands before, in elements of that dimension. */
static BracesStatus read_braces(Braces *b, uint32_t d, uint64_t first)
{
    const uint32_t extent = b->setter->tables->types.dims[b->variable->first_dim + d];
    if (!skip(b, '{'))
        return BRACES_MISFIT;
    for (uint32_t k = 0; k < extent; k++) {
        if (k > 0 && !skip(b, ','))
            return BRACES_MISFIT;
        const uint64_t element = first * extent + k;
        const BracesStatus status =
            d + 1 < b->variable->n_dims ? read_braces(b, d + 1, element) : read_item(b, element);
        if (status != BRACES_GOOD)
            return status;
    }
    return skip(b, '}') ? BRACES_GOOD : BRACES_MISFIT;
}

/* {0, 0}, {{0, 0}, {0, 0}}: what the value of an array looks like. */
static void add_shape(const Setter *setter, const KoineVariable *variable, uint32_t d, Text *text)
{
    enum { MOST = 4 };
    const uint32_t extent = setter->tables->types.dims[variable->first_dim + d];
    text_char(text, '{');
    for (uint32_t k = 0; k < extent && k < MOST; k++) {
        text_add(text, k ? ", " : "");
        if (d + 1 < variable->n_dims)
            add_shape(setter, variable, d + 1, text);
        else
            text_char(text, '0');
    }
    text_add(text, extent > MOST ? ", ...}" : "}");
}

static bool set_array(const Setter *setter, const Setting *setting, const KoineVariable *variable)
{
    Braces b = { setter, setting, variable, setting->value };
    const BracesStatus status = read_braces(&b, 0, 0);
    if (status == BRACES_GOOD && !*b.at)
        return true;
    if (status == BRACES_REPORTED)
        return false;
    Text shape = { .arena = setter->arena };
    add_shape(setter, variable, 0, &shape);
    diag_error(setter->diag, DIAG_SET_VALUE, setting->span,
               "'%s' is an array of %u elements, which '%.60s' does not fit", variable->name, variable->count,
               setting->value);
    Text first = { .arena = setter->arena };
    column_name(setter->tables, &(Column){ (uint32_t)(variable - setter->tables->variables), 0, 0 }, &first);
    diag_help(setter->diag, "set all of them, as in --set '%s=%s', or one, as in --set '%s=0'", variable->name,
              shape.at, first.at);
    return false;
}

/* A quantity of two names is given twice, with different values. */
static bool is_contradicted(Setter *setter, const Setting *setting, const Found *found)
{
    const uint64_t place = found->variable->set + sizeof(KoineSlot) * (uint64_t)found->element;
    for (uint32_t k = 0; k < setter->placed.n; k++) {
        const Placed *earlier = &setter->placed.at[k];
        if (earlier->place != place || earlier->is_whole != found->is_whole ||
            strcmp(earlier->setting->value, setting->value) == 0)
            continue;
        diag_error(setter->diag, DIAG_SET_VALUE, setting->span,
                   "'%s' and '%s' are one quantity, but get '%.60s' and '%.60s'", earlier->setting->name, setting->name,
                   earlier->setting->value, setting->value);
        diag_help(setter->diag, "set one of them");
        return true;
    }
    vec_push(setter->arena, &setter->placed, ((Placed){ place, found->is_whole, setting }));
    return false;
}

static bool set_value(Setter *setter, const Setting *setting)
{
    Found found;
    if (!find_place(setter, setting, &found))
        return false;
    const KoineVariable *variable = found.variable;
    const bool is_guess = variable->flags & KOINE_VARIABLE_GUESS && setter->what == SET_START;
    if (!(variable->flags & KOINE_VARIABLE_SETTABLE || is_guess) || variable->set == KOINE_NO_OFFSET)
        return report_fixed(setter, setting, variable);
    if (is_contradicted(setter, setting, &found))
        return false;
    if (found.is_whole && variable->n_dims > 0)
        return set_array(setter, setting, variable);
    return set_element(setter, setting, variable, found.element);
}

bool set_values(KoineModel *model, SetWhat what, const Setting *settings, uint32_t n, Arena *arena, Diag *diag)
{
    Setter setter = { .model = model, .tables = model->kind->tables, .arena = arena, .diag = diag, .what = what };
    bool is_good = members_expand(setter.tables, &settings, &n, arena, diag);
    for (uint32_t k = 0; k < n; k++)
        is_good &= set_value(&setter, &settings[k]);
    return is_good;
}

/* ---- Nominal values --------------------------------------------------------------------------------------------- */

static bool set_nominal(const Setter *setter, const Setting *setting, double *nominals)
{
    Found found;
    double value;
    if (!find_place(setter, setting, &found) || !read_real(setter, setting, &value))
        return false;
    if (!(value > 0))
        return report_value(setter, setting, "above 0 as a nominal value");
    if (found.variable->state < 0 && found.variable->flags & KOINE_VARIABLE_GUESS)
        return true; /* an unknown of equations: it is part of what was compiled */
    if (found.variable->state < 0) {
        diag_error(setter->diag, DIAG_SET_FIXED, setting->span,
                   "'%s' has no use for a nominal value: it is neither integrated nor solved for", setting->name);
        diag_help(setter->diag, "states and unknowns of nonlinear equations have one");
        return false;
    }
    const uint32_t first = found.is_whole ? 0 : found.element, n = found.is_whole ? found.variable->count : 1;
    for (uint32_t k = first; k < first + n; k++)
        nominals[(uint32_t)found.variable->state + k] = value;
    return true;
}

bool set_nominals(const KoineTables *tables, const Setting *settings, uint32_t n, double *nominals, Arena *arena,
                  Diag *diag)
{
    const Setter setter = { .tables = tables, .arena = arena, .diag = diag };
    bool is_good = members_expand(tables, &settings, &n, arena, diag);
    for (uint32_t k = 0; k < n; k++)
        is_good &= set_nominal(&setter, &settings[k], nominals);
    return is_good;
}
