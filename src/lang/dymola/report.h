/* Errors are counted here, because a Diag does not count what it has heard before: a text that is
 * loaded twice must fail twice. `owner` has `diag` and `errors`, the count of the load. */
#ifndef LANG_DYMOLA_REPORT_H
#define LANG_DYMOLA_REPORT_H

#include "base/diag.h"

#define REPORT(owner, ...) (++*(owner)->errors, diag_error((owner)->diag, __VA_ARGS__))

#endif
