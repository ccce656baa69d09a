#include "formats/store_hdf5.h"
#include "base/bug.h"
#include "formats/store_pack.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

static const unsigned char SIGNATURE[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
static const uint64_t NOWHERE = UINT64_MAX; /* the address of what does not exist */
enum {
    SUPERBLOCK = 48,
    MOST_HEADER = 1 << 20, /* bytes of an object header: ours have hundreds */
    MOST_PARTS = 64,       /* continuations of one */
    MOST_CHUNK = 1 << 28   /* bytes of a chunk */
};

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int k = bytes - 1; k >= 0; k--)
        value = value << 8 | at[k];
    return value;
}

static bool read_at(const Hdf5File *file, uint64_t address, void *to, size_t size)
{
    if (address > file->size || size > file->size - address)
        return false;
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(file->descriptor, (char *)to + done, size - done, (off_t)(address + done));
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return true;
}

static bool is_sum_good(const Hdf5File *file, const unsigned char *bytes, size_t size)
{
    return file->is_unchecked || lookup3(bytes, size - 4) == get(bytes + size - 4, 4);
}

/* `size` bytes with a signature in front and a checksum behind. While a run writes, a structure may be read in the
 * middle of its change: a few more goes. */
static bool read_checked(const Hdf5File *file, uint64_t address, const char *signature, unsigned char *to, size_t size)
{
    enum { GOES = 3 };
    for (int go = 0; go < GOES; go++)
        if (read_at(file, address, to, size) && memcmp(to, signature, 4) == 0 && is_sum_good(file, to, size))
            return true;
    return false;
}

bool hdf5_is_file(const void *bytes, size_t size)
{
    return size >= sizeof SIGNATURE && memcmp(bytes, SIGNATURE, sizeof SIGNATURE) == 0;
}

Hdf5Status hdf5_open(Hdf5File *file, int descriptor)
{
    struct stat state;
    unsigned char block[SUPERBLOCK];
    if (fstat(descriptor, &state) != 0)
        return HDF5_UNREADABLE;
    const bool is_unchecked = file->is_unchecked;
    *file = (Hdf5File){ .descriptor = descriptor, .size = (uint64_t)state.st_size, .is_unchecked = is_unchecked };
    if (!read_at(file, 0, block, sizeof SIGNATURE) || !hdf5_is_file(block, sizeof SIGNATURE))
        return HDF5_NOT_HDF5;
    if (!read_at(file, 0, block, sizeof block))
        return HDF5_DAMAGED;
    if (block[8] != 3)
        return HDF5_OTHER;
    for (int go = 0; !is_sum_good(file, block, SUPERBLOCK); go++)
        if (go == 3 || !read_at(file, 0, block, sizeof block))
            return HDF5_DAMAGED;
    if (block[9] != 8 || block[10] != 8 || get(block + 12, 8) != 0)
        return HDF5_OTHER;
    file->promised = block[11] == 0 ? get(block + 28, 8) : 0;
    file->root = get(block + 36, 8);
    return HDF5_GOOD;
}

/* ---- object headers ---------------------------------------------------------------------------------------------- */

enum {
    MESSAGE_SPACE = 1,
    MESSAGE_TYPE = 3,
    MESSAGE_LINK = 6,
    MESSAGE_LAYOUT = 8,
    MESSAGE_FILTERS = 11,
    MESSAGE_ATTRIBUTE = 12,
    MESSAGE_MORE = 16
};

typedef bool (*OnMessage)(void *context, int type, const unsigned char *at, size_t size);

typedef struct {
    uint64_t address, size;
} Part;

typedef struct {
    const Hdf5File *file;
    OnMessage on_message;
    void *context;
    bool has_order; /* messages carry the order of their creation */
    Part parts[MOST_PARTS];
    int n_parts;
} Header;

/* False: a message does not fit, or its reader refuses it. */
static bool read_messages(Header *h, const unsigned char *at, const unsigned char *end)
{
    const size_t head = h->has_order ? 6 : 4;
    while ((size_t)(end - at) >= head) { /* fewer are a gap */
        const int type = at[0];
        const size_t size = get(at + 1, 2);
        at += head;
        if (size > (size_t)(end - at))
            return false;
        if (type == MESSAGE_MORE) {
            if (size < 16 || h->n_parts == MOST_PARTS)
                return false;
            h->parts[h->n_parts++] = (Part){ get(at, 8), get(at + 8, 8) };
        } else if (!h->on_message(h->context, type, at, size)) {
            return false;
        }
        at += size;
    }
    return true;
}

