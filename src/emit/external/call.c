/* See call.h. Arguments are checked, arrays are copied, so that a function cannot change what it only gets; behind the
 * call everything is looked at that could make later numbers wrong. */
#include "emit/external/call.h"
#include "emit/external/watch.h"
#include "ir/routine.h"
#include "koine/objects.h"
#include "koine/support.h"
#include "koine/texts.h"
#include <ffi.h>
#include <math.h>
#include <stdalign.h>

typedef union {
    double r;
    int i;
    size_t n;
    void *at;
    const char *text;
    ffi_arg integer; /* an int that is returned is as wide as this */
} Cell;

typedef struct {
    KoineSlot *calls; /* of the block that has the texts */
    const Value *values;
} CallInputs;

typedef struct {
    ExternalCode code; /* the first member: what others see of it */
    const Function *function;
    ExternalFailures failures;
    uint32_t *count, *offset; /* per field: its elements; per output: the first one among the results */
    size_t bytes;             /* of cells, their addresses, and copies of arrays */
    ffi_cif cif;
    ffi_type **types;
    uint32_t meddled; /* RoutineFaultKind: it must not be called any more */
    int never;        /* no failures */
} LoadedCode;

static const Variable *field_of(const LoadedCode *x, uint32_t field)
{
    return &x->function->body->variables.at[field];
}

static bool is_real(const LoadedCode *x, uint32_t field)
{
    return field_of(x, field)->type.kind == TYPE_REAL;
}

/* ---- arguments ---- */
static bool put_number(Cell *cell, bool real, Value value)
{
    if (real)
        cell->r = value.r;
    else
        cell->i = (int)value.i;
    return real || (value.i >= INT32_MIN && value.i <= INT32_MAX);
}

static bool put_texts(const KoineSlot *calls, uint32_t n, const Value *from, const char **to)
{
    bool is_good = true;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t size;
        to[k] = from ? koine_text_at(calls, from[k].i, &size) : NULL;
        is_good = is_good && (!from || from[k].i != INTEGER_FAULT);
    }
    return is_good;
}

/* A copy of an array, or room for an output. */
static bool put_elements(const LoadedCode *x, uint32_t field, const Value *from, void *to)
{
    const uint32_t n = x->count[field];
    const bool real = is_real(x, field);
    const int first = field_of(x, field)->type.kind == TYPE_ENUM;
    bool is_good = true;
    for (uint32_t k = 0; k < n; k++)
        if (real)
            ((double *)to)[k] = from ? from[k].r : 0.0;
        else {
            ((int *)to)[k] = from ? (int)from[k].i : first;
            is_good = is_good && (!from || (from[k].i >= INT32_MIN && from[k].i <= INT32_MAX));
        }
    return is_good;
}

static size_t copied_bytes(const LoadedCode *x, uint32_t field)
{
    const size_t size = is_real(x, field)                              ? sizeof(double)
                        : field_of(x, field)->type.kind == TYPE_STRING ? sizeof(char *)
                                                                       : sizeof(int);
    return (x->count[field] * size + 7) / 8 * 8;
}

static bool put_text(const KoineSlot *calls, int64_t number, Cell *cell)
{
    uint32_t n;
    if (number == INTEGER_FAULT)
        return false;
    cell->text = koine_text_at(calls, number, &n);
    return true;
}

static bool put_field(const LoadedCode *x, uint32_t argument, const CallInputs *in, Cell *cell, char **room)
{
    const uint32_t field = x->function->external->arguments.at[argument].field;
    const ExternalParameter p = external_parameter(x->function, argument);
    const Value *inputs = in->values;
    if (p.is_text && !p.is_address)
        return put_text(in->calls, inputs[field].i, cell);
    if (p.is_object) {
        cell->at = koine_object_of(in->calls, inputs[field].i);
        return cell->at;
    }
    if (!p.is_address)
        return put_number(cell, p.is_real, inputs[field]);
    cell->at = *room;
    *room += copied_bytes(x, field);
    if (p.is_text)
        return put_texts(in->calls, x->count[field], p.is_input ? inputs[field].a : NULL, cell->at);
    return put_elements(x, field, p.is_input ? inputs[field].a : NULL, cell->at);
}

