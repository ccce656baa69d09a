/* Any bytes as a layout of the page, or as what a result says about its run: it reaches the page only if it is JSON, in
 * the judgement of a second reader. */
#include "base/utf8.h"
#include "json_strict.h"
#include "web/json_rows.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { DEPTH = 64 };
    char *const text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    const char *const begin = strict_blanks(text), *const end = *begin == '{' ? strict_value(begin, DEPTH) : NULL;
    const bool is_json = end && !*strict_blanks(end) && utf8_is_valid(text, strlen(text));
    if (json_is_object(text) != is_json) {
        fprintf(stderr, "it is %s JSON\n", is_json ? "" : "no");
        abort();
    }
    Arena *const arena = arena_create(NULL);
    JsonRows rows = { 0 };
    json_rows(text, arena, &rows);
    arena_destroy(arena);
    free(text);
    return 0;
}