/* What a file may ask for on good grounds and cannot have is the system's fault, and must not pass for damage; what is
 * larger may be a lie of the file. */
void *hdf5_allocate(size_t size)
{
    enum { BELIEVABLE = 64 << 20 };
    void *bytes = malloc(size ? size : 1);
    if (!bytes && size <= BELIEVABLE)
        bug_no_memory(size);
    return bytes;
}

/* One piece of a header; its messages begin at `begin`, four bytes of checksum follow them. */
static bool read_part(Header *h, uint64_t address, const char *signature, size_t begin, uint64_t size)
{
    if (size < begin + 4 || size > MOST_HEADER || size > h->file->size)
        return false;
    unsigned char *bytes = hdf5_allocate(size);
    const bool is_good = bytes && read_checked(h->file, address, signature, bytes, size) &&
                         read_messages(h, bytes + begin, bytes + size - 4);
    free(bytes);
    return is_good;
}

static Hdf5Status read_header(const Hdf5File *file, uint64_t address, OnMessage on_message, void *context)
{
    Header h = { .file = file, .on_message = on_message, .context = context };
    unsigned char prefix[4 + 2 + 16 + 4 + 8];
    if (!read_at(file, address, prefix, 6))
        return HDF5_DAMAGED;
    if (memcmp(prefix, "OHDR", 4) != 0 || prefix[4] != 2)
        return HDF5_OTHER;
    const int flags = prefix[5], width = 1 << (flags & 3);
    const size_t at = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    if (!read_at(file, address, prefix, at + (size_t)width))
        return HDF5_DAMAGED;
    h.has_order = flags & 4;
    const uint64_t size = get(prefix + at, width);
    if (size > MOST_HEADER)
        return HDF5_DAMAGED;
    const size_t begin = at + (size_t)width;
    bool is_good = read_part(&h, address, "OHDR", begin, begin + size + 4);
    for (int k = 0; k < h.n_parts && is_good; k++)
        is_good = read_part(&h, h.parts[k].address, "OCHK", 4, h.parts[k].size);
    return is_good ? HDF5_GOOD : HDF5_DAMAGED;
}

typedef struct {
    const char *name;
    size_t length;
    uint64_t address;
} Wanted;

