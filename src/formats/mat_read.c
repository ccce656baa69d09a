/* Reading result files of Modelica tools; see mat.h. Every size is checked against the bytes that are
 * there before it is used. */
#include "formats/mat.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/mat_layout.h"
#include <math.h>

typedef struct {
    char name[32]; /* longer names are cut: no matrix we look for has one */
    const unsigned char *data;
    uint64_t rows, columns;
    int number; /* MAT_DOUBLE ... */
    bool is_swapped;
} Matrix;

typedef struct {
    const char *path;
    const unsigned char *at, *end;
    Arena *arena;
    Diag *diag;
    VEC(Matrix) matrices;
    bool is_transposed; /* binTrans */
} Reader;

static const size_t NUMBER_SIZE[MAT_NUMBERS] = { 8, 4, 4, 2, 2, 1 };
enum { MOST_MATRICES = 1000, LONGEST_NAME = 4096 };

static int32_t get_int32(const unsigned char *at, bool is_swapped)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    if (is_swapped)
        value = value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
    return (int32_t)value;
}

static bool is_type(int32_t type)
{
    return type >= 0 && type < 2000 && type / 100 % 10 == 0 && type / 10 % 10 < MAT_NUMBERS && type % 10 <= MAT_TEXT;
}

/* The host's order shows in the first byte of a small number. */
static bool is_host_big(void)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return first == 0;
}

static bool get_head(const unsigned char *bytes, size_t size, MatHead *head, bool *is_swapped)
{
    if (size < sizeof *head)
        return false;
    *is_swapped = !is_type(get_int32(bytes, false));
    head->type = get_int32(bytes, *is_swapped);
    head->rows = get_int32(bytes + 4, *is_swapped);
    head->columns = get_int32(bytes + 8, *is_swapped);
    head->is_complex = get_int32(bytes + 12, *is_swapped);
    head->name_size = get_int32(bytes + 16, *is_swapped);
    return is_type(head->type) && (head->type >= 1000) == (is_host_big() != *is_swapped) && head->rows >= 0 &&
           head->columns >= 0 && head->is_complex == 0 && head->name_size > 0 && head->name_size <= LONGEST_NAME;
}

bool mat_is_file(const void *bytes, size_t size)
{
    MatHead head;
    bool is_swapped;
    return get_head(bytes, size, &head, &is_swapped);
}

static double matrix_at(const Matrix *matrix, uint64_t row, uint64_t column)
{
    const size_t size = NUMBER_SIZE[matrix->number];
    unsigned char bytes[8];
    memcpy(bytes, matrix->data + (column * matrix->rows + row) * size, size);
    if (matrix->is_swapped) {
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char byte = bytes[i];
            bytes[i] = bytes[size - 1 - i];
            bytes[size - 1 - i] = byte;
        }
    }
    double real;
    float single;
    int32_t int32;
    int16_t int16;
    uint16_t uint16;
    switch (matrix->number) {
    case MAT_DOUBLE: return memcpy(&real, bytes, 8), real;
    case MAT_SINGLE: return memcpy(&single, bytes, 4), (double)single;
    case MAT_INT32: return memcpy(&int32, bytes, 4), int32;
    case MAT_INT16: return memcpy(&int16, bytes, 2), int16;
    case MAT_UINT16: return memcpy(&uint16, bytes, 2), uint16;
    default: return bytes[0];
    }
}

/* Element `k` of item `item`: items are columns in binTrans, rows in binNormal. */
static double item_at(const Reader *reader, const Matrix *matrix, uint64_t item, uint64_t k)
{
    return reader->is_transposed ? matrix_at(matrix, k, item) : matrix_at(matrix, item, k);
}

static uint64_t item_count(const Reader *reader, const Matrix *matrix)
{
    return reader->is_transposed ? matrix->columns : matrix->rows;
}

static uint64_t item_size(const Reader *reader, const Matrix *matrix)
{
    return reader->is_transposed ? matrix->rows : matrix->columns;
}

static bool damaged(const Reader *reader, const char *what)
{
    diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: %s", reader->path, what);
    return false;
}

static const Matrix *find_matrix(const Reader *reader, const char *name)
{
    for (uint32_t i = 0; i < reader->matrices.n; i++)
        if (strcmp(reader->matrices.at[i].name, name) == 0)
            return &reader->matrices.at[i];
    return NULL;
}

