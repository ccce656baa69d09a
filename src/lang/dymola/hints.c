/* Help for names that are not there; see parser.h. */
#include "base/ascii.h"
#include "lang/dymola/library.h"
#include "lang/dymola/parser.h"

/* Does the text of a library declare the class? Its name stands behind `class` or behind the class it extends. */
static bool declares(const char *text, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(text, "model class "); at; at = strstr(at + 1, "model class ")) {
        at += strlen("model class ");
        if (*at == '(')
            at += strcspn(at, ")\n") + 2;
        if (strncmp(at, name, n) == 0 && !is_name_character(at[n]))
            return true;
    }
    return false;
}

static const char *nearest_class(const Parser *parser, const char *name)
{
    uint32_t best = 3;
    const char *nearest = NULL;
    for (const Class *outer = parser->class; outer; outer = outer->outer)
        for (uint32_t k = 0; k < outer->classes.n; k++) {
            const char *other = names_of(parser->lexer.names, outer->classes.at[k]->name.name);
            const uint32_t distance = edit_distance(name, other, best);
            if (distance < best && distance < strlen(name)) {
                best = distance;
                nearest = other;
            }
        }
    return nearest;
}

void dym_advise_on_class(const Parser *parser, NameId wanted)
{
    const char *name = names_of(parser->lexer.names, wanted);
    bool is_open = parser->ahead.kind == TOKEN_NAME && name_equal(parser->ahead.name, wanted); /* (A) A */
    for (const Class *class = parser->class; class; class = class->outer)
        is_open = is_open || name_equal(class->name.name, wanted);
    if (is_open) {
        diag_help(parser->diag, "`%s` is not complete here: a class can neither contain nor extend itself", name);
        return;
    }
    for (const LibraryFile *file = dym_library; file->name; file++)
        if (declares(file->text, name)) {
            diag_help(parser->diag, "it is a class of the library: write @%s before it", file->name);
            return;
        }
    const char *nearest = nearest_class(parser, name);
    if (nearest)
        diag_help(parser->diag, "did you mean `%s`?", nearest);
    else
        diag_help(parser->diag, "a class stands before its use, or in a file included by @file before it");
}
