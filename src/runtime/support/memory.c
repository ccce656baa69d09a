/* What a model remembers besides its variables: how often each random stream was drawn from, the histories of dead
 * times, and messages that wait. A result keeps it as words, so that a later run goes on with it; parts are told apart
 * by names, so that it may be a run of an edited model. */
#include "delays.h"
#include "texts.h"
#include <stdlib.h>

/* Words: the number of streams; each: name, count. Then delays; each: name, points, the point that is read; of each
 * point time, value, and is_first + 256*bend; along a position each point is two: position, value and that; position,
 * time and ENTERED. Then, where there are such, channels that keep messages; each: name,
 * numbers of a message, messages, and these numbers. Behind the points of a delay, and the numbers of a channel, stands
 * each text among them, in their order: its length, and its bytes in words. */
enum { STREAM_WORDS = 2, DELAY_WORDS = 3, POINT_WORDS = 3, CHANNEL_WORDS = 3, ALIGNMENT = 64, ENTERED = 2 };

static int64_t hash_name(const char *name)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return (int64_t)hash;
}

static uint32_t count_kept(const KoineProgram *p)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < p->events.channels.n; j++)
        n += p->events.channels.at[j].keep;
    return n;
}

/* ---- texts: what is their number in one run is none in another ---- */
static bool is_text(KoineSlot value)
{
    return value.i >> 32 == KOINE_TEXT_TAG >> 32;
}

static uint64_t words_of(uint64_t bytes)
{
    return (bytes + sizeof(KoineSlot) - 1) / sizeof(KoineSlot);
}

static uint64_t count_text(const Machine *m, KoineSlot value)
{
    uint32_t n;
    if (!is_text(value))
        return 0;
    koine_texts_get(m, value.i, &n);
    return 1 + words_of(n);
}

static KoineSlot *store_text(const Machine *m, KoineSlot value, KoineSlot *to)
{
    uint32_t n;
    if (!is_text(value))
        return to;
    const char *text = koine_texts_get(m, value.i, &n);
    (to++)->i = n;
    memset(to, 0, words_of(n) * sizeof *to);
    memcpy(to, text, n);
    return to + words_of(n);
}

/* ---- storing ---- */
static const DelayPoint *points_of(const Machine *m, uint32_t delay)
{
    return koine_points(m) + (uint64_t)delay * m->history.delays[delay].capacity;
}

static uint64_t count_messages(const Machine *m, uint32_t channel)
{
    const KoineChannel *c = &m->program->events.channels.at[channel];
    uint64_t n = CHANNEL_WORDS;
    for (uint32_t k = 0; k < m->channels.states[channel].n; k++) {
        const KoineSlot *message = koine_waiting_message(m, c, k);
        n += c->n_fields + (uint64_t)1;
        for (uint32_t f = 0; f <= c->n_fields; f++)
            n += count_text(m, message[f]);
    }
    return n;
}

static uint64_t count_words(const Machine *m)
{
    const KoineProgram *p = m->program;
    uint64_t n = 2 + STREAM_WORDS * (uint64_t)p->slots.n_streams + DELAY_WORDS * (uint64_t)p->events.delays.n;
    for (uint32_t j = 0; j < p->events.delays.n; j++) {
        n += POINT_WORDS * (uint64_t)m->history.delays[j].n * (delay_is_along(m, j) ? 2 : 1);
        for (uint32_t i = 0; i < m->history.delays[j].n; i++)
            n += count_text(m, points_of(m, j)[i].value);
    }
    n += count_kept(p) > 0;
    for (uint32_t j = 0; j < p->events.channels.n; j++)
        if (p->events.channels.at[j].keep)
            n += count_messages(m, j);
    return n;
}

static void store_messages(const Machine *m, KoineSlot *to)
{
    const KoineChannels *channels = &m->program->events.channels;
    (to++)->i = count_kept(m->program);
    for (uint32_t j = 0; j < channels->n; j++) {
        const KoineChannel *c = &channels->at[j];
        if (!c->keep)
            continue;
        (to++)->i = hash_name(c->name);
        (to++)->i = c->n_fields + 1;
        (to++)->i = m->channels.states[j].n;
        for (uint32_t k = 0; k < m->channels.states[j].n; k++, to += c->n_fields + 1)
            memcpy(to, koine_waiting_message(m, c, k), (c->n_fields + (size_t)1) * sizeof *to);
        for (uint32_t k = 0; k < m->channels.states[j].n; k++)
            for (uint32_t f = 0; f <= c->n_fields; f++)
                to = store_text(m, koine_waiting_message(m, c, k)[f], to);
    }
}

