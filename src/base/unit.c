/* Units as numbers: a factor and the powers of the base units; see unit.h. */
#include "base/unit.h"
#include "base/ascii.h"
#include "base/bug.h"
#include "base/names.h"
#include <math.h>
#include <stdlib.h>

typedef struct {
    const char *text;
    bool takes_prefix;
    double factor, offset;
    int8_t dimension[UNIT_BASES];
} Row;

static const Row rows[] = {
#define UNIT(text, takes_prefix, factor, offset, m, kg, s, A, K, mol, cd)                                              \
    { text, takes_prefix, factor, offset, { m, kg, s, A, K, mol, cd } },
#include "base/unit.def"
#undef UNIT
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

typedef struct {
    const char *text;
    double factor;
} Prefix;
static const Prefix prefixes[] = {
    { "", 1 },      { "da", 1e1 },  { "h", 1e2 },         { "k", 1e3 },         { "M", 1e6 },
    { "G", 1e9 },   { "T", 1e12 },  { "P", 1e15 },        { "E", 1e18 },        { "d", 1e-1 },
    { "c", 1e-2 },  { "m", 1e-3 },  { "u", 1e-6 },        { "n", 1e-9 },        { "p", 1e-12 },
    { "f", 1e-15 }, { "a", 1e-18 }, { "\xc2\xb5", 1e-6 }, { "\xce\xbc", 1e-6 },
};
enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0] };

/* ---- algebra ---- */
Unit unit_one(void)
{
    return (Unit){ .factor = 1 };
}

/* True: the exponent becomes a part; one that cancels is taken away. */
static bool add_part(Unit *unit, UnitPart part)
{
    for (uint32_t k = 0; k < unit->n_parts; k++) {
        UnitPart *known = &unit->parts[k];
        if (known->symbol != part.symbol || known->prefix != part.prefix)
            continue;
        known->exponent = (int16_t)(known->exponent + part.exponent); /* both are small */
        if (known->exponent != 0)
            return known->exponent <= UNIT_LARGEST && known->exponent >= -UNIT_LARGEST;
        unit->n_parts--;
        for (uint32_t j = k; j < unit->n_parts; j++)
            unit->parts[j] = unit->parts[j + 1];
        return true;
    }
    if (unit->n_parts == UNIT_PARTS)
        return false;
    unit->parts[unit->n_parts++] = part;
    return true;
}

static bool is_storable(const Unit *unit)
{
    for (uint32_t k = 0; k < UNIT_BASES; k++)
        if (unit->dimension[k] > UNIT_LARGEST || unit->dimension[k] < -UNIT_LARGEST)
            return false;
    return isfinite(unit->factor) && unit->factor > 0;
}

static bool combine(const Unit *a, const Unit *b, int sign, Unit *result)
{
    Unit all = *a;
    bool is_good = true;
    all.offset = 0;
    all.factor = sign > 0 ? a->factor * b->factor : a->factor / b->factor;
    for (uint32_t k = 0; k < UNIT_BASES; k++)
        all.dimension[k] = (int16_t)(a->dimension[k] + sign * b->dimension[k]);
    for (uint32_t k = 0; k < b->n_parts; k++) {
        UnitPart part = b->parts[k];
        part.exponent = (int16_t)(sign * part.exponent);
        is_good &= add_part(&all, part);
    }
    *result = all;
    return is_good && is_storable(&all);
}

bool unit_multiply(const Unit *a, const Unit *b, Unit *product)
{
    return combine(a, b, 1, product);
}

bool unit_divide(const Unit *a, const Unit *b, Unit *quotient)
{
    return combine(a, b, -1, quotient);
}

static bool scale_exponent(int16_t *exponent, int32_t numerator, int32_t denominator)
{
    const int64_t scaled = (int64_t)*exponent * numerator;
    if (scaled % denominator != 0 || scaled / denominator > UNIT_LARGEST || scaled / denominator < -UNIT_LARGEST)
        return false;
    *exponent = (int16_t)(scaled / denominator);
    return true;
}

bool unit_power(const Unit *unit, int32_t numerator, int32_t denominator, Unit *power)
{
    REQUIRE(denominator > 0);
    Unit all = *unit;
    bool is_good = true;
    all.offset = 0;
    all.factor = pow(unit->factor, (double)numerator / denominator);
    if (numerator == 0) {
        *power = unit_one();
        return true;
    }
    for (uint32_t k = 0; k < UNIT_BASES; k++)
        is_good &= scale_exponent(&all.dimension[k], numerator, denominator);
    for (uint32_t k = 0; k < all.n_parts; k++)
        is_good &= scale_exponent(&all.parts[k].exponent, numerator, denominator);
    *power = all;
    return is_good && is_storable(&all);
}

Unit unit_difference(const Unit *unit)
{
    Unit difference = *unit;
    difference.offset = 0;
    return difference;
}

bool unit_is_number(const Unit *unit)
{
    const Unit one = unit_one();
    return unit_has_same_dimension(unit, &one);
}

