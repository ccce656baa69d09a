/* Records of translated classes: to bytes and from bytes, from a Model and back to one; see class_record.h. */
#include "bank/class_record.h"
#include "base/map.h"

/* ---- bytes ---- */
static void codec_bytes(Codec *codec, void *value, size_t size)
{
    if (codec->is_writing) {
        vec_reserve(codec->arena, &codec->written, codec->written.n + (uint32_t)size);
        memcpy(codec->written.at + codec->written.n, value, size);
        codec->written.n += (uint32_t)size;
        return;
    }
    if ((size_t)(codec->end - codec->at) < size) {
        codec->is_broken = true;
        memset(value, 0, size);
        return;
    }
    memcpy(value, codec->at, size);
    codec->at += size;
}

void codec_number(Codec *codec, uint32_t *value)
{
    codec_bytes(codec, value, sizeof *value);
}

void codec_long(Codec *codec, uint64_t *value)
{
    codec_bytes(codec, value, sizeof *value);
}

/* Length and bytes with the zero at the end. */
static void codec_text(Codec *codec, const char **value)
{
    uint32_t length = codec->is_writing ? (uint32_t)strlen(*value) : 0;
    codec_number(codec, &length);
    if (codec->is_writing) {
        vec_reserve(codec->arena, &codec->written, codec->written.n + length + 1);
        memcpy(codec->written.at + codec->written.n, *value, length + 1);
        codec->written.n += length + 1;
        return;
    }
    *value = "";
    if ((size_t)(codec->end - codec->at) <= length || codec->at[length] != 0) {
        codec->is_broken = true;
        return;
    }
    *value = codec->at;
    codec->at += length + 1;
}

/* Reads or writes the number of rows; when reading makes room for them. A row takes at least four bytes. */
static void *codec_rows(Codec *codec, uint32_t *n, void *rows, size_t row_size)
{
    codec_number(codec, n);
    if (codec->is_writing)
        return rows;
    if (*n > (size_t)(codec->end - codec->at) / 4) {
        codec->is_broken = true;
        *n = 0;
    }
    return arena_alloc(codec->arena, row_size * *n, 8);
}

static void transfer_set(Codec *c, RecordSet *set)
{
    codec_text(c, &set->name);
    codec_number(c, &set->is_ordered);
    set->values = codec_rows(c, &set->n, set->values, sizeof *set->values);
    for (uint32_t k = 0; k < set->n; k++)
        codec_text(c, &set->values[k]);
}

