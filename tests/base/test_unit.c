/* Units: reading, algebra, conversion, printing. Expected factors: the definitions of the SI brochure and NIST SP 811,
 * written out here a second time as products of their own. */
#include "assertions.h"
#include "base/unit.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static Unit parsed(const char *text)
{
    Unit unit;
    UnitFault fault;
    fail_if(unit_parse(text, strlen(text), &unit, &fault) != UNIT_GOOD, "'%s' is not read from %zu to %zu", text,
            fault.begin, fault.end);
    return unit;
}

static void expect_factor(const char *text, double factor)
{
    const Unit unit = parsed(text);
    fail_if(!(fabs(unit.factor / factor - 1) < 1e-12), "%s: %.17g, expected %.17g", text, unit.factor, factor);
}

static void expect_same(const char *a, const char *b)
{
    const Unit x = parsed(a), y = parsed(b);
    fail_if(!unit_is_same(&x, &y), "%s and %s differ", a, b);
}

static void expect_printed(const Unit *unit, const char *expected)
{
    Arena *arena = arena_create(NULL);
    Text text = { .arena = arena };
    unit_print(unit, &text);
    assert_string_equal(text.at, expected);
    arena_destroy(arena);
}

static void test_factors(void **state)
{
    (void)state;
    expect_factor("mm", 1e-3);
    expect_factor("kN", 1e3);
    expect_factor("min", 60);
    expect_factor("h", 60 * 60);
    expect_factor("km/h", 1000.0 / 3600);
    expect_factor("bar", 1e5);
    expect_factor("mbar", 100);
    expect_factor("rpm", 2 * 3.14159265358979323846 / 60);
    expect_factor("deg", 3.14159265358979323846 / 180);
    expect_factor("%", 0.01);
    expect_factor("kWh", 3.6e6);
    expect_factor("l", 1e-3);
    expect_factor("ha", 1e4);
    expect_factor("psi", 0.45359237 * 9.80665 / (0.0254 * 0.0254));
    expect_factor("hp", 550 * 0.3048 * 0.45359237 * 9.80665);
    expect_factor("mm^2", 1e-6);
    expect_factor("cm3", 1e-6);
    expect_factor("1/min", 1.0 / 60);
    expect_factor("\xc2\xb5m", 1e-6);
    expect_factor("g/cm^3", 1e3);
    expect_factor("das", 10);
}

static void test_same_units(void **state)
{
    (void)state;
    expect_same("N", "kg*m/s^2");
    expect_same("J", "N.m");
    expect_same("W", "V*A");
    expect_same("Pa", "N/m2");
    expect_same("Ohm", "V/A");
    expect_same("F", "A*s/V");
    expect_same("H", "Wb/A");
    expect_same("T", "V*s/m^2");
    expect_same("J/kg/K", "J/(kg*K)");
    expect_same("s-1", "Hz");
    expect_same("m^(1/2)*m^(1/2)", "m");
    expect_same("rad/s", "1/s");
    expect_same("\xc2\xb0"
                "C",
                "degC");
    expect_same("k\xce\xa9", "kOhm");
    expect_same("m\xc2\xb2", "m^2");
    expect_same(" kg * m / s ^ 2 ", "N");
    expect_same("1", "rad");
    expect_same("(m/s)^2", "J/kg");
}

/* The longer name wins over prefix and name: no milliinch, no centiday, no femtotonne. */
static void test_prefixes_do_not_mislead(void **state)
{
    (void)state;
    expect_factor("min", 60);
    expect_factor("cd", 1);
    expect_factor("ft", 0.3048);
    expect_factor("Pa", 1);
    expect_factor("mol", 1);
    expect_factor("m", 1);
    Unit unit;
    UnitFault fault;
    assert_int_equal(unit_parse("kmin", 4, &unit, &fault), UNIT_NOT_KNOWN);
    assert_int_equal(unit_parse("mdegC", 5, &unit, &fault), UNIT_NOT_KNOWN);
    assert_int_equal(unit_parse("kkg", 3, &unit, &fault), UNIT_NOT_KNOWN);
}

static void test_conversion(void **state)
{
    (void)state;
    double factor, offset;
    Unit from = parsed("mm"), to = parsed("m");
    assert_true(unit_has_same_dimension(&from, &to) && !unit_is_same(&from, &to));
    unit_convert(&from, &to, &factor, &offset);
    assert_true(fabs(factor - 1e-3) < 1e-18 && offset == 0);
    from = parsed("degC"), to = parsed("K");
    unit_convert(&from, &to, &factor, &offset);
    assert_true(factor == 1 && offset == 273.15);
    from = parsed("degF"), to = parsed("degC"); /* 212 F are 100 C, 32 F are 0 C */
    unit_convert(&from, &to, &factor, &offset);
    assert_true(fabs(212 * factor + offset - 100) < 1e-12 && fabs(32 * factor + offset) < 1e-12);
    from = parsed("W/degC"), to = parsed("W/K"); /* a factor is a difference: no offset */
    assert_true(unit_is_same(&from, &to));
}

