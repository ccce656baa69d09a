/* Names and values as fields of a CSV line. Private to formats. */
#ifndef FORMATS_CSV_TEXT_H
#define FORMATS_CSV_TEXT_H

#include "base/text.h"
#include "koine/model.h"

/* A name, quoted where RFC 4180 asks for it. */
/* A text in quotes, whatever it holds. */
void csv_add_text(Text *line, const char *text, size_t n);
void csv_add_name(Text *line, const char *name);
/* At most REAL_TEXT_SIZE bytes, not ended by 0; returns their number. */
size_t csv_slot_text(uint8_t type, bool is_negated, KoineSlot slot, char *to);

#endif