static void transfer_quantity(Codec *c, RecordQuantity *q, uint32_t n_sets)
{
    codec_text(c, &q->name);
    uint32_t *const numbers[] = {
        &q->kind, &q->set, &q->variability, &q->definition, &q->causality, &q->begin, &q->end
    };
    for (uint32_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        codec_number(c, numbers[k]);
    codec_text(c, &q->unit);
    codec_text(c, &q->display_unit);
    codec_text(c, &q->quantity);
    c->is_broken |= q->kind == TYPE_ENUM && q->set >= n_sets;
}

static void transfer_place(Codec *c, RecordPlace *place)
{
    codec_text(c, &place->path);
    codec_number(c, &place->begin);
    codec_number(c, &place->end);
    codec_text(c, &place->message);
}

static void transfer_message(Codec *c, RecordMessage *message)
{
    codec_number(c, &message->level);
    codec_number(c, &message->code);
    transfer_place(c, &message->at);
    message->notes = codec_rows(c, &message->n_notes, message->notes, sizeof *message->notes);
    for (uint32_t k = 0; k < message->n_notes; k++)
        transfer_place(c, &message->notes[k]);
    codec_text(c, &message->help);
}

void record_transfer(Codec *c, ClassRecord *r)
{
    codec_text(c, &r->path);
    codec_bytes(c, &r->stamp, sizeof r->stamp);
    codec_long(c, &r->content);
    codec_long(c, &r->interface);
    codec_number(c, &r->is_good);
    codec_number(c, &r->is_whole);
    codec_text(c, &r->class_name);
    r->sets = codec_rows(c, &r->n_sets, r->sets, sizeof *r->sets);
    for (uint32_t k = 0; k < r->n_sets; k++)
        transfer_set(c, &r->sets[k]);
    r->quantities = codec_rows(c, &r->n_quantities, r->quantities, sizeof *r->quantities);
    for (uint32_t k = 0; k < r->n_quantities; k++)
        transfer_quantity(c, &r->quantities[k], r->n_sets);
    r->uses = codec_rows(c, &r->n_uses, r->uses, sizeof *r->uses);
    for (uint32_t k = 0; k < r->n_uses; k++) {
        codec_text(c, &r->uses[k].name);
        codec_text(c, &r->uses[k].path);
        codec_long(c, &r->uses[k].interface);
        codec_long(c, &r->uses[k].content);
    }
    r->messages = codec_rows(c, &r->n_messages, r->messages, sizeof *r->messages);
    for (uint32_t k = 0; k < r->n_messages; k++)
        transfer_message(c, &r->messages[k]);
}

/* ---- from a Model ---- */
static const char *copy(const char *text, Arena *arena)
{
    return arena_text(arena, text, strlen(text));
}

static const char *copy_name(const Model *model, NameId name, Arena *arena)
{
    return copy(names_of(pool_names(model->pool), name), arena);
}

static uint32_t add_set(ClassRecord *record, const Model *model, uint32_t enumeration, Map *known, Arena *arena)
{
    uint32_t at;
    if (map_get(known, enumeration, &at))
        return at;
    const Enumeration *e = pool_get_enumeration(model->pool, enumeration);
    RecordSet *set = &record->sets[record->n_sets];
    *set = (RecordSet){ copy_name(model, e->name, arena), e->is_ordered, e->n, NEW_ARRAY(arena, const char *, e->n) };
    for (uint32_t k = 0; k < e->n; k++)
        set->values[k] = copy_name(model, e->values[k], arena);
    map_put(known, enumeration, record->n_sets);
    return record->n_sets++;
}

static bool is_seen(const Variable *variable)
{
    return variable->owner.index == 0 && !variable->is_generated && !variable->is_protected;
}

static uint64_t hash_of(uint64_t h, const char *text)
{
    return hash_bytes(text, strlen(text) + 1, h);
}

static uint64_t hash_interface(const ClassRecord *r)
{
    uint64_t h = hash_of(1, r->class_name);
    for (uint32_t k = 0; k < r->n_sets; k++) {
        h = hash_mix(hash_of(h, r->sets[k].name), r->sets[k].is_ordered + 2 * (uint64_t)r->sets[k].n);
        for (uint32_t j = 0; j < r->sets[k].n; j++)
            h = hash_of(h, r->sets[k].values[j]);
    }
    for (uint32_t k = 0; k < r->n_quantities; k++) {
        const RecordQuantity *q = &r->quantities[k];
        h = hash_of(hash_of(hash_of(hash_of(h, q->name), q->unit), q->display_unit), q->quantity);
        const uint32_t numbers[] = { q->kind, q->set, q->variability, q->definition, q->causality };
        h = hash_bytes(numbers, sizeof numbers, h);
    }
    if (!r->is_whole)
        h = hash_mix(h, r->content);
    return h ? h : 1;
}

void record_interface(ClassRecord *record, const Model *model, Arena *arena)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < model->variables.n; k++)
        n += is_seen(&model->variables.at[k]);
    Map known;
    map_init(&known, arena, 8);
    record->sets = NEW_ARRAY(arena, RecordSet, n);
    record->quantities = NEW_ARRAY(arena, RecordQuantity, n);
    record->is_whole = model->ports.n == 0 && (model->functions.n == 0 || n > 0); /* a file of functions is read anew */
    record->class_name = copy_name(model, model->name, arena);
    for (uint32_t k = 0; k < model->variables.n; k++) {
        const Variable *v = &model->variables.at[k];
        if (!is_seen(v))
            continue;
        record->is_whole &= v->type.rank == 0 && v->type.kind != TYPE_OBJECT;
        record->quantities[record->n_quantities++] = (RecordQuantity){
            .name = copy_name(model, v->name, arena),
            .kind = v->type.kind,
            .set = v->type.kind == TYPE_ENUM ? add_set(record, model, v->type.enumeration, &known, arena) : 0,
            .variability = v->variability,
            .definition = v->definition,
            .causality = v->causality,
            .unit = copy_name(model, v->unit, arena),
            .display_unit = copy_name(model, v->display_unit, arena),
            .quantity = copy_name(model, v->quantity, arena),
            .begin = v->span.begin,
            .end = v->span.end,
        };
    }
    record->interface = hash_interface(record);
}