uint64_t koine_machine_memory(KoineModel *model, KoineSlot *to, uint64_t n_words)
{
    const Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    const uint64_t needed = p->slots.n_streams || p->events.delays.n || count_kept(p) ? count_words(m) : 0;
    if (needed == 0 || n_words < needed)
        return needed;
    (to++)->i = p->slots.n_streams;
    for (uint32_t j = 0; j < p->slots.n_streams; j++) {
        (to++)->i = hash_name(p->slots.streams[j].name);
        *to++ = m->slots[p->slots.streams[j].count];
    }
    (to++)->i = p->events.delays.n;
    for (uint32_t j = 0; j < p->events.delays.n; j++) {
        const DelayState *s = &m->history.delays[j];
        const DelayPoint *points = points_of(m, j);
        (to++)->i = hash_name(p->events.delays.at[j].name);
        (to++)->i = s->n * (delay_is_along(m, j) ? 2 : 1);
        (to++)->i = s->segment;
        for (uint32_t i = 0; i < s->n; i++) {
            (to++)->r = points[i].time;
            *to++ = points[i].value;
            (to++)->i = points[i].is_first + 256 * points[i].bend;
            if (!delay_is_along(m, j))
                continue;
            (to++)->r = points[i].time;
            (to++)->r = points[i].entered;
            (to++)->i = ENTERED;
        }
        for (uint32_t i = 0; i < s->n; i++)
            to = store_text(m, points[i].value, to);
    }
    if (count_kept(p))
        store_messages(m, to);
    return needed;
}

/* ---- taking it up ---- */
typedef struct {
    const KoineSlot *at;
    uint64_t n; /* words left */
} Words;

static const KoineSlot *take(Words *words, uint64_t n)
{
    const KoineSlot *at = words->at;
    if (n > words->n)
        return NULL;
    words->at += n;
    words->n -= n;
    return at;
}

/* A count of things that have so many words each at least. */
static bool take_count(Words *words, uint64_t each, uint64_t *count)
{
    const KoineSlot *word = take(words, 1);
    if (!word || word->i < 0 || (uint64_t)word->i > words->n / each)
        return false;
    *count = (uint64_t)word->i;
    return true;
}

/* The text that belongs to a value, if that is one. */
static bool take_text(Words *words, KoineSlot value, const KoineSlot **bytes, uint64_t *n)
{
    const KoineSlot *length = is_text(value) ? take(words, 1) : NULL;
    *n = 0;
    if (!is_text(value))
        return true;
    if (!length || length->i < 0 || length->i > KOINE_TEXT_LONGEST)
        return false;
    *n = (uint64_t)length->i;
    return (*bytes = take(words, words_of(*n))) != NULL;
}

/* Those of `count` values, so many words apart. */
static bool skip_texts(Words *words, const KoineSlot *values, uint64_t count, uint32_t apart)
{
    const KoineSlot *bytes;
    uint64_t n;
    for (uint64_t k = 0; k < count; k++)
        if (!take_text(words, values[k * apart], &bytes, &n))
            return false;
    return true;
}

/* Its number in this run; the block may lie elsewhere then. */
static bool recall_text(Machine *m, Words *words, KoineSlot *value)
{
    const KoineSlot *bytes = NULL;
    uint64_t n;
    if (!take_text(words, *value, &bytes, &n))
        return false;
    return !bytes || koine_machine_put_text(m->model, (const char *)bytes, n, value) == KOINE_OK;
}

/* Room for histories of so many points each. */
static bool make_room(Machine *m, uint64_t n)
{
    KoineModel *model = m->model;
    const uint64_t before = (uint64_t)((unsigned char *)koine_points(m) - m->block);
    const uint64_t wanted =
        before + (n + koine_first_points(m->program)) * m->program->events.delays.n * sizeof(DelayPoint);
    uint64_t size = model->size;
    while (size < wanted)
        size = (2 * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > model->size) {
        unsigned char *block = aligned_alloc(ALIGNMENT, size);
        if (!block)
            return false;
        memcpy(block, model->block, model->size);
        memset(block + model->size, 0, size - model->size);
        free(model->block);
        model->block = block;
        model->size = size;
        koine_machine_moved(model);
    }
    koine_spread_points(m);
    return true;
}

static bool is_history(const KoineSlot *points, uint64_t n, int64_t segment)
{
    for (uint64_t i = 1; i < n; i++)
        if (!(points[POINT_WORDS * i].r >= points[POINT_WORDS * (i - 1)].r))
            return false;
    return n > 0 && segment >= 0 && (uint64_t)segment < n && n < UINT32_MAX / 4;
}

static bool recall_delay(Machine *m, uint32_t delay, const KoineSlot *points, uint64_t n, int64_t segment, Words texts)
{
    const uint32_t step = delay_is_along(m, delay) ? 2 : 1; /* another model may have kept something else */
    if (!is_history(points, n, segment) || !make_room(m, n) || n % step != 0 ||
        (n > 1 && (points[2 * POINT_WORDS - 1].i == ENTERED) != (step == 2)))
        return false;
    n /= step;
    DelayState *s = &m->history.delays[delay];
    DelayPoint *to = koine_points(m) + (uint64_t)delay * s->capacity;
    for (uint64_t i = 0; i < n; i++) {
        const KoineSlot *word = points + POINT_WORDS * step * i;
        to[i] = (DelayPoint){
            .time = word[0].r, .value = word[1], .is_first = word[2].i & 1, .bend = (uint8_t)(word[2].i / 256)
        };
        if (step == 2)
            to[i].entered = word[POINT_WORDS + 1].r;
    }
    s->n = (uint32_t)n;
    s->segment = (uint32_t)segment;
    for (uint64_t i = 0; i < n; i++) {
        KoineSlot value = points[POINT_WORDS * step * i + 1];
        if (!recall_text(m, &texts, &value)) {
            m->history.delays[delay].n = 0;
            return false;
        }
        koine_points(m)[(uint64_t)delay * m->history.delays[delay].capacity + i].value = value;
    }
    return true;
}

