/* Banks: opening, seeking, listing; see bank.h. */
#include "bank/bank.h"
#include "base/ids.h"
#include "base/names.h"
#include "base/text.h"
#include "bank/bank_file.h"
#include "lang/languages.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text), 7);
}

Banks *banks_create(const BanksRequest *request, Arena *arena)
{
    Banks *banks = NEW(arena, Banks);
    banks->request = *request;
    banks->arena = arena;
    uint32_t n = 0;
    while (request->versions && request->versions[n])
        n++;
    banks->is_met = NEW_ARRAY(arena, bool, n);
    map_init(&banks->by_real_path, arena, 16);
    map_init(&banks->by_folder, arena, 16);
    return banks;
}

/* ---- opening ---- */
/* "" or with a slash at the end. */
static const char *clean_folder(const char *folder, Arena *arena)
{
    size_t n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/')
        n--;
    if (n == 0)
        return folder[0] == '/' ? "/" : "";
    return n == 1 && folder[0] == '.' ? "" : arena_format(arena, "%.*s/", (int)n, folder);
}

static bool has_bank_file(const char *folder, Arena *arena)
{
    return access(arena_format(arena, "%s" BANK_FILE, folder), F_OK) == 0;
}

static Bank *read_bank(Banks *banks, const char *folder, Diag *diag)
{
    Arena *arena = banks->arena;
    Bank *bank = NEW(arena, Bank);
    bank->folder = folder;
    map_init(&bank->use_by_class, arena, 16);
    vec_push(arena, &banks->list, bank);
    if (!has_bank_file(folder, arena))
        return bank;
    bank->has_file = true;
    const char *path = arena_format(arena, "%s" BANK_FILE, folder);
    if (sources_open(banks->request.sources, path, &bank->source) != SOURCE_OK) {
        diag_error(diag, DIAG_FILE_UNREADABLE, SPAN_NONE, "the bank file '%s' cannot be read", path);
        diag_help(diag, "it is a text file that says which versions of classes are in use");
        bank->source = sources_add_text(banks->request.sources, path, "", 0);
        return bank;
    }
    bank_file_read(bank, banks->request.sources, arena, diag);
    return bank;
}

Bank *bank_open(Banks *banks, const char *folder, Diag *diag)
{
    folder = clean_folder(folder, banks->arena);
    const uint64_t by_name = hash_text(folder);
    uint32_t known;
    if (map_get(&banks->by_folder, by_name, &known))
        return banks->list.at[known];
    char *real = realpath(folder[0] ? folder : ".", NULL);
    const uint64_t by_path = hash_text(real ? real : folder);
    free(real);
    if (!map_get(&banks->by_real_path, by_path, &known)) {
        known = banks->list.n;
        map_put(&banks->by_real_path, by_path, known);
        read_bank(banks, folder, diag);
    }
    map_put(&banks->by_folder, by_name, known);
    return banks->list.at[known];
}

static const char *folder_of(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_text(arena, path, (size_t)(slash + 1 - path)) : "";
}

/* The folder above `folder`, which is "" or ends with a slash. */
static const char *above(const char *folder, Arena *arena)
{
    const size_t n = strlen(folder);
    if (n == 0 || (n >= 3 && strcmp(folder + n - 3, "../") == 0) || strcmp(folder, "./") == 0)
        return arena_format(arena, "%s../", folder);
    const char *cut = arena_text(arena, folder, n - 1), *slash = strrchr(cut, '/');
    return slash ? arena_text(arena, cut, (size_t)(slash + 1 - cut)) : "";
}

Bank *bank_of_file(Banks *banks, const char *path, Diag *diag)
{
    const char *folder = folder_of(path, banks->arena);
    uint32_t known;
    if (map_get(&banks->by_folder, hash_bytes(folder, strlen(folder), 8), &known))
        return banks->list.at[known];
    const char *upper = above(folder, banks->arena);
    const bool is_class = !has_bank_file(folder, banks->arena) && has_bank_file(upper, banks->arena);
    Bank *bank = bank_open(banks, is_class ? upper : folder, diag);
    for (known = 0; banks->list.at[known] != bank;)
        known++;
    map_put(&banks->by_folder, hash_bytes(folder, strlen(folder), 8), known);
    return bank;
}

/* ---- versions ---- */
static const char *version_name(const char *file, Arena *arena)
{
    const char *dot = strrchr(file, '.');
    return arena_text(arena, file, dot ? (size_t)(dot - file) : strlen(file));
}

static int by_version(const void *a, const void *b)
{
    return natural_compare(((const BankVersion *)a)->name, ((const BankVersion *)b)->name);
}

