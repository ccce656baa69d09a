/* Filling Executable with the functions of a loaded object; see native.h. */
#include "emit/c/native.h"
#include "emit/c/external.h"
#include "ir/external.h"
#include "koine/objects.h"
#include "koine/texts.h"

/* The address of a function, put where the text has a pointer to one. */
static void put_function(void *place, void (*address)(void))
{
    memcpy(place, &address, sizeof address);
}

static void put_address(void *place, const volatile void *address)
{
    memcpy(place, &address, sizeof address);
}

static uint32_t watched(const void *code, KoineSlot *calls, const KoineSlot *in, KoineSlot *out)
{
    ExternalCode *external = (ExternalCode *)(uintptr_t)code;
    return external->call(external, calls, (const Value *)(const void *)in, (Value *)(void *)out, true);
}

static uint32_t after(const void *code)
{
    ExternalCode *external = (ExternalCode *)(uintptr_t)code;
    return external->after(external);
}

static const void *text_of(const KoineSlot *calls, int64_t number)
{
    uint32_t n;
    return koine_text_at(calls, number, &n);
}

static uint32_t object_made(const KoineSlot *calls, int64_t number, void *object, const void *code)
{
    const ExternalCode *external = code;
    return koine_object_made(calls, number, object, (KoineObjectEnd){ external->end, external });
}

static void done(const void *code)
{
    ExternalCode *external = (ExternalCode *)(uintptr_t)code;
    external->done(external);
}

static void fill_externals(const Code *code, void *const *places)
{
    put_function(places[EXTERNAL_PLACE_WATCHED], (void (*)(void))watched);
    put_function(places[EXTERNAL_PLACE_AFTER], (void (*)(void))after);
    put_function(places[EXTERNAL_PLACE_TEXT], (void (*)(void))text_of);
    put_function(places[EXTERNAL_PLACE_OBJECT], (void (*)(void))koine_object_of);
    put_function(places[EXTERNAL_PLACE_MADE], (void (*)(void))object_made);
    put_function(places[EXTERNAL_PLACE_TAKE], (void (*)(void))koine_text_take);
    put_function(places[EXTERNAL_PLACE_DONE], (void (*)(void))done);
    places += EXTERNAL_PLACES;
    for (uint32_t k = 0; k < code->n_routines; k++) {
        const External *e = code->routines[k]->function->external;
        if (!e)
            continue;
        put_function(places[0], e->code->address);
        put_address(places[1], e->code);
        put_address(places[2], &e->code->alarm);
        put_address(places[3], e->code->failures);
        places += EXTERNAL_EACH;
    }
}

bool native_fill(Executable *executable, const Code *code, const NativeParts *parts)
{
    const NativeTable *native = parts->table;
    const bool wants_externals = has_externals(code);
    if (!native || native->n_sections != code->n_sections || native->n_kernels != code->n_kernels ||
        (code->derivatives_section != KOINE_NONE && !parts->derivatives) || (wants_externals && !parts->externals))
        return false;
    executable->code.sections = native->sections;
    executable->code.kernels = native->kernels;
    if (native->text)
        *native->text = koine_text_apply;
    if (parts->derivatives) /* ISO C has no conversion of an object pointer to a function pointer; POSIX has */
        memcpy(&executable->code.derivatives, &parts->derivatives, sizeof parts->derivatives);
    if (wants_externals)
        fill_externals(code, parts->externals);
    return true;
}