bool unit_has_same_dimension(const Unit *a, const Unit *b)
{
    for (uint32_t k = 0; k < UNIT_BASES; k++)
        if (a->dimension[k] != b->dimension[k])
            return false;
    return true;
}

bool unit_is_same(const Unit *a, const Unit *b)
{
    const double nearly = 1e-9; /* factors come from products of rounded numbers */
    return unit_has_same_dimension(a, b) && fabs(a->factor / b->factor - 1) <= nearly &&
           fabs(a->offset - b->offset) <= nearly * (1 + fabs(a->offset));
}

void unit_convert(const Unit *from, const Unit *to, double *factor, double *offset)
{
    *factor = from->factor / to->factor;
    *offset = (from->offset - to->offset) / to->factor;
}

/* ---- reading ---- */
typedef struct {
    const char *text;
    size_t size, at;
    uint32_t depth;
    UnitStatus status;
    UnitFault *fault;
} Reader;

static bool fail(Reader *reader, UnitStatus status, size_t begin, size_t end)
{
    if (reader->status == UNIT_GOOD) {
        reader->status = status;
        *reader->fault = (UnitFault){ begin, end > begin ? end : begin, NULL };
    }
    return false;
}

static void skip_blanks(Reader *reader)
{
    while (reader->at < reader->size && (reader->text[reader->at] == ' ' || reader->text[reader->at] == '\t'))
        reader->at++;
}

static bool is_at(const Reader *reader, const char *token)
{
    const size_t length = strlen(token);
    return reader->size - reader->at >= length && memcmp(reader->text + reader->at, token, length) == 0;
}

static bool accept(Reader *reader, const char *token)
{
    skip_blanks(reader);
    if (!is_at(reader, token))
        return false;
    reader->at += strlen(token);
    return true;
}

static bool is_at_digit(const Reader *reader)
{
    return reader->at < reader->size && is_digit(reader->text[reader->at]);
}

static bool read_number(Reader *reader, int32_t *number)
{
    const size_t begin = reader->at;
    *number = 0;
    for (; is_at_digit(reader); reader->at++)
        if (*number < 10000)
            *number = *number * 10 + (reader->text[reader->at] - '0');
    if (reader->at == begin)
        return fail(reader, UNIT_BAD_SYNTAX, begin, begin + 1);
    return *number <= 99 || fail(reader, UNIT_TOO_LARGE, begin, reader->at);
}

static bool read_signed(Reader *reader, int32_t *number)
{
    const bool is_negative = is_at(reader, "-");
    if (is_negative || is_at(reader, "+"))
        reader->at++;
    if (!read_number(reader, number))
        return false;
    if (is_negative)
        *number = -*number;
    return true;
}

static bool read_power(Reader *reader, int32_t *numerator, int32_t *denominator)
{
    *numerator = *denominator = 1;
    if (is_at(reader, "\xc2\xb2") || is_at(reader, "\xc2\xb3")) { /* superscripts 2 and 3 */
        *numerator = is_at(reader, "\xc2\xb2") ? 2 : 3;
        reader->at += 2;
        return true;
    }
    const size_t before = reader->at;
    if (!accept(reader, "^")) {
        reader->at = before; /* blanks are no power */
        return is_at_digit(reader) || is_at(reader, "-") || is_at(reader, "+") ? read_signed(reader, numerator) : true;
    }
    skip_blanks(reader);
    if (!accept(reader, "("))
        return read_signed(reader, numerator);
    if (!read_signed(reader, numerator))
        return false;
    if (accept(reader, "/") && (!read_number(reader, denominator) || *denominator == 0))
        return fail(reader, UNIT_BAD_SYNTAX, before, reader->at);
    return accept(reader, ")") || fail(reader, UNIT_BAD_SYNTAX, reader->at, reader->at + 1);
}

static bool is_symbol_byte(const Reader *reader)
{
    const char c = reader->text[reader->at];
    if ((unsigned char)c >= 0x80)
        return !is_at(reader, "\xc2\xb2") && !is_at(reader, "\xc2\xb3") && !is_at(reader, "\xc2\xb7");
    return is_letter(c) || c == '%';
}

static bool find_row(const char *text, size_t length, bool has_prefix, uint8_t *row)
{
    for (uint32_t k = 0; k < N_ROWS; k++)
        if (strlen(rows[k].text) == length && memcmp(rows[k].text, text, length) == 0 &&
            (!has_prefix || rows[k].takes_prefix)) {
            *row = (uint8_t)k;
            return true;
        }
    return false;
}

static bool find_symbol(const char *text, size_t length, UnitPart *part)
{
    for (uint32_t k = 0; k < N_PREFIXES; k++) { /* the empty one first: min is not a milliinch */
        const size_t n = strlen(prefixes[k].text);
        if (n < length && memcmp(text, prefixes[k].text, n) == 0 &&
            find_row(text + n, length - n, n > 0, &part->symbol)) {
            part->prefix = (uint8_t)k;
            return true;
        }
    }
    return false;
}

