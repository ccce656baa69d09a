/* See generate.h. */
#include "generate.h"

enum { MOST_OF_A_KIND = 4, DEPTH = 4 };

typedef enum { PARAMETER, STATE, REAL, INTEGER, BOOLEAN, KINDS } Kind;

typedef struct {
    Choices *from;
    GenerateLanguage language;
    Text *to;
    const char *names[KINDS][MOST_OF_A_KIND];
    uint32_t n[KINDS];
    bool has_no_time; /* in comparisons of SIMPLEX it stands alone */
    uint32_t n_known; /* of the computed Reals: those that may be used without making a system of equations */
} Generator;

/* ---- names ---- */
static const char *const PIECES[] = {
    "*/",
    "/*",
    "\\\n",
    "?\?/\n",
    "#include \"/etc/passwd\"",
    "asm",
    "system",
    "(",
    ")",
    "\"",
    "'",
    ";",
    "{",
    "}",
    "__attribute__((constructor))",
    "..",
    "/",
    "../",
    "~",
    ".koine",
    "\x1b[31m",
    "\xff",
    "\xc3\xa4",
    "\xe2\x80\xae",
    "\xe2\x80\xa8",
    "%s%n",
    "`id`",
    "$(id)",
    "|",
    "&",
    "<script>",
    "=1+1",
    "inf",
    "nan",
    "m",
    "koine_",
    "_Pragma(\"x\")",
    "%:define",
    "<:",
    "//",
    "\n#define double int\n",
    "goto",
    "sizeof",
    "k1",
    "f1_",
    "model",
    "\r",
    "\t",
    "]]>",
};

void generate_name(Choices *c, Text *to)
{
    text_add(to, "");
    for (uint32_t n = 1 + choose(c, 4); n > 0; n--)
        if (choose(c, 2)) {
            text_add(to, PIECES[choose(c, sizeof PIECES / sizeof *PIECES)]);
        } else {
            const uint32_t byte = choose_byte(c);
            text_char(to, byte ? (char)byte : 'x');
        }
}

void generate_quoted(const char *name, char quote, Text *to)
{
    text_char(to, quote);
    for (; *name; name++)
        if (*name < ' ' || *name > '~' || *name == '\\' || *name == quote)
            text_format(to, "\\x%02x", (unsigned)(unsigned char)*name);
        else
            text_char(to, *name);
    text_char(to, quote);
}

/* Names of the other two languages are words; those of C among them. */
static const char *word(Generator *g, Kind kind, uint32_t k)
{
    static const char *const words[] = { "int",  "main", "asm",  "system", "register", "m",    "row",
                                         "rows", "call", "out",  "done",   "f1_x",     "inf",  "nan",
                                         "k1",   "t1",   "exit", "errno",  "double",   "void", "volatile" };
    return arena_format(g->to->arena, "%s_%c%u", words[choose(g->from, sizeof words / sizeof *words)], "pxain"[kind],
                        k);
}

static const char *name_of(Generator *g, Kind kind, uint32_t k, GenerateNames names)
{
    Arena *const arena = g->to->arena;
    const char *const plain = arena_format(arena, "%c%u", "pxain"[kind], k);
    if (g->language != GENERATE_IR) {
        const char *const chosen = word(g, kind, k);
        return names == NAMES_PLAIN ? plain : chosen;
    }
    Text hostile = { .arena = arena }, quoted = { .arena = arena };
    generate_name(g->from, &hostile);
    const bool is_any =
        names == NAMES_ANY; /* no two are alike; numbers within names count as such when they are sorted */
    generate_quoted(
        arena_format(arena, "%s%s%s", is_any ? hostile.at : plain, is_any ? "" : "_", is_any ? plain : hostile.at),
        '\'', &quoted);
    return names == NAMES_PLAIN ? plain : quoted.at;
}

/* ---- expressions ---- */
static void real(Generator *g, uint32_t depth);
static void boolean(Generator *g, uint32_t depth);

/* Mostly of a size at which something happens, now and then at the ends of what numbers can be. */
static void number(Generator *g)
{
    static const char *const tame[] = { "1.0", "0.5", "2.0", "0.1", "3.0", "10.0", "0.0", "0.3", "7.25", "0.75" };
    static const char *const wild[] = { "1.0E-3",  "1.0E+3", "1.0E-12", "1.0E+12",  "1.0E+300", "1.0E-300",
                                        "9.0E+15", "2.5E+9", "1.0E+20", "1.0E+154", "1.0E-308", "4.9E-324" };
    if (choose(g->from, 6))
        text_add(g->to, tame[choose(g->from, sizeof tame / sizeof *tame)]);
    else
        text_add(g->to, wild[choose(g->from, sizeof wild / sizeof *wild)]);
}