/* What is no matrix. Behind the points it may be more of them, written by a run that was killed before it counted. */
static bool no_matrix(Reader *reader, const char *what)
{
    if (!find_matrix(reader, "data_2"))
        return damaged(reader, what);
    diag_warning(reader->diag, DIAG_RESULT_SHORT, SPAN_NONE,
                 "%s: behind the points lie %llu bytes that are not counted; they are left out", reader->path,
                 (unsigned long long)(reader->end - reader->at));
    reader->at = reader->end;
    return true;
}

/* One matrix; what the file promises beyond its end is cut to whole columns and said. */
static bool read_matrix(Reader *reader)
{
    MatHead head;
    bool is_swapped;
    if (!get_head(reader->at, (size_t)(reader->end - reader->at), &head, &is_swapped))
        return no_matrix(reader, "this is not a MATLAB 4 file, or it is damaged");
    reader->at += sizeof head;
    if (reader->end - reader->at < head.name_size)
        return no_matrix(reader, "the file ends within the name of a matrix");
    Matrix matrix = { .rows = (uint64_t)head.rows, .columns = (uint64_t)head.columns, .is_swapped = is_swapped };
    matrix.number = head.type / 10 % 10;
    for (int32_t i = 0; i < head.name_size && i < (int32_t)sizeof matrix.name - 1; i++)
        matrix.name[i] = (char)reader->at[i];
    reader->at += head.name_size;
    matrix.data = reader->at;
    const uint64_t column = matrix.rows * NUMBER_SIZE[matrix.number];
    const uint64_t there = (uint64_t)(reader->end - reader->at);
    if (column > 0 && matrix.columns > there / column) {
        matrix.columns = there / column;
        diag_warning(reader->diag, DIAG_RESULT_SHORT, SPAN_NONE,
                     "%s: the file ends within matrix '%s'; %llu of its %ld columns are there", reader->path,
                     matrix.name, (unsigned long long)matrix.columns, (long)head.columns);
        reader->at = reader->end;
    } else {
        reader->at += column * matrix.columns;
    }
    vec_push(reader->arena, &reader->matrices, matrix);
    return true;
}

/* Text without the blanks and zeros it is filled up with. */
static const char *item_text(const Reader *reader, const Matrix *matrix, uint64_t item)
{
    if (!matrix || item >= item_count(reader, matrix))
        return "";
    uint64_t n = item_size(reader, matrix);
    while (n > 0) {
        const double c = item_at(reader, matrix, item, n - 1);
        if (c != 0 && c != ' ')
            break;
        n--;
    }
    char *text = NEW_ARRAY(reader->arena, char, n + 1);
    for (uint64_t k = 0; k < n; k++) {
        const double c = item_at(reader, matrix, item, k);
        text[k] = c > 0 && c < 256 ? (char)(unsigned char)c : '?';
    }
    return text;
}

static bool find_layout(Reader *reader)
{
    const Matrix *aclass = find_matrix(reader, "Aclass");
    if (!aclass || aclass->rows < 1 || aclass->columns < 8)
        return damaged(reader, "matrix 'Aclass' is missing: this is not a result file of a Modelica tool");
    reader->is_transposed = false; /* Aclass itself never is */
    if (strncmp(item_text(reader, aclass, 0), "Atrajectory", 11) != 0)
        return damaged(reader, "'Aclass' does not say 'Atrajectory': this is not a result file");
    const char *layout = aclass->rows >= ACLASS_ROWS ? item_text(reader, aclass, 3) : "binNormal";
    if (strcmp(layout, "binTrans") != 0 && strcmp(layout, "binNormal") != 0)
        return damaged(reader, "'Aclass' says neither 'binTrans' nor 'binNormal'");
    reader->is_transposed = strcmp(layout, "binTrans") == 0;
    return true;
}

/* The points of one data matrix, each column copied when it is first asked for. */
typedef struct {
    const Matrix *matrix;
    uint64_t points, variables;
    Map by_place; /* from the place in dataInfo to an index in `copies` */
    VEC(double *) copies;
} Trajectories;

static void open_trajectories(const Reader *reader, const Matrix *matrix, Trajectories *t)
{
    t->matrix = matrix;
    t->points = item_count(reader, matrix);
    t->variables = item_size(reader, matrix);
    map_init(&t->by_place, reader->arena, 64);
}

