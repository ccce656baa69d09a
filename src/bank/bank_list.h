/* The classes of a bank that was checked, with their versions and users. */
#ifndef BANK_BANK_LIST_H
#define BANK_BANK_LIST_H

#include "bank/bank_check.h"
#include "base/text.h"

void bank_check_text(const BankCheck *check, Text *text); /* one sentence about all of them */
void bank_list_text(const BankCheck *check, Text *text);  /* a table for people */
/* An object with the diagnostics; is_good: nothing in the bank is wrong. */
void bank_list_json(const BankCheck *check, bool is_good, Text *text);

#endif