static bool variable(Generator *g, Kind kind, uint32_t n)
{
    if (n == 0)
        return false;
    text_add(g->to, g->names[kind][choose(g->from, n)]);
    return true;
}

static void leaf(Generator *g)
{
    static const char *const times[] = { "time", "T", "Time" };
    switch (choose(g->from, 6)) {
    case 0:
    case 1:
        if (variable(g, STATE, g->n[STATE]))
            return;
        break;
    case 2:
        if (variable(g, PARAMETER, g->n[PARAMETER]))
            return;
        break;
    case 3:
        if (variable(g, REAL, choose(g->from, 8) ? g->n_known : g->n[REAL])) /* rarely a system of equations */
            return;
        break;
    case 4:
        if (g->has_no_time)
            break;
        text_add(g->to, times[g->language]);
        return;
    default: break;
    }
    number(g);
}

static void integer(Generator *g, uint32_t depth)
{
    static const char *const signs[] = { " + ", " - ", "*" };
    if (depth == 0 || choose(g->from, 3) == 0) {
        if (!variable(g, INTEGER, g->n[INTEGER]))
            text_format(g->to, "%u", choose(g->from, 8));
        return;
    }
    text_add(g->to, "(");
    integer(g, depth - 1);
    text_add(g->to, signs[choose(g->from, 3)]);
    integer(g, depth - 1);
    text_add(g->to, ")");
}

static void call(Generator *g, uint32_t depth)
{
    static const char *const one[][GENERATE_LANGUAGES] = {
        { "sin", "SIN", "sin" },       { "cos", "COS", "cos" },      { "exp", "EXP", "exp" },
        { "sqrt", "SQRT", "sqrt" },    { "log", "LN", "ln" },        { "tan", "TAN", "tan" },
        { "asin", "ASIN", "arcsin" },  { "acos", "ACOS", "arccos" }, { "atan", "ATAN", "arctan" },
        { "sinh", "SINH", "sinh" },    { "cosh", "COSH", "cosh" },   { "tanh", "TANH", "tanh" },
        { "log10", "LOG10", "log10" }, { "abs", "ABS", "abs" },      { "sign", "SIGN", "sign" },
        { "floor", "FLOOR", "int" },   { "ceil", "CEIL", "int" },    { "trunc", "TRUNC", "int" },
        { "round", "RND", "int" },
    };
    static const char *const two[][GENERATE_LANGUAGES] = {
        { "min", "MIN", "min" }, { "max", "MAX", "max" }, { "atan2", "ATAN2", "arctan2" }, { "pow", "POW", "max" }
    };
    const bool has_two = choose(g->from, 4) == 0;
    const uint32_t pick = has_two ? choose(g->from, 4) : choose(g->from, sizeof one / sizeof *one);
    text_add(g->to, has_two ? two[pick][g->language] : one[pick][g->language]);
    text_add(g->to, "(");
    const bool is_guarded = !has_two && (pick == 3 || pick == 4) && choose(g->from, 8); /* sqrt, log */
    if (is_guarded)
        text_add(g->to, g->language == GENERATE_SIMPLEX ? "1.0 + ABS(" : "1.0 + abs(");
    real(g, depth - 1);
    if (has_two) {
        text_add(g->to, ", ");
        real(g, depth - 1);
    }
    text_add(g->to, is_guarded ? "))" : ")");
}

static void branch(Generator *g, uint32_t depth)
{
    text_add(g->to, "(if ");
    boolean(g, depth - 1);
    text_add(g->to, " then ");
    real(g, depth - 1);
    text_add(g->to, " else ");
    real(g, depth - 1);
    text_add(g->to, ")");
}

