/* See external.h. */
#include "ir/external.h"
#include "base/ascii.h"
#include "ir/routine.h"

static const Variable *field_of(const Function *f, uint32_t field)
{
    return &f->body->variables.at[field];
}

bool expr_is_impure(const Expr *e)
{
    bool found = e->kind == EXPR_FUNCTION && e->u.function && is_model_call(e) && !e->u.function->is_pure;
    for (uint32_t k = 0; k < e->n_args && e->has_call && !found; k++)
        found = expr_is_impure(e->args[k]);
    return found;
}

/* ---- the usual mapping ---- */
static void add_field(Function *f, uint32_t field)
{
    External *e = f->external;
    const uint32_t rank = field_of(f, field)->type.rank;
    vec_push(f->body->arena, &e->arguments, ((ExternalArgument){ .kind = EXTERNAL_FIELD, .field = field }));
    for (uint32_t k = 1; k <= rank; k++)
        vec_push(f->body->arena, &e->arguments,
                 ((ExternalArgument){ .kind = EXTERNAL_SIZE, .field = field, .dimension = k }));
}

void external_map(Function *f)
{
    External *e = f->external;
    if (e->is_mapped)
        return;
    e->arguments.n = 0;
    e->result = f->n_outputs == 1 && field_of(f, f->n_inputs)->type.rank == 0 ? f->n_inputs : ID_NONE;
    for (uint32_t k = 0; k < f->n_inputs + f->n_outputs; k++)
        if (k != e->result)
            add_field(f, k);
}

/* ---- C ---- */
ExternalParameter external_parameter(const Function *f, uint32_t argument)
{
    const ExternalArgument *a = &f->external->arguments.at[argument];
    if (a->kind != EXTERNAL_FIELD)
        return (ExternalParameter){ .is_real = a->kind == EXTERNAL_REAL, .is_size = a->kind == EXTERNAL_SIZE };
    const Type type = field_of(f, a->field)->type;
    const bool is_input = a->field < f->n_inputs;
    return (ExternalParameter){ .is_real = type.kind == TYPE_REAL,
                                .is_text = type.kind == TYPE_STRING,
                                .is_object = type.kind == TYPE_OBJECT,
                                .is_address = type.kind != TYPE_OBJECT && (type.rank > 0 || !is_input),
                                .is_input = is_input };
}

const char *external_spelling(ExternalParameter p)
{
    if (p.is_text)
        return p.is_address ? "const char **" : "const char *";
    if (p.is_object)
        return "void *";
    if (!p.is_address)
        return p.is_real ? "double" : p.is_size ? "size_t" : "int";
    if (p.is_input)
        return p.is_real ? "const double *" : "const int *";
    return p.is_real ? "double *" : "int *";
}

const char *external_returns(const Function *f)
{
    if (f->external->result == ID_NONE)
        return "void";
    const Type type = field_of(f, f->external->result)->type;
    return type.kind == TYPE_REAL     ? "double"
           : type.kind == TYPE_OBJECT ? "void *"
           : type.kind == TYPE_STRING ? "const char *"
                                      : "int";
}

int64_t external_last_value(const Function *f, Type enumeration)
{
    return pool_get_enumeration(f->body->pool, enumeration.enumeration)->n;
}

/* ---- checks ---- */
/* A name that C takes for that of a function; it stands in C texts that Koine writes. */
static bool is_symbol(const char *text)
{
    static const char *const keywords[] = { "auto",     "break",    "case",     "char",   "const",   "continue",
                                            "default",  "do",       "double",   "else",   "enum",    "extern",
                                            "float",    "for",      "goto",     "if",     "inline",  "int",
                                            "long",     "register", "restrict", "return", "short",   "signed",
                                            "sizeof",   "static",   "struct",   "switch", "typedef", "union",
                                            "unsigned", "void",     "volatile", "while" };
    if (!is_letter(*text) && *text != '_')
        return false;
    for (const char *c = text; *c; c++)
        if (!is_name_character(*c))
            return false;
    for (size_t k = 0; k < sizeof keywords / sizeof *keywords; k++)
        if (strcmp(text, keywords[k]) == 0)
            return false;
    return strncmp(text, "koine_", 6) != 0;
}