static bool put_arguments(const LoadedCode *x, const CallInputs *inputs, Cell *cells, char *room)
{
    const External *e = x->function->external;
    bool is_good = true;
    for (uint32_t k = 0; k < e->arguments.n; k++) {
        const ExternalArgument *a = &e->arguments.at[k];
        switch ((ExternalArgumentKind)a->kind) {
        case EXTERNAL_FIELD: is_good &= put_field(x, k, inputs, &cells[k], &room); break;
        case EXTERNAL_SIZE: {
            const Variable *v = field_of(x, a->field);
            cells[k].n = (size_t)x->function->body->dims.at[v->first_dim + a->dimension - 1].term.shape->u.integer;
            break;
        }
        case EXTERNAL_INTEGER:
        case EXTERNAL_REAL: put_number(&cells[k], a->kind == EXTERNAL_REAL, a->number); break;
        }
    }
    return is_good;
}

/* ---- behind a call ---- */
/* What it has made by koine_text: it was copied, or does not count. */
static void free_texts(const LoadedCode *x)
{
    KoineExternalState *state = x->failures.state ? x->failures.state() : NULL;
    while (state && state->texts) {
        void *text = state->texts;
        memcpy(&state->texts, text, sizeof state->texts);
        free(text);
    }
}

static uint32_t look_behind(const LoadedCode *x, uint32_t before)
{
    uint32_t kind = ROUTINE_NO_FAULT;
    if (koine_arithmetic_mode() != before) {
        koine_arithmetic_restore(before);
        kind = ROUTINE_ROUNDED;
    }
    KoineExternalState *state = x->failures.state ? x->failures.state() : NULL;
    if (state && state->has_failed) {
        state->has_failed = 0;
        kind = ROUTINE_REFUSED;
        free_texts(x);
    }
    return kind;
}

/* ---- objects ---- */
/* What becomes of the mode of arithmetic, the locale and signals is put right; there is nobody to be told. */
static void end_object(const void *context, void *object)
{
    const LoadedCode *x = context;
    void (*destructor)(void *) = (void (*)(void *))x->code.destructor;
    const uint32_t before = koine_arithmetic_mode();
    Watch watch;
    watch_begin(&watch);
    destructor(object);
    watch_end(&watch);
    look_behind(x, before);
}

/* ---- results ---- */
/* False: no value of the type. */
static bool take_integer(const LoadedCode *x, Type type, int64_t number, Value *to)
{
    to->i = type.kind == TYPE_BOOLEAN ? number != 0 : number;
    return type.kind != TYPE_ENUM || (number >= 1 && number <= external_last_value(x->function, type));
}

static uint32_t take_texts(KoineSlot *calls, uint32_t n, const char *const *from, Value *to)
{
    uint32_t kind = ROUTINE_NO_FAULT;
    for (uint32_t k = 0; k < n && kind == ROUTINE_NO_FAULT; k++) {
        const uint32_t taken = koine_text_take(calls, from[k], &to[k].i);
        kind = taken == KOINE_TEXT_TAKEN ? ROUTINE_NO_FAULT : ROUTINE_NO_TEXT - 1 + taken;
    }
    return kind;
}

static uint32_t take_elements(const LoadedCode *x, uint32_t field, const void *from, Value *outputs)
{
    const Type type = field_of(x, field)->type;
    Value *to = outputs + x->offset[field - x->function->n_inputs];
    uint32_t kind = ROUTINE_NO_FAULT;
    for (uint32_t k = 0; k < x->count[field]; k++)
        if (type.kind != TYPE_REAL) {
            if (!take_integer(x, type, ((const int *)from)[k], &to[k]))
                kind = ROUTINE_NO_INT;
        } else {
            to[k].r = ((const double *)from)[k];
            if (!isfinite(to[k].r))
                kind = ROUTINE_NOT_FINITE;
        }
    return kind;
}