static void real(Generator *g, uint32_t depth)
{
    static const char *const signs[] = { " + ", " - ", "*", "/" };
    if (depth == 0) {
        leaf(g);
        return;
    }
    switch (choose(g->from, 8)) {
    case 0:
    case 1: leaf(g); return;
    case 2: call(g, depth); return;
    case 3:
        if (g->language != GENERATE_SIMPLEX) { /* it has no conditional expression */
            branch(g, depth);
            return;
        }
        break;
    case 4:
        if (g->language == GENERATE_IR && g->n[INTEGER]) {
            text_add(g->to, "real(");
            integer(g, depth - 1);
            text_add(g->to, ")");
            return;
        }
        break;
    default: break;
    }
    text_add(g->to, "(");
    real(g, depth - 1);
    const char *const sign = signs[choose(g->from, 4)];
    const bool is_guarded = *sign == '/' && choose(g->from, 8); /* else most models would end by a division */
    text_add(g->to, sign);
    text_add(g->to, is_guarded ? (g->language == GENERATE_SIMPLEX ? "(1.0 + ABS(" : "(1.0 + abs(") : "");
    real(g, depth - 1);
    text_add(g->to, is_guarded ? ")))" : ")");
}

static void boolean(Generator *g, uint32_t depth)
{
    static const char *const comparisons[] = { " < ", " <= ", " > ", " >= " };
    static const char *const ands[] = { " and ", " AND ", " and " }, *const ors[] = { " or ", " OR ", " or " },
                             *const nots[] = { "not ", "NOT ", "not " };
    const uint32_t pick = choose(g->from, 8);
    text_add(g->to, "(");
    if (pick == 0 && g->n[BOOLEAN]) {
        variable(g, BOOLEAN, g->n[BOOLEAN]);
    } else if (pick == 1 && depth > 0) {
        text_add(g->to, nots[g->language]);
        boolean(g, depth - 1);
    } else if (pick <= 3 && depth > 0) {
        boolean(g, depth - 1);
        text_add(g->to, pick == 2 ? ands[g->language] : ors[g->language]);
        boolean(g, depth - 1);
    } else if (pick == 4 && g->n[INTEGER] && g->language != GENERATE_DYMOLA) {
        integer(g, 1);
        text_add(g->to, comparisons[choose(g->from, 4)]);
        integer(g, 1);
    } else {
        const bool is_time = g->language == GENERATE_SIMPLEX && choose(g->from, 4) == 0;
        g->has_no_time = g->language == GENERATE_SIMPLEX;
        if (is_time)
            text_add(g->to, "T");
        else
            real(g, depth > 1 ? 1 : depth);
        text_add(g->to, is_time ? comparisons[3] : comparisons[choose(g->from, 4)]);
        real(g, depth > 1 ? 1 : depth);
        g->has_no_time = false;
    }
    text_add(g->to, ")");
}

/* ---- the text form ---- */
static void declare_ir(Generator *g)
{
    for (uint32_t k = 0; k < g->n[PARAMETER]; k++) {
        text_format(g->to, "param %s Real = ", g->names[PARAMETER][k]);
        number(g);
        text_add(g->to, "\n");
    }
    for (uint32_t k = 0; k < g->n[STATE]; k++) {
        text_format(g->to, "var %s Real continuous der start ", g->names[STATE][k]);
        number(g);
        text_add(g->to, " fixed\n");
    }
    for (uint32_t k = 0; k < g->n[REAL]; k++)
        text_format(g->to, "var %s Real continuous now\n", g->names[REAL][k]);
    for (uint32_t k = 0; k < g->n[INTEGER]; k++)
        text_format(g->to, "var %s Integer discrete next start %u fixed\n", g->names[INTEGER][k], choose(g->from, 5));
    for (uint32_t k = 0; k < g->n[BOOLEAN]; k++)
        text_format(g->to, "var %s Boolean discrete next start %s fixed\n", g->names[BOOLEAN][k],
                    choose(g->from, 2) ? "true" : "false");
}

static void region_ir(Generator *g, uint32_t k)
{
    text_format(g->to, "region r%u causal\ncase ", k);
    boolean(g, 2);
    text_format(g->to, " :\n eq q%u %s := ", 2 * k, g->names[REAL][k]);
    real(g, DEPTH);
    text_format(g->to, "\nelse :\n eq q%u %s := ", 2 * k + 1, g->names[REAL][k]);
    real(g, DEPTH);
    text_format(g->to, "\nend r%u\n", k);
}