static void list_versions(const Banks *banks, const char *folder, BankClass *class)
{
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        if (bank_is_name(e->d_name) && language_of(banks->request.languages, e->d_name)) {
            const BankVersion version = { version_name(e->d_name, banks->arena),
                                          arena_format(banks->arena, "%s%s", folder, e->d_name) };
            vec_push(banks->arena, &class->versions, version);
        }
    closedir(d);
    if (class->versions.n > 1)
        qsort(class->versions.at, class->versions.n, sizeof *class->versions.at, by_version);
}

/* What was asked for this time, in place of what the bank says; NULL: nothing. */
static const char *asked_version(const Banks *banks, const BankClass *class)
{
    const size_t n = strlen(class->name);
    const char *found = NULL;
    for (uint32_t k = 0; banks->request.versions && banks->request.versions[k]; k++) {
        const char *asked = banks->request.versions[k];
        if (strncmp(asked, class->name, n) == 0 && asked[n] == '=') {
            banks->is_met[k] = true;
            return asked + n + 1;
        }
        for (uint32_t j = 0; !strchr(asked, '=') && j < class->versions.n; j++)
            if (strcmp(class->versions.at[j].name, asked) == 0) {
                banks->is_met[k] = true;
                found = asked;
            }
    }
    return found;
}

void banks_check_versions(const Banks *banks, const char *top, Diag *diag)
{
    const char *slash = strrchr(top, '/'), *stem = version_name(slash ? slash + 1 : top, banks->arena);
    for (uint32_t k = 0; banks->request.versions && banks->request.versions[k]; k++) {
        const char *equals = strchr(banks->request.versions[k], '=');
        const bool is_top = strcmp(equals ? equals + 1 : banks->request.versions[k], stem) == 0;
        if (!banks->is_met[k] && !is_top) {
            diag_error(diag, DIAG_BANK_VERSION, SPAN_NONE, "no class of this model has the version '%s'",
                       banks->request.versions[k]);
            diag_help(diag, "versions are written CLASS=VERSION, or VERSION for all classes that have it");
        }
    }
}

static const char *list_of_versions(const BankClass *class, Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; k < class->versions.n; k++)
        text_format(&text, "%s%s", k ? ", " : "", class->versions.at[k].name);
    return text.at;
}

static uint32_t version_index(const BankClass *class, const char *name)
{
    for (uint32_t k = 0; k < class->versions.n; k++)
        if (strcmp(class->versions.at[k].name, name) == 0)
            return k;
    return ID_NONE;
}

/* Chooses the version in use of a class with at least one version; ID_NONE: already reported. */
static uint32_t choose_version(Banks *banks, const Bank *bank, const BankClass *class, Span wanted_at, Diag *diag)
{
    const char *asked = asked_version(banks, class);
    const BankUse *use = NULL;
    uint32_t row;
    if (!asked && map_get(&bank->use_by_class, hash_bytes(class->name, strlen(class->name), 0), &row))
        use = &bank->uses.at[row];
    const char *name = asked ? asked : use ? use->version : BANK_DEFAULT;
    const uint32_t found = version_index(class, name);
    if (found != ID_NONE)
        return found;
    if (!asked && !use && class->versions.n == 1)
        return 0;
    if (!asked && !use) {
        diag_error(diag, DIAG_BANK_NO_VERSION, wanted_at, "the class '%s' has several versions and none is in use",
                   class->name);
        diag_help(diag, "choose one of %s: koine bank use %s %s", list_of_versions(class, banks->arena), class->name,
                  class->versions.at[0].name);
        return ID_NONE;
    }
    diag_error(diag, DIAG_BANK_VERSION, use ? use->version_at : wanted_at, "the class '%s' has no version '%s'",
               class->name, name);
    diag_help(diag, "its versions are %s", list_of_versions(class, banks->arena));
    return ID_NONE;
}

static void report_two(const BankClass *class, Span wanted_at, Diag *diag)
{
    diag_error(diag, DIAG_BANK_TWICE, wanted_at, "the class '%s' stands in a file and in a folder", class->name);
    diag_help(diag, "move '%s' into the folder: its name becomes that of a version", class->versions.at[0].path);
}

/* ---- seeking ---- */
typedef enum { SEEK_NOTHING, SEEK_FOUND, SEEK_REPORTED } Seek;