/* What the object is to Koine is its number. */
static uint32_t take_object(const LoadedCode *x, const KoineSlot *calls, void *object, Value *output)
{
    const uint32_t number = x->function->external->object;
    output->i = number;
    return koine_object_made(calls, number, object, (KoineObjectEnd){ end_object, x }) ? ROUTINE_NO_FAULT
                                                                                       : ROUTINE_NO_OBJECT;
}

static uint32_t take_field(const LoadedCode *x, KoineSlot *calls, uint32_t field, const void *from, Value *outputs)
{
    if (field_of(x, field)->type.kind == TYPE_STRING)
        return take_texts(calls, x->count[field], from, outputs + x->offset[field - x->function->n_inputs]);
    return take_elements(x, field, from, outputs);
}

static uint32_t take_results(const LoadedCode *x, KoineSlot *calls, const Cell *cells, const Cell *result,
                             Value *outputs)
{
    const External *e = x->function->external;
    uint32_t kind = ROUTINE_NO_FAULT;
    if (e->object)
        return take_object(x, calls, result->at, outputs);
    for (uint32_t k = 0; k < e->arguments.n && kind == ROUTINE_NO_FAULT; k++)
        if (e->arguments.at[k].kind == EXTERNAL_FIELD && e->arguments.at[k].field >= x->function->n_inputs)
            kind = take_field(x, calls, e->arguments.at[k].field, cells[k].at, outputs);
    if (e->result == ID_NONE || kind != ROUTINE_NO_FAULT)
        return kind;
    const int integer = (int)result->integer;
    const uint8_t type = field_of(x, e->result)->type.kind;
    return take_field(x, calls, e->result,
                      type == TYPE_REAL     ? (const void *)&result->r
                      : type == TYPE_STRING ? (const void *)&result->text
                                            : &integer,
                      outputs);
}

/* ---- calls ---- */
static void done(ExternalCode *code)
{
    free_texts((const LoadedCode *)code);
}

static uint32_t after(ExternalCode *code)
{
    return look_behind((const LoadedCode *)code, koine_arithmetic_nearest());
}

static uint32_t call_function(LoadedCode *x, Cell *cells, void **values, Cell *result, bool is_watched)
{
    Watch watch;
    if (is_watched)
        watch_begin(&watch);
    const uint32_t before = koine_arithmetic_mode();
    ffi_call(&x->cif, x->code.address, result, values);
    const uint32_t kind = look_behind(x, before);
    const uint32_t meddled = is_watched ? watch_end(&watch) : ROUTINE_NO_FAULT;
    (void)cells;
    x->code.alarm = meddled != ROUTINE_NO_FAULT;
    if (meddled == ROUTINE_NO_FAULT)
        return kind;
    x->meddled = meddled;
    return meddled;
}

/* All objects among the arguments are there. */
static bool has_objects(const LoadedCode *x, const CallInputs *in)
{
    bool all = true;
    for (uint32_t k = 0; k < x->function->n_inputs; k++)
        all &= field_of(x, k)->type.kind != TYPE_OBJECT || koine_object_of(in->calls, in->values[k].i);
    return all;
}

static uint32_t call_in(LoadedCode *x, const CallInputs *inputs, Value *outputs, bool is_watched, char *memory)
{
    const uint32_t n = x->function->external->arguments.n;
    Cell *cells = (Cell *)(void *)memory, result = { 0 };
    void **values = (void **)(void *)(cells + n);
    for (uint32_t k = 0; k < n; k++)
        values[k] = &cells[k];
    if (!put_arguments(x, inputs, cells, (char *)(values + n)))
        return has_objects(x, inputs) ? ROUTINE_NO_INT : ROUTINE_NO_OBJECT;
    const uint32_t kind = call_function(x, cells, values, &result, is_watched);
    if (kind != ROUTINE_NO_FAULT)
        return kind;
    const uint32_t taken = take_results(x, inputs->calls, cells, &result, outputs);
    if (function_has_texts(x->function))
        free_texts(x);
    return taken;
}