static void transition_ir(Generator *g, uint32_t k)
{
    text_format(g->to, "trans t%u %s next set when ", k, choose(g->from, 8) ? "edge" : "level");
    boolean(g, 2);
    text_add(g->to, " :\n");
    if (k < g->n[INTEGER]) {
        text_format(g->to, " next(%s) := ", g->names[INTEGER][k]);
        integer(g, 2);
        text_add(g->to, "\n");
    }
    if (k < g->n[BOOLEAN]) {
        text_format(g->to, " next(%s) := ", g->names[BOOLEAN][k]);
        boolean(g, 1);
        text_add(g->to, "\n");
    }
    if (k < g->n[STATE] && choose(g->from, 2)) {
        text_format(g->to, " next(%s) := ", g->names[STATE][k]);
        real(g, 2);
        text_add(g->to, "\n");
    }
    Text shown = { .arena = g->to->arena };
    generate_name(g->from, &shown);
    for (char *at = shown.at; *at; at++)
        *at = *at == '%' ? '_' : *at; /* it begins a format, which must be a right one */
    text_add(g->to, " display ");
    generate_quoted(shown.at, '"', g->to);
    text_format(g->to, "\nend t%u\n", k);
}

static void model_ir(Generator *g, GenerateNames names)
{
    Text name = { .arena = g->to->arena }, quoted = { .arena = g->to->arena };
    generate_name(g->from, &name);
    generate_quoted(name.at, '\'', &quoted);
    const char *const called = names == NAMES_PLAIN ? "Plain" : quoted.at;
    text_format(g->to, "koine-ir 1\nmodel %s\n", called);
    declare_ir(g);
    for (g->n_known = 0; g->n_known < g->n[REAL]; g->n_known++)
        if (choose(g->from, 3) == 0) {
            region_ir(g, g->n_known);
        } else {
            text_format(g->to, "eq a%u %s %s ", g->n_known, g->names[REAL][g->n_known],
                        choose(g->from, 4) ? ":=" : "=");
            real(g, DEPTH);
            text_add(g->to, "\n");
        }
    for (uint32_t k = 0; k < g->n[STATE]; k++) {
        text_format(g->to, "eq d%u der(%s) := ", k, g->names[STATE][k]);
        real(g, DEPTH);
        text_add(g->to, "\n");
    }
    for (uint32_t k = 0; k < g->n[INTEGER] || k < g->n[BOOLEAN]; k++)
        transition_ir(g, k);
    text_format(g->to, "end %s\n", called);
}

/* ---- SIMPLEX ---- */
static void declare_simplex(Generator *g, const char *before, Kind kind, const char *type)
{
    for (uint32_t k = 0; k < g->n[kind]; k++) {
        text_format(g->to, "%s%s (%s)", k ? ", " : before, g->names[kind][k], type);
        if (kind == REAL)
            continue;
        text_add(g->to, " := ");
        if (kind == INTEGER)
            text_format(g->to, "%u", choose(g->from, 5));
        else if (kind == BOOLEAN)
            text_add(g->to, choose(g->from, 2) ? "TRUE" : "FALSE");
        else
            number(g);
    }
    text_add(g->to, "\n");
}

static void assign_simplex(Generator *g, const char *name, const char *mark)
{
    text_format(g->to, "%s%s := ", name, mark);
    real(g, DEPTH);
    text_add(g->to, ";\n");
}

static void event_simplex(Generator *g, uint32_t k)
{
    text_add(g->to, "WHENEVER ");
    boolean(g, 2);
    if (k < g->n[INTEGER] && choose(g->from, 8)) /* it comes to rest: the event is the end of its condition */
        text_format(g->to, " AND (%s < %u)", g->names[INTEGER][k], choose(g->from, 9));
    text_add(g->to, " DO\n");
    if (k < g->n[INTEGER]) {
        text_format(g->to, "%s^ := 1 + ", g->names[INTEGER][k]);
        integer(g, 2);
        text_add(g->to, ";\n");
    }
    if (k < g->n[BOOLEAN]) {
        text_format(g->to, "%s^ := ", g->names[BOOLEAN][k]);
        boolean(g, 1);
        text_add(g->to, ";\n");
    }
    if (k < g->n[STATE] && choose(g->from, 2))
        assign_simplex(g, g->names[STATE][k], "^");
    text_add(g->to, "DISPLAY (\"");
    for (uint32_t n = choose(g->from, 6); n > 0; n--) {
        const char c = (char)choose_byte(g->from);
        text_char(g->to, c && c != '%' && c != '"' && c != '\\' && c != '\n' ? c : '_');
    }
    text_add(g->to, "\");\nEND\n");
}

