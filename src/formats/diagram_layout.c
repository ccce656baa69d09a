/* Layout of diagrams in layers, after K. Sugiyama et al. (1981): cycles are opened, boxes are put into columns by the
 * longest path, wires that pass a column get a lane there, columns are sorted by the mean of their neighbours, heights
 * are chosen by isotonic regression, and the channels between columns get as many tracks as wires need. */
#include "formats/diagram.h"
#include <math.h>
#include <stdlib.h>

enum { HEADER = 46, ROW = 20, BOX_PADDING = 14, FRAME_PADDING = 18, GAP = 26, LANE = 12, TRACK = 11, CHANNEL = 22 };
enum { SWEEPS = 12, PLACEMENTS = 24 };

typedef enum { NODE_BOX, NODE_INPUT, NODE_OUTPUT, NODE_LANE } NodeKind;
typedef struct {
    uint8_t kind;
    uint32_t index; /* child, or port of the frame */
    uint32_t layer;
    double width, height, y; /* y from the top of the columns */
    double rank;             /* for sorting */
    uint32_t place;          /* in its layer */
} Node;

/* A piece of a wire in one channel. `at` are heights from the top of the node. */
typedef struct {
    uint32_t from, to; /* nodes */
    double from_at, to_at;
    bool from_left, to_left; /* the end is at the left side of the channel */
    uint32_t channel;        /* right of layer `channel` */
    uint32_t wire;
    uint64_t net; /* pieces of wires from the same port share a track */
    double track; /* x from the left of the channel; < 0: straight */
} Piece;

typedef VEC(uint32_t) Indices;

typedef struct {
    DiagramBox *box;
    Arena *arena;
    VEC(Node) nodes;
    VEC(Piece) pieces;
    uint32_t *layer_of; /* of children */
    bool *is_back;      /* wires against the flow */
    uint32_t n_layers;
    Indices *layers;         /* nodes by place */
    Indices *after, *before; /* pieces of a node on its right and left side */
    double *column_x, *column_width, *channel_x, *channel_width;
} Layout;

double diagram_text_width(const char *text, double size)
{
    double n = 0; /* of letters, by their usual widths; bytes inside a UTF-8 sequence take none */
    for (; *text; text++)
        n += strchr("iljtfrI.,:;|()[] ", *text) ? 0.36
             : strchr("mwMW@", *text)           ? 0.92
             : (*text & 0xC0) == 0x80           ? 0
                                                : 0.6;
    return n * size;
}

/* ---- layers ---- */
static void visit(Layout *l, uint32_t child, uint8_t *state, const Indices *out)
{
    state[child] = 1;
    for (uint32_t k = 0; k < out[child].n; k++) {
        const uint32_t w = out[child].at[k], to = l->box->wires[w].to;
        if (state[to] == 1)
            l->is_back[w] = true;
        else if (state[to] == 0)
            visit(l, to, state, out);
    }
    state[child] = 2;
}

static bool is_inner(const DiagramWire *w)
{
    return w->from != DIAGRAM_FRAME && w->to != DIAGRAM_FRAME;
}

static void assign_layers(Layout *l)
{
    DiagramBox *box = l->box;
    const uint32_t n = box->n_children;
    Indices *out = NEW_ARRAY(l->arena, Indices, n);
    uint8_t *state = NEW_ARRAY(l->arena, uint8_t, n);
    l->is_back = NEW_ARRAY(l->arena, bool, box->n_wires);
    l->layer_of = NEW_ARRAY(l->arena, uint32_t, n);
    for (uint32_t k = 0; k < box->n_wires; k++)
        if (is_inner(&box->wires[k]))
            vec_push(l->arena, &out[box->wires[k].from], k);
    for (uint32_t k = 0; k < n; k++)
        if (state[k] == 0)
            visit(l, k, state, out);
    for (uint32_t k = 0; k < n; k++)
        l->layer_of[k] = 1;
    for (bool changes = true; changes;) {
        changes = false;
        for (uint32_t k = 0; k < box->n_wires; k++) {
            const DiagramWire *w = &box->wires[k];
            if (is_inner(w) && !l->is_back[k] && l->layer_of[w->to] <= l->layer_of[w->from]) {
                l->layer_of[w->to] = l->layer_of[w->from] + 1;
                changes = true;
            }
        }
    }
    l->n_layers = 1;
    for (uint32_t k = 0; k < n; k++)
        if (l->layer_of[k] > l->n_layers)
            l->n_layers = l->layer_of[k];
    l->n_layers += 2; /* inputs and outputs of the frame */
}

