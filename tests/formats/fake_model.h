/* A model that computes nothing: tables and a block, for tests of result writers.
 *
 * x        Real, continuous           der(x)  its derivative
 * minus_x  alias of x, negated        A       Real[2,3], continuous
 * on       Boolean, discrete          off     alias of on, negated
 * n        Integer, discrete          door    enumeration {closed, open}
 * Integ.Z  Real, continuous           text    String: never recorded
 * p        parameter                  secret  hidden, continuous
 * "odd, ""name"""  Real, whose name needs quotes */
#ifndef TESTS_FAKE_MODEL_H
#define TESTS_FAKE_MODEL_H

#include "koine/simulate.h"
#include <math.h>
#include <string.h>

enum {
    SLOT_X,
    SLOT_DX,
    SLOT_A,
    SLOT_ON = SLOT_A + 6,
    SLOT_N,
    SLOT_DOOR,
    SLOT_Z,
    SLOT_TEXT,
    SLOT_P,
    SLOT_SECRET,
    SLOT_ODD,
    N_SLOTS
};

typedef struct {
    KoineSlot slots[N_SLOTS];
    KoineVariable variables[16];
    uint32_t dims[2];
    KoineEnumeration enumeration;
    const char *values[2];
    KoineTables tables;
    KoineModelKind kind;
    KoineModel model;
} FakeModel;

static KoineVariable *fake_add(FakeModel *fake, const char *name, int slot, int type, int variability, int flags)
{
    KoineVariable *const variable = &fake->variables[fake->tables.n_variables++];
    *variable = (KoineVariable){ .name = name, .unit = "", .comment = "", .now = 8 * (uint64_t)slot, .count = 1 };
    variable->type = (uint8_t)type;
    variable->variability = (uint8_t)variability;
    variable->flags = (uint8_t)flags;
    return variable;
}

static void fake_create(FakeModel *fake)
{
    memset(fake, 0, sizeof *fake);
    const int continuous = KOINE_VARIABILITY_CONTINUOUS, discrete = KOINE_VARIABILITY_DISCRETE;
    fake->dims[0] = 2;
    fake->dims[1] = 3;
    fake->values[0] = "closed";
    fake->values[1] = "open";
    fake->enumeration = (KoineEnumeration){ "Door", 2, fake->values };
    KoineVariable *const x = fake_add(fake, "x", SLOT_X, KOINE_REAL, continuous, 0);
    x->unit = "m";
    x->comment = "position";
    fake_add(fake, "der(x)", SLOT_DX, KOINE_REAL, continuous, KOINE_VARIABLE_DERIVATIVE);
    fake_add(fake, "minus_x", SLOT_X, KOINE_REAL, continuous, KOINE_VARIABLE_NEGATED | KOINE_VARIABLE_ALIAS);
    KoineVariable *const a = fake_add(fake, "A", SLOT_A, KOINE_REAL, continuous, 0);
    a->count = 6;
    a->n_dims = 2;
    fake_add(fake, "on", SLOT_ON, KOINE_BOOLEAN, discrete, 0);
    fake_add(fake, "off", SLOT_ON, KOINE_BOOLEAN, discrete, KOINE_VARIABLE_NEGATED | KOINE_VARIABLE_ALIAS);
    fake_add(fake, "n", SLOT_N, KOINE_INTEGER, discrete, 0);
    fake_add(fake, "door", SLOT_DOOR, KOINE_ENUMERATION, discrete, 0);
    fake_add(fake, "Integ.Z", SLOT_Z, KOINE_REAL, continuous, 0);
    fake_add(fake, "text", SLOT_TEXT, KOINE_STRING, discrete, 0);
    fake_add(fake, "p", SLOT_P, KOINE_REAL, KOINE_VARIABILITY_PARAMETER, KOINE_VARIABLE_SETTABLE);
    fake_add(fake, "secret", SLOT_SECRET, KOINE_REAL, continuous, KOINE_VARIABLE_HIDDEN);
    fake_add(fake, "odd, \"name\"", SLOT_ODD, KOINE_REAL, continuous, 0);
    fake->tables.name = "Fake";
    fake->tables.block_size = sizeof fake->slots;
    fake->tables.variables = fake->variables;
    fake->tables.types.dims = fake->dims;
    fake->tables.types.n_dims = 2;
    fake->tables.types.enumerations = &fake->enumeration;
    fake->tables.types.n_enumerations = 1;
    fake->kind.tables = &fake->tables;
    fake->model.kind = &fake->kind;
    fake->model.block = (unsigned char *)fake->slots;
    fake->model.size = sizeof fake->slots;
    fake->slots[SLOT_P].r = 9.81;
    fake->slots[SLOT_DOOR].i = 1;
}

/* Sets all slots to values that depend on the row. */
static void fake_fill(FakeModel *fake, int row)
{
    fake->slots[SLOT_X].r = 0.1 * row;
    fake->slots[SLOT_DX].r = -1.5 * row;
    for (int i = 0; i < 6; i++)
        fake->slots[SLOT_A + i].r = row + (i + 1) / 8.0;
    fake->slots[SLOT_ON].i = row % 2;
    fake->slots[SLOT_N].i = -row;
    fake->slots[SLOT_DOOR].i = 1 + row % 2;
    fake->slots[SLOT_Z].r = 1e30 / (row + 1);
    fake->slots[SLOT_SECRET].r = 7;
    fake->slots[SLOT_ODD].r = row == 2 ? (double)NAN : row;
}

static inline KoineStatus fake_run(FakeModel *fake, KoineSink *sink, int rows)
{
    KoineStatus status = sink->begin(sink, &fake->model);
    for (int row = 0; row < rows && status == KOINE_OK; row++) {
        fake_fill(fake, row);
        const KoinePoint point = { .time = 0.25 * row, .kind = KOINE_POINT_GRID };
        status = sink->point(sink, &fake->model, &point);
    }
    const KoineStatus end = sink->end(sink, &fake->model);
    return status < 0 ? status : end;
}

#endif
