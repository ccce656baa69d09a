/* Banks: folders of component classes, as docs/banks.md describes them.
 *
 * A class is a file CLASS.<ending> of the folder, or a folder CLASS with one file a version. The bank
 * file says which version is in use, and where classes are sought that are not here; only a folder that has one may
 * have versions and imports. Any folder is a bank of plain files. A bank is known by its real path, so that two banks
 * may import each other and a class is one class however it is reached. */
#ifndef BANK_BANK_H
#define BANK_BANK_H

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/language.h"

#define BANK_FILE    "koine.bank"
#define BANK_DEFAULT "Version0" /* in use where the bank file says nothing */

typedef struct {
    const char *class, *version;
    Span version_at, span;
} BankUse;

typedef struct {
    const char *class;  /* NULL: all of the bank's own classes */
    const char *as;     /* its name here */
    const char *folder; /* as written, relative to the bank */
    Span span;
} BankImport;

typedef struct {
    const char *folder; /* as it was first reached: "" or ending with a slash */
    bool has_file;
    uint32_t source; /* of the bank file */
    VEC(BankUse) uses;
    VEC(BankImport) imports;
    Map use_by_class; /* hash of the name */
} Bank;

typedef struct {
    Sources *sources;
    const Language *const *languages; /* besides the built-in ones; may be NULL */
    /* In place of what the banks say: "CLASS=VERSION", or "VERSION" for all classes that have it; ended by NULL. */
    const char *const *versions;
} BanksRequest;

typedef struct { /* all banks that one compilation meets; each is read once */
    BanksRequest request;
    Arena *arena;
    bool *is_met; /* parallel to request.versions: some class has it */
    VEC(Bank *) list;
    Map by_real_path, by_folder;
} Banks;

Banks *banks_create(const BanksRequest *request, Arena *arena);
/* "" and "." are the current folder. Mistakes in the bank file are reported when it is read, once. */
Bank *bank_open(Banks *banks, const char *folder, Diag *diag);
/* The bank of the classes that stand in a file: its folder, or the one above where the folder is a class. */
Bank *bank_of_file(Banks *banks, const char *path, Diag *diag);

typedef struct {
    const char *path;
    const char *class_name; /* what the file must hold; NULL: the name of the file is the only sign */
} BankHit;
/* The file of a class as seen from a bank: its own, then imports in their order. False: already reported. */
bool bank_find(Banks *banks, Bank *bank, const char *class_name, Span wanted_at, BankHit *hit, Diag *diag);
/* What a command line means by a folder: FOLDER and a class, or the folder of a class. */
bool bank_find_entry(Banks *banks, const char *folder, const char *class_name, BankHit *hit, Diag *diag);

/* Reports versions that were asked for and that neither the file `top` nor a class sought so far is. */
void banks_check_versions(const Banks *banks, const char *top, Diag *diag);

/* ---- what is in a bank ---- */
typedef struct {
    const char *name; /* "" for a plain file */
    const char *path;
} BankVersion;
typedef struct {
    const char *name;
    VEC(BankVersion) versions; /* by name */
    uint32_t active;           /* ID_NONE: none is in use, or two files claim to be */
} BankClass;
typedef VEC(BankClass) BankClasses;
/* Own classes, by name. Classes without a version in use and `use` lines for nothing are reported. False: the folder
 * cannot be read; reported. */
bool bank_list(Banks *banks, Bank *bank, BankClasses *classes, Diag *diag);

typedef struct {
    const char *const *class_names; /* sorted */
    uint32_t n;
    const char *version;
} BankChoice;
/* Records in the bank file, which is made if need be, that these classes use this version. False: *why. */
bool bank_use(const Bank *bank, const Sources *sources, const BankChoice *choice, Arena *arena, const char **why);

#endif
