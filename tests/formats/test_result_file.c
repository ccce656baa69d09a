/* The rows of the formats of results agree with themselves, and names lead to them. */
#include "assertions.h"
#include "formats/csv.h"
#include "formats/result_file.h"
#include "formats/writing.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_a_name_tells_the_format(void **state)
{
    (void)state;
    assert_ptr_equal(result_format_named("a/b.csv"), &csv_format);
    assert_ptr_equal(result_format_named("b.mat"), &mat_format);
    assert_ptr_equal(result_format_named("b.csv.h5"), &store_format);
    assert_null(result_format_named("b.CSV"));
    assert_null(result_format_named("csv"));
    assert_null(result_format_named("-"));
}

static void test_streams_and_devices_take_the_first_format(void **state)
{
    (void)state;
    assert_ptr_equal(result_format_to_write("-"), result_format_at(0));
    assert_ptr_equal(result_format_to_write("/dev/null"), result_format_at(0));
    assert_ptr_equal(result_format_to_write("b.mat"), &mat_format);
    assert_null(result_format_to_write("there/is/no/such"));
    assert_null(result_format_to_write("."));
}

static void test_every_row_can_be_written_and_read(void **state)
{
    (void)state;
    uint32_t n = 0;
    for (; result_format_at(n); n++) {
        const ResultFormat *const format = result_format_at(n);
        assert_non_null(format->sink);
        assert_true(format->read || format->open);
        assert_int_equal(format->begins_as == NULL, format->is_file == NULL);
        assert_true(format->is_file || format->read);
        assert_int_equal(result_ending(n)[0], '.');
    }
    assert_null(result_ending(n));
    assert_null(result_format_at(0)->begins_as); /* what nothing else is taken for must be text */
}

static void test_what_a_stranger_names_has_the_ending_of_a_result(void **state)
{
    (void)state;
    const char *const refusal = writing_refusal("x.sh");
    assert_non_null(refusal);
    for (uint32_t k = 0; result_ending(k); k++) {
        char path[64];
        snprintf(path, sizeof path, "no-such-file%s", result_ending(k));
        assert_null(writing_refusal(path));
        assert_non_null(strstr(refusal, result_ending(k)));
    }
}

static void test_formats_are_described_by_their_rows(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    assert_string_equal(
        result_formats_described(arena),
        "FILE.csv, FILE.mat, FILE.h5 (native: compressed, with units, for large results and 'koine view')");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_tells_the_format),
        cmocka_unit_test(test_streams_and_devices_take_the_first_format),
        cmocka_unit_test(test_every_row_can_be_written_and_read),
        cmocka_unit_test(test_what_a_stranger_names_has_the_ending_of_a_result),
        cmocka_unit_test(test_formats_are_described_by_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
