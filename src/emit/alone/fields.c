/* Constant C data, struct by struct as structs.def lists them; see fields.h. */
#include "emit/alone/fields.h"
#include "emit/c/model_text.h"
#include <math.h>
#include <string.h>

/* ---- every field is there ----
 * As many values as a struct has fields, without their names: the compiler warns where one is missing. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces" /* of structs in structs: their values are all 0 */
#define STRUCT(type)             _Static_assert(sizeof(type){
#define NUMBER(field)            0,
#define TEXT(field)              0,
#define INNER(field, type)       { 0 },
#define LIST(field, type, n)     0,
#define NUMBERS(field, type, n)  0,
#define TEXTS(field, n)          0,
#define POINTER(field, function) 0,
#define OTHER(field, function)   { 0 },
#define END(type)                                                                                                      \
    } > 0, #type);
#include "emit/alone/structs.def"
#undef STRUCT
#undef NUMBER
#undef TEXT
#undef INNER
#undef LIST
#undef NUMBERS
#undef TEXTS
#undef POINTER
#undef OTHER
#undef END
#pragma GCC diagnostic pop

/* ---- the words of the data ---- */
static const char *const words[] = {
#define STRUCT(type)             #type,
#define NUMBER(field)            #field,
#define TEXT(field)              #field,
#define INNER(field, type)       #field,
#define LIST(field, type, n)     #field,
#define NUMBERS(field, type, n)  #field,
#define TEXTS(field, n)          #field,
#define POINTER(field, function) #field,
#define OTHER(field, function)   #field,
#define END(type)
#include "emit/alone/structs.def"
#undef STRUCT
#undef NUMBER
#undef TEXT
#undef INNER
#undef LIST
#undef NUMBERS
#undef TEXTS
#undef POINTER
#undef OTHER
#undef END
    "static", "const",   "char", "double", "uint8_t",          "uint32_t",         "uint64_t", "INFINITY", "NAN",
    "newton", "iterate", "i",    "fault",  "koine_tell_fault", "koine_tell_place", "locate",   "foreign",  KINDS,
};

bool is_data_word(const char *word, size_t n)
{
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k]) == n && memcmp(words[k], word, n) == 0)
            return true;
    return false;
}

/* ---- values ---- */
typedef struct {
    const KoineProgram *program;
    const KoineSystem *system; /* the one at hand: parts of it are as long as it has unknowns */
    Text *out;
    uint32_t n_arrays;
} Writer;

static void put_unsigned(Text *t, uint64_t value)
{
    text_format(t, "%llu%s", (unsigned long long)value, value > INT64_MAX ? "u" : "");
}

static void put_signed(Text *t, int64_t value)
{
    if (value == INT64_MIN)
        text_add(t, "-9223372036854775807 - 1");
    else
        text_integer(t, value);
}

static void put_real(Text *t, double value)
{
    if (isnan(value))
        text_add(t, "NAN");
    else if (isinf(value))
        text_add(t, value < 0 ? "-INFINITY" : "INFINITY");
    else
        text_real_point(t, value);
}

#define PUT(t, value)                                                                                                  \
    _Generic((value), double : put_real, int32_t : put_signed, int64_t : put_signed, default : put_unsigned)(t, value)

/* ---- structs ---- */
enum { LINE = 100, PER_LINE = 16, LONGEST_TEXT = 4000 /* bytes of a literal that every compiler of C11 takes */ };

/* Begins ".field = "; what is 0 is left out. */
static void put_name(Text *t, const char *field)
{
    size_t n = 0;
    while (n < LINE && n < t->n && t->at[t->n - 1 - n] != '\n')
        n++;
    text_format(t, "%s%s.%s = ", t->at[t->n - 1] == '{' ? "" : ",", n < LINE ? " " : "\n        ", field);
}

static void put_end(Text *t, size_t begin)
{
    text_add(t, t->n == begin + 1 ? " 0 }" : " }");
}

static uint32_t end_array(Writer *w, const char *type, size_t n, const Text *body)
{
    text_format(w->out, "static const %s a%u[%zu] = {", type, ++w->n_arrays, n ? n : 1);
    text_bytes(w->out, body->at, body->n);
    text_add(w->out, "\n};\n");
    return w->n_arrays;
}

