/* Reads and writes of descriptors. Each pays for what it asks, then moves, then is given back what was not there. */
#include "shim.h"

enum { GET_FLAGS = 3 };

static int appends(int fd) { return (SYSCALL(SYS_FCNTL, fd, GET_FLAGS, 0, 0, 0, 0) & KERNEL_O_APPEND) != 0; }

/* Move `n` bytes piece by piece with CALL, in which `at` is how many were moved and `part` how many are next. What is
 * appended stays in one piece, for nobody else's is to come between. */
#define IN_PIECES(fd, n, direction, CALL)                                             \
    do {                                                                              \
        size_t at = 0, most = (n) > PIECE && (direction == READ || !appends(fd)) ? PIECE : (n); \
        while (1) {                                                                   \
            size_t part = (n) - at < most ? (n) - at : most;                          \
            int64_t paid = pay((int64_t)part, direction);                             \
            ssize_type got = CALL;                                                    \
            refund(paid - (got > 0 ? got : 0), direction);                            \
            if (got < 0 && !at) return got;                                           \
            if (got > 0) at += (size_t)got;                                           \
            if (got < (ssize_type)part || at >= (n)) return (ssize_type)at;           \
        }                                                                             \
    } while (0)

#define PLAIN(name, pointer, direction)                                        \
    NEXT(ssize_type, name, int, pointer, size_t)                               \
    EXPORT ssize_type name(int fd, pointer data, size_t n) {                   \
        NEED(name, -1)                                                         \
        if (!ours() || !n || !is_paced(fd, n)) return next_##name(fd, data, n); \
        IN_PIECES(fd, n, direction, next_##name(fd, (char *)data + at, part)); \
    }
PLAIN(read, void *, READ)
PLAIN(write, const void *, WRITE)

#define AT_OFFSET(name, pointer, direction)                                            \
    NEXT(ssize_type, name, int, pointer, size_t, off_type)                             \
    EXPORT ssize_type name(int fd, pointer data, size_t n, off_type offset) {          \
        NEED(name, -1)                                                                 \
        if (!ours() || !n || !is_paced(fd, n)) return next_##name(fd, data, n, offset); \
        IN_PIECES(fd, n, direction, next_##name(fd, (char *)data + at, part, offset + (off_type)at)); \
    }
AT_OFFSET(pread, void *, READ)
AT_OFFSET(pread64, void *, READ)
AT_OFFSET(pwrite, const void *, WRITE)
AT_OFFSET(pwrite64, const void *, WRITE)

/* What programs call that were built with checks; a buffer that is too small is theirs to stumble over. */
NEXT(ssize_type, __read_chk, int, void *, size_t, size_t)
EXPORT ssize_type __read_chk(int fd, void *data, size_t n, size_t room) {
    if (n > room && have___read_chk()) return next___read_chk(fd, data, n, room);
    return read(fd, data, n);
}
#define CHECKED(name, plain)                                                              \
    NEXT(ssize_type, name, int, void *, size_t, off_type, size_t)                         \
    EXPORT ssize_type name(int fd, void *data, size_t n, off_type offset, size_t room) {  \
        if (n > room && have_##name()) return next_##name(fd, data, n, offset, room);     \
        return plain(fd, data, n, offset);                                                \
    }
CHECKED(__pread_chk, pread)
CHECKED(__pread64_chk, pread64)

static size_t length_of(const struct iovec *pieces, int count) {
    size_t sum = 0;
    for (int i = 0; i < count; i++) sum += pieces[i].length;
    return sum;
}

#define VECTOR(name, direction, DECLARED, TYPES, GIVEN)                               \
    NEXT(ssize_type, name, int, const struct iovec *, int TYPES)                      \
    EXPORT ssize_type name(int fd, const struct iovec *pieces, int count DECLARED) {  \
        NEED(name, -1)                                                                \
        if (!ours() || count <= 0 || count > 1024) return next_##name(fd, pieces, count GIVEN); \
        size_t n = length_of(pieces, count);                                          \
        if (!is_paced(fd, n)) return next_##name(fd, pieces, count GIVEN);            \
        int64_t paid = pay((int64_t)n, direction);                                    \
        ssize_type got = next_##name(fd, pieces, count GIVEN);                        \
        refund(paid - (got > 0 ? got : 0), direction);                                \
        return got;                                                                   \
    }
#define NOTHING
#define COMMA ,
VECTOR(readv, READ, NOTHING, NOTHING, NOTHING)
VECTOR(writev, WRITE, NOTHING, NOTHING, NOTHING)
#define ONE_MORE(name, direction) VECTOR(name, direction, COMMA off_type offset, COMMA off_type, COMMA offset)
ONE_MORE(preadv, READ)
ONE_MORE(preadv64, READ)
ONE_MORE(pwritev, WRITE)
ONE_MORE(pwritev64, WRITE)
#define TWO_MORE(name, direction) \
    VECTOR(name, direction, COMMA off_type offset COMMA int flags, COMMA off_type COMMA int, COMMA offset COMMA flags)
TWO_MORE(preadv2, READ)
TWO_MORE(preadv64v2, READ)
TWO_MORE(pwritev2, WRITE)
TWO_MORE(pwritev64v2, WRITE)

/* What goes from one descriptor to another is paid for on both sides, as read and write would, in pieces. */
struct both {
    int from, to;
    int64_t read, written;
};
static void pay_both(struct both *both, size_t part) {
    both->read = both->from ? pay((int64_t)part, READ) : 0;
    both->written = both->to ? pay((int64_t)part, WRITE) : 0;
}
static void refund_both(struct both *both, ssize_type got) {
    if (got < 0) got = 0;
    refund(both->read - got, READ);
    refund(both->written - got, WRITE);
}
#define BETWEEN(in, out, n, ONCE, CALL)                                                   \
    NEED_ONCE(ONCE)                                                                       \
    struct both both = {0, 0, 0, 0};                                                      \
    if (ours() && (n)) both.from = is_paced(in, PIECE), both.to = is_paced(out, PIECE);   \
    size_t at = 0, part = (n);                                                            \
    if (!both.from && !both.to) return CALL;                                              \
    while (1) {                                                                           \
        part = (n) - at < PIECE ? (n) - at : PIECE;                                       \
        pay_both(&both, part);                                                            \
        ssize_type got = CALL;                                                            \
        refund_both(&both, got);                                                          \
        if (got < 0 && !at) return got;                                                   \
        if (got > 0) at += (size_t)got;                                                   \
        if (got < (ssize_type)part || at >= (n)) return (ssize_type)at;                   \
    }
#define NEED_ONCE(name) NEED(name, -1)

NEXT(ssize_type, copy_file_range, int, off_type *, int, off_type *, size_t, unsigned)
EXPORT ssize_type copy_file_range(int in, off_type *from, int out, off_type *to, size_t n, unsigned flags) {
    BETWEEN(in, out, n, copy_file_range, next_copy_file_range(in, from, out, to, part, flags))
}
NEXT(ssize_type, sendfile, int, int, off_type *, size_t)
EXPORT ssize_type sendfile(int out, int in, off_type *from, size_t n) {
    BETWEEN(in, out, n, sendfile, next_sendfile(out, in, from, part))
}
NEXT(ssize_type, sendfile64, int, int, off_type *, size_t)
EXPORT ssize_type sendfile64(int out, int in, off_type *from, size_t n) {
    BETWEEN(in, out, n, sendfile64, next_sendfile64(out, in, from, part))
}
NEXT(ssize_type, splice, int, off_type *, int, off_type *, size_t, unsigned)
EXPORT ssize_type splice(int in, off_type *from, int out, off_type *to, size_t n, unsigned flags) {
    BETWEEN(in, out, n, splice, next_splice(in, from, out, to, part, flags))
}

/* libaio: paid for when it is submitted. Those that were not taken are given back. */
struct iocb {
    uint64_t data;
    uint32_t key, flags;
    uint16_t what;
    int16_t priority;
    uint32_t fd;
    uint64_t buffer, bytes;
};
enum { AIO_READ = 0, AIO_WRITE = 1, AIO_READV = 7, AIO_WRITEV = 8 };
static int64_t bytes_of(const struct iocb *one, int *direction) {
    *direction = one->what == AIO_READ || one->what == AIO_READV ? READ : WRITE;
    size_t n = 0;
    if (one->what == AIO_READ || one->what == AIO_WRITE) n = one->bytes;
    if (one->what == AIO_READV || one->what == AIO_WRITEV)
        n = length_of((const struct iovec *)(uintptr_t)one->buffer, (int)one->bytes);
    return n && is_paced((int)one->fd, n) ? (int64_t)n : 0;
}
NEXT(int, io_submit, void *, long, struct iocb **)
EXPORT int io_submit(void *context, long count, struct iocb **all) {
    if (!have_io_submit()) return -ENOSYS;
    if (!ours()) return next_io_submit(context, count, all);
    int direction;
    for (long i = 0; i < count; i++) {
        int64_t n = bytes_of(all[i], &direction);
        pay(n, direction);
    }
    int taken = next_io_submit(context, count, all);
    for (long i = taken > 0 ? taken : 0; i < count; i++) {
        int64_t n = bytes_of(all[i], &direction);
        refund(n, direction);
    }
    return taken;
}
