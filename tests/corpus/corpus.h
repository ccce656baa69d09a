/* Random hybrid models whose states have closed forms, and where their comparisons change, by dense evaluation in long
 * double. Nothing here is shared with what is tested: a model goes to it as a text. */
#ifndef TESTS_CORPUS_CORPUS_H
#define TESTS_CORPUS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef long double Wide;

enum {
    MOST_NODES = 400,
    MOST_MOTIONS = 3,
    MOST_STATES = 2 * MOST_MOTIONS,
    MOST_COMPARISONS = 4,
    MOST_PIECES = 400, /* of a motion, between events */
    MOST_EVENTS = 1500,
    MOST_POINTS = 8, /* of a table */
    N_ELEMENTS = 3   /* of the array */
};

/* ---- random numbers: a function of the seed alone ---- */
typedef struct {
    uint64_t state;
} Dice;

uint32_t dice_below(Dice *dice, uint32_t n);
bool dice_chance(Dice *dice, double p);
double dice_between(Dice *dice, double low, double high);
double dice_scale(Dice *dice, double low, double high); /* evenly in the logarithm */
double short_number(double x);                          /* of six digits */

/* ---- expressions ---- */
typedef enum {
    NODE_NUMBER,
    NODE_TIME,
    NODE_STATE,    /* index */
    NODE_ARGUMENT, /* of a function */
    NODE_LOCAL,    /* variable of a function */
    NODE_ADD,
    NODE_MUL,
    NODE_MIN,
    NODE_MAX,
    NODE_SIN,
    NODE_COS,
    NODE_EXP,
    NODE_ABS,
    NODE_SQUARE,
    NODE_MOD,    /* of an affine function of the time, positive, by number */
    NODE_TABLE,  /* of the model */
    NODE_CALL,   /* of the model's function */
    NODE_ELEMENT /* index of the model's array */
} NodeKind;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    double number;
    uint32_t index;
    const Node *a, *b;
};

/* ---- motions: states with closed forms ---- */
typedef enum {
    MOTION_DECAY,    /* x' = p0*(level - x) */
    MOTION_WHEEL,    /* x' = p0*x + level*y, y' = p0*y - level*x */
    MOTION_FALL,     /* x' = y, y' = level */
    MOTION_PHASE,    /* x' = level */
    MOTION_SWEEP,    /* x' = level + p0*t */
    MOTION_LOGISTIC, /* x' = level*x*(1 - x) */
    MOTION_DRIVEN,   /* x' = level*cos(p0*t + p1) */
    MOTION_STIFF,    /* x' = p0*(cos(t) - x) */
    MOTION_RELAX,    /* x' = p0*(level - x); the level changes where x reaches p1 and p2 */
    MOTION_BALL,     /* x' = y, y' = -p0; at x = 0 y becomes -p1*y */
    N_MOTION_KINDS
} MotionKind;

typedef enum { DRIVE_NONE, DRIVE_SWITCH, DRIVE_JUMP } Drive;

typedef struct {
    Wide from;
    Wide x[2];
    bool is_on;
} MotionPiece;

typedef struct {
    MotionKind kind;
    double p[3], start[2], level[2]; /* level: while off, while on */
    Drive drive;                     /* by the first comparison, which depends on the time alone ... */
    double factor, offset;           /* ... x becomes factor*x + offset where it becomes true */
    uint32_t first_state, n_states, n_pieces;
    MotionPiece pieces[MOST_PIECES];
} Motion;

/* ---- models ---- */
typedef struct {
    Wide time;
    bool to;
} Change;

typedef struct {
    const Node *value;
    double limit;  /* it is: value > limit */
    bool of_time;  /* alone */
    bool is_close; /* to an extreme, on purpose */
    bool at_start;
    Wide range; /* of the value, in the run */
    uint32_t n_events;
    Change events[MOST_EVENTS];
} Comparison;

typedef enum { FUNCTION_NONE, FUNCTION_PLAIN, FUNCTION_BRANCH, FUNCTION_LOOP } FunctionKind;

typedef struct {
    FunctionKind kind;
    const Node *first, *second; /* local := first(argument); value := second(argument, local) */
} UserFunction;

typedef struct { /* slope*t + shift, or the sine of that */
    bool is_used, is_sine;
    double slope[N_ELEMENTS], shift[N_ELEMENTS];
} Elements;

typedef struct {
    uint32_t n; /* 0: there is none */
    double x[MOST_POINTS], y[MOST_POINTS];
} Knots;

typedef struct {
    uint64_t seed;
    bool is_dymola;
    double stop;
    Dice dice;
    Node nodes[MOST_NODES];
    uint32_t n_nodes, n_motions, n_states, n_comparisons;
    uint32_t n_dropped; /* limits that lay too close to some extreme or end, or had too many events */
    Motion motions[MOST_MOTIONS];
    Wide size[MOST_STATES], speed[MOST_STATES]; /* largest |x| and |x'| */
    bool bounces[MOST_STATES];                  /* it is of a ball, whose errors grow with each bounce */
    Comparison comparisons[MOST_COMPARISONS];
    UserFunction function;
    Knots table;
    Elements array;
} Plan;

/* False: this seed gives no model, because a limit lies too close to an extreme whatever was tried, or has too many
 * events. */
bool plan_make(Plan *plan, uint64_t seed);
void plan_write(const Plan *plan, FILE *file);

const Node *node_make(Plan *plan, NodeKind kind, double number, uint32_t index, const Node *a, const Node *b);
Wide node_value(const Plan *plan, const Node *node, Wide t, const Wide *x);
Wide node_at(const Plan *plan, const Node *node, Wide t); /* with the states of that time */
void node_write(const Plan *plan, const Node *node, FILE *file);
void literal_write(double x, FILE *file);
void number_write(double x, FILE *file); /* in parentheses, if it is negative */

bool motion_make(Plan *plan, Motion *motion); /* its pieces; false: too many */
void motion_at(const Motion *motion, Wide t, Wide *x);
void motion_declare(const Plan *plan, const Motion *motion, uint32_t number, FILE *file);
void motion_write(const Plan *plan, const Motion *motion, uint32_t number, FILE *file);
void motion_write_events(const Plan *plan, const Motion *motion, uint32_t number, FILE *file);

/* ---- where a value passes a limit ---- */
typedef struct Curve Curve;

Curve *curve_make(const Plan *plan, const Node *node, uint32_t n);
void curve_free(Curve *curve);
Wide curve_low(const Curve *curve);
Wide curve_high(const Curve *curve);
/* A local extreme drawn by the dice, as exactly as numbers tell; false: there is none. */
bool curve_extreme(const Curve *curve, Dice *dice, Wide *value, bool *is_maximum);
/* False: some extreme is closer to the limit than it may be, or there are too many events. */
bool curve_events(const Curve *curve, Comparison *comparison);

/* How far the value may be off at that time: 1000 tolerances of its range, and what 100 tolerances of the largest value
 * of each state, 500 of a ball, make of it. For functions of the time alone a part in 1e9 of its range. */
Wide allowed(const Plan *plan, const Comparison *comparison, Wide t);

#endif