static bool on_link(void *context, int type, const unsigned char *at, size_t size)
{
    Wanted *wanted = context;
    if (type != MESSAGE_LINK)
        return true;
    if (size < 2 || at[0] != 1)
        return false;
    const int flags = at[1], width = 1 << (flags & 3);
    const bool is_hard = !(flags & 8) || (size > 2 && at[2] == 0);
    const size_t begin = 2 + (flags & 8 ? 1 : 0) + (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
    if (begin + (size_t)width > size)
        return false;
    const uint64_t length = get(at + begin, width);
    const size_t name = begin + (size_t)width;
    if (length > size - name)
        return false;
    if (is_hard && length == wanted->length && memcmp(at + name, wanted->name, length) == 0 &&
        size - name - length >= 8)
        wanted->address = get(at + name + length, 8);
    return true;
}

static Hdf5Status find_object(const Hdf5File *file, const char *path, uint64_t *address)
{
    *address = file->root;
    while (*path) {
        path++; /* the slash */
        const size_t length = strcspn(path, "/");
        Wanted wanted = { path, length, NOWHERE };
        const Hdf5Status status = read_header(file, *address, on_link, &wanted);
        if (status != HDF5_GOOD)
            return status;
        if (wanted.address == NOWHERE)
            return HDF5_OTHER;
        *address = wanted.address;
        path += length;
    }
    return HDF5_GOOD;
}

typedef struct {
    const char *name;
    int32_t value;
    bool is_found;
} WantedAttribute;

static bool on_attribute(void *context, int type, const unsigned char *at, size_t size)
{
    enum { HEAD = 9, NUMBER = 4 };
    WantedAttribute *wanted = context;
    if (type != MESSAGE_ATTRIBUTE || size < HEAD || at[0] != 3)
        return true;
    const size_t name = get(at + 2, 2), before = HEAD + name + get(at + 4, 2) + get(at + 6, 2);
    if (name != strlen(wanted->name) + 1 || before + NUMBER != size || memcmp(at + HEAD, wanted->name, name) != 0)
        return true;
    wanted->value = (int32_t)get(at + before, NUMBER);
    wanted->is_found = true;
    return true;
}

Hdf5Status hdf5_number(const Hdf5File *file, const char *name, int32_t *value)
{
    WantedAttribute wanted = { .name = name };
    const Hdf5Status status = read_header(file, file->root, on_attribute, &wanted);
    *value = wanted.value;
    return status != HDF5_GOOD || wanted.is_found ? status : HDF5_OTHER;
}

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

typedef struct {
    Hdf5Dataset *dataset;
    bool has_space, has_type, has_layout, has_filters;
} Description;

static bool read_space(Hdf5Dataset *d, const unsigned char *at, size_t size)
{
    if (size < 4 || at[0] != 2 || at[1] < 1 || at[1] > HDF5_RANK || size < 4 + 16 * (size_t)at[1] || !(at[2] & 1))
        return false;
    d->rank = at[1];
    d->growing = -1;
    for (int k = 0; k < d->rank; k++) {
        d->extent[k] = get(at + 4 + 8 * k, 8);
        if (get(at + 4 + 8 * (d->rank + k), 8) != UINT64_MAX)
            continue;
        if (d->growing >= 0)
            return false;
        d->growing = k;
    }
    return d->growing >= 0;
}

static bool read_layout(Hdf5Dataset *d, const unsigned char *at, size_t size)
{
    enum { EXTENSIBLE_ARRAY = 4, PARAMETERS = 5 };
    if (size < 5 || at[0] != 4 || at[1] != 2 || at[3] < 2 || at[3] > HDF5_RANK + 1 || at[4] < 1 || at[4] > 8)
        return false;
    const int rank = at[3] - 1, width = at[4];
    const size_t after = 5 + (size_t)(rank + 1) * (size_t)width;
    if (size < after + 1 + PARAMETERS + 8 || at[after] != EXTENSIBLE_ARRAY)
        return false;
    for (int k = 0; k < rank; k++)
        d->chunk[k] = get(at + 5 + k * width, width);
    d->index = get(at + after + 1 + PARAMETERS, 8);
    return true;
}

/* Ours and no others: shuffle, LZ4, Fletcher-32. */
static bool read_filters(const unsigned char *at, size_t size)
{
    static const int wanted[] = { STORE_FILTER_SHUFFLE, STORE_FILTER_LZ4, STORE_FILTER_FLETCHER };
    if (size < 2 || at[0] != 2 || at[1] != 3)
        return false;
    size_t next = 2;
    for (int k = 0; k < 3; k++) {
        const bool is_named = wanted[k] >= 256;
        if (size - next < (is_named ? 8u : 6u) || get(at + next, 2) != (uint64_t)wanted[k])
            return false;
        const size_t name = is_named ? get(at + next + 2, 2) : 0, values = get(at + next + (is_named ? 6 : 4), 2);
        next += (is_named ? 8 : 6);
        if (size - next < name + 4 * values)
            return false;
        next += name + 4 * values;
    }
    return true;
}

static bool on_description(void *context, int type, const unsigned char *at, size_t size)
{
    Description *description = context;
    Hdf5Dataset *d = description->dataset;
    switch (type) {
    case MESSAGE_SPACE: description->has_space = read_space(d, at, size); break;
    case MESSAGE_LAYOUT: description->has_layout = read_layout(d, at, size); break;
    case MESSAGE_FILTERS: description->has_filters = read_filters(at, size); break;
    case MESSAGE_TYPE:
        description->has_type = size >= 8;
        d->width = size >= 8 ? (uint32_t)get(at + 4, 4) : 0;
        break;
    default: break;
    }
    return true; /* of another form, maybe, but not damaged */
}

/* ---- the index: an extensible array ------------------------------------------------------------------------------ */

typedef struct {
    const Hdf5File *file;
    Hdf5Dataset *dataset;
    uint64_t header;                /* address */
    int element, size_bytes;        /* bytes of an element, and of the size in it */
    int offset_bytes;               /* of a place in the array */
    uint64_t in_index, least, page; /* elements in the index block, in the smallest data block, in a page */
    int pointers;                   /* smallest number of data block addresses in a super block */
    int n_blocks;                   /* super blocks there can be */
    unsigned char *bytes;           /* room for a block */
    size_t capacity;
} Array;

static unsigned char *room(Array *a, size_t size)
{
    if (size > a->capacity) {
        free(a->bytes);
        a->capacity = size * 2;
        a->bytes = hdf5_allocate(a->capacity);
        if (!a->bytes)
            a->capacity = 0;
    }
    return a->bytes;
}

static void take(const Array *a, uint64_t k, const unsigned char *at)
{
    if (k >= a->dataset->n_chunks)
        return;
    Hdf5Chunk *chunk = &a->dataset->chunks[k];
    const uint64_t address = get(at, 8), size = get(at + 8, a->size_bytes);
    if (address == NOWHERE || size > MOST_CHUNK || get(at + 8 + a->size_bytes, 4) != 0)
        return;
    *chunk = (Hdf5Chunk){ address, (uint32_t)size, 1 };
}

static void take_all(const Array *a, uint64_t first, const unsigned char *at, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++)
        take(a, first + k, at + k * (uint64_t)a->element);
}

