/* koine-bench: figures of Koine beside hand-written C in the same run, each with its target.
 *
 * A row measures one figure. Rows know nothing of each other; what several need (the rate of a ring, the load of a
 * network) is measured once and kept. CPU time of the process is measured, interleaved, best of several. */
#ifndef BENCH_H
#define BENCH_H

#include "driver/compile.h"
#include "koine/simulate.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    bool is_quick;      /* fewer repetitions, no model of a million equations */
    const char *models; /* folder of the models */
    const char *folder; /* temporary: generated models */
    const char *self;   /* this program, for figures that need a process of their own */
} Bench;

typedef struct {
    double value;
    bool is_known; /* false: `note` says why */
    char note[240];
} Figure;

typedef enum { AT_MOST, AT_LEAST } Direction;
typedef struct Row {
    const char *name;
    Direction direction;
    double target;
    const char *unit; /* "x": ratio of CPU times, ours to that of hand-written C */
    void (*measure)(const Bench *bench, const struct Row *row, Figure *figure);
    const void *subject; /* what `measure` needs; may be NULL */
    const char *tier;    /* may be NULL */
} Row;

typedef struct {
    const char *title;
    const Row *rows;
    uint32_t n;
} Group;
extern const Group group_cvode, group_slopes, group_precision, group_size, group_events, group_process, group_bank,
    group_growth, group_engine, group_tearing, group_derivatives, group_components;
extern const Group group_results, group_page; /* with --viewer */

/* ---- against.c ---- */
/* The koine-bench of a build folder, or of a checkout with its build; false: there is none. */
bool find_other_bench(const char *folder, char *path, size_t size);
/* The figure of a row of this program and of `other`, the best of several, in turns. False: one of them has none. */
bool measure_against(const Bench *bench, const char *other, const Row *row, double values[2]);

/* ---- measure.c ---- */
double cpu_seconds(void);
double wall_seconds(void);

typedef struct {
    bool (*run)(void *context); /* false: it failed */
    void *context;
} Work;
/* Seconds of one run of each, best of several, in turns. False: one of them failed. */
bool measure_both(const Bench *bench, const Work *ours, const Work *theirs, double seconds[2]);

/* Runs a program without output; false: it failed. Seconds of the wall clock and of CPU. */
bool run_program(const char *program, char *const *arguments, double *wall, double *cpu);
const char *koine_binary(void); /* the built program, or what KOINE_BINARY names */

/* Says why there is no figure. */
void no_figure(Figure *figure, const char *format, ...);
void note(Figure *figure, const char *format, ...);

/* Runs this program with these arguments and reads `n` numbers from its output. */
bool child_numbers(const Bench *bench, const char *const *arguments, double *numbers, uint32_t n);
/* What such a child does; its exit code. */
int child_main(int argc, char **argv);
int child_passes(const char *path); /* seconds of reading, of each pass, of laying out the program */

/* ---- subject.c: a model on Koine's side ---- */
typedef struct {
    Compilation *compilation;
    const KoineModelKind *kind;
} Subject;
bool subject_open(Subject *subject, const char *path, const char *tier, Figure *figure); /* false: figure says why */
void subject_close(Subject *subject);
/* Position among the states of the variable of this name; the element's for arrays. UINT32_MAX: none. */
uint32_t subject_state(const Subject *subject, const char *name);
const KoineVariable *subject_variable(const Subject *subject, const char *name);

typedef struct {
    const char *solver;
    double stop, tolerance;
    uint32_t max_steps;        /* event steps at one time; 0: the default */
    uint32_t n;                /* states that are set and read */
    const char *const *names;  /* of these */
    const double *start;       /* n, or NULL: as in the model */
    double *end;               /* n, or NULL */
    KoineRunStatistics counts; /* out */
    char text[256];            /* out: why it failed */
} SubjectRun;
bool subject_run(const Subject *subject, SubjectRun *run);
/* Created, initialised and past its first instant; NULL: failed. The caller destroys it. */
KoineModel *subject_start(const Subject *subject);

/* ---- generate.c: large models, into bench->folder; the path belongs to the caller's buffer ---- */
enum { PATH_SIZE = 512 };
void generate_line(const Bench *bench, uint32_t cells, char *path);        /* heat line of components */
void generate_network(const Bench *bench, uint32_t stages, char *path);    /* ring of Stage, five equations each */
void generate_network_ir(const Bench *bench, uint32_t stages, char *path); /* the same in the text form, written out */
/* An array of cells, each with a comparison of its own in its derivative, or an event that counts. */
void generate_cells(const Bench *bench, uint32_t cells, char *path);
void generate_counting_cells(const Bench *bench, uint32_t cells, char *path);
void generate_starting_cells(const Bench *bench, uint32_t cells, char *path);
void generate_network_classes(const Bench *bench, uint32_t stages, char *path); /* and with a class */
void generate_ring(const Bench *bench, uint32_t gates, char *path);             /* of inverting gates; odd */
void generate_ticks(const Bench *bench, uint32_t idle, char *path);
void generate_clocks(const Bench *bench, uint32_t clocks, uint32_t rates, char *path); /* one ticks, the others wait */
/* Adder of so many bits whose carry runs through all of them again and again; gates of a version (Logic, Delay). */
void generate_adder(const Bench *bench, uint32_t bits, const char *version, char *path);
/* A bank with 10,000 classes, a tenth of them made of nine others. */
void generate_bank(const Bench *bench, char *path);
void generate_ladder(const Bench *bench, uint32_t cells, char *path); /* RC ladder of Dymola objects */
/* Equations with sines of states anywhere in the model, ten a state: each sine stands in many of them. */
void generate_sines(const Bench *bench, uint32_t equations, char *path);
/* Branches of a resistor and a capacitor, all at one node; resistors between two nodes. */
void generate_star(const Bench *bench, uint32_t branches, char *path);
void generate_parallel(const Bench *bench, uint32_t resistors, char *path);
void model_path(const Bench *bench, const char *file, char *path); /* of a file in bench->models */

#endif
