#include "formats/store_file.h"
#include "formats/store_pack.h"
#include "formats/store_space.h"
#include "formats/writing.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RESERVE_STEP = 4 << 20,   /* bytes reserved at a time */
    RESERVE_LEFT = 512 << 10, /* always free for the library's own structures: enough to close in order */
};

static void fail(StoreFile *file, int error)
{
    if (file->is_failed)
        return;
    file->is_failed = true;
    char reason[100];
    if (error == 0)
        snprintf(reason, sizeof reason, "the HDF5 library refuses");
    else if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    snprintf(file->error, sizeof file->error, "cannot write '%.120s': %s", file->path, reason);
}

void store_file_check(StoreFile *file, int64_t status)
{
    if (file->driver.error != 0)
        fail(file, file->driver.error);
    else if (status < 0)
        fail(file, 0);
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

/* Chunks are packed by us; the library only has to know that the filter exists. */
static size_t refuse(unsigned flags, size_t n_values, const unsigned *values, size_t n_bytes, size_t *size,
                     void **buffer)
{
    (void)flags, (void)n_values, (void)values, (void)n_bytes, (void)size, (void)buffer;
    return 0;
}

static const H5Z_class2_t LZ4_CLASS = { H5Z_CLASS_T_VERS, STORE_FILTER_LZ4, 1, 1, "lz4", NULL, NULL, refuse };

/* ---- the file ---------------------------------------------------------------------------------------------------- */

bool store_file_open(StoreFile *file, const char *path, bool is_confined)
{
    *file = (StoreFile){ .path = path, .file = -1, .descriptor = -1, .driver_id = -1 };
    /* Before a file is touched: without memory the library does not survive its own beginning. Everything is closed by
     * us: what it would do when the process ends is not needed. */
    H5dont_atexit();
    if (H5open() < 0) {
        fail(file, ENOMEM);
        return false;
    }
    const char *refusal;
    file->descriptor = writing_open(file->path, WRITING_READS | (is_confined ? WRITING_CONFINED : 0), &refusal);
    struct stat state;
    if (refusal) {
        fail(file, 0);
        snprintf(file->error, sizeof file->error, "cannot write '%.100s': %s", file->path, refusal);
        return false;
    }
    if (file->descriptor < 0 || fstat(file->descriptor, &state) != 0) {
        fail(file, errno);
        return false;
    }
    if (!S_ISREG(state.st_mode)) {
        fail(file, 0);
        snprintf(file->error, sizeof file->error,
                 "cannot write '%.120s': a native result needs a file on a disk; write CSV to devices and pipes",
                 file->path);
        return false;
    }
    file->has_older = state.st_size > 1;
    struct rlimit limit;
    file->limit = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
    return true;
}

static hid_t create_properties(StoreFile *file)
{
    const hid_t properties = H5Pcreate(H5P_FILE_ACCESS);
    store_file_check(file, H5Pset_libver_bounds(properties, H5F_LIBVER_V110, H5F_LIBVER_V110));
    /* The lock is ours, and holds while others read. */
    store_file_check(file, H5Pset_file_locking(properties, false, true));
    store_file_check(file, H5Pset_meta_block_size(properties, 1 << 14));
    return properties;
}

/* An older file keeps a byte: ext4 sends one that was emptied and written anew to the disk when it is closed. */
static bool cut_older(StoreFile *file)
{
    file->is_replacing = file->has_older && replace_begin(&file->replacement, file->path, file->descriptor);
    if (file->is_replacing) {
        file->descriptor = file->replacement.file;
    } else if (file->has_older && ftruncate(file->descriptor, 1) != 0) {
        fail(file, errno);
        return false;
    }
    return true;
}

bool store_file_create(StoreFile *file, Arena *arena)
{
    if (!cut_older(file))
        return false;
    file->driver =
        (StoreDriver){ .descriptor = file->descriptor, .buffer = NEW_ARRAY(arena, unsigned char, DRIVER_BUFFER) };
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (H5Zfilter_avail(STORE_FILTER_LZ4) <= 0)
        store_file_check(file, H5Zregister(&LZ4_CLASS));
    const hid_t access = create_properties(file), creation = H5Pcreate(H5P_FILE_CREATE);
    /* Links and attributes stay in the object header. */
    store_file_check(file, H5Pset_link_phase_change(creation, 64, 32));
    file->driver_id = store_driver_use(&file->driver, access);
    if (file->driver_id >= 0 && !file->is_failed)
        file->file = H5Fcreate(file->path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
    store_file_check(file, file->file);
    return !file->is_failed;
}

void store_file_flush(StoreFile *file)
{
    if (!file->is_failed)
        store_file_check(file, H5Fflush(file->file, H5F_SCOPE_LOCAL));
}

void store_file_share(StoreFile *file)
{
    if (!file->is_failed)
        store_file_check(file, H5Fstart_swmr_write(file->file));
    store_file_flush(file); /* whoever opens it from here on finds everything but rows */
    if (file->is_failed || !file->is_replacing)
        return;
    file->is_replacing = false;
    if (replace_finish(&file->replacement))
        return;
    const int error = errno;
    file->driver.error = error; /* nothing is written any more */
    file->descriptor = file->replacement.older;
    fail(file, error);
}

bool store_file_close(StoreFile *file)
{
    if (file->file >= 0)
        store_file_check(file, H5Fclose(file->file));
    if (file->driver_id >= 0)
        H5FDunregister(file->driver_id);
    file->file = file->driver_id = -1;
    struct stat state;
    if (file->descriptor >= 0) {
        /* What was reserved beyond the end is given back; failing to is no loss. */
        if (file->reserved > 0 && fstat(file->descriptor, &state) == 0 &&
            ftruncate(file->descriptor, state.st_size) != 0)
            file->reserved = 0;
        if (file->is_replacing) {
            replace_give_up(&file->replacement);
            file->descriptor = file->replacement.older;
        }
        close(file->descriptor);
    }
    file->descriptor = -1;
    return !file->is_failed;
}

/* Space for `size` more bytes and for the structures that go with them. */
static bool reserve(StoreFile *file, size_t size)
{
    haddr_t end = 0;
    if (H5Fget_eoa(file->file, &end) < 0)
        return fail(file, 0), false;
    const uint64_t wanted = end + size + RESERVE_LEFT;
    if (wanted > file->limit)
        return fail(file, EFBIG), false;
    if (file->is_unreserved || wanted <= file->reserved)
        return true;
    const uint64_t from = file->reserved > end ? file->reserved : end;
    uint64_t length = wanted - from + RESERVE_STEP;
    int error = space_reserve(file->descriptor, from, length);
    if (error == ENOSPC) { /* the last bit of a disk counts too */
        length = wanted - from;
        error = space_reserve(file->descriptor, from, length);
    }
    if (error == 0)
        file->reserved = from + length;
    else if (error == ENOSPC || error == EFBIG || error == EDQUOT)
        return fail(file, error), false;
    else
        file->is_unreserved = true;
    return true;
}

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

hid_t store_file_group(StoreFile *file, const char *name)
{
    if (file->is_failed)
        return -1;
    const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
    store_file_check(file, H5Pset_link_phase_change(creation, 64, 32));
    const hid_t group = H5Gcreate2(file->file, name, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    if (group < 0)
        fail(file, 0);
    return group;
}

StoreDataset store_file_dataset(StoreFile *file, const char *name, hid_t type, int rank, int growing,
                                const hsize_t *extent, const hsize_t *chunk)
{
    StoreDataset dataset = { .id = -1, .rank = rank, .growing = growing, .width = H5Tget_size(type) };
    if (file->is_failed)
        return dataset;
    hsize_t most[3];
    for (int k = 0; k < rank; k++) {
        dataset.extent[k] = extent[k];
        dataset.chunk[k] = chunk[k];
        most[k] = k == growing ? H5S_UNLIMITED : extent[k];
    }
    const hid_t space = H5Screate_simple(rank, extent, most), creation = H5Pcreate(H5P_DATASET_CREATE);
    store_file_check(file, H5Pset_chunk(creation, rank, chunk));
    store_file_check(file, H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
    store_file_check(file, H5Pset_obj_track_times(creation, false));
    store_file_check(file, H5Pset_shuffle(creation));
    store_file_check(file, H5Pset_filter(creation, STORE_FILTER_LZ4, H5Z_FLAG_MANDATORY, 0, NULL));
    store_file_check(file, H5Pset_fletcher32(creation));
    dataset.id = H5Dcreate2(file->file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(creation);
    store_file_check(file, dataset.id);
    return dataset;
}

void store_file_dataset_close(StoreFile *file, StoreDataset *dataset)
{
    if (dataset->id > 0)
        store_file_check(file, H5Dclose(dataset->id));
    dataset->id = -1;
}

void store_file_extend(StoreFile *file, StoreDataset *dataset, hsize_t extent)
{
    if (file->is_failed)
        return;
    dataset->extent[dataset->growing] = extent;
    store_file_check(file, H5Dset_extent(dataset->id, dataset->extent));
}

void store_file_chunk(StoreFile *file, StoreDataset *dataset, const hsize_t *at, const void *elements)
{
    if (file->is_failed)
        return;
    size_t n = 1;
    for (int k = 0; k < dataset->rank; k++)
        n *= dataset->chunk[k];
    unsigned char *lent = store_driver_lend(&file->driver, pack_bound(n * dataset->width));
    unsigned char *packed = lent ? lent : file->packed;
    const size_t size = pack(elements, n, dataset->width, file->planes, &dataset->history, packed);
    if (!reserve(file, size))
        return;
    store_file_check(file, H5Dwrite_chunk(dataset->id, H5P_DEFAULT, 0, at, size, packed));
}

void store_file_attribute(StoreFile *file, const char *name, hid_t type, const void *value)
{
    if (file->is_failed)
        return;
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(file->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, type, value) < 0)
        fail(file, 0);
    if (attribute >= 0)
        store_file_check(file, H5Aclose(attribute));
    H5Sclose(space);
}