static const char *nearest_row(const char *text, size_t length)
{
    char name[16];
    uint32_t best = 3;
    const char *nearest = NULL;
    if (length >= sizeof name)
        return NULL;
    memcpy(name, text, length);
    name[length] = '\0';
    for (uint32_t k = 0; k < N_ROWS; k++) {
        const uint32_t distance = edit_distance(name, rows[k].text, best);
        if (distance < best && distance < strlen(rows[k].text) && distance < length) {
            best = distance;
            nearest = rows[k].text;
        }
    }
    return nearest;
}

static bool read_symbol(Reader *reader, Unit *unit)
{
    const size_t begin = reader->at;
    while (reader->at < reader->size && is_symbol_byte(reader))
        reader->at++;
    const char *text = reader->text + begin;
    const size_t length = reader->at - begin;
    UnitPart part = { .exponent = UNIT_STEP };
    if (length == 0)
        return fail(reader, UNIT_BAD_SYNTAX, begin, begin + 1);
    if (!find_symbol(text, length, &part)) {
        fail(reader, UNIT_NOT_KNOWN, begin, reader->at);
        if (reader->status == UNIT_NOT_KNOWN)
            reader->fault->nearest = nearest_row(text, length);
        return false;
    }
    const Row *row = &rows[part.symbol];
    *unit = unit_one();
    unit->factor = row->factor * prefixes[part.prefix].factor;
    unit->offset = row->offset;
    for (uint32_t k = 0; k < UNIT_BASES; k++)
        unit->dimension[k] = (int16_t)(row->dimension[k] * UNIT_STEP);
    return add_part(unit, part);
}

static bool read_unit(Reader *reader, Unit *unit);

static bool read_factor(Reader *reader, Unit *unit)
{
    enum { DEEPEST = 32 };
    skip_blanks(reader);
    const size_t begin = reader->at;
    if (is_at(reader, "(")) {
        if (++reader->depth > DEEPEST)
            return fail(reader, UNIT_TOO_LARGE, begin, begin + 1);
        reader->at++;
        if (!read_unit(reader, unit))
            return false;
        reader->depth--;
        if (!accept(reader, ")"))
            return fail(reader, UNIT_BAD_SYNTAX, reader->at, reader->at + 1);
    } else if (is_at_digit(reader)) {
        int32_t number;
        if (!read_number(reader, &number) || number != 1)
            return fail(reader, UNIT_BAD_SYNTAX, begin, reader->at);
        *unit = unit_one();
        return true;
    } else if (!read_symbol(reader, unit)) {
        return false;
    }
    int32_t numerator, denominator;
    if (!read_power(reader, &numerator, &denominator))
        return false;
    if (numerator == 1 && denominator == 1)
        return true;
    return unit_power(unit, numerator, denominator, unit) || fail(reader, UNIT_TOO_LARGE, begin, reader->at);
}

static bool read_unit(Reader *reader, Unit *unit)
{
    const size_t begin = reader->at;
    if (!read_factor(reader, unit))
        return false;
    for (;;) {
        const bool divides = accept(reader, "/");
        if (!divides && !accept(reader, "*") && !accept(reader, ".") && !accept(reader, "\xc2\xb7"))
            return true;
        Unit next;
        if (!read_factor(reader, &next))
            return false;
        if (!combine(unit, &next, divides ? -1 : 1, unit))
            return fail(reader, UNIT_TOO_LARGE, begin, reader->at);
    }
}

UnitStatus unit_parse(const char *text, size_t size, Unit *unit, UnitFault *fault)
{
    Reader reader = { .text = text, .size = size, .fault = fault };
    *fault = (UnitFault){ 0 };
    *unit = unit_one();
    if (read_unit(&reader, unit)) {
        skip_blanks(&reader);
        if (reader.at < size)
            fail(&reader, UNIT_BAD_SYNTAX, reader.at, size);
    }
    return reader.status;
}

/* ---- printing ---- */
static void print_part(const UnitPart *part, Text *to)
{
    int exponent = abs(part->exponent), step = UNIT_STEP;
    text_format(to, "%s%s", prefixes[part->prefix].text, rows[part->symbol].text);
    for (int k = 2; k <= 3; k++)
        while (exponent % k == 0 && step % k == 0) {
            exponent /= k;
            step /= k;
        }
    if (step > 1)
        text_format(to, "^(%d/%d)", exponent, step);
    else if (exponent > 1)
        text_format(to, "^%d", exponent);
}

static uint32_t print_parts(const Unit *unit, int sign, Text *to)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < unit->n_parts; k++) {
        if (unit->parts[k].exponent * sign < 0)
            continue;
        if (n++ > 0)
            text_char(to, '*');
        print_part(&unit->parts[k], to);
    }
    return n;
}

void unit_print(const Unit *unit, Text *to)
{
    uint32_t below = 0;
    for (uint32_t k = 0; k < unit->n_parts; k++)
        below += unit->parts[k].exponent < 0;
    if (print_parts(unit, 1, to) == 0)
        text_char(to, '1');
    if (below == 0)
        return;
    text_add(to, below > 1 ? "/(" : "/");
    print_parts(unit, -1, to);
    if (below > 1)
        text_char(to, ')');
}
