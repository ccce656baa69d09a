/* Tables as external objects. What is made and ended is written into the file that KOINE_TEST_TABLES names. */
#include "koine_external.h"
#include <stdio.h>

typedef struct {
    int n;
    double at[16];
    char name[16];
} Table;

static void note(const char *what, const char *name)
{
    const char *path = getenv("KOINE_TEST_TABLES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %s\n", what, name);
    fclose(file);
}

/* Slope and offset of the straight line through it, and how many points; a name decides about failures. */
void *table_open(const char *name, double slope, int n)
{
    if (strcmp(name, "refused") == 0)
        return koine_fail("there is no table of this name"), NULL;
    if (strcmp(name, "nothing") == 0)
        return NULL;
    Table *table = calloc(1, sizeof *table);
    table->n = n;
    snprintf(table->name, sizeof table->name, "%s", name);
    for (int k = 0; k < n && k < 16; k++)
        table->at[k] = slope * k;
    note("made", name);
    return table;
}

void table_close(void *object)
{
    Table *table = object;
    note("ended", table->name);
    if (strcmp(table->name, "bad end") == 0)
        koine_fail("it does not want to end");
    free(table);
}

double table_at(void *object, double x)
{
    const Table *table = object;
    int k = (int)x;
    k = k < 0 ? 0 : k > table->n - 2 ? table->n - 2 : k;
    return table->at[k] + (x - k) * (table->at[k + 1] - table->at[k]);
}

int table_size(void *object)
{
    return ((const Table *)object)->n;
}
