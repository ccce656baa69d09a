/* Units of physical quantities: read from text, multiplied, compared, printed. Language-neutral.
 *
 *   unit   ::= factor { ('*' | '.' | '/') factor }      left to right: J/kg/K is J/(kg*K)
 *   factor ::= ( symbol | '1' | '(' unit ')' ) [ power ]
 *   power  ::= ['^'] [sign] digits | '^' '(' [sign] digits ['/' digits] ')'      m^2, m2, s-1, K^(1/2)
 *
 * A symbol is a row of unit.def, with an SI prefix where the row allows one. The angle has no dimension: rad is 1. */
#ifndef BASE_UNIT_H
#define BASE_UNIT_H

#include "base/text.h"

enum {
    UNIT_BASES = 7,  /* m kg s A K mol cd */
    UNIT_STEP = 12,  /* an exponent of 1 is stored as this, so that roots stay whole numbers */
    UNIT_PARTS = 16, /* different symbols in one unit */
    UNIT_LARGEST = 99 * UNIT_STEP
};

typedef struct {
    uint8_t symbol, prefix; /* rows */
    int16_t exponent;       /* in steps, not 0 */
} UnitPart;

typedef struct {
    int16_t dimension[UNIT_BASES]; /* in steps */
    uint8_t n_parts;
    UnitPart parts[UNIT_PARTS]; /* as it was written; for printing */
    double factor, offset;      /* in SI: factor*value + offset; an offset only for a unit of one symbol, as degC */
} Unit;

typedef enum { UNIT_GOOD, UNIT_BAD_SYNTAX, UNIT_NOT_KNOWN, UNIT_TOO_LARGE } UnitStatus;
typedef struct {
    size_t begin, end;   /* what is wrong, in the text */
    const char *nearest; /* NOT_KNOWN: a unit with a name like it, or NULL */
} UnitFault;

UnitStatus unit_parse(const char *text, size_t size, Unit *unit, UnitFault *fault);
Unit unit_one(void);

/* False: an exponent cannot be stored, or there are too many symbols. The offset is lost: factors are differences. */
bool unit_multiply(const Unit *a, const Unit *b, Unit *product);
bool unit_divide(const Unit *a, const Unit *b, Unit *quotient);
bool unit_power(const Unit *unit, int32_t numerator, int32_t denominator, Unit *power); /* denominator above 0 */
Unit unit_difference(const Unit *unit); /* of two values in it: without the offset */

bool unit_is_number(const Unit *unit);                      /* without dimension: 1, rad, % */
bool unit_has_same_dimension(const Unit *a, const Unit *b); /* m and mm */
bool unit_is_same(const Unit *a, const Unit *b);            /* the same value means the same: N*m and J */
/* A value v in `from` is *factor*v + *offset in `to`; of the same dimension. */
void unit_convert(const Unit *from, const Unit *to, double *factor, double *offset);

void unit_print(const Unit *unit, Text *to); /* "J/(kg*K)", "1" */

#endif
