/* Any bytes as a bank file, in a folder with classes and versions: refused or read; what is found lies in a bank, and
 * what is written into the file is read back. */
#include "bank/bank.h"
#include "bank/bank_file.h"
#include "place.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* B.mdl, A/Version0.mdl, A/V1.mdl, and below `other` a bank with a class of its own; `secret.mdl` lies in no bank. */
static const char *make_banks(void)
{
    static char folder[128];
    static const char *const folders[] = { "bank", "bank/A", "bank/other" };
    static const char *const files[] = { "bank/B.mdl", "bank/A/Version0.mdl", "bank/A/V1.mdl", "bank/other/C.mdl",
                                         "secret.mdl" };
    static const char text[] = "BASIC COMPONENT B\nEND OF B\n";
    if (folder[0])
        return folder;
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
        mkdir(place_path(folders[k]), 0700);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        place_write(place_path(files[k]), text, sizeof text - 1);
    snprintf(folder, sizeof folder, "%s/bank/", place_folder());
    return folder;
}

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    Banks *banks;
    Bank *bank;
} World;

static World open_world(const char *folder)
{
    World w = { .arena = arena_create(NULL) };
    w.sources = sources_create(w.arena);
    w.diag = diag_create(w.arena, w.sources);
    w.banks = banks_create(&(BanksRequest){ .sources = w.sources }, w.arena);
    w.bank = bank_open(w.banks, folder, w.diag);
    return w;
}

static void look(World *w, const char *class_name)
{
    BankHit hit = { 0 };
    if (!bank_find(w->banks, w->bank, class_name, SPAN_NONE, &hit, w->diag))
        return;
    check(hit.path != NULL, "found, but nowhere");
    const char *const file = strrchr(hit.path, '/');
    check(strcmp(file ? file + 1 : hit.path, "secret.mdl") != 0 || strstr(class_name, "secret"),
          "a name has left its folder");
}

static void write_and_read_back(const char *folder, const char *version)
{
    static const char *const classes[] = { "A", "Z" };
    World w = open_world(folder);
    const char *why = NULL;
    check(bank_use(w.bank, w.sources, &(BankChoice){ classes, 2, version }, w.arena, &why),
          "the bank file cannot be written");
    const size_t n_errors = diag_errors(w.diag);
    World again = open_world(folder);
    check(diag_errors(again.diag) <= n_errors, "what was written is not understood");
    for (uint32_t c = 0; c < 2; c++) {
        bool is_found = false;
        for (uint32_t k = 0; k < again.bank->uses.n; k++)
            is_found |= strcmp(again.bank->uses.at[k].class, classes[c]) == 0 &&
                        strcmp(again.bank->uses.at[k].version, version) == 0;
        check(is_found || n_errors, "the version in use is another one");
    }
    arena_destroy(again.arena);
    arena_destroy(w.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const folder = make_banks();
    place_write(place_path("bank/" BANK_FILE), data, size);
    World w = open_world(folder);
    for (uint32_t k = 0; k < w.bank->uses.n; k++)
        check(bank_is_name(w.bank->uses.at[k].class) && bank_is_name(w.bank->uses.at[k].version), "a name with a path");
    static const char *const sought[] = { "A", "B", "C", "secret", "../secret", "D" };
    for (size_t k = 0; k < sizeof sought / sizeof *sought; k++)
        look(&w, sought[k]);
    for (uint32_t k = 0; k < w.bank->imports.n && k < 8; k++)
        if (w.bank->imports.at[k].class)
            look(&w, w.bank->imports.at[k].as);
    BankClasses classes = { 0 };
    bank_list(w.banks, w.bank, &classes, w.diag);
    diag_json(w.diag, w.arena);
    write_and_read_back(folder, "V1");
    arena_destroy(w.arena);
    return 0;
}