/* ---- nodes and pieces ---- */
static uint32_t add_node(Layout *l, Node node)
{
    vec_push(l->arena, &l->nodes, node);
    return l->nodes.n - 1;
}

static void add_piece(Layout *l, Piece piece)
{
    piece.track = -1;
    vec_push(l->arena, &l->pieces, piece);
}

typedef struct {
    uint32_t node;
    double at;
} End;

static uint32_t lane(Layout *l, uint32_t layer)
{
    return add_node(l, (Node){ .kind = NODE_LANE, .layer = layer, .height = LANE });
}

/* From the right side of one node to the left side of another, through lanes in the layers between. */
static void add_wire(Layout *l, uint32_t wire, uint64_t net, End from, End to)
{
    const uint32_t a = l->nodes.at[from.node].layer, b = l->nodes.at[to.node].layer;
    Piece piece = { .wire = wire, .net = net, .from = from.node, .from_at = from.at, .from_left = true };
    if (a < b) {
        for (uint32_t layer = a; layer < b; layer++) {
            const End next = layer + 1 == b ? to : (End){ lane(l, layer + 1), LANE / 2.0 };
            piece.channel = layer;
            piece.to = next.node;
            piece.to_at = next.at;
            piece.to_left = false;
            add_piece(l, piece);
            piece.from = next.node;
            piece.from_at = next.at;
        }
        return;
    }
    /* Out to the right, back along lanes, in from the left. */
    piece.channel = a;
    for (uint32_t layer = a; layer >= b; layer--) {
        const uint32_t next = lane(l, layer);
        piece.to = next;
        piece.to_at = LANE / 2.0;
        piece.to_left = true;
        add_piece(l, piece);
        piece.from = next;
        piece.from_at = LANE / 2.0;
        piece.from_left = false;
        piece.channel = layer - 1;
    }
    piece.to = to.node;
    piece.to_at = to.at;
    piece.to_left = false;
    add_piece(l, piece);
}

static double widest_label(const DiagramPort *ports, uint32_t n)
{
    double width = 0;
    for (uint32_t k = 0; k < n; k++)
        width = fmax(width, diagram_text_width(ports[k].label, 11));
    return width;
}

static void add_nodes(Layout *l)
{
    DiagramBox *box = l->box;
    const double in = widest_label(box->inputs, box->n_inputs) + 18,
                 out = widest_label(box->outputs, box->n_outputs) + 18;
    for (uint32_t k = 0; k < box->n_children; k++)
        add_node(l, (Node){ NODE_BOX, k, l->layer_of[k], box->children[k].width, box->children[k].height, 0, 0, 0 });
    const uint32_t inputs = l->nodes.n, outputs = inputs + box->n_inputs;
    for (uint32_t k = 0; k < box->n_inputs; k++)
        add_node(l, (Node){ NODE_INPUT, k, 0, in, ROW, 0, 0, 0 });
    for (uint32_t k = 0; k < box->n_outputs; k++)
        add_node(l, (Node){ NODE_OUTPUT, k, l->n_layers - 1, out, ROW, 0, 0, 0 });
    for (uint32_t k = 0; k < box->n_wires; k++) {
        const DiagramWire *w = &box->wires[k];
        const End from = w->from == DIAGRAM_FRAME ? (End){ inputs + w->from_port, ROW / 2.0 }
                                                  : (End){ w->from, box->children[w->from].outputs[w->from_port].y };
        const End to = w->to == DIAGRAM_FRAME ? (End){ outputs + w->to_port, ROW / 2.0 }
                                              : (End){ w->to, box->children[w->to].inputs[w->to_port].y };
        add_wire(l, k, (uint64_t)from.node << 32 | w->from_port, from, to);
    }
    l->layers = NEW_ARRAY(l->arena, Indices, l->n_layers);
    l->after = NEW_ARRAY(l->arena, Indices, l->nodes.n);
    l->before = NEW_ARRAY(l->arena, Indices, l->nodes.n);
    for (uint32_t k = 0; k < l->nodes.n; k++) {
        Node *node = &l->nodes.at[k];
        node->place = l->layers[node->layer].n;
        vec_push(l->arena, &l->layers[node->layer], k);
    }
    for (uint32_t k = 0; k < l->pieces.n; k++) {
        const Piece *p = &l->pieces.at[k];
        vec_push(l->arena, p->from_left ? &l->after[p->from] : &l->before[p->from], k);
        vec_push(l->arena, p->to_left ? &l->after[p->to] : &l->before[p->to], k);
    }
}

