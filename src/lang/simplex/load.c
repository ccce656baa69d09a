/* The language as the rest of the program sees it; see simplex.h. */
#include "base/ascii.h"
#include "lang/simplex/check.h"
#include "lang/simplex/compose.h"
#include "lang/simplex/lower.h"
#include "lang/simplex/parser.h"
#include "lang/simplex/simplex.h"

static bool is_same_name(const char *a, const char *b)
{
    while (*a && small_letter(*a) == small_letter(*b))
        a++, b++;
    return *a == *b;
}

static void check_class_name(const LoadRequest *request, const Component *component, const Scope *scope)
{
    const char *name = names_of(scope->names, component->name.name);
    if (!request->class_name || is_same_name(request->class_name, name))
        return;
    REPORT(scope, DIAG_MDL_CLASS_NAME, component->name.span, "this is the component `%s`, wanted is `%s`", name,
           request->class_name);
    diag_help(scope->diag, "a component stands in the file with its name: %s.mdl", name);
}

static Model *load_basic(const LoadRequest *request, Component *component, Scope scope)
{
    Checker checker = { .scope = scope,
                        .pool = request->pool,
                        .arena = scope.arena,
                        .diag = scope.diag,
                        .errors = scope.errors,
                        .resolver = request->resolver,
                        .component = component };
    return mdl_check_basic(&checker) ? mdl_lower_basic(&checker, request->sources) : NULL;
}

static Model *load(const LoadRequest *request, Diag *diag)
{
    enum { STRICT_MESSAGES = 10 }; /* what the original reported at most */
    uint32_t errors = 0;
    const Lexer lexer = { .source = request->source,
                          .is_strict = request->profile && strcmp(request->profile, "simplex") == 0,
                          .arena = pool_arena(request->pool),
                          .names = pool_names(request->pool),
                          .diag = diag,
                          .errors = &errors };
    const Scope scope = mdl_scope_begin((Scope){
        .arena = lexer.arena, .names = lexer.names, .diag = diag, .errors = &errors, .is_strict = lexer.is_strict });
    if (lexer.is_strict)
        diag_set_limit(diag, STRICT_MESSAGES);
    sources_set_language(request->sources, request->source, "simplex");
    Component *component = mdl_parse_component(mdl_lex_begin(sources_get(request->sources, request->source), lexer));
    if (!component)
        return NULL;
    check_class_name(request, component, &scope);
    Model *model =
        component->is_high_level ? mdl_compose_high(component, request, scope) : load_basic(request, component, scope);
    return errors == 0 ? model : NULL;
}

static const char *const extensions[] = { "mdl", NULL };

/* The table of the document. */
static const ProfileSetting settings[] = {
    { "TScal", 1e-3 }, { "TMax", 1e6 },      { "MaxTkt", 50 },    { "MaxCro", 50 },
    { "MaxCyc", 50 },  { "Eps", 1e-10 },     { "IntMeth", 3 },    { "IntStep", 0.1 },
    { "ErrEval", 2 },  { "HighRErr", 1e-6 }, { "LowRErr", 1e-7 }, { "StepMax", 10 },
    { "PrtDepth", 0 }, { "TPrtBeg", 0 },     { "TPrtEnd", 1e6 },  { NULL, 0 },
};
static const Profile profile = { .name = "simplex", .settings = settings };
const Language simplex_language = { .name = "simplex",
                                    .title = "SIMPLEX-MDL",
                                    .extensions = extensions,
                                    .profile = &profile,
                                    .load = load,
                                    .has_message_lines = true };
