/* Streams of the C library, whose own reads and writes of descriptors nobody can stand in front of. What a program puts
 * in or takes out is paid for; little of it is collected first. */
#define FOUND_AT_FIRST_CALL
#include "shim.h"

extern void flockfile(FILE *);
extern void funlockfile(FILE *);

static size_t length(const char *text) {
    size_t n = 0;
    while (text[n]) n++;
    return n;
}

static int is_paced_stream(FILE *stream, size_t bytes) { return ours() && stream && is_paced(stream_fd(stream), bytes); }
static void after(FILE *stream, int64_t bytes, int direction) {
    if (bytes > 0 && is_paced_stream(stream, 0)) pay_later(bytes, direction);
}
static void after_stdout(int64_t bytes) {
    if (bytes > 0 && ours() && is_paced(1, 0)) pay_later(bytes, WRITE);
}

/* Blocks of elements; many bytes go piece by piece. */
#define BLOCKS(name, pointer, direction)                                                              \
    NEXT(size_t, name, pointer, size_t, size_t, FILE *)                                               \
    EXPORT size_t name(pointer data, size_t size, size_t count, FILE *stream) {                       \
        NEED(name, 0)                                                                                 \
        size_t n = size * count;                                                                      \
        if (!n || !is_paced_stream(stream, n)) return next_##name(data, size, count, stream);         \
        if (n < PIECE / 16) {                                                                         \
            size_t got = next_##name(data, size, count, stream);                                      \
            pay_later((int64_t)(got * size), direction);                                              \
            return got;                                                                               \
        }                                                                                             \
        size_t most = size < PIECE ? PIECE / size : 1, at = 0;                                        \
        int64_t there = direction == READ ? left_in(stream_fd(stream), -1) : INT64_MAX;               \
        flockfile(stream);                                                                            \
        while (at < count) {                                                                          \
            size_t part = count - at < most ? count - at : most;                                      \
            int64_t wanted = least((int64_t)(part * size), there - (int64_t)(at * size));             \
            struct paid paid = pay(wanted, direction);                                                \
            size_t got = next_##name((char *)data + at * size, size, part, stream);                   \
            even_out(paid, wanted, (int64_t)(got * size), direction);                                 \
            at += got;                                                                                \
            if (got < part) break;                                                                    \
        }                                                                                             \
        funlockfile(stream);                                                                          \
        return at;                                                                                    \
    }
