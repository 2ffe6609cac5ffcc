/* What the parts of the preloaded library share. It includes no header of a C library and needs none of its types, so
 * the same source serves glibc and musl. It is a guest in somebody's program: no memory is taken, no thread started, no
 * signal handled, errno is kept, and without a segment every call passes through at once. */
#ifndef PENSTOCK_SHIM_H
#define PENSTOCK_SHIM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "segment.h"

typedef struct penstock_file FILE;
typedef int64_t off_type; /* of 64 bits wherever this library is built */
typedef intptr_t ssize_type;

struct iovec {
    void *base;
    size_t length;
};

#define EXPORT __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { WRITE = 0, READ = 1 };
enum { PIECE = 1 << 20 }; /* more than that is paid for and moved bit by bit */

/* libc, found when the library is loaded */
extern void *dlsym(void *, const char *);
extern int *__errno_location(void);
extern char *getenv(const char *);
extern int fileno(FILE *);
#define errno (*__errno_location())
#define ENOSYS 38

/* The function that we stand in front of: NEXT(write) (arguments). It is found when the library is loaded, because a call
 * may come in a signal handler or in a child of vfork, where nothing may be looked for; what is called before that looks
 * for itself, and so do streams, which nobody may call there. */
#ifdef FOUND_AT_FIRST_CALL
#define FOUND
#else
#define FOUND __attribute__((constructor(200)))
#endif
#define NEXT(type, name, ...)                                         \
    static type (*next_##name)(__VA_ARGS__);                          \
    FOUND static void find_##name(void) {                             \
        int kept = errno;                                             \
        next_##name = (type(*)(__VA_ARGS__))dlsym((void *)-1, #name); \
        errno = kept;                                                 \
    }                                                                 \
    static inline int have_##name(void) {                             \
        if (UNLIKELY(!next_##name)) find_##name();                    \
        return next_##name != 0;                                      \
    }
/* As a statement at the top of a wrapper: a program cannot have called what its libc does not have. */
#define NEED(name, wrong)        \
    if (UNLIKELY(!have_##name())) { \
        errno = ENOSYS;          \
        return wrong;            \
    }

/* pay.c */
extern struct penstock_segment *penstock_mapped; /* the job's; 0: not configured */
extern int penstock_looked;
void penstock_look(void);
static inline struct penstock_segment *ours(void) {
    if (UNLIKELY(!penstock_looked)) penstock_look();
    return penstock_mapped;
}
int64_t penstock_now(void);
struct paid { /* where, so that it can be given back there */
    int64_t bytes;
    struct penstock_segment *common;
};
struct paid pay(int64_t bytes, int direction);   /* and wait */
void pay_later(int64_t bytes, int direction);    /* little: wait when it has become more */
void pay_what_is_left(int wait);                 /* of what was to be paid later */
void refund(struct paid paid, int64_t moved, int direction); /* what was not moved */
/* After a call that wanted to move so much: what was not there is given back, what came on top is paid for. */
static inline void even_out(struct paid paid, int64_t wanted, int64_t moved, int direction) {
    refund(paid, moved, direction);
    if (UNLIKELY(moved > wanted)) pay_later(moved - (wanted > 0 ? wanted : 0), direction);
}
struct pledge { /* what has to be served before one that has promised may go on */
    int64_t mark, common_mark; /* the least number: nothing */
    struct penstock_segment *common;
};
struct pledge pledge(int64_t bytes, int64_t now);
int64_t until_kept(const struct pledge *made, int64_t now); /* nanoseconds, a step at most; 0: go on */
void say_want(int64_t now);                                  /* somebody waits */
enum { OPENED, STATED, UNLINKED, CREATED };
void pay_operation(int which);

/* files.c */
int is_paced(int fd, size_t bytes);
int is_paced_read(int fd, size_t bytes, off_type offset, int64_t *there); /* and how much there is; offset < 0: its own */
int64_t left_in(int fd, off_type offset);
int is_paced_device(uint64_t device);
int is_paced_place(int folder, const char *path);
int is_paced_open(int fd);
void forget(int fd);
void forget_range(unsigned first, unsigned last);
void closing(int fd);
static inline int stream_fd(FILE *stream) {
    int kept = errno, fd = fileno(stream);
    errno = kept;
    return fd;
}

/* system calls that nobody else sees */
intptr_t penstock_syscall(intptr_t number, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f);
#if defined(__x86_64__)
enum { SYS_READ = 0, SYS_WRITE = 1, SYS_CLOSE = 3, SYS_FSTAT = 5, SYS_LSEEK = 8, SYS_MMAP = 9, SYS_GETEUID = 107, SYS_FCNTL = 72,
       SYS_RT_SIGPROCMASK = 14, SYS_PPOLL = 271, SYS_OPENAT = 257, SYS_NEWFSTATAT = 262 };
enum { KERNEL_O_NOFOLLOW = 0400000, KERNEL_O_APPEND = 02000 };
struct kernel_stat {
    uint64_t dev, ino, nlink;
    uint32_t mode, uid, gid, pad;
    uint64_t rdev;
    int64_t size, rest[11];
};
#elif defined(__aarch64__)
enum { SYS_READ = 63, SYS_WRITE = 64, SYS_CLOSE = 57, SYS_FSTAT = 80, SYS_LSEEK = 62, SYS_MMAP = 222, SYS_GETEUID = 175, SYS_FCNTL = 25,
       SYS_RT_SIGPROCMASK = 135, SYS_PPOLL = 73, SYS_OPENAT = 56, SYS_NEWFSTATAT = 79 };
enum { KERNEL_O_NOFOLLOW = 0100000, KERNEL_O_APPEND = 02000 };
struct kernel_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad;
    int64_t size, rest[9];
};
#else
#error "penstock: the library is written for x86-64 and aarch64"
#endif
enum { KERNEL_AT_FDCWD = -100, KERNEL_O_RDWR = 2, KERNEL_O_NONBLOCK = 04000, KERNEL_O_CLOEXEC = 02000000 };
enum { KIND_MASK = 0170000, KIND_FILE = 0100000, KIND_PIPE = 0010000, OF_A_PIPE = 65536 };

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

#define SYSCALL(number, a, b, c, d, e, f) \
    penstock_syscall(number, (intptr_t)(a), (intptr_t)(b), (intptr_t)(c), (intptr_t)(d), (intptr_t)(e), (intptr_t)(f))

static inline int kernel_fstat(int fd, struct kernel_stat *found) { return (int)SYSCALL(SYS_FSTAT, fd, found, 0, 0, 0, 0); }

#endif
