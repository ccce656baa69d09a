/* What is known of a translated class without its text: whether it is good, what others see of it, what it uses, what
 * was said about it. Enough to check the classes that use it. Written to and read from bytes by one function. */
#ifndef BANK_CLASS_RECORD_H
#define BANK_CLASS_RECORD_H

#include "base/diag.h"
#include "ir/model.h"

typedef struct { /* of a file; equal stamps: it was not touched */
    uint64_t seconds, nanoseconds, size, inode;
} FileStamp;

typedef struct {
    const char *name;
    uint32_t is_ordered, n;
    const char **values;
} RecordSet;

typedef struct {
    const char *name;
    uint32_t kind, set; /* TypeKind; TYPE_ENUM: index in the sets */
    uint32_t variability, definition, causality;
    const char *unit, *display_unit, *quantity;
    uint32_t begin, end; /* in the text */
} RecordQuantity;

typedef struct { /* a class this one is made of */
    const char *name;
    const char *path; /* "": there is none */
    uint64_t interface, content;
} RecordUse;

typedef struct {
    const char *path; /* "": no place */
    uint32_t begin, end;
    const char *message;
} RecordPlace;
typedef struct {
    uint32_t level, code;
    RecordPlace at;
    uint32_t n_notes;
    RecordPlace *notes;
    const char *help; /* "": none */
} RecordMessage;

typedef struct {
    const char *path;
    FileStamp stamp;
    uint64_t content;   /* hash of the text */
    uint64_t interface; /* hash of what others see; 0: the class is wrong */
    uint32_t is_good;
    uint32_t is_whole; /* the interface below is all that others can see */
    const char *class_name;
    uint32_t n_sets, n_quantities, n_uses, n_messages;
    RecordSet *sets;
    RecordQuantity *quantities;
    RecordUse *uses;
    RecordMessage *messages;
} ClassRecord;

typedef struct {
    const char *at, *end; /* reading: what is left. Texts and rows of the result point into it or lie in the arena */
    Arena *arena;
    VEC(char) written;
    bool is_writing, is_broken;
} Codec;
void codec_number(Codec *codec, uint32_t *value);
void codec_long(Codec *codec, uint64_t *value);
void record_transfer(Codec *codec, ClassRecord *record); /* reads or writes */

/* Sets, quantities, interface hash from a good Model; messages from the diagnostics. Texts are copied to the arena. */
void record_interface(ClassRecord *record, const Model *model, Arena *arena);
void record_messages(ClassRecord *record, const Diag *diag, const Sources *sources, const char *folder, Arena *arena);
/* A Model with the quantities others see and nothing else. The record is whole. */
Model *record_model(const ClassRecord *record, const char *path, const char *language, Pool *pool, Sources *sources);
/* Reports the messages again. Paths in a record are relative to `folder` where they lie below it, so that a bank may
 * be checked from anywhere. */
void record_replay(const ClassRecord *record, const char *folder, Sources *sources, Diag *diag, Arena *arena);
const char *path_below(const char *path, const char *folder, Arena *arena);

#endif
