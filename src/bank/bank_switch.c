#include "bank/bank_switch.h"
#include "base/ids.h"
#include <string.h>

static bool has_version(const BankClass *class, const char *version)
{
    for (uint32_t k = 0; version[0] && k < class->versions.n; k++)
        if (strcmp(class->versions.at[k].name, version) == 0)
            return true;
    return false;
}

/* Versions count once there is a bank file: without one they are listed as if there were. */
static bool list_classes(Banks *banks, Bank *bank, Sources *sources, Arena *arena, Diag *diag, BankClasses *classes)
{
    Diag *quiet = diag_create(arena, sources); /* versions that are wrong now may be what is mended */
    if (diag_errors(diag) || !bank_list(banks, bank, classes, bank->has_file ? quiet : diag))
        return false;
    if (bank->has_file)
        return true;
    bank->has_file = true;
    bank->source = sources_add_text(sources, "", "", 0);
    classes->n = 0;
    bank_list(banks, bank, classes, quiet);
    bank->has_file = false;
    return true;
}

SwitchEnd bank_switch(const BankSwitch *wanted, Sources *sources, Arena *arena, Diag *diag, SwitchReport *report)
{
    BankClasses classes = { 0 };
    VEC(const char *) names = { 0 };
    Banks *banks = banks_create(&(BanksRequest){ .sources = sources }, arena);
    Bank *bank = bank_open(banks, wanted->folder, diag);
    *report = (SwitchReport){ 0 };
    if (!list_classes(banks, bank, sources, arena, diag, &classes))
        return diag_errors(diag) ? SWITCH_BAD_BANK : SWITCH_NO_FOLDER;
    for (uint32_t k = 0; k < classes.n; k++) {
        const BankClass *class = &classes.at[k];
        const bool is_meant = !wanted->class_name || strcmp(class->name, wanted->class_name) == 0;
        const bool has_it = has_version(class, wanted->version);
        if (!is_meant || (!has_it && !wanted->class_name))
            continue;
        vec_push(arena, &report->classes, *class);
        vec_push(arena, &names, class->name);
        if (!has_it)
            return SWITCH_NO_VERSION;
    }
    if (names.n == 0)
        return SWITCH_NO_CLASS;
    return bank_use(bank, sources, &(BankChoice){ names.at, names.n, wanted->version }, arena, &report->why)
               ? SWITCH_DONE
               : SWITCH_UNWRITTEN;
}