/* A name of a file, which stands in a C text and in arguments of a compiler. */
static bool is_file_name(const char *text)
{
    if (!*text || *text == '-')
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\' || *text == 0x7f)
            return false;
    return true;
}

static bool are_file_names(const Names *names, const NameId *files, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (!is_file_name(names_of(names, files[k])))
            return false;
    return true;
}

static const char *argument_mistake(const Function *f, const ExternalArgument *a, uint32_t *times)
{
    if (a->kind == EXTERNAL_INTEGER && (a->number.i < INT32_MIN || a->number.i > INT32_MAX))
        return "hands over a number that is too large for an int of C";
    if (a->kind == EXTERNAL_FIELD || a->kind == EXTERNAL_SIZE) {
        if (a->field >= f->n_inputs + f->n_outputs)
            return "hands over what is neither an input nor an output";
        if (a->kind == EXTERNAL_SIZE && (a->dimension < 1 || a->dimension > field_of(f, a->field)->type.rank))
            return "hands over the size of a dimension that the field does not have";
        times[a->field] += a->kind == EXTERNAL_FIELD;
    }
    return NULL;
}

/* A constructor returns the object that it makes; all others only take objects. */
static const char *object_mistake(const Function *f)
{
    const bool is_constructor = function_is_constructor(f);
    for (uint32_t k = 0; k < f->n_inputs + f->n_outputs; k++) {
        const Type type = field_of(f, k)->type;
        if (type.kind == TYPE_OBJECT && (type.rank > 0 || (k >= f->n_inputs && !is_constructor)))
            return "gives an external object, or takes an array of them, and has no destructor";
    }
    if (!is_constructor)
        return NULL;
    if (f->n_outputs != 1 || field_of(f, f->n_inputs)->type.kind != TYPE_OBJECT || f->external->result != f->n_inputs)
        return "has a destructor, and does not return one external object";
    return f->is_pure ? "makes an external object, and does not say that it is impure" : NULL;
}

static const char *mapping_mistake(const Function *f)
{
    const External *e = f->external;
    const char *mistake = NULL;
    uint32_t *times = NEW_ARRAY(f->body->arena, uint32_t, f->n_inputs + f->n_outputs + 1u);
    for (uint32_t k = 0; k < e->arguments.n && !mistake; k++)
        mistake = argument_mistake(f, &e->arguments.at[k], times);
    if (mistake)
        return mistake;
    if (e->result != ID_NONE &&
        (e->result < f->n_inputs || e->result >= f->n_inputs + f->n_outputs || field_of(f, e->result)->type.rank > 0))
        return "returns what is not a scalar output";
    for (uint32_t k = f->n_inputs; k < f->n_inputs + f->n_outputs; k++)
        if (times[k] + (e->result == k) != 1)
            return "gets a value for one of its outputs never, or twice";
    return NULL;
}

const char *external_mistake(const Function *f, const char **help)
{
    const External *e = f->external;
    const Names *names = pool_names(f->body->pool);
    *help = "its symbol is the name of a C function: letters, digits and _";
    if (!is_symbol(names_of(names, e->symbol)))
        return "has a symbol that is no name of C";
    if (function_is_constructor(f) && !is_symbol(names_of(names, e->destructor)))
        return "has a destructor that is no name of C";
    *help = "libraries, directories and headers are named by plain file names";
    if (!are_file_names(names, e->libraries.at, e->libraries.n) ||
        !are_file_names(names, e->directories.at, e->directories.n))
        return "names a library or directory that is no name of a file";
    *help = "what it does is written in C: it has inputs and outputs, and neither locals nor statements";
    if (f->n_locals > 0 || f->first)
        return "is external and has a body, too";
    *help = "each output is what C returns (returns NAME), or one of the arguments, which is handed over by address";
    if (mapping_mistake(f))
        return mapping_mistake(f);
    *help = "a constructor: function NAME impure external \"open\" destructor \"close\"; it returns the object";
    return object_mistake(f);
}
