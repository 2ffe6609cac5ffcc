/* Writes 80 MiB past the C library's calls and waits: past WAY FILE GO; 1: it could not, 77: the kernel does not allow it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECE = 1 << 20, PIECES = 80 };
static char data[PIECE];
static void *rings, *entries;

static int write_all(int fd) {
    for (int i = 0; i < PIECES; i++)
        if (write(fd, data, PIECE) != PIECE) return 1;
    return 0;
}

static int map_all(int fd) {
    long size = (long)PIECE * PIECES;
    if (ftruncate(fd, size)) return 1;
    char *file = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED) return 1;
    memset(file, 1, size);
    return 0;
}

static int submit_all(int fd) {
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, 8, &context)) return errno == ENOSYS || errno == EPERM ? 77 : 1;
    for (int i = 0; i < PIECES; i++) {
        struct iocb one = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd, .aio_buf = (unsigned long)data,
                           .aio_nbytes = PIECE, .aio_offset = (long)i * PIECE}, *list = &one;
        struct io_event event;
        if (syscall(SYS_io_submit, context, 1, &list) != 1) return 1;
        if (syscall(SYS_io_getevents, context, 1, 1, &event, 0) != 1 || event.res != PIECE) return 1;
    }
    return 0;
}

static int ring_all(int fd) {
    struct io_uring_params p = {0};
    int ring = syscall(SYS_io_uring_setup, 4, &p);
    if (ring < 0) return errno == ENOSYS || errno == EPERM ? 77 : 1;
    if (!(p.features & IORING_FEAT_SINGLE_MMAP)) return 77;
    long size = p.sq_off.array + p.sq_entries * 4, other = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    rings = mmap(0, size > other ? size : other, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    entries = mmap(0, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    if (rings == MAP_FAILED || entries == MAP_FAILED) return 1;
    unsigned *tail = rings + p.sq_off.tail, *array = rings + p.sq_off.array, *head = rings + p.cq_off.head;
    struct io_uring_cqe *done = rings + p.cq_off.cqes;
    for (int i = 0; i < PIECES; i++) {
        struct io_uring_sqe one = {.opcode = IORING_OP_WRITE, .fd = fd, .addr = (unsigned long)data, .len = PIECE,
                                   .off = (long)i * PIECE};
        ((struct io_uring_sqe *)entries)[0] = one;
        array[*tail & (p.sq_entries - 1)] = 0;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1) return 1;
        if (done[*head & (p.cq_entries - 1)].res != PIECE) return 1;
        __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    }
    return 0;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    int fd = open(words[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    int failed = fd < 0                        ? 1
                 : !strcmp(words[1], "write")    ? write_all(fd)
                 : !strcmp(words[1], "mmap")     ? map_all(fd)
                 : !strcmp(words[1], "libaio")   ? submit_all(fd)
                                                 : ring_all(fd);
    while (!failed && access(words[3], F_OK)) usleep(20000);
    return failed;
}
