/* The members of a JSON object as rows for a table. Private to reports: it reads what Koine itself has written. */
#ifndef WEB_JSON_ROWS_H
#define WEB_JSON_ROWS_H

#include "base/text.h"
#include "base/vec.h"

typedef struct {
    const char *key, *value; /* key: of an object inside "set.D"; value: text without quotes, or as it stands */
} JsonRow;
typedef VEC(JsonRow) JsonRows;

/* Whether the whole text is one JSON object: what a file claims to be one is sent to the page only then. */
bool json_is_object(const char *text);

/* Whatever is not understood ends the rows. */
void json_rows(const char *text, Arena *arena, JsonRows *rows);
const char *json_row(const JsonRows *rows, const char *key); /* NULL: there is none, or it is null */

#endif