/* ---- order within the layers ---- */
/* The other end of a piece, as a place in its layer and a share of the node's height. */
static double rank_of_end(const Layout *l, const Piece *p, uint32_t of)
{
    const bool is_from = p->from == of;
    const Node *other = &l->nodes.at[is_from ? p->to : p->from];
    return other->place + (is_from ? p->to_at : p->from_at) / fmax(other->height, 1);
}

static void rank_nodes(Layout *l, uint32_t layer, bool by_left)
{
    for (uint32_t k = 0; k < l->layers[layer].n; k++) {
        const uint32_t index = l->layers[layer].at[k];
        Node *node = &l->nodes.at[index];
        const Indices *pieces = by_left ? &l->before[index] : &l->after[index];
        double sum = 0, n = 0;
        for (uint32_t j = 0; j < pieces->n; j++) {
            sum += rank_of_end(l, &l->pieces.at[pieces->at[j]], index);
            n++;
        }
        node->rank = n > 0 ? sum / n : node->place + 0.5;
    }
}

static void sort_layer(Layout *l, uint32_t layer)
{
    Indices *list = &l->layers[layer];
    for (uint32_t k = 1; k < list->n; k++) { /* by insertion: stable, and nearly sorted already */
        const uint32_t node = list->at[k];
        uint32_t j = k;
        for (; j > 0 && l->nodes.at[list->at[j - 1]].rank > l->nodes.at[node].rank + 1e-9; j--)
            list->at[j] = list->at[j - 1];
        list->at[j] = node;
    }
    for (uint32_t k = 0; k < list->n; k++)
        l->nodes.at[list->at[k]].place = k;
}

static double end_rank(const Layout *l, uint32_t node, double at)
{
    return l->nodes.at[node].place + at / (fmax(l->nodes.at[node].height, 1) + 1);
}

static uint64_t count_crossings(const Layout *l)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < l->pieces.n; k++)
        for (uint32_t j = 0; j < k; j++) {
            const Piece *p = &l->pieces.at[k], *q = &l->pieces.at[j];
            if (p->channel != q->channel || p->net == q->net)
                continue;
            const double a = end_rank(l, p->from, p->from_at) - end_rank(l, q->from, q->from_at);
            const double b = end_rank(l, p->to, p->to_at) - end_rank(l, q->to, q->to_at);
            n += a * b < 0;
        }
    return n;
}

static void order_layers(Layout *l)
{
    const bool can_count = l->pieces.n <= 1500;
    uint64_t best = can_count ? count_crossings(l) : 0;
    uint32_t *kept = NEW_ARRAY(l->arena, uint32_t, l->nodes.n);
    for (uint32_t k = 0; k < l->nodes.n; k++)
        kept[k] = l->nodes.at[k].place;
    for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
        const bool by_left = sweep % 2 == 0;
        for (uint32_t k = 0; k < l->n_layers; k++) {
            const uint32_t layer = by_left ? k : l->n_layers - 1 - k;
            rank_nodes(l, layer, by_left);
            sort_layer(l, layer);
        }
        const uint64_t crossings = can_count ? count_crossings(l) : 0;
        if (crossings < best || !can_count) {
            best = crossings;
            for (uint32_t k = 0; k < l->nodes.n; k++)
                kept[k] = l->nodes.at[k].place;
        }
    }
    for (uint32_t k = 0; k < l->nodes.n; k++) {
        l->nodes.at[k].place = kept[k];
        l->layers[l->nodes.at[k].layer].at[kept[k]] = k;
    }
}

