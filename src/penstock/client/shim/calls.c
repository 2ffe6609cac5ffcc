/* Reads and writes of descriptors. Each pays for what it asks, then moves, then is given back what was not there. */
#include "shim.h"

enum { GET_FLAGS = 3 };

static int appends(int fd) { return (SYSCALL(SYS_FCNTL, fd, GET_FLAGS, 0, 0, 0, 0) & KERNEL_O_APPEND) != 0; }

/* Whether a call of so many bytes pays, and for how many at most. */
static int pays(int fd, size_t bytes, int direction, off_type offset, int64_t *there) {
    if (direction == READ) return is_paced_read(fd, bytes, offset, there);
    *there = INT64_MAX;
    return is_paced(fd, bytes);
}

/* Move `n` bytes, of which `there` are there, bit by bit with CALL, in which `at` is how many were moved. FIRST says how
 * many are next, `part`. */
#define BIT_BY_BIT(n, there, direction, FIRST, CALL)                        \
    do {                                                                    \
        size_t at = 0, part;                                                \
        while (1) {                                                         \
            part = FIRST;                                                   \
            int64_t wanted = least((int64_t)part, (there) - (int64_t)at);   \
            struct paid paid = pay(wanted, direction);                      \
            ssize_type got = CALL;                                          \
            even_out(paid, wanted, got, direction);                         \
            if (got < 0 && !at) return got;                                 \
            if (got > 0) at += (size_t)got;                                 \
            if (got < (ssize_type)part || at >= (n)) return (ssize_type)at; \
        }                                                                   \
    } while (0)

/* In pieces. What is appended stays in one, for nobody else's is to come between. */
#define IN_PIECES(fd, n, there, direction, CALL)                                                \
    do {                                                                                        \
        size_t most = (n) > PIECE && (direction == READ || !appends(fd)) ? PIECE : (n);         \
        BIT_BY_BIT(n, there, direction, (n) - at < most ? (n) - at : most, CALL);               \
    } while (0)

