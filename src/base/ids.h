/* Ids are types of their own, so that they cannot be mixed. ID_NONE is the index of nothing. */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include <stdint.h>

#define ID_NONE UINT32_MAX
#define DEFINE_ID(Name)                                                                                                \
    typedef struct {                                                                                                   \
        uint32_t index;                                                                                                \
    } Name

#endif