/* ---- heights ---- */
static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where the node would stand if all its wires to one side were as straight as can be: the median. */
static bool wanted_height(const Layout *l, uint32_t index, bool by_left, double *wanted, double *scratch)
{
    const Indices *pieces = by_left ? &l->before[index] : &l->after[index];
    uint32_t n = 0;
    for (uint32_t j = 0; j < pieces->n; j++) {
        const Piece *p = &l->pieces.at[pieces->at[j]];
        const bool is_from = p->from == index;
        const Node *other = &l->nodes.at[is_from ? p->to : p->from];
        scratch[n++] = other->y + (is_from ? p->to_at : p->from_at) - (is_from ? p->from_at : p->to_at);
    }
    if (n == 0)
        return false;
    qsort(scratch, n, sizeof *scratch, by_value);
    *wanted = scratch[(n - 1) / 2];
    return true;
}

static double gap_between(const Node *a, const Node *b)
{
    if (a->kind == NODE_BOX || b->kind == NODE_BOX)
        return a->kind == b->kind ? GAP : GAP / 2.0;
    return a->kind == b->kind ? 0 : 4; /* ports of the frame as far apart as those of a box */
}

/* Least squares under the order and the gaps: neighbours that would collide are pooled. */
static void place_layer(Layout *l, uint32_t layer, const double *wanted, const double *weight)
{
    const Indices *list = &l->layers[layer];
    double *offset = NEW_ARRAY(l->arena, double, list->n), *value = NEW_ARRAY(l->arena, double, list->n);
    double *mass = NEW_ARRAY(l->arena, double, list->n);
    uint32_t *size = NEW_ARRAY(l->arena, uint32_t, list->n), n = 0;
    for (uint32_t k = 1; k < list->n; k++) {
        const Node *above = &l->nodes.at[list->at[k - 1]];
        offset[k] = offset[k - 1] + above->height + gap_between(above, &l->nodes.at[list->at[k]]);
    }
    for (uint32_t k = 0; k < list->n; k++) {
        value[n] = wanted[k] - offset[k];
        mass[n] = weight[k];
        size[n++] = 1;
        while (n > 1 && value[n - 2] > value[n - 1]) {
            value[n - 2] = (value[n - 2] * mass[n - 2] + value[n - 1] * mass[n - 1]) / (mass[n - 2] + mass[n - 1]);
            mass[n - 2] += mass[n - 1];
            size[n - 2] += size[n - 1];
            n--;
        }
    }
    for (uint32_t pool = 0, k = 0; pool < n; pool++)
        for (uint32_t j = 0; j < size[pool]; j++, k++)
            l->nodes.at[list->at[k]].y = round(value[pool]) + offset[k];
}