/* A text longer than a literal may be becomes an array. Returns its number, 0: it is a literal. */
static uint32_t put_long_text(Writer *w, const char *text)
{
    const size_t length = strlen(text);
    if (length < LONGEST_TEXT)
        return 0;
    Text body = { .arena = w->out->arena };
    for (size_t k = 0; k <= length; k++)
        text_format(&body, "%s%d,", k % PER_LINE ? " " : "\n    ", text[k]);
    return end_array(w, "char", length + 1, &body);
}

static void put_text(Writer *w, Text *t, const char *text)
{
    const uint32_t number = text ? put_long_text(w, text) : 0;
    if (!text)
        text_add(t, "0");
    else if (number)
        text_format(t, "a%u", number);
    else
        model_string(t, text);
}

typedef void PutItem(Writer *w, Text *t, const void *from);

static uint32_t put_items(Writer *w, const char *type, const void *from, size_t size, size_t n, PutItem *put)
{
    Text body = { .arena = w->out->arena };
    for (size_t k = 0; k < n; k++) {
        text_add(&body, k ? ",\n    " : "\n    ");
        put(w, &body, (const char *)from + k * size);
    }
    if (n == 0)
        text_add(&body, " 0");
    return end_array(w, type, n, &body);
}

static void put_reference(Text *t, const char *field, uint32_t array)
{
    put_name(t, field);
    text_format(t, "a%u", array);
}

static void put_real_at(Text *t, const void *from, size_t k)
{
    put_real(t, ((const double *)from)[k]);
}

static void put_byte_at(Text *t, const void *from, size_t k)
{
    put_unsigned(t, ((const uint8_t *)from)[k]);
}

static void put_short_at(Text *t, const void *from, size_t k)
{
    put_unsigned(t, ((const uint32_t *)from)[k]);
}

static void put_long_at(Text *t, const void *from, size_t k)
{
    put_unsigned(t, ((const uint64_t *)from)[k]);
}

static uint32_t put_numbers(Writer *w, const char *type, const void *from, size_t n,
                            void (*put)(Text *t, const void *from, size_t k))
{
    Text body = { .arena = w->out->arena };
    for (size_t k = 0; k < n; k++) {
        text_add(&body, k == 0 ? "\n    " : k % PER_LINE ? ", " : ",\n    ");
        put(&body, from, k);
    }
    if (n == 0)
        text_add(&body, " 0");
    return end_array(w, type, n, &body);
}

#define NUMBERS_OF(type)                                                                                               \
    _Generic((type)0, double : put_real_at, uint8_t : put_byte_at, uint32_t : put_short_at, uint64_t : put_long_at)

static uint32_t put_texts(Writer *w, const char *const *from, size_t n)
{
    Text body = { .arena = w->out->arena };
    for (size_t k = 0; k < n; k++) {
        text_add(&body, k ? ",\n    " : "\n    ");
        put_text(w, &body, from[k]);
    }
    if (n == 0)
        text_add(&body, " 0");
    return end_array(w, "char *const", n, &body);
}

/* ---- what is counted or written in a way of its own ---- */
static size_t time_numbers(const KoineTimeCode *code)
{
    size_t n = 0;
    for (uint32_t k = 0; k < code->n; k++)
        if (code->instructions[k].op == KOINE_TIME_NUMBER && code->instructions[k].a >= n)
            n = (size_t)code->instructions[k].a + 1;
    return n;
}

/* Numbers of a table as koine_lookup wants it; NULL: none. */
static size_t table_size(const double *table)
{
    return table ? 2 + (size_t)table[0] + 5 * ((size_t)table[0] + 1) : 0;
}

static size_t set_states(const KoineStateSet *set)
{
    size_t n = 0;
    for (uint32_t level = 0; level < set->n_levels; level++)
        n += set->n_states[level];
    return n;
}

static size_t whole_entries(const Writer *w)
{
    const KoinePattern *pattern = &w->program->tables->patterns.whole_jacobian;
    return pattern->start ? pattern->start[pattern->rows] : 0;
}

static void put_time_tables(Writer *w, Text *t, const KoineTimeCode *code)
{
    Text body = { .arena = w->out->arena };
    size_t n = 0;
    for (uint32_t k = 0; k < code->n; k++) {
        const KoineTimeInstruction *i = &code->instructions[k];
        if ((i->op == KOINE_TIME_TABLE || i->op == KOINE_TIME_BROKEN) && i->c >= n)
            n = (size_t)i->c + 1;
    }
    for (size_t k = 0; k < n; k++)
        text_format(&body, "%sa%u", k ? ", " : "\n    ",
                    put_numbers(w, "double", code->tables[k], table_size(code->tables[k]), put_real_at));
    if (n)
        put_reference(t, "tables", end_array(w, "double *const", n, &body));
}

