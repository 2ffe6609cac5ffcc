/* Which descriptors are paced: regular files on the devices that the segment names.
 *
 * Asking the kernel at each call would cost as much as a small write, so the answer is kept for each descriptor. It is
 * forgotten when a descriptor is closed or made, and asked for anew every few calls and for every large one: numbers
 * are used again, and a libc closes files without being seen. */
#include "shim.h"

enum { KNOWN = 4096, OTHER = 1, PACED = 2, AGAIN = 64, LARGE = 131072 };
static uint16_t known[KNOWN]; /* what it is, and in the upper byte how often that may be believed */

int is_paced_device(uint64_t device) {
    struct penstock_segment *segment = penstock_mapped;
    uint64_t count = segment->devices;
    if (!count) return 1;
    for (uint64_t i = 0; i < count && i < PENSTOCK_DEVICES; i++)
        if (segment->device[i] == device) return 1;
    return 0;
}

/* `size` is set if the kernel was asked for it. */
static int look_at(int fd, size_t bytes, int64_t *size) {
    if (fd < 0) return 0;
    if (fd < KNOWN && bytes < LARGE) {
        uint16_t entry = __atomic_load_n(&known[fd], __ATOMIC_RELAXED);
        if (entry >= 256) {
            __atomic_store_n(&known[fd], (uint16_t)(entry - 256), __ATOMIC_RELAXED);
            return (entry & 255) == PACED;
        }
    }
    struct kernel_stat found;
    int paced = kernel_fstat(fd, &found) == 0 && (found.mode & KIND_MASK) == KIND_FILE && is_paced_device(found.dev);
    if (fd < KNOWN) __atomic_store_n(&known[fd], (uint16_t)((paced ? PACED : OTHER) | AGAIN << 8), __ATOMIC_RELAXED);
    *size = found.size;
    return paced;
}

int is_paced(int fd, size_t bytes) {
    int64_t unused;
    return look_at(fd, bytes, &unused);
}

static int64_t from_here_on(int fd, off_type offset, int64_t size) {
    if (offset < 0) offset = SYSCALL(SYS_LSEEK, fd, 0, 1, 0, 0, 0); /* where it stands */
    return offset < 0 ? INT64_MAX : size > offset ? size - offset : 0;
}

/* Programs ask for more than a file has: at a low rate paying for that first would hold them up for seconds. Small reads
 * fit into what may be promised at once, and are not worth asking the kernel. */
int is_paced_read(int fd, size_t bytes, off_type offset, int64_t *there) {
    int64_t size = -1;
    if (!look_at(fd, bytes, &size)) return 0;
    *there = size < 0 || bytes < LARGE ? INT64_MAX : from_here_on(fd, offset, size);
    return 1;
}

/* What a copy can find, at most. */
int64_t left_in(int fd, off_type offset) {
    struct kernel_stat found;
    if (kernel_fstat(fd, &found)) return INT64_MAX;
    if ((found.mode & KIND_MASK) == KIND_FILE) return from_here_on(fd, offset, found.size);
    return (found.mode & KIND_MASK) == KIND_PIPE ? OF_A_PIPE : INT64_MAX;
}

int is_paced_open(int fd) {
    forget(fd);
    if (!penstock_mapped->devices) return 1;
    struct kernel_stat found;
    return kernel_fstat(fd, &found) == 0 && is_paced_device(found.dev);
}

/* Where a name is: its folder is asked, which the kernel knows already, not the file. */
int is_paced_place(int folder, const char *path) {
    if (!penstock_mapped->devices) return 1;
    char above[1024];
    size_t length = 0, cut = 0;
    for (; path[length]; length++) {
        if (length + 1 >= sizeof above) return 0;
        above[length] = path[length];
        if (path[length] == '/' && path[length + 1] && path[length + 1] != '/') cut = length + 1;
    }
    if (!cut) above[cut++] = '.';
    above[cut] = 0;
    struct kernel_stat found;
    return SYSCALL(SYS_NEWFSTATAT, folder, above, &found, 0, 0, 0) == 0 && is_paced_device(found.dev);
}

void forget(int fd) {
    if (fd >= 0 && fd < KNOWN) __atomic_store_n(&known[fd], 0, __ATOMIC_RELAXED);
}

void forget_range(unsigned first, unsigned last) {
    for (unsigned fd = first; fd <= last && fd < KNOWN; fd++) forget((int)fd);
}

/* A file that bytes were paid for is closed: a burst may be over. */
void closing(int fd) {
    if (fd < 0 || fd >= KNOWN) return;
    if ((known[fd] & 255) == PACED && penstock_mapped)
        __atomic_store_n(&penstock_mapped->last_close, penstock_now(), __ATOMIC_RELAXED);
    forget(fd);
}
