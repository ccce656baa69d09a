/* Models of the text form made of the elements of elements.txt: the same seed gives the same text. */
#ifndef TESTS_ELEMENTS_GENERATE_H
#define TESTS_ELEMENTS_GENERATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    char name[40];
    const char *text; /* its lines */
    uint64_t n;       /* models that have it */
} Element;

typedef struct {
    Element *at;
    uint32_t n;
    char *file;
} Elements;

bool elements_read(Elements *elements, const char *path);
void elements_free(Elements *elements);

/* A model of a few elements goes to the file; `without` (a name or NULL) is not among them, `only` (a name or NULL) is
 * among them. `used` (elements->n flags) says which are. */
void elements_write(const Elements *elements, uint64_t seed, const char *only, bool *used, FILE *file);

#endif
