/* What the files of expand-connections share: the points that connections join, and the links between them.
 *
 * A port has two sides: in its owner's surroundings, and inside of its owner. A point is one side of a port, or of one
 * element of an array of ports. Points are numbered port by port: the elements outside, then those inside. */
#ifndef PASSES_CONNECT_CONNECT_H
#define PASSES_CONNECT_CONNECT_H

#include "base/map.h"
#include "passes/pipeline.h"

enum { OUTSIDE, INSIDE };

typedef struct {
    uint32_t a, b;       /* points */
    uint32_t connection; /* that it came from */
    bool is_broken;      /* it closes a ring of overdetermined ports: it makes nothing equal */
} PortLink;

typedef struct {
    Compile *c;
    Model *m;
    uint32_t *first;   /* per port its first point; one row more, behind the last */
    uint32_t n_points; /* of all ports */
    bool has_parts;    /* some ports are members of others */
    VEC(PortLink) links;
    uint32_t *port;   /* per point: what it is a side of */
    uint32_t *parent; /* per point: sets of points, see graph/sets.h */
    uint32_t *next;   /* per point: the next one of the same set, in the order of points; ID_NONE */
    uint32_t *at;     /* per point: 1 + the first connection that joins it, 0: none */
    Map zeros;        /* variable and element: a flow whose equation v = 0 is there */
    bool is_good;     /* nothing was reported so far */
    struct Streams *streams;
} Connecting;

/* ---- points ---- */
static inline uint32_t port_count(const Connecting *k, uint32_t port)
{
    return (k->first[port + 1] - k->first[port]) / 2;
}
static inline bool point_is_inside(const Connecting *k, uint32_t point)
{
    return point - k->first[k->port[point]] >= port_count(k, k->port[point]);
}
static inline uint32_t point_element(const Connecting *k, uint32_t point)
{
    const uint32_t n = port_count(k, k->port[point]);
    return (point - k->first[k->port[point]]) % n;
}
/* The place of a point's port with this number. */
static inline const PortMember *point_member(const Connecting *k, uint32_t point, uint32_t place)
{
    return &k->m->members.at[k->m->ports.at[k->port[point]].first_member + place];
}
const char *point_text(const Connecting *k, uint32_t point); /* a.p[2], for messages */

/* ---- stages, in their order ---- */
/* Connections become links between points. False: reported. */
bool connect_points(Connecting *k);
/* Rings of overdetermined ports are broken: equations say what is left to be equal there. Conditions that ask for
 * roots become true or false. False: reported. */
bool connect_roots(Connecting *k);
/* Points that links join are sets. */
void connect_sets(Connecting *k);
/* Equations of potentials, flows, inputs and outputs; parameters are compared at the start. False: reported. */
bool connect_members(Connecting *k);
/* What stream members carry where connections join them. False: reported. */
bool connect_streams(Connecting *k);
/* Warnings for objects that nothing flows through. */
void connect_check(Connecting *k);

/* ---- equations of one set, or of several in a row that differ by their elements only ---- */
typedef struct {
    uint32_t n_sets;
    uint32_t n;            /* points of a set */
    const uint32_t *point; /* of the first set */
    const int32_t *stride; /* per point: by how many elements it moves from set to set */
    uint32_t connection;
} PointRun;

/* A member of a point: a variable, or elements of it. */
typedef struct {
    VarId var;
    uint32_t element; /* of the array of ports, in the order of rows from 0 */
    int32_t stride;   /* from set to set; the element moves in the last dimension */
    int32_t factor;
    uint32_t rank; /* dimensions of the array of ports */
} Part;

void connect_each_run(Connecting *k, void (*visit)(Connecting *k, const PointRun *run));
Part point_part(const Connecting *k, const PointRun *run, uint32_t which, uint32_t place);
/* As an expression: in a loop over sets if there are several, and over the dimensions of the member itself. */
const Expr *part_leaf(TermBuilder *builder, const Part *part, uint8_t kind, uint32_t n_sets);
/* Loops over the sets, and over the dimensions of the member behind those of the array of ports. */
DomainId part_domain(Connecting *k, const Part *part, uint32_t n_sets);
EqId connect_equation(Connecting *k, Term left, Term right, Span span, const Part *owner, uint32_t n_sets);

#endif
