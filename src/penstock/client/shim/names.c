/* Files by name: opening, looking up, creating and removing are operations, which have a rate of their own. They are
 * paid for afterwards, when it is known that they were on a paced device. Here descriptors are forgotten, too. */
#include "shim.h"

enum { O_CREATE = 0100, FOLLOW_CWD = KERNEL_AT_FDCWD };

static void opened(int fd, int flags) {
    if (fd >= 0 && ours() && is_paced_open(fd)) pay_operation(flags & O_CREATE ? CREATED : OPENED);
}

#define OPEN(name)                                       \
    NEXT(int, name, const char *, int, ...)              \
    EXPORT int name(const char *path, int flags, ...) {  \
        va_list more;                                    \
        va_start(more, flags);                           \
        unsigned mode = va_arg(more, unsigned);          \
        va_end(more);                                    \
        NEED(name, -1)                                   \
        int fd = next_##name(path, flags, mode);         \
        opened(fd, flags);                               \
        return fd;                                       \
    }
OPEN(open)
OPEN(open64)
#define OPEN_AT(name)                                                \
    NEXT(int, name, int, const char *, int, ...)                     \
    EXPORT int name(int folder, const char *path, int flags, ...) {  \
        va_list more;                                                \
        va_start(more, flags);                                       \
        unsigned mode = va_arg(more, unsigned);                      \
        va_end(more);                                                \
        NEED(name, -1)                                               \
        int fd = next_##name(folder, path, flags, mode);             \
        opened(fd, flags);                                           \
        return fd;                                                   \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

#define RETURNING(type, wrong, name, DECLARED, TYPES, GIVEN, THEN) \
    NEXT(type, name, TYPES)                                        \
    EXPORT type name DECLARED {                                    \
        NEED(name, wrong)                                          \
        type result = next_##name GIVEN;                           \
        THEN;                                                      \
        return result;                                             \
    }
#define WITH(...) __VA_ARGS__

RETURNING(int, -1, __open_2, (const char *path, int flags), WITH(const char *, int), (path, flags), opened(result, flags))
RETURNING(int, -1, __open64_2, (const char *path, int flags), WITH(const char *, int), (path, flags), opened(result, flags))
RETURNING(int, -1, __openat_2, (int folder, const char *path, int flags), WITH(int, const char *, int),
          (folder, path, flags), opened(result, flags))
RETURNING(int, -1, __openat64_2, (int folder, const char *path, int flags), WITH(int, const char *, int),
          (folder, path, flags), opened(result, flags))
RETURNING(int, -1, creat, (const char *path, unsigned mode), WITH(const char *, unsigned), (path, mode),
          opened(result, O_CREATE))
RETURNING(int, -1, creat64, (const char *path, unsigned mode), WITH(const char *, unsigned), (path, mode),
          opened(result, O_CREATE))

static void opened_stream(FILE *stream, const char *mode) {
    if (stream) opened(stream_fd(stream), mode[0] == 'r' ? 0 : O_CREATE);
}
RETURNING(FILE *, 0, fopen, (const char *path, const char *mode), WITH(const char *, const char *), (path, mode),
          opened_stream(result, mode))
RETURNING(FILE *, 0, fopen64, (const char *path, const char *mode), WITH(const char *, const char *), (path, mode),
          opened_stream(result, mode))
#define REOPEN(name)                                                            \
    NEXT(FILE *, name, const char *, const char *, FILE *)                      \
    EXPORT FILE *name(const char *path, const char *mode, FILE *stream) {       \
        NEED(name, 0)                                                           \
        if (ours() && stream) closing(stream_fd(stream));                       \
        FILE *result = next_##name(path, mode, stream);                         \
        if (path) opened_stream(result, mode);                                  \
        return result;                                                          \
    }
REOPEN(freopen)
REOPEN(freopen64)

/* Looking up. The device is the first word of what was found. */
static void stated(int result, const void *found) {
    if (result == 0 && ours() && is_paced_device(*(const uint64_t *)found)) pay_operation(STATED);
}
#define STAT(name) \
    RETURNING(int, -1, name, (const char *path, void *found), WITH(const char *, void *), (path, found), stated(result, found))
STAT(stat)
STAT(stat64)
STAT(lstat)
STAT(lstat64)
#define OLD_STAT(name)                                                                                      \
    RETURNING(int, -1, name, (int version, const char *path, void *found), WITH(int, const char *, void *), \
              (version, path, found), stated(result, found))
OLD_STAT(__xstat)
OLD_STAT(__xstat64)
OLD_STAT(__lxstat)
OLD_STAT(__lxstat64)
#define STAT_AT(name)                                                                                       \
    RETURNING(int, -1, name, (int folder, const char *path, void *found, int flags),                        \
              WITH(int, const char *, void *, int), (folder, path, found, flags),                           \
              if (path && path[0]) stated(result, found))
STAT_AT(fstatat)
STAT_AT(fstatat64)
#define OLD_STAT_AT(name)                                                                                   \
    RETURNING(int, -1, name, (int version, int folder, const char *path, void *found, int flags),           \
              WITH(int, int, const char *, void *, int), (version, folder, path, found, flags),             \
              if (path && path[0]) stated(result, found))
OLD_STAT_AT(__fxstatat)
OLD_STAT_AT(__fxstatat64)

static void statx_done(int result, const char *path, const uint32_t *found) {
    if (result || !path || !path[0] || !ours()) return;
    uint64_t major = found[34], minor = found[35]; /* as the kernel puts them together in st_dev */
    uint64_t device = (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffULL) << 12 | (major & ~0xfffULL) << 32;
    if (is_paced_device(device)) pay_operation(STATED);
}
RETURNING(int, -1, statx, (int folder, const char *path, int flags, unsigned mask, void *found),
          WITH(int, const char *, int, unsigned, void *), (folder, path, flags, mask, found),
          statx_done(result, path, found))

/* Removing and creating: the folder says where. */
static void named(int result, int folder, const char *path, int which) {
    if (result == 0 && ours() && is_paced_place(folder, path)) pay_operation(which);
}
#define NAMED(name, which) \
    RETURNING(int, -1, name, (const char *path), const char *, (path), named(result, FOLLOW_CWD, path, which))
NAMED(unlink, UNLINKED)
NAMED(rmdir, UNLINKED)
NAMED(remove, UNLINKED)
RETURNING(int, -1, unlinkat, (int folder, const char *path, int flags), WITH(int, const char *, int),
          (folder, path, flags), named(result, folder, path, UNLINKED))
RETURNING(int, -1, mkdir, (const char *path, unsigned mode), WITH(const char *, unsigned), (path, mode),
          named(result, FOLLOW_CWD, path, CREATED))
RETURNING(int, -1, mkdirat, (int folder, const char *path, unsigned mode), WITH(int, const char *, unsigned),
          (folder, path, mode), named(result, folder, path, CREATED))

/* Descriptors that mean something else from now on. */
#define BEFORE(type, wrong, name, DECLARED, TYPES, GIVEN, FIRST) \
    NEXT(type, name, TYPES)                                      \
    EXPORT type name DECLARED {                                  \
        NEED(name, wrong)                                        \
        if (ours()) FIRST;                                       \
        return next_##name GIVEN;                                \
    }
BEFORE(int, -1, close, (int fd), int, (fd), closing(fd))
BEFORE(int, -1, dup2, (int old, int fd), WITH(int, int), (old, fd), closing(fd))
BEFORE(int, -1, dup3, (int old, int fd, int flags), WITH(int, int, int), (old, fd, flags), closing(fd))
BEFORE(int, -1, close_range, (unsigned first, unsigned last, int flags), WITH(unsigned, unsigned, int),
       (first, last, flags), forget_range(first, last))
NEXT(void, closefrom, int)
EXPORT void closefrom(int first) {
    if (!have_closefrom()) return;
    if (ours()) forget_range(first < 0 ? 0 : (unsigned)first, ~0u);
    next_closefrom(first);
}
RETURNING(int, -1, dup, (int old), int, (old), if (ours()) forget(result))