static void choose_heights(Layout *l)
{
    double *wanted = NEW_ARRAY(l->arena, double, l->nodes.n), *weight = NEW_ARRAY(l->arena, double, l->nodes.n);
    double *scratch = NEW_ARRAY(l->arena, double, l->pieces.n + 1);
    for (uint32_t k = 0; k < l->nodes.n; k++)
        weight[k] = 1;
    for (uint32_t layer = 0; layer < l->n_layers; layer++)
        place_layer(l, layer, wanted, weight);
    for (uint32_t round = 0; round < PLACEMENTS; round++) {
        const bool by_left = round % 2 == 0;
        for (uint32_t k = 0; k < l->n_layers; k++) {
            const uint32_t layer = by_left ? k : l->n_layers - 1 - k;
            const ArenaMark mark = arena_mark(l->arena);
            for (uint32_t j = 0; j < l->layers[layer].n; j++) {
                const uint32_t index = l->layers[layer].at[j];
                const bool is_wanted = wanted_height(l, index, by_left, &wanted[j], scratch);
                if (!is_wanted)
                    wanted[j] = l->nodes.at[index].y;
                weight[j] = !is_wanted ? 0.01 : l->nodes.at[index].kind == NODE_LANE ? 4 : 1;
            }
            place_layer(l, layer, wanted, weight);
            arena_reset(l->arena, mark);
        }
    }
    double top = INFINITY;
    for (uint32_t k = 0; k < l->nodes.n; k++)
        top = fmin(top, l->nodes.at[k].y);
    for (uint32_t k = 0; k < l->nodes.n; k++)
        l->nodes.at[k].y -= top;
}

/* ---- tracks ---- */
typedef struct { /* all pieces of one net in a channel */
    uint64_t net;
    Indices pieces;
    double low, high;
    uint32_t track;
    uint32_t n_before; /* nets that must lie further left */
    bool is_placed;
} Net;
typedef VEC(Net) Nets;

static double from_y(const Layout *l, const Piece *p)
{
    return l->nodes.at[p->from].y + p->from_at;
}

static double to_y(const Layout *l, const Piece *p)
{
    return l->nodes.at[p->to].y + p->to_at;
}

static bool is_straight(const Layout *l, const Piece *p)
{
    return p->from_left != p->to_left && from_y(l, p) == to_y(l, p);
}

static void collect_nets(Layout *l, uint32_t channel, Nets *nets)
{
    for (uint32_t k = 0; k < l->pieces.n; k++) {
        const Piece *p = &l->pieces.at[k];
        if (p->channel != channel)
            continue;
        uint32_t at = 0;
        while (at < nets->n && nets->at[at].net != p->net)
            at++;
        if (at == nets->n)
            vec_push(l->arena, nets, ((Net){ .net = p->net, .low = INFINITY, .high = -INFINITY }));
        Net *net = &nets->at[at];
        vec_push(l->arena, &net->pieces, k);
        net->low = fmin(net->low, fmin(from_y(l, p), to_y(l, p)));
        net->high = fmax(net->high, fmax(from_y(l, p), to_y(l, p)));
    }
    for (uint32_t k = 0; k < nets->n;) { /* straight ones need no track */
        bool is_free = true;
        for (uint32_t j = 0; j < nets->at[k].pieces.n; j++)
            is_free &= is_straight(l, &l->pieces.at[nets->at[k].pieces.at[j]]);
        if (is_free)
            nets->at[k] = nets->at[--nets->n];
        else
            k++;
    }
}

/* Whether `net` has an end at this height on that side of the channel. */
static bool has_end(const Layout *l, const Net *net, double y, bool is_left)
{
    for (uint32_t k = 0; k < net->pieces.n; k++) {
        const Piece *p = &l->pieces.at[net->pieces.at[k]];
        if ((p->from_left == is_left && fabs(from_y(l, p) - y) < 5) ||
            (p->to_left == is_left && fabs(to_y(l, p) - y) < 5))
            return true;
    }
    return false;
}

/* `a` must be left of `b`: a leaves the left side where b arrives on the right. */
static bool must_precede(const Layout *l, const Net *a, const Net *b)
{
    for (uint32_t k = 0; k < b->pieces.n; k++) {
        const Piece *p = &l->pieces.at[b->pieces.at[k]];
        if ((!p->from_left && has_end(l, a, from_y(l, p), true)) || (!p->to_left && has_end(l, a, to_y(l, p), true)))
            return true;
    }
    return false;
}

static bool is_track_free(const Nets *nets, const Net *net, uint32_t track)
{
    for (uint32_t k = 0; k < nets->n; k++)
        if (nets->at[k].is_placed && nets->at[k].track == track && nets->at[k].low < net->high + 8 &&
            net->low < nets->at[k].high + 8)
            return false;
    return true;
}

