/* Checking a whole bank, class by class and bottom up, each class once for as long as neither its text nor what it
 * sees of the classes it uses has changed. What was found is kept in the store; see class_record.h. */
#ifndef BANK_BANK_CHECK_H
#define BANK_BANK_CHECK_H

#include "bank/bank.h"
#include "bank/class_record.h"

typedef struct {
    const char *path;
    const char *class_name; /* what it must hold; NULL: whatever */
    uint8_t state;          /* FileState of bank_check.c */
    bool is_known;          /* the record is from the store, and the text the same */
    bool is_present;        /* there is such a file */
    bool is_own;            /* of the bank itself */
    FileStamp stamp;
    ClassRecord record;
} CheckedFile;

typedef struct {
    const char *folder, *profile;
    const Language *const *languages; /* besides the built-in ones; may be NULL */
    bool without_store;               /* nothing is known, nothing is kept */
} BankCheckRequest;

typedef struct {
    BankCheckRequest request;
    Arena *arena;
    Diag *diag;
    Sources *sources;
    Banks *banks;
    Bank *bank;
    BankClasses classes;
    uint32_t *first_file; /* of a class: its versions in their order */
    Map class_by_name;
    VEC(CheckedFile *) files; /* those of the bank, then others that they use */
    Map file_by_path;
    uint32_t n_own;
    uint32_t n_translated; /* files read and checked in this run */
    uint32_t n_wrong;      /* of our own files */
    uint32_t depth;
    struct KnownRecords *known; /* from the store */
    bool is_changed;            /* the store does not say what it should */
} BankCheck;

/* Diagnostics of all classes are in `diag` afterwards, also those known from before. False: there is no such bank. */
bool bank_check(BankCheck *check, const BankCheckRequest *request, Sources *sources, Diag *diag, Arena *arena);
/* The file of a version, and of the version in use (NULL: there is none). */
const CheckedFile *bank_check_file(const BankCheck *check, uint32_t class, uint32_t version);
const CheckedFile *bank_check_active(const BankCheck *check, uint32_t class);

#endif