const char *path_below(const char *path, const char *folder, Arena *arena)
{
    const size_t n = strlen(folder);
    return copy(strncmp(path, folder, n) == 0 ? path + n : path, arena);
}

static RecordPlace place_of(const DiagPlace *place, const Sources *sources, const char *folder, Arena *arena)
{
    RecordPlace r = { "", place->span.begin, place->span.end, copy(place->message, arena) };
    if (place->span.source != SOURCE_NONE)
        r.path = path_below(sources_get(sources, place->span.source)->path, folder, arena);
    return r;
}

void record_messages(ClassRecord *record, const Diag *diag, const Sources *sources, const char *folder, Arena *arena)
{
    VEC(RecordMessage) messages = { 0 };
    DiagItem item;
    for (uint32_t k = 0; diag_item(diag, k, &item); k++) {
        RecordMessage m = { .level = item.level,
                            .code = item.code,
                            .at = place_of(&item.at, sources, folder, arena),
                            .n_notes = item.n_notes,
                            .notes = NEW_ARRAY(arena, RecordPlace, item.n_notes),
                            .help = item.help ? copy(item.help, arena) : "" };
        for (uint32_t j = 0; j < item.n_notes; j++)
            m.notes[j] = place_of(&item.notes[j], sources, folder, arena);
        vec_push(arena, &messages, m);
    }
    record->messages = messages.at;
    record->n_messages = messages.n;
}

/* ---- back ---- */
Model *record_model(const ClassRecord *record, const char *path, const char *language, Pool *pool, Sources *sources)
{
    Names *names = pool_names(pool);
    uint32_t source;
    if (sources_open(sources, path, &source) != SOURCE_OK)
        source = SOURCE_NONE;
    const Span whole = { source, 0, 0 };
    Model *model = model_create(pool, sources, names_text(names, record->class_name), language, whole);
    Arena *arena = pool_arena(pool);
    Type *types = NEW_ARRAY(arena, Type, record->n_sets);
    for (uint32_t k = 0; k < record->n_sets; k++) {
        const RecordSet *set = &record->sets[k];
        NameId *values = NEW_ARRAY(arena, NameId, set->n);
        for (uint32_t j = 0; j < set->n; j++)
            values[j] = names_text(names, set->values[j]);
        const Enumeration e = {
            .name = names_text(names, set->name), .is_ordered = set->is_ordered, .n = set->n, .values = values
        };
        types[k] = enum_type(pool_enumeration(pool, &e));
    }
    for (uint32_t k = 0; k < record->n_quantities; k++) {
        const RecordQuantity *q = &record->quantities[k];
        const Type type = q->kind == TYPE_ENUM ? types[q->set] : (Type){ (uint8_t)q->kind, 0, 0 };
        const Span span = { source, q->begin, q->end };
        Variable *v =
            model_var(model, model_add_variable(model, (InstanceId){ 0 }, names_text(names, q->name), type, span));
        v->variability = (uint8_t)q->variability;
        v->definition = (uint8_t)q->definition;
        v->causality = (uint8_t)q->causality;
        v->unit = names_text(names, q->unit);
        v->display_unit = names_text(names, q->display_unit);
        v->quantity = names_text(names, q->quantity);
    }
    return model;
}

static Span span_of(const RecordPlace *place, const char *folder, Sources *sources, Arena *arena)
{
    uint32_t source;
    if (!place->path[0])
        return SPAN_NONE;
    const char *path = place->path[0] == '/' ? place->path : arena_format(arena, "%s%s", folder, place->path);
    if (sources_open(sources, path, &source) != SOURCE_OK)
        return SPAN_NONE;
    return (Span){ source, place->begin, place->end };
}

void record_replay(const ClassRecord *record, const char *folder, Sources *sources, Diag *diag, Arena *arena)
{
    for (uint32_t k = 0; k < record->n_messages; k++) {
        const RecordMessage *m = &record->messages[k];
        if (m->level == DIAG_ERROR)
            diag_error(diag, (DiagCode)m->code, span_of(&m->at, folder, sources, arena), "%s", m->at.message);
        else
            diag_warning(diag, (DiagCode)m->code, span_of(&m->at, folder, sources, arena), "%s", m->at.message);
        for (uint32_t j = 0; j < m->n_notes; j++)
            diag_note(diag, span_of(&m->notes[j], folder, sources, arena), "%s", m->notes[j].message);
        if (m->help[0])
            diag_help(diag, "%s", m->help);
    }
}
