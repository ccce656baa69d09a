/* DISPLAY: the format of printf, which the original does not check; spec 2.8.
 *
 * INTEGER %ld (or %d), REAL and T %f %e %g, LOGICAL and value sets %d. The Model's formats have no
 * length letters, so %ld becomes %d. */
#include "base/ascii.h"
#include "base/text.h"
#include "lang/simplex/check.h"

typedef struct {
    uint32_t begin, end; /* in the format, from % on */
    char letter;         /* d f e g %; 0: not a conversion we have */
} Conversion;

/* % [flags] [width] [. precision] [l] letter */
static Conversion read_conversion(const char *format, uint32_t at)
{
    Conversion conversion = { .begin = at++ };
    while (format[at] && strchr("-+ 0#", format[at]))
        at++;
    uint32_t digits = 0;
    for (; is_digit(format[at]); at++)
        digits++;
    bool is_good = digits <= 2;
    if (format[at] == '.') {
        at++;
        for (digits = 0; is_digit(format[at]); at++)
            digits++;
        is_good &= digits <= 2;
    }
    const bool is_long = format[at] == 'l';
    at += is_long;
    if (is_good && format[at] && strchr(is_long ? "d" : "dfeg%", format[at]))
        conversion.letter = format[at];
    conversion.end = format[at] ? at + 1 : at;
    while (((unsigned char)format[conversion.end] & 0xc0) == 0x80) /* the rest of a character */
        conversion.end++;
    if (conversion.letter == '%' && conversion.end - conversion.begin != 2)
        conversion.letter = 0;
    return conversion;
}

static void bad_format(Checker *checker, const Stmt *statement, const char *format, const Conversion *conversion)
{
    REPORT(checker, DIAG_MDL_DISPLAY_FORMAT, statement->u.display.format_span, "DISPLAY has no format like `%.*s`",
           (int)(conversion->end - conversion->begin), format + conversion->begin);
    diag_help(checker->diag,
              "there are %%ld for INTEGER, %%f %%e %%g for REAL, %%d for LOGICAL and value sets, and %%%% "
              "for %%; width and precision have at most two digits");
}

static void check_argument(Checker *checker, const Node *arg, char letter)
{
    const bool is_real = arg->type.kind == TYPE_REAL;
    if (arg->is_bad || (letter == 'd' ? !is_real : is_real || arg->type.kind == TYPE_INTEGER))
        return;
    REPORT(checker, DIAG_MDL_DISPLAY_ARGUMENTS, arg->span, "%%%c cannot show a value of %s", letter,
           mdl_set_text(checker->pool, arg->type, checker->arena));
    diag_help(checker->diag, is_real ? "use %%f, %%e or %%g" : "use %%d");
}

/* Copies the conversion without its length letter. */
static void add_conversion(Text *to, const char *format, const Conversion *conversion)
{
    for (uint32_t k = conversion->begin; k < conversion->end; k++)
        if (format[k] != 'l')
            text_char(to, format[k]);
}

void mdl_check_display(Checker *checker, Stmt *statement)
{
    const char *format = names_of(checker->scope.names, statement->u.display.format);
    const uint32_t length = names_length(checker->scope.names, statement->u.display.format);
    Text text = { .arena = checker->arena };
    statement->u.display.letters = NEW_ARRAY(checker->arena, char, statement->u.display.n);
    uint32_t n_wanted = 0;
    bool is_good = true;
    for (uint32_t k = 0; k < statement->u.display.n; k++)
        mdl_check_expression(checker, statement->u.display.args[k]);
    for (uint32_t at = 0; at < length;) {
        if (format[at] != '%') {
            text_char(&text, format[at++]);
            continue;
        }
        const Conversion conversion = read_conversion(format, at);
        if (!conversion.letter) {
            bad_format(checker, statement, format, &conversion);
            is_good = false;
        } else if (conversion.letter != '%') {
            if (n_wanted < statement->u.display.n) {
                check_argument(checker, statement->u.display.args[n_wanted], conversion.letter);
                statement->u.display.letters[n_wanted] = conversion.letter;
            }
            n_wanted++;
        }
        add_conversion(&text, format, &conversion);
        at = conversion.end;
    }
    if (is_good && n_wanted != statement->u.display.n) {
        REPORT(checker, DIAG_MDL_DISPLAY_ARGUMENTS, statement->span, "the format shows %u value%s, given are %u",
               n_wanted, n_wanted == 1 ? "" : "s", statement->u.display.n);
        diag_help(checker->diag, "give one expression for each format such as %%f");
    }
    statement->u.display.format = names_add(checker->scope.names, text.n ? text.at : "", text.n);
}