static void test_algebra(void **state)
{
    (void)state;
    const Unit length = parsed("km"), time = parsed("h");
    Unit speed, area, root;
    assert_true(unit_divide(&length, &time, &speed));
    expect_printed(&speed, "km/h");
    assert_true(unit_power(&length, 2, 1, &area));
    expect_printed(&area, "km^2");
    assert_true(unit_power(&area, 1, 2, &root));
    assert_true(unit_is_same(&root, &length));
    assert_true(unit_power(&length, 1, 2, &root));
    expect_printed(&root, "km^(1/2)");
    assert_false(unit_power(&length, 1, 5, &root)); /* a fifth cannot be stored */
    assert_true(unit_multiply(&speed, &time, &speed));
    expect_printed(&speed, "km");
    assert_true(unit_divide(&speed, &length, &speed));
    expect_printed(&speed, "1");
    assert_true(unit_is_number(&speed));
    const Unit heat = parsed("J/(kg*K)");
    expect_printed(&heat, "J/(kg*K)");
    const Unit rate = parsed("1/week");
    expect_printed(&rate, "1/week");
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        UnitStatus status;
        size_t begin, end;
        const char *nearest;
    } cases[] = {
        { "", UNIT_BAD_SYNTAX, 0, 1, NULL },
        { "m/", UNIT_BAD_SYNTAX, 2, 3, NULL },
        { "m^", UNIT_BAD_SYNTAX, 2, 3, NULL },
        { "(m", UNIT_BAD_SYNTAX, 2, 3, NULL },
        { "m)", UNIT_BAD_SYNTAX, 1, 2, NULL },
        { "m s", UNIT_BAD_SYNTAX, 2, 3, NULL },
        { "2/s", UNIT_BAD_SYNTAX, 0, 1, NULL },
        { "m^(1/0)", UNIT_BAD_SYNTAX, 1, 6, NULL },
        { "m^100", UNIT_TOO_LARGE, 2, 5, NULL },
        { "m^99*m", UNIT_TOO_LARGE, 0, 6, NULL },
        { "kg*Newton/s", UNIT_NOT_KNOWN, 3, 9, NULL },
        { "wek", UNIT_NOT_KNOWN, 0, 3, "week" },
        { "m^(1/7)", UNIT_TOO_LARGE, 0, 7, NULL },
        { "((((((((((((((((((((((((((((((((((m", UNIT_TOO_LARGE, 32, 33, NULL },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Unit unit;
        UnitFault fault;
        const UnitStatus status = unit_parse(cases[k].text, strlen(cases[k].text), &unit, &fault);
        fail_if(status != cases[k].status || fault.begin != cases[k].begin || fault.end != cases[k].end,
                "'%s': status %d from %zu to %zu", cases[k].text, status, fault.begin, fault.end);
        if (cases[k].nearest)
            assert_string_equal(fault.nearest, cases[k].nearest);
    }
}

/* Any bytes: an answer, and what is read prints to a text that reads to the same unit. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const char alphabet[] = "mkgsAKN/*.^()1290-+ %dhbarPaOhm\xc2\xb5\xce\xa9";
    uint64_t seed = 12345;
    uint32_t n_good = 0;
    Arena *arena = arena_create(NULL);
    for (uint32_t k = 0; k < 50000; k++) {
        char text[12];
        uint32_t length = 0;
        for (; length < sizeof text; length++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const uint32_t c = (uint32_t)(seed >> 33) % (sizeof alphabet + 4);
            if (c >= sizeof alphabet - 1)
                break;
            text[length] = alphabet[c];
        }
        Unit unit, again;
        UnitFault fault;
        if (unit_parse(text, length, &unit, &fault) != UNIT_GOOD)
            continue;
        n_good++;
        Text printed = { .arena = arena };
        unit_print(&unit, &printed);
        assert_int_equal(unit_parse(printed.at, printed.n, &again, &fault), UNIT_GOOD);
        assert_true(unit_is_same(&unit, &again));
    }
    arena_destroy(arena);
    assert_true(n_good > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_same_units),
        cmocka_unit_test(test_prefixes_do_not_mislead),
        cmocka_unit_test(test_conversion),
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