static uint32_t place_nets(const Layout *l, Nets *nets)
{
    uint32_t n_tracks = 0;
    for (uint32_t k = 0; k < nets->n; k++)
        for (uint32_t j = 0; j < nets->n; j++)
            nets->at[k].n_before += j != k && must_precede(l, &nets->at[j], &nets->at[k]);
    for (uint32_t done = 0; done < nets->n; done++) {
        uint32_t next = UINT32_MAX; /* the freest; a ring of wishes is broken anywhere */
        for (uint32_t k = 0; k < nets->n; k++)
            if (!nets->at[k].is_placed && (next == UINT32_MAX || nets->at[k].n_before < nets->at[next].n_before))
                next = k;
        Net *net = &nets->at[next];
        for (uint32_t k = 0; k < nets->n; k++)
            if (nets->at[k].is_placed && must_precede(l, &nets->at[k], net) && nets->at[k].track >= net->track)
                net->track = nets->at[k].track + 1;
        while (!is_track_free(nets, net, net->track))
            net->track++;
        net->is_placed = true;
        n_tracks = net->track + 1 > n_tracks ? net->track + 1 : n_tracks;
        for (uint32_t k = 0; k < nets->n; k++)
            nets->at[k].n_before -=
                !nets->at[k].is_placed && nets->at[k].n_before && must_precede(l, net, &nets->at[k]);
    }
    return n_tracks;
}

static void route_channel(Layout *l, uint32_t channel)
{
    Nets nets = { 0 };
    collect_nets(l, channel, &nets);
    const uint32_t n = place_nets(l, &nets);
    l->channel_width[channel] = 2 * CHANNEL + (n > 1 ? (n - 1) * TRACK : 0);
    for (uint32_t k = 0; k < nets.n; k++)
        for (uint32_t j = 0; j < nets.at[k].pieces.n; j++)
            l->pieces.at[nets.at[k].pieces.at[j]].track = CHANNEL + nets.at[k].track * TRACK;
}

/* ---- coordinates ---- */
static void place_columns(Layout *l)
{
    l->column_x = NEW_ARRAY(l->arena, double, l->n_layers);
    l->column_width = NEW_ARRAY(l->arena, double, l->n_layers);
    l->channel_x = NEW_ARRAY(l->arena, double, l->n_layers);
    l->channel_width = NEW_ARRAY(l->arena, double, l->n_layers);
    for (uint32_t k = 0; k < l->nodes.n; k++) {
        const Node *node = &l->nodes.at[k];
        l->column_width[node->layer] = fmax(l->column_width[node->layer], node->width);
    }
    double x = 0;
    for (uint32_t k = 0; k < l->n_layers; k++) {
        if (k + 1 < l->n_layers)
            route_channel(l, k);
        l->column_x[k] = x;
        l->channel_x[k] = x + l->column_width[k];
        x = l->channel_x[k] + l->channel_width[k];
    }
    l->box->width = x;
}

static double end_x(const Layout *l, uint32_t index, bool at_right)
{
    const Node *node = &l->nodes.at[index];
    const double x = l->column_x[node->layer], width = l->column_width[node->layer];
    if (node->kind == NODE_LANE)
        return at_right ? x + width : x;
    if (node->kind == NODE_BOX) {
        const double left = x + (width - node->width) / 2;
        return at_right ? left + node->width : left;
    }
    return node->kind == NODE_INPUT ? 0 : l->box->width;
}

static void add_point(Layout *l, DiagramWire *wire, double x, double y)
{
    const uint32_t n = wire->points.n;
    if (n > 0 && wire->points.at[n - 1].x == x && wire->points.at[n - 1].y == y)
        return;
    if (n > 1 && wire->points.at[n - 1].y == y && wire->points.at[n - 2].y == y) {
        wire->points.at[n - 1].x = x; /* straight on */
        return;
    }
    vec_push(l->arena, &wire->points, ((DiagramPoint){ x, y }));
}

