/* The C function behind a function of the model: where it is, and how it is called.
 *
 * Real is double in C; Integer, Boolean and enumerations are int. Outputs are what it returns, or handed over by
 * address. An array is handed over as the address of its first element, row after row. Where the model says nothing
 * else, the only output, a scalar, is what is returned, and all other fields are arguments in the order of their
 * declaration, each array followed by its sizes. */
#ifndef IR_EXTERNAL_H
#define IR_EXTERNAL_H

#include "ir/model.h"
#include "ir/evaluate.h"

typedef enum { EXTERNAL_FIELD, EXTERNAL_SIZE, EXTERNAL_INTEGER, EXTERNAL_REAL } ExternalArgumentKind;
typedef struct {
    uint8_t kind;
    uint32_t field, dimension; /* FIELD; SIZE: the dimension, from 1, of the field */
    Value number;              /* INTEGER, REAL */
} ExternalArgument;

/* A C function that is there. The interpreter calls it by `call`, compiled tiers go to `address`. */
typedef struct ExternalCode {
    /* False: an input does not fit into an int, or an output has no finite value. */
    bool (*call)(const struct ExternalCode *code, const Value *inputs, Value *outputs);
    void (*address)(void);
} ExternalCode;

typedef struct External {
    NameId symbol;
    VEC(NameId) libraries;   /* names, or files; one that ends in .c is compiled */
    VEC(NameId) directories; /* where libraries and included files are looked for besides the folder of the model */
    NameId include;          /* the name of a header, or C text with such lines; may be empty */
    bool is_mapped;          /* the model says what the arguments and the result are */
    VEC(ExternalArgument) arguments;
    uint32_t result;          /* the field that is returned; ID_NONE: nothing is */
    uint32_t source;          /* the file that was read when it was declared, in Sources; SOURCE_NONE: none */
    const ExternalCode *code; /* NULL: not loaded; nobody has said yet that it may be */
} External;

/* Fills in arguments and result of a function that does not say them. */
void external_map(Function *function);

/* How an argument looks in C. */
typedef struct {
    bool is_real;    /* double; else int */
    bool is_address; /* of an output or an array */
    bool is_input;   /* what is at the address is only read */
} ExternalParameter;
ExternalParameter external_parameter(const Function *function, uint32_t argument);
/* "double", "int", "const double *", "int *" */
const char *external_spelling(ExternalParameter parameter);
/* The type that is returned: "double", "int" or "void". */
const char *external_returns(const Function *function);

/* What is wrong about how the function is called, and what would be right. NULL: nothing. */
const char *external_mistake(const Function *function, const char **help);

#endif
