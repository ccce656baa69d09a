/* The bank file: reading and changing it. Lines are
 *
 *     use CLASS VERSION
 *     import FOLDER
 *     import CLASS from FOLDER [as NAME]
 *
 * Words with blanks stand between quotation marks; # begins a comment. */
#ifndef BANK_BANK_FILE_H
#define BANK_BANK_FILE_H

#include "bank/bank.h"

/* Fills in uses and imports from the text of bank->source; mistakes are reported, their lines are left out. */
void bank_file_read(Bank *bank, const Sources *sources, Arena *arena, Diag *diag);
/* A name of a class or version that cannot leave its folder. */
bool bank_is_name(const char *name);

#endif