static bool recall_streams(Machine *m, Words *words, uint32_t *n_found)
{
    const KoineProgram *p = m->program;
    uint64_t n;
    if (!take_count(words, STREAM_WORDS, &n))
        return false;
    const KoineSlot *streams = take(words, STREAM_WORDS * n);
    for (uint32_t j = 0; j < p->slots.n_streams; j++) {
        const int64_t name = hash_name(p->slots.streams[j].name);
        for (uint64_t i = 0; i < n; i++)
            if (streams[STREAM_WORDS * i].i == name && streams[STREAM_WORDS * i + 1].i >= 0) {
                m->slots[p->slots.streams[j].count] = streams[STREAM_WORDS * i + 1];
                (*n_found)++;
                break;
            }
    }
    return true;
}

static bool recall_delays(Machine *m, Words *words, uint32_t *n_found)
{
    const KoineProgram *p = m->program;
    uint64_t n, n_points;
    if (!take_count(words, DELAY_WORDS, &n))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const KoineSlot *name = take(words, 1);
        if (!name || !take_count(words, POINT_WORDS, &n_points))
            return false;
        const KoineSlot *segment = take(words, 1), *points = take(words, POINT_WORDS * n_points);
        const Words texts = *words;
        if (!segment || !points || !skip_texts(words, points + 1, n_points, POINT_WORDS))
            return false;
        for (uint32_t j = 0; j < p->events.delays.n; j++)
            if (hash_name(p->events.delays.at[j].name) == name->i &&
                recall_delay(m, j, points, n_points, segment->i, texts))
                (*n_found)++;
    }
    return true;
}

static bool recall_channel(Machine *m, uint32_t channel, const KoineSlot *messages, uint32_t n, Words texts)
{
    const KoineChannel *c = &m->program->events.channels.at[channel];
    const uint32_t size = c->n_fields + 1;
    m->channels.states[channel] = (ChannelState){ .n = n, .is_recalled = true };
    for (uint32_t k = 0; k < n * size; k++) {
        KoineSlot value = messages[k];
        if (!recall_text(m, &texts, &value))
            return false;
        koine_waiting_message(m, c, k / size)[k % size] = value;
    }
    return true;
}

static bool recall_messages(Machine *m, Words *words, uint32_t *n_found)
{
    const KoineChannels *channels = &m->program->events.channels;
    uint64_t n, n_messages;
    if (!take_count(words, CHANNEL_WORDS, &n))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const KoineSlot *name = take(words, 1), *size = take(words, 1);
        if (!size || size->i < 1 || !take_count(words, (uint64_t)size->i, &n_messages))
            return false;
        const KoineSlot *messages = take(words, n_messages * (uint64_t)size->i);
        const Words texts = *words;
        if (!messages || !skip_texts(words, messages, n_messages * (uint64_t)size->i, 1))
            return false;
        for (uint32_t j = 0; j < channels->n; j++) {
            const KoineChannel *c = &channels->at[j];
            if (!c->keep || hash_name(c->name) != name->i || size->i != c->n_fields + 1 || n_messages > c->capacity)
                continue;
            *n_found += recall_channel(m, j, messages, (uint32_t)n_messages, texts);
        }
    }
    return true;
}

KoineStatus koine_machine_recall(KoineModel *model, const KoineSlot *from, uint64_t n_words)
{
    Machine *m = koine_machine_of(model);
    const KoineProgram *p = m->program;
    Words words = { from, n_words };
    uint32_t n_streams = 0, n_delays = 0, n_channels = 0;
    if (p->slots.n_streams == 0 && p->events.delays.n == 0 && count_kept(p) == 0)
        return KOINE_OK;
    for (uint32_t j = 0; j < p->events.delays.n; j++) {
        m->history.delays[j].n = 0; /* without history */
        if (m->history.delays[j].capacity == 0)
            m->history.delays[j].capacity = koine_first_points(p);
    }
    if (!recall_streams(m, &words, &n_streams) || !recall_delays(m, &words, &n_delays))
        return KOINE_FAILED;
    m->history.is_recalled = n_delays > 0;
    if (words.n && count_kept(p) && !recall_messages(m, &words, &n_channels))
        return KOINE_FAILED;
    return n_streams == p->slots.n_streams && n_delays == p->events.delays.n && n_channels == count_kept(p)
               ? KOINE_OK
               : KOINE_RETRY;
}
