/* Files by name: opening, looking up, creating and removing are operations, which have a rate of their own. They are
 * paid for afterwards, when it is known that they were on a paced device, and also where the server said no: it had the
 * work. Here descriptors are forgotten, too. */
#include "shim.h"

enum { O_CREATE = 0100, FOLLOW_CWD = KERNEL_AT_FDCWD };

/* Whether a call that failed went as far as the file system, and its names can be read. */
static int was_answered(void) {
    enum { NOT_PERMITTED = 1, NOT_THERE = 2, NO_ACCESS = 13, THERE = 17, OTHER_DEVICE = 18, NO_FOLDER = 20, FOLDER = 21,
           FULL = 28, NOT_EMPTY = 39, QUOTA = 122 };
    switch (errno) {
        case NOT_PERMITTED: case NOT_THERE: case NO_ACCESS: case THERE: case OTHER_DEVICE: case NO_FOLDER: case FOLDER:
        case FULL: case NOT_EMPTY: case QUOTA:
            return 1;
    }
    return 0;
}
/* After a call on a name in a folder; the folder says where it was. */
static void named(int failed, int folder, const char *path, int which) {
    if (!ours() || (failed && !was_answered()) || !path || !path[0]) return;
    if (is_paced_place(folder, path)) pay_operation(which);
}
static void opened(int fd, int folder, const char *path, int flags) {
    int which = flags & O_CREATE ? CREATED : OPENED;
    if (fd < 0)
        named(1, folder, path, which);
    else if (ours() && is_paced_open(fd))
        pay_operation(which);
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
        opened(fd, FOLLOW_CWD, path, flags);             \
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
        opened(fd, folder, path, flags);                             \
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

RETURNING(int, -1, __open_2, (const char *path, int flags), WITH(const char *, int), (path, flags),
          opened(result, FOLLOW_CWD, path, flags))
RETURNING(int, -1, __open64_2, (const char *path, int flags), WITH(const char *, int), (path, flags),
          opened(result, FOLLOW_CWD, path, flags))
RETURNING(int, -1, __openat_2, (int folder, const char *path, int flags), WITH(int, const char *, int),
          (folder, path, flags), opened(result, folder, path, flags))
RETURNING(int, -1, __openat64_2, (int folder, const char *path, int flags), WITH(int, const char *, int),
          (folder, path, flags), opened(result, folder, path, flags))
RETURNING(int, -1, creat, (const char *path, unsigned mode), WITH(const char *, unsigned), (path, mode),
          opened(result, FOLLOW_CWD, path, O_CREATE))
RETURNING(int, -1, creat64, (const char *path, unsigned mode), WITH(const char *, unsigned), (path, mode),
          opened(result, FOLLOW_CWD, path, O_CREATE))

static void opened_stream(FILE *stream, const char *path, const char *mode) {
    opened(stream ? stream_fd(stream) : -1, FOLLOW_CWD, path, mode[0] == 'r' ? 0 : O_CREATE);
}
RETURNING(FILE *, 0, fopen, (const char *path, const char *mode), WITH(const char *, const char *), (path, mode),
          opened_stream(result, path, mode))
RETURNING(FILE *, 0, fopen64, (const char *path, const char *mode), WITH(const char *, const char *), (path, mode),
          opened_stream(result, path, mode))
#define REOPEN(name)                                                            \
    NEXT(FILE *, name, const char *, const char *, FILE *)                      \
    EXPORT FILE *name(const char *path, const char *mode, FILE *stream) {       \
        NEED(name, 0)                                                           \
        if (ours() && stream) closing(stream_fd(stream));                       \
        FILE *result = next_##name(path, mode, stream);                         \
        if (path) opened_stream(result, path, mode);                            \
        return result;                                                          \
    }
REOPEN(freopen)
REOPEN(freopen64)

NEXT(void *, opendir, const char *)
EXPORT void *opendir(const char *path) {
    NEED(opendir, 0)
    void *result = next_opendir(path);
    named(!result, FOLLOW_CWD, path, OPENED);
    return result;
}

/* Looking up. The device is the first word of what was found. */
static void stated(int result, int folder, const char *path, const void *found) {
    if (result)
        named(1, folder, path, STATED);
    else if (ours() && is_paced_device(*(const uint64_t *)found))
        pay_operation(STATED);
}
#define STAT(name)                                                                                     \
    RETURNING(int, -1, name, (const char *path, void *found), WITH(const char *, void *), (path, found), \
              stated(result, FOLLOW_CWD, path, found))
STAT(stat)
STAT(stat64)
STAT(lstat)
STAT(lstat64)
#define OLD_STAT(name)                                                                                      \
    RETURNING(int, -1, name, (int version, const char *path, void *found), WITH(int, const char *, void *), \
              (version, path, found), stated(result, FOLLOW_CWD, path, found))
OLD_STAT(__xstat)
OLD_STAT(__xstat64)
OLD_STAT(__lxstat)
OLD_STAT(__lxstat64)
#define STAT_AT(name)                                                                                       \
    RETURNING(int, -1, name, (int folder, const char *path, void *found, int flags),                        \
              WITH(int, const char *, void *, int), (folder, path, found, flags),                           \
              if (path && path[0]) stated(result, folder, path, found))
STAT_AT(fstatat)
STAT_AT(fstatat64)
#define OLD_STAT_AT(name)                                                                                   \
    RETURNING(int, -1, name, (int version, int folder, const char *path, void *found, int flags),           \
              WITH(int, int, const char *, void *, int), (version, folder, path, found, flags),             \
              if (path && path[0]) stated(result, folder, path, found))
OLD_STAT_AT(__fxstatat)
OLD_STAT_AT(__fxstatat64)

static void statx_done(int result, int folder, const char *path, const uint32_t *found) {
    if (result) {
        named(1, folder, path, STATED);
        return;
    }
    if (!path || !path[0] || !ours()) return;
    uint64_t major = found[34], minor = found[35]; /* as the kernel puts them together in st_dev */
    uint64_t device = (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffULL) << 12 | (major & ~0xfffULL) << 32;
    if (is_paced_device(device)) pay_operation(STATED);
}
RETURNING(int, -1, statx, (int folder, const char *path, int flags, unsigned mask, void *found),
          WITH(int, const char *, int, unsigned, void *), (folder, path, flags, mask, found),
          statx_done(result, folder, path, found))

/* By their names alone: removing, creating, asking whether something is there. */
#define NAMED(name, which) \
    RETURNING(int, -1, name, (const char *path), const char *, (path), named(result, FOLLOW_CWD, path, which))
NAMED(unlink, UNLINKED)
NAMED(rmdir, UNLINKED)
NAMED(remove, UNLINKED)
#define WITH_MODE(name, which)                                                                            \
    RETURNING(int, -1, name, (const char *path, unsigned mode), WITH(const char *, unsigned), (path, mode), \
              named(result, FOLLOW_CWD, path, which))
WITH_MODE(mkdir, CREATED)
WITH_MODE(access, STATED)
WITH_MODE(eaccess, STATED)
WITH_MODE(euidaccess, STATED)
#define IN_FOLDER(name, which)                                                                                          \
    RETURNING(int, -1, name, (int folder, const char *path, unsigned mode), WITH(int, const char *, unsigned), \
              (folder, path, mode), named(result, folder, path, which))
IN_FOLDER(unlinkat, UNLINKED)
IN_FOLDER(mkdirat, CREATED)
RETURNING(int, -1, faccessat, (int folder, const char *path, int mode, int flags), WITH(int, const char *, int, int),
          (folder, path, mode, flags), named(result, folder, path, STATED))
RETURNING(ssize_type, -1, readlink, (const char *path, char *text, size_t room), WITH(const char *, char *, size_t),
          (path, text, room), named(result < 0, FOLLOW_CWD, path, STATED))
RETURNING(ssize_type, -1, readlinkat, (int folder, const char *path, char *text, size_t room),
          WITH(int, const char *, char *, size_t), (folder, path, text, room), named(result < 0, folder, path, STATED))

/* Of two names, the new one says where. */
#define TWO_NAMES(name)                                                                                              \
    RETURNING(int, -1, name, (const char *old, const char *path), WITH(const char *, const char *), (old, path), \
              named(result, FOLLOW_CWD, path, CREATED))
TWO_NAMES(link)
TWO_NAMES(symlink)
TWO_NAMES(rename)
RETURNING(int, -1, symlinkat, (const char *old, int folder, const char *path), WITH(const char *, int, const char *),
          (old, folder, path), named(result, folder, path, CREATED))
RETURNING(int, -1, renameat, (int from, const char *old, int folder, const char *path),
          WITH(int, const char *, int, const char *), (from, old, folder, path), named(result, folder, path, CREATED))
RETURNING(int, -1, renameat2, (int from, const char *old, int folder, const char *path, unsigned flags),
          WITH(int, const char *, int, const char *, unsigned), (from, old, folder, path, flags),
          named(result, folder, path, CREATED))
RETURNING(int, -1, linkat, (int from, const char *old, int folder, const char *path, int flags),
          WITH(int, const char *, int, const char *, int), (from, old, folder, path, flags),
          named(result, folder, path, CREATED))

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
