/* This model as a component of another one: foreign f "component.so" "koine_component()" in (...) out (...) */
#include "alone/load.h"

extern const KoineAlone koine_alone; /* model.c */
const KoineModelKind *koine_component(void);

static KoineCode code;
static KoineModelKind *kind;

/* The same one always, until the library is unloaded; NULL: a component of its own is missing. */
const KoineModelKind *koine_component(void)
{
    if (kind || koine_alone_load(&koine_alone))
        return kind;
    code = koine_alone_code(&koine_alone);
    kind = koine_machine_kind(koine_alone.program, &code);
    return kind;
}

__attribute__((destructor)) static void release(void)
{
    koine_machine_free(kind);
}