static uint32_t call_with_little(LoadedCode *x, const CallInputs *inputs, Value *outputs, bool is_watched)
{
    alignas(16) char memory[1024];
    return call_in(x, inputs, outputs, is_watched, memory);
}

static uint32_t call(ExternalCode *code, void *calls, const Value *inputs, Value *outputs, bool is_watched)
{
    LoadedCode *x = (LoadedCode *)code;
    const CallInputs in = { calls, inputs };
    const uint32_t object = x->function->external->object;
    if (object && koine_object_of(calls, object)) { /* the start is tried once more */
        outputs->i = object;
        return ROUTINE_NO_FAULT;
    }
    if (x->meddled != ROUTINE_NO_FAULT)
        return x->meddled;
    if (x->bytes <= 1024)
        return call_with_little(x, &in, outputs, is_watched);
    Arena *arena = arena_create(NULL);
    const uint32_t kind = call_in(x, &in, outputs, is_watched, arena_alloc(arena, x->bytes, 16));
    arena_destroy(arena);
    return kind;
}

static const char *failure(const ExternalCode *code)
{
    const LoadedCode *x = (const LoadedCode *)code;
    return x->failures.state ? x->failures.state()->failure : "";
}

/* ---- making ---- */
static ffi_type *type_of(const Function *f, uint32_t argument)
{
    const ExternalParameter p = external_parameter(f, argument);
    if (p.is_address || p.is_text || p.is_object)
        return &ffi_type_pointer;
    return p.is_real ? &ffi_type_double : p.is_size ? &ffi_type_uint64 : &ffi_type_sint;
}

static ffi_type *type_returned(const Function *f)
{
    switch (*external_returns(f)) {
    case 'd': return &ffi_type_double;
    case 'i': return &ffi_type_sint;
    default: break;
    }
    return f->external->result == ID_NONE ? &ffi_type_void : &ffi_type_pointer;
}

static void measure(LoadedCode *x, Arena *arena)
{
    const Function *f = x->function;
    const uint32_t n_fields = f->n_inputs + f->n_outputs, n = f->external->arguments.n;
    uint32_t at = 0;
    x->count = NEW_ARRAY(arena, uint32_t, n_fields + 1u);
    x->offset = NEW_ARRAY(arena, uint32_t, f->n_outputs + 1u);
    for (uint32_t k = 0; k < n_fields; k++) {
        x->count[k] = (uint32_t)function_field_count(f, k);
        if (k < f->n_inputs)
            continue;
        x->offset[k - f->n_inputs] = at;
        at += x->count[k];
    }
    x->bytes = n * (sizeof(Cell) + sizeof(void *));
    for (uint32_t k = 0; k < n; k++)
        if (external_parameter(f, k).is_address)
            x->bytes += copied_bytes(x, f->external->arguments.at[k].field);
}

ExternalCode *external_code_create(const Function *f, ExternalAddresses at, ExternalFailures failures, Arena *arena)
{
    LoadedCode *x = NEW(arena, LoadedCode);
    const uint32_t n = f->external->arguments.n;
    *x = (LoadedCode){ .function = f, .failures = failures, .types = NEW_ARRAY(arena, ffi_type *, n + 1u) };
    x->code = (ExternalCode){ .call = call,
                              .after = after,
                              .done = done,
                              .failure = failure,
                              .address = at.function,
                              .destructor = at.destructor,
                              .end = end_object,
                              .failures = failures.failures ? failures.failures : &x->never,
                              .alarm = 1 };
    for (uint32_t k = 0; k < n; k++)
        x->types[k] = type_of(f, k);
    measure(x, arena);
    return ffi_prep_cif(&x->cif, FFI_DEFAULT_ABI, n, type_returned(f), x->types) == FFI_OK ? &x->code : NULL;
}