static const double *trajectory(const Reader *reader, Trajectories *t, int64_t place, uint64_t points)
{
    uint32_t known;
    if (map_get(&t->by_place, (uint64_t)place, &known))
        return t->copies.at[known];
    const uint64_t k = (uint64_t)(place < 0 ? -place : place) - 1;
    double *copy = NEW_ARRAY(reader->arena, double, points);
    for (uint64_t i = 0; i < points; i++) {
        const double value = item_at(reader, t->matrix, i, k);
        copy[i] = place < 0 ? -value : value;
    }
    map_put(&t->by_place, (uint64_t)place, t->copies.n);
    vec_push(reader->arena, &t->copies, copy);
    return copy;
}

typedef struct {
    const Matrix *names, *descriptions, *info;
    Trajectories data[2]; /* data_1 and data_2 */
    int main;             /* index of the one that varies */
    uint64_t n;           /* variables */
} Directory;

static bool open_directory(Reader *reader, Directory *directory)
{
    directory->names = find_matrix(reader, "name");
    directory->descriptions = find_matrix(reader, "description");
    directory->info = find_matrix(reader, "dataInfo");
    if (!directory->names || !directory->info)
        return damaged(reader, "matrix 'name' or 'dataInfo' is missing");
    directory->n = item_count(reader, directory->names);
    if (directory->n == 0 || directory->n > INT32_MAX / 2 || item_count(reader, directory->info) != directory->n ||
        item_size(reader, directory->info) < 2 || item_size(reader, directory->names) > LONGEST_NAME)
        return damaged(reader, "matrices 'name' and 'dataInfo' do not fit together");
    const Matrix *const matrices[2] = { find_matrix(reader, "data_1"), find_matrix(reader, "data_2") };
    if (!matrices[0] && !matrices[1])
        return damaged(reader, "there is no matrix 'data_1' or 'data_2'");
    for (int j = 0; j < 2; j++)
        if (matrices[j])
            open_trajectories(reader, matrices[j], &directory->data[j]);
    directory->main = matrices[1] ? 1 : 0;
    return true;
}

/* Fills in the values of variable `i`, or reports. */
static bool read_column(const Reader *reader, Directory *directory, uint64_t i, SeriesColumn *column)
{
    const double which = item_at(reader, directory->info, i, 0), place = item_at(reader, directory->info, i, 1);
    const int j = which == 0 ? directory->main : which == 1 ? 0 : which == 2 ? 1 : -1;
    Trajectories *t = j < 0 ? NULL : &directory->data[j];
    column->name = item_text(reader, directory->names, i);
    column->comment = item_text(reader, directory->descriptions, i);
    if (!t || !t->matrix || !(fabs(place) >= 1) || fabs(place) > (double)t->variables) {
        diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: 'dataInfo' places '%.80s' outside of the data",
                   reader->path, column->name);
        return false;
    }
    column->is_constant = j != directory->main;
    if (column->is_constant && t->points == 0)
        return damaged(reader, "'data_1' has no values");
    column->values = trajectory(reader, t, (int64_t)place, column->is_constant ? 1 : t->points);
    return true;
}

static uint64_t find_time(const Reader *reader, const Directory *directory)
{
    for (uint64_t i = 0; i < directory->n; i++)
        if (item_at(reader, directory->info, i, 0) == 0)
            return i;
    return 0;
}

Series *mat_read(const char *path, const void *bytes, size_t size, Arena *arena, Diag *diag)
{
    Reader reader = { .path = path, .at = bytes, .end = (const unsigned char *)bytes + size };
    reader.arena = arena;
    reader.diag = diag;
    do
        if (!read_matrix(&reader))
            return NULL;
    while (reader.at < reader.end && reader.matrices.n < MOST_MATRICES);
    Directory directory = { 0 };
    if (!find_layout(&reader) || !open_directory(&reader, &directory))
        return NULL;

    /* The time comes first, the others keep their order. */
    SeriesColumn *columns = NEW_ARRAY(arena, SeriesColumn, directory.n);
    const uint64_t time = find_time(&reader, &directory);
    uint64_t next = 1;
    for (uint64_t i = 0; i < directory.n; i++)
        if (!read_column(&reader, &directory, i, &columns[i == time ? 0 : next++]))
            return NULL;
    if (columns[0].is_constant)
        return damaged(&reader, "the time does not vary"), NULL;
    Series *series = NEW(arena, Series);
    *series = (Series){ (uint32_t)directory.n, directory.data[directory.main].points, columns, NULL, NULL, 0 };
    return series;
}