static void place_wires(Layout *l)
{
    for (uint32_t k = 0; k < l->pieces.n; k++) {
        const Piece *p = &l->pieces.at[k];
        DiagramWire *wire = &l->box->wires[p->wire];
        const double a = from_y(l, p), b = to_y(l, p), x = l->channel_x[p->channel] + p->track;
        add_point(l, wire, end_x(l, p->from, p->from_left), a + HEADER);
        if (p->track >= 0) {
            add_point(l, wire, x, a + HEADER);
            add_point(l, wire, x, b + HEADER);
        }
        add_point(l, wire, end_x(l, p->to, p->to_left), b + HEADER);
    }
}

/* A fork is where a track is met from both sides, or between its ends. */
static void place_joints(Layout *l)
{
    for (uint32_t channel = 0; channel + 1 < l->n_layers; channel++) {
        Nets nets = { 0 };
        collect_nets(l, channel, &nets);
        for (uint32_t k = 0; k < nets.n; k++) {
            const Net *net = &nets.at[k];
            for (uint32_t j = 0; net->pieces.n > 1 && j < 2 * net->pieces.n; j++) {
                const Piece *p = &l->pieces.at[net->pieces.at[j / 2]];
                const double y = j % 2 ? to_y(l, p) : from_y(l, p);
                const DiagramPoint joint = { l->channel_x[channel] + p->track, y + HEADER };
                const bool is_fork =
                    (y > net->low && y < net->high) || (has_end(l, net, y, true) && has_end(l, net, y, false));
                const uint32_t n = l->box->joints.n;
                if (is_fork && !(n && l->box->joints.at[n - 1].x == joint.x && l->box->joints.at[n - 1].y == joint.y))
                    vec_push(l->arena, &l->box->joints, joint);
            }
        }
    }
}

static void place_nodes(Layout *l)
{
    DiagramBox *box = l->box;
    double bottom = 0;
    for (uint32_t k = 0; k < l->nodes.n; k++) {
        const Node *node = &l->nodes.at[k];
        const double y = node->y + HEADER;
        bottom = fmax(bottom, y + node->height);
        if (node->kind == NODE_BOX) {
            box->children[node->index].x = end_x(l, k, false);
            box->children[node->index].y = y;
        } else if (node->kind == NODE_INPUT) {
            box->inputs[node->index].y = y + ROW / 2.0;
        } else if (node->kind == NODE_OUTPUT) {
            box->outputs[node->index].y = y + ROW / 2.0;
        }
    }
    box->height = bottom + FRAME_PADDING;
}

static void lay_out_leaf(DiagramBox *box)
{
    const uint32_t rows = box->n_inputs > box->n_outputs ? box->n_inputs : box->n_outputs;
    const double ports = widest_label(box->inputs, box->n_inputs) + widest_label(box->outputs, box->n_outputs) + 24;
    box->width =
        ceil(fmax(fmax(ports, diagram_text_width(box->name, 14)), diagram_text_width(box->note, 11)) + 2 * BOX_PADDING);
    box->height = HEADER + rows * ROW + (rows ? 6 : 0);
    for (uint32_t k = 0; k < box->n_inputs; k++)
        box->inputs[k].y = HEADER + ROW * k + ROW / 2.0;
    for (uint32_t k = 0; k < box->n_outputs; k++)
        box->outputs[k].y = HEADER + ROW * k + ROW / 2.0;
}

void diagram_layout(DiagramBox *box, Arena *arena)
{
    if (box->n_children == 0) {
        lay_out_leaf(box);
        return;
    }
    for (uint32_t k = 0; k < box->n_children; k++)
        diagram_layout(&box->children[k], arena);
    Layout l = { .box = box, .arena = arena };
    assign_layers(&l);
    add_nodes(&l);
    order_layers(&l);
    choose_heights(&l);
    place_columns(&l);
    box->width = fmax(box->width, diagram_text_width(box->name, 14) + diagram_text_width(box->note, 11) + 60);
    place_nodes(&l);
    place_wires(&l);
    place_joints(&l);
}