/* Bytes before the elements or addresses: signature, version, client, header, place. */
static size_t block_head(const Array *a)
{
    return 14 + (size_t)a->offset_bytes;
}

static void damaged(Array *a)
{
    a->dataset->is_index_damaged = true;
}

/* A data block of n elements; in pages if there are more than fit into one. */
static void read_data_block(Array *a, uint64_t address, uint64_t first, uint64_t n, const unsigned char *used)
{
    if (address == NOWHERE || first >= a->dataset->n_chunks)
        return;
    const size_t head = block_head(a), element = (size_t)a->element;
    const bool is_paged = n > a->page;
    const size_t size = is_paged ? head + 4 : head + n * element + 4;
    if (size > a->file->size || !room(a, size) || !read_checked(a->file, address, "EADB", a->bytes, size)) {
        damaged(a);
        return;
    }
    if (!is_paged) {
        take_all(a, first, a->bytes + head, n);
        return;
    }
    const size_t page = a->page * element + 4;
    for (uint64_t k = 0; k < n / a->page && first + k * a->page < a->dataset->n_chunks; k++) {
        if (!(used[k / 8] & 0x80 >> k % 8))
            continue;
        unsigned char *bytes = room(a, page);
        if (bytes && read_at(a->file, address + size + k * page, bytes, page) && is_sum_good(a->file, bytes, page))
            take_all(a, first + k * a->page, bytes, a->page);
        else
            damaged(a);
    }
}

/* Super block u has 2^(u/2) data blocks of 2^((u+1)/2) times the smallest number of elements. */
static uint64_t block_elements(const Array *a, int u)
{
    return a->least << (u + 1) / 2;
}

static uint64_t block_first(const Array *a, int u)
{
    return a->in_index + a->least * (((uint64_t)1 << u) - 1);
}

static void read_super_block(Array *a, uint64_t address, int u)
{
    const uint64_t n = (uint64_t)1 << u / 2, elements = block_elements(a, u);
    if (address == NOWHERE || block_first(a, u) >= a->dataset->n_chunks)
        return;
    const size_t mask = elements > a->page ? (size_t)(elements / a->page + 7) / 8 : 0;
    const size_t size = block_head(a) + n * (mask + 8) + 4;
    unsigned char *const bytes =
        size <= a->file->size ? hdf5_allocate(size) : NULL; /* data blocks use the other room */
    if (!bytes || !read_checked(a->file, address, "EASB", bytes, size)) {
        damaged(a);
    } else {
        const unsigned char *masks = bytes + block_head(a), *addresses = masks + n * mask;
        for (uint64_t k = 0; k < n; k++)
            read_data_block(a, get(addresses + 8 * k, 8), block_first(a, u) + k * elements, elements, masks + k * mask);
    }
    free(bytes);
}

static int log2_of(uint64_t power)
{
    int k = 0;
    while (power > 1) {
        power >>= 1;
        k++;
    }
    return k;
}

static bool read_array_head(Array *a, uint64_t *index_block)
{
    enum { SIZE = 4 + 8 + 6 * 8 + 8 + 4 };
    unsigned char bytes[SIZE];
    if (!read_checked(a->file, a->header, "EAHD", bytes, SIZE) || bytes[4] != 0 || bytes[5] != 1)
        return false;
    a->element = bytes[6];
    a->size_bytes = a->element - 12;
    a->offset_bytes = (bytes[7] + 7) / 8;
    a->in_index = bytes[8];
    a->least = bytes[9];
    a->pointers = bytes[10];
    if (a->size_bytes < 1 || a->size_bytes > 8 || bytes[7] > 32 || a->least == 0 || (a->least & (a->least - 1)) ||
        a->pointers < 2 || (a->pointers & (a->pointers - 1)) || bytes[11] > 20 || bytes[7] < log2_of(a->least))
        return false;
    a->page = (uint64_t)1 << bytes[11];
    a->n_blocks = 1 + bytes[7] - log2_of(a->least);
    *index_block = get(bytes + 60, 8);
    return true;
}

