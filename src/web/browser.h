/* The browser of the user. */
#ifndef WEB_BROWSER_H
#define WEB_BROWSER_H

#include "base/arena.h"
#include <stdbool.h>

bool browser_has_display(void);
/* Writes a page that leads to the address. Others can read the arguments of a process, but not this file. NULL: there
 * is no place for it. */
const char *browser_forwarder(const char *address, Arena *arena);
/* Opens a page; whether there is a browser is not told. */
void browser_open(const char *page);

#endif
