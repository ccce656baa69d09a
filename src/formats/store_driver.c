#include "formats/store_driver.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct {
    H5FD_t head; /* first: the library's part */
    StoreDriver *driver;
    haddr_t end; /* of what the library has allocated */
} Handle;

static StoreDriver *driver_of(const H5FD_t *file)
{
    return ((const Handle *)(const void *)file)->driver;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* The first failure ends all writing: what is in the file by then stays as it is. The library does not hear of it. */
static void failed(StoreDriver *d, int error)
{
    if (d->error == 0)
        d->error = error;
}

static void write_at(StoreDriver *d, uint64_t at, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size && d->error == 0;) {
        const ssize_t n = pwrite(d->descriptor, (const char *)bytes + done, size - done, (off_t)(at + done));
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            failed(d, n == 0 ? EIO : errno);
    }
}

/* Sends off the first `size` gathered bytes. */
static void send_off(StoreDriver *d, size_t size)
{
    if (size == 0)
        return;
    write_at(d, d->at, d->buffer, size);
    d->n -= size;
    d->at += size;
    memmove(d->buffer, d->buffer + size, d->n);
}

/* Sends off whole pages, so that none is touched twice. */
static void send_pages(StoreDriver *d)
{
    enum { PAGE = 4096 };
    const size_t rest = (d->at + d->n) % PAGE;
    send_off(d, d->n > rest ? d->n - rest : d->n);
}

/* Appends to what is gathered. */
static void gather(StoreDriver *d, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const size_t room = DRIVER_BUFFER - d->n, n = size < room ? size : room;
        if (bytes != d->buffer + d->n) /* else it was made there */
            memmove(d->buffer + d->n, bytes, n);
        d->n += n;
        bytes += n;
        size -= n;
        if (d->n == DRIVER_BUFFER)
            send_pages(d);
    }
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t properties, haddr_t at, size_t size, const void *bytes)
{
    (void)type, (void)properties;
    StoreDriver *d = driver_of(file);
    const uint64_t end = at + size;
    d->size = end > d->size ? end : d->size;
    if (at >= d->at && end <= d->at + d->n) {
        memcpy(d->buffer + (at - d->at), bytes, size);
        return 0;
    }
    /* Only what makes the file longer is gathered; structures that change in place are written as they come, and so is
     * all while somebody still writes behind what is gathered. */
    const bool is_gathered = end == d->size && (!d->lent || d->lent == bytes);
    if (at != d->at + d->n || !is_gathered) {
        send_off(d, d->n);
        d->at = at;
    }
    if (is_gathered) {
        d->lent = NULL;
        gather(d, bytes, size);
    } else {
        write_at(d, at, bytes, size);
    }
    return 0;
}

unsigned char *store_driver_lend(StoreDriver *d, size_t size)
{
    d->lent = NULL;
    if (d->n + size > DRIVER_BUFFER)
        send_pages(d);
    if (d->n + size <= DRIVER_BUFFER)
        d->lent = d->buffer + d->n;
    return d->lent;
}

/* What cannot be read, and what lies beyond the end, is zeros. */
static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t properties, haddr_t at, size_t size, void *bytes)
{
    (void)type, (void)properties;
    StoreDriver *d = driver_of(file);
    send_off(d, d->n);
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(d->descriptor, (char *)bytes + done, size - done, (off_t)(at + done));
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            if (n < 0)
                failed(d, errno);
            memset((char *)bytes + done, 0, size - done);
            return 0;
        }
    }
    return 0;
}

static herr_t driver_flush(H5FD_t *file, hid_t properties, hbool_t is_closing)
{
    (void)properties, (void)is_closing;
    StoreDriver *d = driver_of(file);
    send_off(d, d->n);
    return 0;
}

/* The file is to be as long as what is allocated. */
static herr_t driver_truncate(H5FD_t *file, hid_t properties, hbool_t is_closing)
{
    (void)properties, (void)is_closing;
    const Handle *handle = (const Handle *)(const void *)file;
    StoreDriver *d = handle->driver;
    if (handle->end == d->size)
        return 0;
    send_off(d, d->n);
    if (d->error == 0 && ftruncate(d->descriptor, (off_t)handle->end) != 0)
        failed(d, errno);
    d->size = handle->end;
    return 0;
}

/* ---- the rest of a driver ---------------------------------------------------------------------------------------- */

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t largest)
{
    (void)name, (void)flags, (void)largest;
    StoreDriver *const *const driver = H5Pget_driver_info(access);
    Handle *handle = driver ? calloc(1, sizeof *handle) : NULL;
    if (!handle)
        return NULL;
    handle->driver = *driver;
    return &handle->head;
}

static herr_t driver_close(H5FD_t *file)
{
    StoreDriver *d = driver_of(file);
    send_off(d, d->n);
    free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *features)
{
    (void)file;
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO |
                H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const Handle *)(const void *)file)->end;
}

static herr_t driver_set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((Handle *)(void *)file)->end = end;
    return 0;
}

static haddr_t driver_size(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return driver_of(file)->size;
}

static const H5FD_class_t DRIVER = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 500, /* numbers from 256 on belong to no driver of the library */
#endif
    .name = "koine",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(StoreDriver *),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_end,
    .set_eoa = driver_set_end,
    .get_eof = driver_size,
    .read = driver_read,
    .write = driver_write,
    .flush = driver_flush,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t store_driver_use(StoreDriver *driver, hid_t access)
{
    const hid_t id = H5FDregister(&DRIVER);
    if (id >= 0 && H5Pset_driver(access, id, &driver) < 0) {
        H5FDunregister(id);
        return -1;
    }
    return id;
}
