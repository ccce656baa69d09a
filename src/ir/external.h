/* The C function behind a function of the model: where it is, and how it is called.
 *
 * Real is double in C; Integer, Boolean and enumerations are int, sizes of arrays size_t. Outputs are what it returns,
 * or handed over by address. An array is handed over as the address of its first element, row after row. Where the
 * model says nothing else, the only output, a scalar, is what is returned, and all other fields are arguments in the
 * order of their declaration, each array followed by its sizes.
 *
 * An external object is what a constructor returns, a `void *` that Koine knows by a number; other functions take it.
 */
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

/* A C function that is there. The interpreter calls it by `call`; compiled code goes to `address`, and by `call` where
 * the function is to be watched. */
typedef struct ExternalCode {
    /* Arrays that are inputs are given by their addresses, the outputs are side by side. RoutineFaultKind; where it is
     * a fault, the outputs have no value. calls: the slots of calls in the block that holds the texts among the
     * inputs; it may be NULL where there are none. is_watched: it is also looked at whether the function meddles with
     * the process (locale, signals). */
    uint32_t (*call)(struct ExternalCode *code, void *calls, const Value *inputs, Value *outputs, bool is_watched);
    /* What compiled code asks behind a direct call that failed, or where numbers are not rounded to the nearest. */
    uint32_t (*after)(struct ExternalCode *code);
    /* Its texts are copied: memory that it made for them is given back. */
    void (*done)(struct ExternalCode *code);
    /* What the function said when it failed last in this thread; "" if it said nothing. */
    const char *(*failure)(const struct ExternalCode *code);
    void (*address)(void);
    void (*destructor)(void);                    /* of an object that it makes; else NULL */
    void (*end)(const void *code, void *object); /* calls it */
    const volatile int *failures;                /* how often functions beside it have failed; never NULL */
    volatile uint32_t alarm; /* not 0: it is to be watched at the next call, or must not be called any more */
} ExternalCode;

typedef struct External {
    NameId symbol;
    NameId destructor;       /* the symbol of the function that ends what this one makes; else empty */
    uint32_t object;         /* it makes the object of this number, from 1, of the model (number-objects); else 0 */
    VEC(NameId) libraries;   /* names, or files; one that ends in .c is compiled */
    VEC(NameId) directories; /* where libraries and included files are looked for besides the folder of the model */
    NameId include;          /* the name of a header, or C text with such lines; may be empty */
    bool is_mapped;          /* the model says what the arguments and the result are */
    VEC(ExternalArgument) arguments;
    uint32_t result;    /* the field that is returned; ID_NONE: nothing is */
    uint32_t source;    /* the file that was read when it was declared, in Sources; SOURCE_NONE: none */
    ExternalCode *code; /* NULL: not loaded; nobody has said yet that it may be */
} External;

/* Its statements are there, or the C function behind it is loaded. */
static inline bool external_is_there(const Function *function)
{
    return !function->external || function->external->code;
}

/* It makes external objects. */
static inline bool function_is_constructor(const Function *function)
{
    return function->external && !name_is_empty(function->external->destructor);
}

/* A function that is not pure is called in it. */
bool expr_is_impure(const Expr *e);

/* Fills in arguments and result of a function that does not say them. */
void external_map(Function *function);

/* How an argument looks in C. */
typedef struct {
    bool is_real;    /* double; else int, or size_t */
    bool is_size;    /* size_t */
    bool is_text;    /* const char *, or const char ** if it is_address */
    bool is_object;  /* void * */
    bool is_address; /* of an output or an array */
    bool is_input;   /* what is at the address is only read */
} ExternalParameter;
ExternalParameter external_parameter(const Function *function, uint32_t argument);
/* "double", "int", "size_t", "const char *", "const char **", "const double *", "int *" */
const char *external_spelling(ExternalParameter parameter);
/* The type that is returned: "double", "int", "const char *", "void *" or "void". */
const char *external_returns(const Function *function);

/* The number of the last value of an enumeration. */
int64_t external_last_value(const Function *function, Type enumeration);

/* What is wrong about how the function is called, and what would be right. NULL: nothing. */
const char *external_mistake(const Function *function, const char **help);

#endif
