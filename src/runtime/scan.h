/* Private to the search for crossings: the state of a search, and the judgement of one piece. */
#ifndef KOINE_RUNTIME_SCAN_H
#define KOINE_RUNTIME_SCAN_H

#include "runtime/run.h"

enum { MOST_POINTS = 40 };       /* ends of pieces that wait */
enum { N_SCAN_ROOTS = 11 };      /* numbers that are known of each root function */
static const double GROWTH = 2;  /* of pieces, from one to the next */
static const double DEEP = 1e-5; /* of a step: few roots have anything to show in so short a time */

typedef struct {
    double time;
    double *z, *slope; /* n each; slopes are secants ... */
    double offset;     /* ... to a point so far from this one */
    bool has_slope;
} Point;

typedef struct {          /* what is known of each root function, n each */
    double *span;         /* to which it had to be divided; INFINITY: it never was */
    double *longest;      /* piece in which it was seen through */
    double *rate;         /* |slope| lately; INFINITY: not known */
    double *last;         /* time of its last crossing that was searched for */
    double *least;        /* piece of this search */
    double *noise;        /* found by searches that would not end ... */
    double *noise_size;   /* ... among values of this size */
    double *size;         /* of operands */
    double *largest;      /* of its values, and of those of its operands, where the run has been */
    double *second;       /* values at a second look */
    double *wide;         /* how far it bends over the distance that slopes are taken over */
    uint8_t *was_divided; /* in this search */
} ScanRoots;

typedef struct KoineScan {
    ScanRoots roots;
    Point points[MOST_POINTS]; /* [0]: where the search is; then ends of pieces, the next one last */
    uint32_t top;              /* the next end */
    uint32_t skipped, measured;
    uint32_t deep;     /* looks into the shortest parts of a piece */
    bool is_inherited; /* the slopes at points[0] are those of the step before, which differ a little */
    double step;       /* of the solver */
    double floor;      /* length that is not divided */
    bool is_cut;       /* the piece ends before the time that the roots allow */
    bool is_repeated;  /* an event was found, and the piece before it is looked at once more */
} Scan;

typedef enum { CLEAR, CROSSED, UNCLEAR } Verdict;

/* Looks at the piece from points[0] to the next end: whether a root function crosses in it. */
KoineStatus koine_scan_examine(KoineRun *run, Verdict *verdict);

#endif
