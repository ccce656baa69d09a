/* Texts of a running model: what String variables hold, and the operations on them.
 *
 * A String slot holds a number: 0 is the empty text, any other one names an entry of the table of texts, which lies in
 * the block. Equal texts have equal numbers as long as one of them is held by some slot, so to compare for equality, or
 * to see a change, is to compare numbers. Whoever needs the bytes asks for them: KoineTextCalls of koine/model.h.
 *
 * An operation that has no result (a text that is too long, characters that are not there, a format that is none, no
 * room left) gives KOINE_INTEGER_FAULT, and so does one with an operand that is one. */
#ifndef KOINE_TEXTS_H
#define KOINE_TEXTS_H

#include "koine/api.h"
#include "koine/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What all numbers of texts but 0 begin with: no double that a model computes, and no Integer that is meant. */
#define KOINE_TEXT_TAG INT64_C(0x7ff7746500000000)

enum { KOINE_TEXT_LONGEST = 1 << 20 }; /* bytes of a text */

typedef enum {
    KOINE_TEXT_CONCAT,         /* text, text */
    KOINE_TEXT_COMPARE,        /* text, text: -1, 0 or 1 by the order of their bytes */
    KOINE_TEXT_LENGTH,         /* text: number of its characters */
    KOINE_TEXT_SUBSTRING,      /* text, first, last: these characters, counted from 1 */
    KOINE_TEXT_FORMAT_REAL,    /* Real, text: by a format of C, as "6.3f" */
    KOINE_TEXT_FORMAT_INTEGER, /* Integer, text: as "4d" */
    KOINE_TEXT_FORMAT_TEXT     /* text, text: as "-8s" */
} KoineTextOp;

/* Numbers of a call, see KoineSlots.calls: the one with this place in them says how many bytes behind the first of them
 * the table of texts begins. */
enum { KOINE_TEXT_PLACE = 5 };

/* The operation on the texts of the block that holds `call`. */
KOINE_API int64_t koine_text_apply(KoineSlot *call, uint32_t op, const KoineSlot *args);

/* The bytes of a text of the block that holds `call`, terminated by 0; they stay until an operation makes a text. */
KOINE_API const char *koine_text_at(const KoineSlot *call, int64_t number, uint32_t *n);

/* A text that a function of C has given is copied, and *to is its number; why there is none, if not TAKEN. */
typedef enum { KOINE_TEXT_TAKEN, KOINE_TEXT_ABSENT, KOINE_TEXT_LONG, KOINE_TEXT_NO_UTF8 } KoineTextTaken;
KOINE_API uint32_t koine_text_take(KoineSlot *call, const char *text, int64_t *to);

#ifdef __cplusplus
}
#endif

#endif
