/* Whether code that is not Koine's may be executed: functions of C, foreign components.
 *
 * Such code has all rights of the user, so the user's word is needed, for each function and component: a switch, the
 * files by name, or a folder that is trusted. Nothing that a model, an experiment or a bank says counts. */
#ifndef OUTSIDE_PERMISSION_H
#define OUTSIDE_PERMISSION_H

#include "outside/outside.h"
#include "trust/trust.h"

typedef struct {
    const Outside *outside;
    TrustedFolders trusted;
    const char *not_trusted; /* why the list of trusted folders does not count; NULL: it does */
} Judge;

Judge judge_of(const Outside *outside);
/* The user has named the file. */
bool judge_knows(const Judge *judge, const char *file);
/* The file of the model, as a source, lies in a folder that is trusted; so does a file. */
bool judge_trusts_source(const Judge *judge, uint32_t source);
bool judge_trusts(const Judge *judge, const char *file);
/* How it can be allowed, behind an error that says what is not; `options` name the files, a blank before each. */
void judge_help(const Judge *judge, const char *options);

#endif
