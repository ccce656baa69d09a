/* Names without regard to capitals; see scope.h. */
#include "lang/simplex/scope.h"
#include "base/ascii.h"
#include "base/bug.h"
#include "lang/simplex/function.h"

Scope mdl_scope_begin(Scope given)
{
    Scope scope = given;
    map_init(&scope.symbols, scope.arena, 64);
    return scope;
}

NameId mdl_fold_name(Names *names, Arena *arena, NameId name)
{
    enum { FEW = 64 };
    char few[FEW];
    const char *text = names_of(names, name);
    const uint32_t length = names_length(names, name);
    char *small = length <= FEW ? few : NEW_ARRAY(arena, char, length);
    for (uint32_t k = 0; k < length; k++)
        small[k] = small_letter(text[k]);
    return memcmp(small, text, length) == 0 ? name : names_add(names, small, length);
}

bool mdl_map_get_name(const Map *map, Names *names, Arena *arena, NameId name, uint32_t *value)
{
    return map_get(map, name.index, value) || map_get(map, mdl_fold_name(names, arena, name).index, value);
}

void mdl_map_put_name(Map *map, Names *names, Arena *arena, NameId name, uint32_t value)
{
    const NameId folded = mdl_fold_name(names, arena, name);
    map_put(map, name.index, value);
    if (!name_equal(folded, name))
        map_put(map, folded.index, value);
}

/* ---- nearest names ---- */
Nearest mdl_nearest_to(const char *wanted)
{
    const size_t length = strlen(wanted);
    return (Nearest){ .wanted = wanted, .distance = length < 4 ? 2 : 3 };
}

void mdl_nearest_offer(Nearest *nearest, const char *name)
{
    const uint32_t distance = edit_distance(nearest->wanted, name, nearest->distance);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = name;
    }
}

void mdl_nearest_help(const Nearest *nearest, Diag *diag, const char *otherwise)
{
    if (nearest->best)
        diag_help(diag, "did you mean `%s`?", nearest->best);
    else if (otherwise)
        diag_help(diag, "%s", otherwise);
}

bool mdl_is_worth_searching(const Diag *diag)
{
    enum { READABLE = 50 };
    return diag_errors(diag) <= READABLE;
}

/* ---- symbols ---- */
static const char *kind_text(SymbolKind kind)
{
    switch (kind) {
    case SYMBOL_QUANTITY: return "a quantity";
    case SYMBOL_VALUE: return "a value";
    case SYMBOL_SET: return "a value set";
    case SYMBOL_TABLE: return "a tabular function";
    case SYMBOL_FUNCTION: return "a function";
    case SYMBOL_DIMENSION: return "a dimension";
    case SYMBOL_SUB: return "a subcomponent";
    case SYMBOL_INPUT: return "an input";
    case SYMBOL_OUTPUT: return "an output";
    case SYMBOL_UNKNOWN: return "unknown";
    }
    BUG("unknown SymbolKind");
}

bool mdl_scope_declare(Scope *scope, Symbol symbol)
{
    const char *text = names_of(scope->names, symbol.name.name);
    uint32_t earlier;
    FunctionId function;
    if (mdl_map_get_name(&scope->symbols, scope->names, scope->arena, symbol.name.name, &earlier)) {
        const Symbol *first = &scope->list.at[earlier];
        REPORT(scope, DIAG_MDL_DECLARED_TWICE, symbol.name.span, "`%s` is already declared", text);
        diag_note(scope->diag, first->name.span, "as %s here", kind_text(first->kind));
        diag_help(scope->diag, "use another name; capitals and small letters do not make a difference");
        return false;
    }
    mdl_map_put_name(&scope->symbols, scope->names, scope->arena, symbol.name.name, scope->list.n);
    vec_push(scope->arena, &scope->list, symbol);
    if (mdl_function_find(text, &function)) {
        REPORT(scope, DIAG_MDL_STANDARD_NAME, symbol.name.span, "`%s` is the name of the standard function %s", text,
               mdl_function_row(function)->name);
        diag_help(scope->diag, "use another name; capitals and small letters do not make a difference");
        return false;
    }
    return true;
}

void mdl_report_spelling(Scope *scope, Span used_at, Ident declared)
{
    const char *text = names_of(scope->names, declared.name);
    if (scope->is_strict)
        REPORT(scope, DIAG_MDL_SPELLING, used_at, "`%s` is declared with other capitals", text);
    else
        diag_warning(scope->diag, DIAG_MDL_SPELLING, used_at, "`%s` is declared with other capitals", text);
    diag_note(scope->diag, declared.span, "declared here");
    diag_help(scope->diag, "write `%s` as in its declaration", text);
}

uint32_t mdl_scope_find(Scope *scope, NameId name, Span used_at)
{
    uint32_t symbol;
    if (!mdl_map_get_name(&scope->symbols, scope->names, scope->arena, name, &symbol))
        return ID_NONE;
    if (!name_equal(scope->list.at[symbol].name.name, name) && scope->list.at[symbol].kind != SYMBOL_UNKNOWN)
        mdl_report_spelling(scope, used_at, scope->list.at[symbol].name);
    return symbol;
}

uint32_t mdl_scope_use(Scope *scope, NameId name, Span used_at, DiagCode code, const char *what)
{
    uint32_t symbol = mdl_scope_find(scope, name, used_at);
    if (symbol != ID_NONE)
        return symbol;
    const char *text = names_of(scope->names, name);
    REPORT(scope, code, used_at, "there is no %s `%s`", what, text);
    if (mdl_is_worth_searching(scope->diag)) {
        Nearest nearest = mdl_nearest_to(text);
        for (uint32_t k = 0; k < scope->list.n; k++)
            if (scope->list.at[k].kind != SYMBOL_UNKNOWN)
                mdl_nearest_offer(&nearest, names_of(scope->names, scope->list.at[k].name.name));
        mdl_nearest_help(&nearest, scope->diag, "declare it; only names of this component can be used");
    }
    symbol = scope->list.n;
    mdl_map_put_name(&scope->symbols, scope->names, scope->arena, name, symbol);
    const Symbol unknown = { .kind = SYMBOL_UNKNOWN, .name = { name, used_at } };
    vec_push(scope->arena, &scope->list, unknown);
    return symbol;
}