/* By its bits: it may hold a Real or anything else. */
static void put_slot(Writer *w, Text *t, const KoineConstant *constant)
{
    (void)w;
    if (constant->value.i == 0)
        return;
    put_name(t, "value");
    text_add(t, "{ .i = ");
    put_signed(t, constant->value.i);
    text_add(t, " }");
}

static void put_explain(Writer *w, Text *t, const KoineProgram *program)
{
    (void)w, (void)program;
    put_name(t, "explain");
    text_add(t, "{ .fault = koine_tell_fault, .locate = koine_tell_place }");
}

/* Found when the libraries are loaded. */
static void put_kind(const Writer *w, Text *t, const KoineForeign *foreign)
{
    put_name(t, "kind");
    text_format(t, KINDS " + %u", (uint32_t)(foreign - w->program->foreigns.at));
}

static PutItem put_KoineTables, put_KoineNewtonSystem, put_KoineIteratedSystem, put_KoineForeignSystem;

static void put_tables(Writer *w, Text *t, const KoineProgram *program)
{
    put_reference(t, "tables",
                  put_items(w, "KoineTables", program->tables, sizeof *program->tables, 1, put_KoineTables));
}

static void put_method(Writer *w, Text *t, const KoineSystem *system)
{
    if (system->kind == KOINE_SYSTEM_LINEAR)
        return;
    const bool is_newton = system->kind == KOINE_SYSTEM_NEWTON, is_foreign = system->kind == KOINE_SYSTEM_FOREIGN;
    put_name(t, "u");
    text_format(t, "{ .%s = ", is_newton ? "newton" : is_foreign ? "foreign" : "iterate");
    (is_newton    ? put_KoineNewtonSystem
     : is_foreign ? put_KoineForeignSystem
                  : put_KoineIteratedSystem)(w, t, &system->u);
    text_add(t, " }");
}

/* Parts of a system need it. */
#define AT_HAND(type) _Generic((const type *)0, const KoineSystem * : from, default : w->system)

/* ---- a function a struct ---- */
#define STRUCT(type)                                                                                                   \
    static void put_##type(Writer *w, Text *t, const void *from)                                                       \
    {                                                                                                                  \
        const type *s = from;                                                                                          \
        const size_t begin = t->n;                                                                                     \
        w->system = AT_HAND(type);                                                                                     \
        text_char(t, '{');
#define NUMBER(field)                                                                                                  \
    if (memcmp(&s->field, &(const uint64_t){ 0 }, sizeof s->field) != 0) {                                             \
        put_name(t, #field);                                                                                           \
        PUT(t, s->field);                                                                                              \
    }
#define TEXT(field)                                                                                                    \
    if (s->field) {                                                                                                    \
        put_name(t, #field);                                                                                           \
        put_text(w, t, s->field);                                                                                      \
    }
#define INNER(field, type)                                                                                             \
    {                                                                                                                  \
        const size_t before = t->n;                                                                                    \
        put_name(t, #field);                                                                                           \
        const size_t inner = t->n;                                                                                     \
        put_##type(w, t, &s->field);                                                                                   \
        if (strcmp(t->at + inner, "{ 0 }") == 0)                                                                       \
            t->at[t->n = before] = 0;                                                                                  \
    }
#define LIST(field, type, n)                                                                                           \
    if (s->field)                                                                                                      \
        put_reference(t, #field, put_items(w, #type, s->field, sizeof *s->field, (n), put_##type));
#define NUMBERS(field, type, n)                                                                                        \
    if (s->field)                                                                                                      \
        put_reference(t, #field, put_numbers(w, #type, (const type *){ s->field }, (n), NUMBERS_OF(type)));
#define TEXTS(field, n)                                                                                                \
    if (s->field)                                                                                                      \
        put_reference(t, #field, put_texts(w, s->field, (n)));
#define POINTER(field, function) function(w, t, s);
#define OTHER(field, function)   function(w, t, s);
#define END(type)                                                                                                      \
    put_end(t, begin);                                                                                                 \
    }
#include "emit/alone/structs.def"

uint32_t print_data(const KoineProgram *program, Text *to)
{
    Writer w = { .program = program, .out = to };
    return put_items(&w, "KoineProgram", program, sizeof *program, 1, put_KoineProgram);
}
