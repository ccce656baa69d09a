/* Our MAT files as libmatio sees them: matrices, names, numbers, signs. */
#include "formats/mat.h"
#include "fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <matio.h>
#include <cmocka.h>

static FakeModel fake;
enum { ROWS = 5000 }; /* several buffers of points */

static matvar_t *matrix(mat_t *file, const char *name, size_t rows, size_t columns)
{
    matvar_t *const variable = Mat_VarRead(file, name);
    assert_non_null(variable);
    assert_int_equal(variable->rank, 2);
    assert_int_equal(variable->dims[0], rows);
    assert_int_equal(variable->dims[1], columns);
    return variable;
}

static void find_column(const matvar_t *names, const char *name, size_t *column)
{
    const char *const text = names->data;
    const size_t longest = names->dims[0];
    for (*column = 0; *column < names->dims[1]; ++*column)
        if (strncmp(text + *column * longest, name, longest) == 0)
            return;
    fail_msg("no variable '%s'", name);
}

static void libmatio_reads_what_we_wrote(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/koine-matio-%ld.mat", (long)getpid());
    Arena *const arena = arena_create(NULL);
    fake_create(&fake);
    KoineSink *const sink = mat_sink(&(MatOptions){ .path = path }, arena);
    assert_int_equal(fake_run(&fake, sink, ROWS), KOINE_OK);

    mat_t *const file = Mat_Open(path, MAT_ACC_RDONLY);
    assert_non_null(file);
    assert_int_equal(Mat_GetVersion(file), MAT_FT_MAT4);
    matvar_t *const aclass = matrix(file, "Aclass", 4, 11);
    const char *const text = aclass->data; /* by columns */
    assert_int_equal(text[0], 'A');
    assert_int_equal(text[4], 't');
    assert_int_equal(text[3], 'b');
    assert_int_equal(text[7], 'i');

    /* time, 15 visible scalars that change, p. x and minus_x share a row. */
    matvar_t *const names = matrix(file, "name", 11, 17);
    matvar_t *const descriptions = matrix(file, "description", 18, 17);
    matvar_t *const info = matrix(file, "dataInfo", 4, 17);
    matvar_t *const fixed = matrix(file, "data_1", 2, 2);
    matvar_t *const varying = matrix(file, "data_2", 15, ROWS);
    const double *const places = info->data; /* libmatio turns all numbers of version 4 into doubles */
    const double *const values = varying->data, *const parameters = fixed->data;
    size_t x, minus_x, off, p, door;
    find_column(names, "x", &x);
    find_column(names, "minus_x", &minus_x);
    find_column(names, "off", &off);
    find_column(names, "p", &p);
    find_column(names, "door", &door);
    assert_memory_equal((const char *)descriptions->data + 18 * x, "position [m]", 13);
    assert_memory_equal((const char *)descriptions->data + 18 * door, "{1 closed, 2 open}", 18);
    assert_true(places[0] == 0 && places[1] == 1 && places[2] == 0 && places[3] == -1); /* the time */
    assert_true(places[4 * x] == 2 && places[4 * p] == 1);
    assert_true(places[4 * minus_x + 1] == -places[4 * x + 1]);
    const size_t x_row = (size_t)places[4 * x + 1] - 1, off_row = (size_t)places[4 * off + 1] - 1;
    for (int row = 0; row < ROWS; row++) {
        fake_fill(&fake, row);
        const double *const point = values + 15 * row;
        assert_true(point[0] == 0.25 * row);
        assert_true(point[x_row] == fake.slots[SLOT_X].r);
        assert_true(point[off_row] == (row % 2 == 0));
    }
    assert_true(parameters[0] == 0 && parameters[2] == 0.25 * (ROWS - 1)); /* start and stop time */
    assert_true(parameters[1] == 9.81 && parameters[3] == 9.81);
    matvar_t *const all[] = { aclass, names, descriptions, info, fixed, varying };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        Mat_VarFree(all[i]);
    Mat_Close(file);
    unlink(path);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(libmatio_reads_what_we_wrote) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