BLOCKS(fwrite, const void *, WRITE)
BLOCKS(fwrite_unlocked, const void *, WRITE)
BLOCKS(fread, void *, READ)
BLOCKS(fread_unlocked, void *, READ)
#define CHECKED_READ(name, plain)                                                                     \
    NEXT(size_t, name, void *, size_t, size_t, size_t, FILE *)                                        \
    EXPORT size_t name(void *data, size_t room, size_t size, size_t count, FILE *stream) {            \
        if (size && count > room / size && have_##name()) return next_##name(data, room, size, count, stream); \
        return plain(data, size, count, stream);                                                      \
    }
CHECKED_READ(__fread_chk, fread)
CHECKED_READ(__fread_unlocked_chk, fread_unlocked)

/* Text and letters. */
#define TEXT(name)                                       \
    NEXT(int, name, const char *, FILE *)                \
    EXPORT int name(const char *text, FILE *stream) {    \
        NEED(name, -1)                                   \
        int result = next_##name(text, stream);          \
        if (result >= 0 && ours()) after(stream, (int64_t)length(text), WRITE); \
        return result;                                   \
    }
TEXT(fputs)
TEXT(fputs_unlocked)
#define LETTER(name)                              \
    NEXT(int, name, int, FILE *)                  \
    EXPORT int name(int letter, FILE *stream) {   \
        NEED(name, -1)                            \
        int result = next_##name(letter, stream); \
        if (result >= 0) after(stream, 1, WRITE); \
        return result;                            \
    }
LETTER(fputc)
LETTER(putc)
LETTER(_IO_putc)
LETTER(fputc_unlocked)
LETTER(putc_unlocked)
#define TAKEN(name)                              \
    NEXT(int, name, FILE *)                      \
    EXPORT int name(FILE *stream) {              \
        NEED(name, -1)                           \
        int result = next_##name(stream);        \
        if (result >= 0) after(stream, 1, READ); \
        return result;                           \
    }
TAKEN(fgetc)
TAKEN(getc)
TAKEN(_IO_getc)
TAKEN(fgetc_unlocked)
TAKEN(getc_unlocked)
NEXT(int, puts, const char *)
EXPORT int puts(const char *text) {
    NEED(puts, -1)
    int result = next_puts(text);
    if (result >= 0 && ours()) after_stdout((int64_t)length(text) + 1);
    return result;
}
#define LETTER_OUT(name)                  \
    NEXT(int, name, int)                  \
    EXPORT int name(int letter) {         \
        NEED(name, -1)                    \
        int result = next_##name(letter); \
        if (result >= 0) after_stdout(1); \
        return result;                    \
    }
LETTER_OUT(putchar)
LETTER_OUT(putchar_unlocked)

/* Lines. */
#define LINE(name)                                              \
    NEXT(char *, name, char *, int, FILE *)                     \
    EXPORT char *name(char *line, int room, FILE *stream) {     \
        NEED(name, 0)                                           \
        char *result = next_##name(line, room, stream);         \
        if (result && ours()) after(stream, (int64_t)length(line), READ); \
        return result;                                          \
    }
LINE(fgets)
LINE(fgets_unlocked)
NEXT(char *, __fgets_chk, char *, size_t, int, FILE *)
EXPORT char *__fgets_chk(char *line, size_t size, int room, FILE *stream) {
    NEED(__fgets_chk, 0)
    char *result = next___fgets_chk(line, size, room, stream);
    if (result && ours()) after(stream, (int64_t)length(line), READ);
    return result;
}
#define DELIMITED(name)                                                          \
    NEXT(ssize_type, name, char **, size_t *, int, FILE *)                       \
    EXPORT ssize_type name(char **line, size_t *room, int letter, FILE *stream) { \
        NEED(name, -1)                                                           \
        ssize_type result = next_##name(line, room, letter, stream);             \
        after(stream, result, READ);                                             \
        return result;                                                           \
    }
DELIMITED(getdelim)
DELIMITED(__getdelim)
NEXT(ssize_type, getline, char **, size_t *, FILE *)
EXPORT ssize_type getline(char **line, size_t *room, FILE *stream) {
    NEED(getline, -1)
    ssize_type result = next_getline(line, room, stream);
    after(stream, result, READ);
    return result;
}

/* Formats: each ends in the next function that takes a list. */
#define LISTED(name, DECLARED, TYPES, GIVEN, THEN)                 \
    NEXT(int, name, TYPES, va_list)                                \
    EXPORT int name(DECLARED, va_list list) {                      \
        NEED(name, -1)                                             \
        int result = next_##name(GIVEN, list);                     \
        THEN;                                                      \
        return result;                                             \
    }
#define WITH(...) __VA_ARGS__
LISTED(vfprintf, WITH(FILE *stream, const char *format), WITH(FILE *, const char *), WITH(stream, format),
       after(stream, result, WRITE))
LISTED(__vfprintf_chk, WITH(FILE *stream, int flag, const char *format), WITH(FILE *, int, const char *),
       WITH(stream, flag, format), after(stream, result, WRITE))
LISTED(vprintf, const char *format, const char *, format, after_stdout(result))
LISTED(__vprintf_chk, WITH(int flag, const char *format), WITH(int, const char *), WITH(flag, format), after_stdout(result))
LISTED(vdprintf, WITH(int fd, const char *format), WITH(int, const char *), WITH(fd, format),
       if (result > 0 && ours() && is_paced(fd, 0)) pay_later(result, WRITE))
LISTED(__vdprintf_chk, WITH(int fd, int flag, const char *format), WITH(int, int, const char *), WITH(fd, flag, format),
       if (result > 0 && ours() && is_paced(fd, 0)) pay_later(result, WRITE))
#define FORMATTED(name, listed, DECLARED, GIVEN) \
    EXPORT int name(DECLARED, ...) {             \
        va_list list;                            \
        va_start(list, format);                  \
        int result = listed(GIVEN, list);        \
        va_end(list);                            \
        return result;                           \
    }
FORMATTED(fprintf, vfprintf, WITH(FILE *stream, const char *format), WITH(stream, format))
FORMATTED(__fprintf_chk, __vfprintf_chk, WITH(FILE *stream, int flag, const char *format), WITH(stream, flag, format))
FORMATTED(printf, vprintf, const char *format, format)
FORMATTED(__printf_chk, __vprintf_chk, WITH(int flag, const char *format), WITH(flag, format))
FORMATTED(dprintf, vdprintf, WITH(int fd, const char *format), WITH(fd, format))
FORMATTED(__dprintf_chk, __vdprintf_chk, WITH(int fd, int flag, const char *format), WITH(fd, flag, format))

/* What was collected is paid for when a stream is emptied or closed. */
NEXT(int, fflush, FILE *)
EXPORT int fflush(FILE *stream) {
    NEED(fflush, -1)
    if (ours() && (!stream || is_paced(stream_fd(stream), 0))) pay_what_is_left(1);
    return next_fflush(stream);
}
NEXT(int, fclose, FILE *)
EXPORT int fclose(FILE *stream) {
    NEED(fclose, -1)
    if (ours() && stream) {
        int fd = stream_fd(stream);
        if (is_paced(fd, 0)) pay_what_is_left(1);
        closing(fd);
    }
    return next_fclose(stream);
}