static Seek seek_own(Banks *banks, Bank *bank, const char *class_name, Span wanted_at, BankHit *hit, Diag *diag)
{
    Arena *arena = banks->arena;
    const char *base = arena_format(arena, "%s%s", bank->folder, class_name);
    const char *plain = language_file(banks->request.languages, base, arena);
    BankClass class = { .name = class_name };
    if (bank->has_file) {
        if (plain)
            vec_push(arena, &class.versions, ((BankVersion){ "", plain }));
        list_versions(banks, arena_format(arena, "%s/", base), &class);
    }
    if (plain) {
        *hit = (BankHit){ plain, NULL };
        if (class.versions.n <= 1)
            return SEEK_FOUND;
        report_two(&class, wanted_at, diag);
        return SEEK_REPORTED;
    }
    if (class.versions.n == 0)
        return SEEK_NOTHING;
    const uint32_t active = choose_version(banks, bank, &class, wanted_at, diag);
    if (active == ID_NONE)
        return SEEK_REPORTED;
    *hit = (BankHit){ class.versions.at[active].path, arena_text(arena, class_name, strlen(class_name)) };
    return SEEK_FOUND;
}

/* The bank an import names; NULL: there is no such folder, reported. */
static Bank *imported_bank(Banks *banks, const Bank *bank, const BankImport *import, Diag *diag)
{
    const char *folder =
        import->folder[0] == '/' ? import->folder : arena_format(banks->arena, "%s%s", bank->folder, import->folder);
    struct stat s;
    if (stat(folder, &s) == 0 && S_ISDIR(s.st_mode))
        return bank_open(banks, folder, diag);
    diag_error(diag, DIAG_BANK_IMPORT, import->span, "there is no folder '%s' to import from", folder);
    diag_help(diag, "folders are relative to that of the bank file");
    return NULL;
}

/* A class, and where its name stands in a file; SPAN_NONE: the user named it. */
typedef struct {
    const char *class_name;
    Span at;
} Wanted;

static Seek seek_import(Banks *banks, Bank *bank, const BankImport *import, const Wanted *wanted, BankHit *hit,
                        Diag *diag)
{
    if (import->class && strcmp(import->as, wanted->class_name) != 0)
        return SEEK_NOTHING;
    Bank *other = imported_bank(banks, bank, import, diag);
    if (!other)
        return import->class ? SEEK_REPORTED : SEEK_NOTHING;
    const Seek seek = seek_own(banks, other, import->class ? import->class : wanted->class_name, wanted->at, hit, diag);
    if (seek != SEEK_NOTHING || !import->class)
        return seek;
    diag_error(diag, DIAG_BANK_IMPORT, import->span, "there is no class '%s' in '%s'", import->class, other->folder);
    diag_help(diag, "a bank gives away its own classes, not those it imports");
    return SEEK_REPORTED;
}

static Seek seek_imports(Banks *banks, Bank *bank, bool by_name, const Wanted *wanted, BankHit *hit, Diag *diag)
{
    Seek seek = SEEK_NOTHING;
    for (uint32_t k = 0; seek == SEEK_NOTHING && k < bank->imports.n; k++)
        if ((bank->imports.at[k].class != NULL) == by_name)
            seek = seek_import(banks, bank, &bank->imports.at[k], wanted, hit, diag);
    return seek;
}

bool bank_find(Banks *banks, Bank *bank, const char *class_name, Span wanted_at, BankHit *hit, Diag *diag)
{
    const Wanted wanted = { class_name, wanted_at };
    Seek seek = SEEK_NOTHING;
    if (bank_is_name(class_name)) {
        seek = seek_own(banks, bank, class_name, wanted_at, hit, diag);
        if (seek == SEEK_NOTHING)
            seek = seek_imports(banks, bank, true, &wanted, hit, diag);
        if (seek == SEEK_NOTHING)
            seek = seek_imports(banks, bank, false, &wanted, hit, diag);
    }
    if (seek != SEEK_NOTHING)
        return seek == SEEK_FOUND;
    diag_error(diag, DIAG_UNKNOWN_CLASS, wanted_at, "there is no component class '%s'", class_name);
    struct stat state;
    const char *versions = arena_format(banks->arena, "%s%s", bank->folder, class_name);
    if (bank_is_name(class_name) && stat(versions, &state) == 0 && S_ISDIR(state.st_mode))
        diag_help(diag, "the folder '%s' may hold its versions: a line 'use %s VERSION' in '%skoine.bank' chooses one",
                  versions, class_name, bank->folder);
    else
        diag_help(diag, "a class lies in a file of its name, here '%s%s.%s'", bank->folder, class_name,
                  language_at(NULL, 0)->extensions[0]);
    return false;
}

