/* This model as a component of another one: foreign f "component.so" "koine_component()" in (...) out (...) */
#include "koine/support.h"

extern const KoineAlone koine_alone; /* model.c */
const KoineModelKind *koine_component(void);

static KoineCode code;
static KoineModelKind *kind;

/* The same one always, until the library is unloaded. */
const KoineModelKind *koine_component(void)
{
    if (kind)
        return kind;
    code = koine_alone_code(&koine_alone);
    kind = koine_machine_kind(koine_alone.program, &code);
    return kind;
}

__attribute__((destructor)) static void release(void)
{
    koine_machine_free(kind);
}
