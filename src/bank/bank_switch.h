/* Classes of a bank change to another version. */
#ifndef BANK_BANK_SWITCH_H
#define BANK_BANK_SWITCH_H

#include "bank/bank.h"

typedef struct {
    const char *folder;
    const char *class_name; /* NULL: all classes that have the version */
    const char *version;
} BankSwitch;

typedef enum {
    SWITCH_DONE,
    SWITCH_BAD_BANK,   /* reported */
    SWITCH_NO_FOLDER,  /* reported */
    SWITCH_NO_CLASS,   /* that has the name, or the version */
    SWITCH_NO_VERSION, /* of the class */
    SWITCH_UNWRITTEN   /* the bank file cannot be changed */
} SwitchEnd;

typedef struct {
    BankClasses classes; /* those that changed, as they were; with SWITCH_NO_VERSION the one that lacks it */
    const char *why;     /* SWITCH_UNWRITTEN */
} SwitchReport;

/* The bank file records the change; it is made if need be. */
SwitchEnd bank_switch(const BankSwitch *wanted, Sources *sources, Arena *arena, Diag *diag, SwitchReport *report);

#endif