static bool read_index_block(Array *a, uint64_t address)
{
    const int direct = 2 * log2_of((uint64_t)a->pointers); /* super blocks whose data blocks stand here */
    const size_t n_data = 2 * (size_t)(a->pointers - 1),
                 n_super = a->n_blocks > direct ? (size_t)(a->n_blocks - direct) : 0;
    const size_t size = 14 + a->in_index * (size_t)a->element + 8 * (n_data + n_super) + 4;
    unsigned char *bytes = hdf5_allocate(size);
    const bool is_good = bytes && read_checked(a->file, address, "EAIB", bytes, size);
    if (is_good) {
        take_all(a, 0, bytes + 14, a->in_index);
        const unsigned char *at = bytes + 14 + a->in_index * (size_t)a->element;
        for (int u = 0; u < direct && u < a->n_blocks; u++)
            for (uint64_t k = 0; k < (uint64_t)1 << u / 2; k++, at += 8)
                read_data_block(a, get(at, 8), block_first(a, u) + k * block_elements(a, u), block_elements(a, u),
                                (const unsigned char *)"\xff\xff\xff\xff\xff\xff\xff\xff");
        at = bytes + 14 + a->in_index * (size_t)a->element + 8 * n_data;
        for (size_t k = 0; k < n_super; k++, at += 8)
            read_super_block(a, get(at, 8), direct + (int)k);
    }
    free(bytes);
    return is_good;
}

static void read_index(const Hdf5File *file, Hdf5Dataset *d)
{
    Array a = { .file = file, .dataset = d, .header = d->index };
    uint64_t block;
    if (d->index == NOWHERE || d->n_chunks == 0)
        return;
    if (!read_array_head(&a, &block) || (block != NOWHERE && !read_index_block(&a, block)))
        damaged(&a);
    free(a.bytes);
}

/* How many chunks there are by the extent, none of which can be smaller than its entry in the index. */
static bool count_chunks(const Hdf5File *file, Hdf5Dataset *d)
{
    if (d->width == 0 || d->width > MOST_CHUNK)
        return false;
    d->elements = 1;
    d->across = 1;
    for (int k = 0; k < d->rank; k++) {
        if (d->chunk[k] == 0 || d->chunk[k] > MOST_CHUNK / d->width / d->elements)
            return false;
        d->elements *= d->chunk[k];
        if (k == d->growing)
            continue;
        const uint64_t n = d->extent[k] / d->chunk[k] + (d->extent[k] % d->chunk[k] != 0);
        if (d->across && n > UINT32_MAX / d->across)
            return false;
        d->across *= n;
    }
    const uint64_t along =
        d->extent[d->growing] / d->chunk[d->growing] + (d->extent[d->growing] % d->chunk[d->growing] != 0);
    const uint64_t possible = file->size / 16;
    d->n_chunks = d->across == 0                 ? 0
                  : along > possible / d->across ? possible / d->across * d->across
                                                 : along * d->across;
    return true;
}

Hdf5Status hdf5_dataset(const Hdf5File *file, const char *path, Arena *arena, Hdf5Dataset *d)
{
    uint64_t address;
    *d = (Hdf5Dataset){ 0 };
    Hdf5Status status = find_object(file, path, &address);
    if (status != HDF5_GOOD)
        return status;
    Description description = { .dataset = d };
    status = read_header(file, address, on_description, &description);
    if (status != HDF5_GOOD)
        return status;
    if (!description.has_space || !description.has_type || !description.has_layout || !description.has_filters ||
        !count_chunks(file, d))
        return HDF5_OTHER;
    d->chunks = NEW_ARRAY(arena, Hdf5Chunk, d->n_chunks);
    read_index(file, d);
    return HDF5_GOOD;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static bool enlarge(unsigned char **bytes, size_t *size, size_t wanted)
{
    if (wanted <= *size)
        return true;
    free(*bytes);
    *bytes = hdf5_allocate(wanted);
    *size = *bytes ? wanted : 0;
    return *bytes;
}

bool hdf5_chunk(const Hdf5File *file, const Hdf5Dataset *d, uint64_t k, Hdf5Scratch *scratch)
{
    if (k >= d->n_chunks || !d->chunks[k].is_there)
        return false;
    const Hdf5Chunk *chunk = &d->chunks[k];
    return enlarge(&scratch->planes, &scratch->planes_size, d->elements * d->width) &&
           enlarge(&scratch->packed, &scratch->packed_size, chunk->size) &&
           read_at(file, chunk->address, scratch->packed, chunk->size) &&
           unpack_planes(scratch->packed, chunk->size, d->elements, d->width, !file->is_unchecked, scratch->planes);
}

void hdf5_scratch_free(Hdf5Scratch *scratch)
{
    free(scratch->planes);
    free(scratch->packed);
    *scratch = (Hdf5Scratch){ 0 };
}