#define PLAIN(name, pointer, direction)                                                                   \
    NEXT(ssize_type, name, int, pointer, size_t)                                                          \
    EXPORT ssize_type name(int fd, pointer data, size_t n) {                                              \
        int64_t there;                                                                                    \
        NEED(name, -1)                                                                                    \
        if (!ours() || !n || !pays(fd, n, direction, -1, &there)) return next_##name(fd, data, n);        \
        IN_PIECES(fd, n, there, direction, next_##name(fd, (char *)data + at, part));                     \
    }
PLAIN(read, void *, READ)
PLAIN(write, const void *, WRITE)

#define AT_OFFSET(name, pointer, direction)                                                                      \
    NEXT(ssize_type, name, int, pointer, size_t, off_type)                                                       \
    EXPORT ssize_type name(int fd, pointer data, size_t n, off_type offset) {                                    \
        int64_t there;                                                                                           \
        NEED(name, -1)                                                                                           \
        if (!ours() || !n || !pays(fd, n, direction, offset, &there)) return next_##name(fd, data, n, offset);   \
        IN_PIECES(fd, n, there, direction, next_##name(fd, (char *)data + at, part, offset + (off_type)at));     \
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

/* What is next of a vector of which `at` bytes were moved: at most a piece, in at most so many buffers. Its bytes. */
enum { BUFFERS = 32 };
struct some {
    int count;
    struct iovec pieces[BUFFERS];
};
static size_t cut(const struct iovec *pieces, int count, size_t at, struct some *next) {
    size_t sum = 0;
    next->count = 0;
    for (int i = 0; i < count && next->count < BUFFERS && sum < PIECE; i++) {
        size_t left = pieces[i].length;
        if (at >= left) {
            at -= left;
            continue;
        }
        left -= at;
        size_t part = left < PIECE - sum ? left : PIECE - sum;
        next->pieces[next->count++] = (struct iovec){(char *)pieces[i].base + at, part};
        at = 0, sum += part;
    }
    return sum;
}
static off_type moved_on(off_type offset, size_t at) { return offset < 0 ? offset : offset + (off_type)at; }

enum { FLAG_APPEND = 16 };
#define VECTOR(name, direction, DECLARED, TYPES, GIVEN, MOVED, OFFSET, FLAGS)                               \
    NEXT(ssize_type, name, int, const struct iovec *, int TYPES)                                            \
    EXPORT ssize_type name(int fd, const struct iovec *pieces, int count DECLARED) {                        \
        NEED(name, -1)                                                                                      \
        if (!ours() || count <= 0 || count > 1024) return next_##name(fd, pieces, count GIVEN);             \
        int64_t there;                                                                                      \
        size_t n = length_of(pieces, count);                                                                \
        if (!n || (ssize_type)n < 0 || !pays(fd, n, direction, OFFSET, &there))                             \
            return next_##name(fd, pieces, count GIVEN);                                                    \
        if (n <= PIECE || (direction == WRITE && ((FLAGS)&FLAG_APPEND || appends(fd))))                     \
            BIT_BY_BIT(n, there, direction, n, next_##name(fd, pieces, count GIVEN));                       \
        struct some some;                                                                                   \
        BIT_BY_BIT(n, there, direction, cut(pieces, count, at, &some), next_##name(fd, some.pieces, some.count MOVED)); \
    }
#define NOTHING
#define COMMA ,
VECTOR(readv, READ, NOTHING, NOTHING, NOTHING, NOTHING, -1, 0)
VECTOR(writev, WRITE, NOTHING, NOTHING, NOTHING, NOTHING, -1, 0)
#define ONE_MORE(name, direction)                                                            \
    VECTOR(name, direction, COMMA off_type offset, COMMA off_type, COMMA offset, COMMA moved_on(offset, at), offset, 0)
ONE_MORE(preadv, READ)
ONE_MORE(preadv64, READ)
ONE_MORE(pwritev, WRITE)
ONE_MORE(pwritev64, WRITE)
#define TWO_MORE(name, direction)                                                                                      \
    VECTOR(name, direction, COMMA off_type offset COMMA int flags, COMMA off_type COMMA int, COMMA offset COMMA flags, \
           COMMA moved_on(offset, at) COMMA flags, offset, flags)
TWO_MORE(preadv2, READ)
TWO_MORE(preadv64v2, READ)
TWO_MORE(pwritev2, WRITE)
TWO_MORE(pwritev64v2, WRITE)

/* What goes from one descriptor to another is paid for on both sides, as read and write would, in pieces. */
struct both {
    int from, to;
    struct paid read, written;
};
static struct both both_of(int in, int out, size_t n) {
    struct both both = {0, 0, {0, 0}, {0, 0}};
    if (n && ours()) both.from = is_paced(in, PIECE), both.to = is_paced(out, PIECE);
    return both;
}
static void pay_both(struct both *both, int64_t wanted) {
    if (both->from) both->read = pay(wanted, READ);
    if (both->to) both->written = pay(wanted, WRITE);
}
static void even_out_both(struct both *both, int64_t wanted, ssize_type got) {
    if (both->from) even_out(both->read, wanted, got, READ);
    if (both->to) even_out(both->written, wanted, got, WRITE);
}
#define BETWEEN(name, in, from, out, n, CALL)                                           \
    NEED(name, -1)                                                                      \
    size_t at = 0, part = (n);                                                          \
    struct both both = both_of(in, out, n);                                             \
    if (!both.from && !both.to) return CALL;                                            \
    int64_t there = left_in(in, (from) ? *(from) : -1);                                 \
    while (1) {                                                                         \
        part = (n) - at < PIECE ? (n) - at : PIECE;                                     \
        int64_t wanted = least((int64_t)part, there - (int64_t)at);                     \
        pay_both(&both, wanted);                                                        \
        ssize_type got = CALL;                                                          \
        even_out_both(&both, wanted, got);                                              \
        if (got < 0 && !at) return got;                                                 \
        if (got > 0) at += (size_t)got;                                                 \
        if (got < (ssize_type)part || at >= (n)) return (ssize_type)at;                 \
    }

NEXT(ssize_type, copy_file_range, int, off_type *, int, off_type *, size_t, unsigned)
EXPORT ssize_type copy_file_range(int in, off_type *from, int out, off_type *to, size_t n, unsigned flags) {
    BETWEEN(copy_file_range, in, from, out, n, next_copy_file_range(in, from, out, to, part, flags))
}
NEXT(ssize_type, sendfile, int, int, off_type *, size_t)
EXPORT ssize_type sendfile(int out, int in, off_type *from, size_t n) {
    BETWEEN(sendfile, in, from, out, n, next_sendfile(out, in, from, part))
}
NEXT(ssize_type, sendfile64, int, int, off_type *, size_t)
EXPORT ssize_type sendfile64(int out, int in, off_type *from, size_t n) {
    BETWEEN(sendfile64, in, from, out, n, next_sendfile64(out, in, from, part))
}
/* One piece and no more: with a second one we would wait for a pipe where the program would not have. */
NEXT(ssize_type, splice, int, off_type *, int, off_type *, size_t, unsigned)
EXPORT ssize_type splice(int in, off_type *from, int out, off_type *to, size_t n, unsigned flags) {
    NEED(splice, -1)
    struct both both = both_of(in, out, n);
    if (!both.from && !both.to) return next_splice(in, from, out, to, n, flags);
    size_t part = n < PIECE ? n : PIECE;
    int64_t wanted = least(least((int64_t)part, OF_A_PIPE), left_in(in, from ? *from : -1));
    pay_both(&both, wanted);
    ssize_type got = next_splice(in, from, out, to, part, flags);
    even_out_both(&both, wanted, got);
    return got;
}

/* libaio: paid for when it is submitted. Those that were not taken are given back. */
struct iocb {
    uint64_t data;
    uint32_t key, flags;
    uint16_t what;
    int16_t priority;
    uint32_t fd;
    uint64_t buffer, bytes;
    int64_t offset;
};
enum { AIO_READ = 0, AIO_WRITE = 1, AIO_READV = 7, AIO_WRITEV = 8, AT_ONCE = 64 };
static int direction_of(const struct iocb *one) { return one->what == AIO_READ || one->what == AIO_READV ? READ : WRITE; }
static struct paid pay_for(const struct iocb *one) {
    int64_t there;
    size_t n = 0;
    if (one->what == AIO_READ || one->what == AIO_WRITE) n = one->bytes;
    if (one->what == AIO_READV || one->what == AIO_WRITEV)
        n = length_of((const struct iovec *)(uintptr_t)one->buffer, (int)one->bytes);
    if (!n || !pays((int)one->fd, n, direction_of(one), one->offset, &there)) return (struct paid){0, 0};
    return pay(least((int64_t)n, there), direction_of(one));
}
NEXT(int, io_submit, void *, long, struct iocb **)
EXPORT int io_submit(void *context, long count, struct iocb **all) {
    if (!have_io_submit()) return -ENOSYS;
    if (!ours() || count <= 0) return next_io_submit(context, count, all);
    struct paid paid[AT_ONCE]; /* a few at a time, so that there is room to remember what each paid */
    int taken = 0;
    while (taken < count) {
        int some = count - taken < AT_ONCE ? (int)(count - taken) : AT_ONCE;
        for (int i = 0; i < some; i++) paid[i] = pay_for(all[taken + i]);
        int got = next_io_submit(context, some, all + taken);
        for (int i = got > 0 ? got : 0; i < some; i++) refund(paid[i], 0, direction_of(all[taken + i]));
        if (got < 0 && !taken) return got;
        if (got > 0) taken += got;
        if (got < some) break;
    }
    return taken;
}