static void model_simplex(Generator *g)
{
    text_add(g->to, "BASIC COMPONENT Generated\nDECLARATION OF ELEMENTS\n");
    declare_simplex(g, "CONSTANTS ", PARAMETER, "REAL");
    text_add(g->to, "STATE VARIABLES\n");
    declare_simplex(g, "DISCRETE ", INTEGER, "INT");
    declare_simplex(g, g->n[INTEGER] ? ", " : "DISCRETE ", BOOLEAN, "LOGICAL");
    declare_simplex(g, "CONTINUOUS ", STATE, "REAL");
    if (g->n[REAL])
        text_add(g->to, "DEPENDENT VARIABLES\n");
    declare_simplex(g, "CONTINUOUS ", REAL, "REAL");
    text_add(g->to, "DYNAMIC BEHAVIOUR\n");
    for (g->n_known = 0; g->n_known < g->n[REAL]; g->n_known++) {
        const char *const name = g->names[REAL][g->n_known];
        const bool is_branch = choose(g->from, 3) == 0;
        if (is_branch) {
            text_add(g->to, "IF ");
            boolean(g, 2);
            text_add(g->to, " DO ");
        }
        assign_simplex(g, name, "");
        if (is_branch) {
            text_add(g->to, "END ELSE DO ");
            assign_simplex(g, name, "");
            text_add(g->to, "END\n");
        }
    }
    text_add(g->to, "DIFFERENTIAL EQUATIONS\n");
    for (uint32_t k = 0; k < g->n[STATE]; k++)
        assign_simplex(g, g->names[STATE][k], "'");
    text_add(g->to, "END\n");
    for (uint32_t k = 0; k < g->n[INTEGER] || k < g->n[BOOLEAN]; k++)
        event_simplex(g, k);
    text_add(g->to, "END OF Generated\n");
}

/* ---- Dymola ---- */
static void equation_dymola(Generator *g, const char *form, const char *name)
{
    const char *const at = strchr(form, '$');
    text_bytes(g->to, form, (size_t)(at - form));
    text_format(g->to, "%s%s", name, at + 1);
    real(g, DEPTH);
    text_add(g->to, "\n");
}

static void model_dymola(Generator *g)
{
    text_add(g->to, "model generated\n");
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t k = 0; k < g->n[kind]; k++) {
            text_format(g->to, "%s %s", kind == PARAMETER ? "parameter" : "local", g->names[kind][k]);
            if (kind == BOOLEAN)
                text_add(g->to, choose(g->from, 2) ? " = True" : " = False");
            if (kind < REAL || kind == INTEGER) {
                text_add(g->to, " = ");
                number(g);
            }
            text_add(g->to, "\n");
        }
    for (g->n_known = 0; g->n_known < g->n[REAL]; g->n_known++)
        equation_dymola(g, "$ = ", g->names[REAL][g->n_known]);
    for (uint32_t k = 0; k < g->n[STATE]; k++)
        equation_dymola(g, "der($) = ", g->names[STATE][k]);
    for (uint32_t k = 0; k < g->n[INTEGER]; k++) {
        text_add(g->to, "when ");
        boolean(g, 2);
        text_add(g->to, " then\n");
        equation_dymola(g, "new($) = ", g->names[INTEGER][k]);
        text_add(g->to, "endwhen\n");
    }
    for (uint32_t k = 0; k < g->n[BOOLEAN]; k++) {
        text_format(g->to, "new(%s) = ", g->names[BOOLEAN][k]);
        boolean(g, 2);
        text_add(g->to, "\n");
    }
    text_add(g->to, "end\n");
}

void generate_model(Choices *choices, GenerateLanguage language, GenerateNames names, Text *to)
{
    static const uint32_t least[KINDS] = { [STATE] = 1 }, most[KINDS] = { 3, 3, 3, 2, 2 };
    Generator g = { .from = choices, .language = language, .to = to };
    text_add(to, "");
    for (int kind = 0; kind < KINDS; kind++) {
        g.n[kind] = least[kind] + choose(choices, most[kind] + 1 - least[kind]);
        for (uint32_t k = 0; k < g.n[kind]; k++)
            g.names[kind][k] = name_of(&g, (Kind)kind, k, names);
    }
    switch (language) {
    case GENERATE_IR: model_ir(&g, names); break;
    case GENERATE_SIMPLEX: model_simplex(&g); break;
    default: model_dymola(&g); break;
    }
}
