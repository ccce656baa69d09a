/* How the HDF5 library reaches the file of a native store: a file driver of ours. Private to formats.
 *
 * The library's own driver writes each chunk with a call of its own, and opens the file by truncating it: a file system
 * that guards against lost replacements (ext4) then sends all of it to the disk when it is closed, and the run waits.
 * This one uses a descriptor that is open already and gathers what is appended into large writes. The order of writes
 * is kept: what goes elsewhere first sends off what was gathered, so that single-writer mode holds what it promises.
 *
 * A failure is kept here and not told to the library: a file that it could not write to the end it cannot close either,
 * and crashes when the program ends. Whoever calls the library looks at `error` afterwards. */
#ifndef FORMATS_STORE_DRIVER_H
#define FORMATS_STORE_DRIVER_H

#include <hdf5.h>
#include <stdint.h>

enum { DRIVER_BUFFER = 1 << 18 }; /* stays in the cache until it is sent off */

typedef struct {
    int descriptor;
    int error;             /* errno of the first failure, or 0 */
    uint64_t size;         /* of the file, with what is gathered */
    uint64_t at;           /* where the gathered bytes belong */
    size_t n;              /* of them */
    unsigned char *buffer; /* DRIVER_BUFFER bytes */
    unsigned char *lent;   /* NULL: nothing is */
} StoreDriver;

/* Makes `access` (file access properties) use the driver, which must stay where it is until the file is closed. The
 * result is to be given to H5FDunregister then; negative: the library refuses. */
hid_t store_driver_use(StoreDriver *driver, hid_t access);
/* Room for bytes that are to be appended next: they need not be copied then. NULL: there is none. */
unsigned char *store_driver_lend(StoreDriver *driver, size_t size);

#endif
