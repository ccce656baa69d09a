/* What the names of a component stand for, without regard to capitals. */
#ifndef LANG_SIMPLEX_SCOPE_H
#define LANG_SIMPLEX_SCOPE_H

#include "base/map.h"
#include "base/names.h"
#include "lang/simplex/ast.h"
#include "lang/simplex/report.h"

typedef enum {
    SYMBOL_QUANTITY,  /* object: quantity */
    SYMBOL_VALUE,     /* object: value set; number */
    SYMBOL_SET,       /* object: value set */
    SYMBOL_TABLE,     /* object: table */
    SYMBOL_FUNCTION,  /* object: procedure */
    SYMBOL_DIMENSION, /* object: dimension */
    SYMBOL_SUB,       /* object: subcomponent */
    SYMBOL_INPUT,     /* object: first row of the links of this input */
    SYMBOL_OUTPUT,    /* object: equivalence */
    SYMBOL_UNKNOWN    /* used without declaration, and reported */
} SymbolKind;

typedef struct {
    uint8_t kind; /* SymbolKind */
    uint32_t object;
    uint32_t number;
    Ident name; /* as declared */
} Symbol;

typedef struct {
    Arena *arena;
    Names *names;
    Diag *diag;
    uint32_t *errors;
    bool is_strict;
    Map symbols; /* name -> symbol, as declared and with small letters only */
    VEC(Symbol) list;
} Scope;

/* `given` has arena, names, diag, errors and is_strict. */
Scope mdl_scope_begin(Scope given);
NameId mdl_fold_name(Names *names, Arena *arena, NameId name); /* with small letters only */
/* The value of a map that has names as declared and with small letters only. */
bool mdl_map_get_name(const Map *map, Names *names, Arena *arena, NameId name, uint32_t *value);
void mdl_map_put_name(Map *map, Names *names, Arena *arena, NameId name, uint32_t value);
/* Reports a name that is taken or belongs to a standard function; false. */
bool mdl_scope_declare(Scope *scope, Symbol symbol);
/* ID_NONE: not declared. A spelling that differs from the declaration's is reported (a warning, in the strict profile
 * an error). */
uint32_t mdl_scope_find(Scope *scope, NameId name, Span used_at);
/* As scope_find, and reports an unknown name once: it is SYMBOL_UNKNOWN from then on. `what`: "quantity", ... */
uint32_t mdl_scope_use(Scope *scope, NameId name, Span used_at, DiagCode code, const char *what);
void mdl_report_spelling(Scope *scope, Span used_at, Ident declared);

/* The nearest of the names offered; for "did you mean". */
typedef struct {
    const char *wanted, *best;
    uint32_t distance;
} Nearest;
Nearest mdl_nearest_to(const char *wanted);
void mdl_nearest_offer(Nearest *nearest, const char *name);
void mdl_nearest_help(const Nearest *nearest, Diag *diag, const char *otherwise); /* otherwise NULL: says nothing */
bool mdl_is_worth_searching(const Diag *diag); /* false: so many errors that nobody reads the help */

#endif