bool bank_find_entry(Banks *banks, const char *folder, const char *class_name, BankHit *hit, Diag *diag)
{
    folder = clean_folder(folder, banks->arena);
    if (class_name)
        return bank_find(banks, bank_open(banks, folder, diag), class_name, SPAN_NONE, hit, diag);
    const char *upper = above(folder, banks->arena), *name = folder + strlen(upper);
    if (folder[0] && !strstr(folder, "../") && has_bank_file(upper, banks->arena))
        return bank_find(banks, bank_open(banks, upper, diag), arena_text(banks->arena, name, strlen(name) - 1),
                         SPAN_NONE, hit, diag);
    diag_error(diag, DIAG_BANK_FOLDER, SPAN_NONE, "'%s' is a folder, and no class is named", folder[0] ? folder : ".");
    diag_help(diag, "name a file, or a class of the bank: %.*s:CLASS", folder[0] ? (int)strlen(folder) - 1 : 1,
              folder[0] ? folder : ".");
    return false;
}

/* ---- listing ---- */
typedef struct {
    BankClasses *classes;
    Map by_name;
} Lister;

static BankClass *class_of(Lister *lister, const char *name, Arena *arena)
{
    uint32_t at;
    if (!map_get(&lister->by_name, hash_text(name), &at)) {
        at = lister->classes->n;
        map_put(&lister->by_name, hash_text(name), at);
        vec_push(arena, lister->classes, ((BankClass){ .name = name, .active = ID_NONE }));
    }
    return &lister->classes->at[at];
}

static bool is_folder(const char *path, const struct dirent *entry)
{
    struct stat s;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
        return entry->d_type == DT_DIR;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static void list_entry(const Banks *banks, const Bank *bank, Lister *lister, const struct dirent *entry)
{
    Arena *arena = banks->arena;
    const bool has_language = language_of(banks->request.languages, entry->d_name) != NULL;
    if (!bank_is_name(entry->d_name) || (!has_language && !bank->has_file))
        return;
    const char *path = arena_format(arena, "%s%s", bank->folder, entry->d_name);
    if (is_folder(path, entry)) {
        BankClass versions = { 0 };
        if (bank->has_file)
            list_versions(banks, arena_format(arena, "%s/", path), &versions);
        if (versions.versions.n == 0)
            return;
        BankClass *class = class_of(lister, arena_text(arena, entry->d_name, strlen(entry->d_name)), arena);
        for (uint32_t k = 0; k < versions.versions.n; k++)
            vec_push(arena, &class->versions, versions.versions.at[k]);
    } else if (has_language) {
        BankClass *class = class_of(lister, version_name(entry->d_name, arena), arena);
        vec_push(arena, &class->versions, ((BankVersion){ "", path }));
    }
}

static int by_class(const void *a, const void *b)
{
    return natural_compare(((const BankClass *)a)->name, ((const BankClass *)b)->name);
}

static void choose_active(Banks *banks, const Bank *bank, BankClass *class, Diag *diag)
{
    qsort(class->versions.at, class->versions.n, sizeof *class->versions.at, by_version);
    if (class->versions.at[0].name[0])
        class->active = choose_version(banks, bank, class, SPAN_NONE, diag);
    else if (class->versions.n == 1)
        class->active = 0;
    else
        report_two(class, SPAN_NONE, diag);
}

/* `use` lines for classes that are not here, or have nothing to choose from. */
static void check_uses(const Bank *bank, const Lister *lister, Diag *diag)
{
    for (uint32_t k = 0; k < bank->uses.n; k++) {
        const BankUse *use = &bank->uses.at[k];
        uint32_t at;
        if (map_get(&lister->by_name, hash_text(use->class), &at) && lister->classes->at[at].versions.at[0].name[0])
            continue;
        diag_warning(diag, DIAG_BANK_USELESS, use->span, "there is no class '%s' with versions here", use->class);
        diag_help(diag, "remove the line, or correct the name");
    }
}

bool bank_list(Banks *banks, Bank *bank, BankClasses *classes, Diag *diag)
{
    DIR *d = opendir(bank->folder[0] ? bank->folder : ".");
    if (!d) {
        diag_error(diag, DIAG_BANK_FOLDER, SPAN_NONE, "the folder '%s' cannot be read: %s", bank->folder,
                   strerror(errno));
        diag_help(diag, "name a folder with component classes");
        return false;
    }
    Lister lister = { .classes = classes };
    map_init(&lister.by_name, banks->arena, 64);
    for (const struct dirent *entry = readdir(d); entry; entry = readdir(d))
        list_entry(banks, bank, &lister, entry);
    closedir(d);
    for (uint32_t k = 0; k < classes->n; k++)
        choose_active(banks, bank, &classes->at[k], diag);
    check_uses(bank, &lister, diag);
    if (classes->n > 1)
        qsort(classes->at, classes->n, sizeof *classes->at, by_class);
    return true;
}
