/* The head of a matrix in a MATLAB 4 file. Private to mat_*.c. */
#ifndef FORMATS_MAT_LAYOUT_H
#define FORMATS_MAT_LAYOUT_H

#include <stdint.h>

typedef struct {
    int32_t type; /* 1000 * byte order (0 little, 1 big) + 10 * number + class */
    int32_t rows, columns;
    int32_t is_complex;
    int32_t name_size; /* with the terminating 0 */
} MatHead;

enum { MAT_DOUBLE, MAT_SINGLE, MAT_INT32, MAT_INT16, MAT_UINT16, MAT_UINT8, MAT_NUMBERS };
enum { MAT_NUMERIC, MAT_TEXT };
enum { ACLASS_ROWS = 4, ACLASS_COLUMNS = 11 };

#endif
