/* Streams again: what is scanned, and text of wide characters. */
#define FOUND_AT_FIRST_CALL
#include "shim.h"

extern FILE *stdin;
extern off_type ftello(FILE *);

enum { NO_LETTER = -1 };
typedef uint32_t wide;

static int is_paced_stream(FILE *stream) { return ours() && stream && is_paced(stream_fd(stream), 0); }

/* How far a stream was read; < 0: it is not paced, or that cannot be said. Of one of wide characters the library would
 * have to convert all that it holds, so there it is asked how much was fetched. */
static int64_t place(FILE *stream, int of_wide) {
    if (!is_paced_stream(stream)) return -1;
    if (of_wide) return SYSCALL(SYS_LSEEK, stream_fd(stream), 0, 1, 0, 0, 0);
    int kept = errno;
    off_type at = ftello(stream);
    errno = kept;
    return at;
}
static void scanned(FILE *stream, int of_wide, int64_t before) {
    if (before >= 0) pay_later(place(stream, of_wide) - before, READ);
}

#define SCAN(prefix, w, letter)                                                           \
    NEXT(int, prefix##vf##w##scanf, FILE *, const letter *, va_list)                      \
    EXPORT int prefix##vf##w##scanf(FILE *stream, const letter *format, va_list list) {   \
        NEED(prefix##vf##w##scanf, -1)                                                    \
        int64_t before = place(stream, sizeof(letter) > 1);                               \
        int result = next_##prefix##vf##w##scanf(stream, format, list);                   \
        scanned(stream, sizeof(letter) > 1, before);                                      \
        return result;                                                                    \
    }                                                                                     \
    EXPORT int prefix##v##w##scanf(const letter *format, va_list list) {                  \
        return prefix##vf##w##scanf(stdin, format, list);                                 \
    }                                                                                     \
    EXPORT int prefix##f##w##scanf(FILE *stream, const letter *format, ...) {             \
        va_list list;                                                                     \
        va_start(list, format);                                                           \
        int result = prefix##vf##w##scanf(stream, format, list);                          \
        va_end(list);                                                                     \
        return result;                                                                    \
    }                                                                                     \
    EXPORT int prefix##w##scanf(const letter *format, ...) {                              \
        va_list list;                                                                     \
        va_start(list, format);                                                           \
        int result = prefix##vf##w##scanf(stdin, format, list);                           \
        va_end(list);                                                                     \
        return result;                                                                    \
    }
SCAN(, , char)
SCAN(__isoc99_, , char)
SCAN(__isoc23_, , char)
SCAN(, w, wide)
SCAN(__isoc99_, w, wide)
SCAN(__isoc23_, w, wide)

#define TAKEN_IN(name)                                                           \
    NEXT(int, name, void)                                                        \
    EXPORT int name(void) {                                                      \
        NEED(name, -1)                                                           \
        int result = next_##name();                                              \
        if (result >= 0 && ours() && is_paced(0, 0)) pay_later(1, READ);         \
        return result;                                                           \
    }
TAKEN_IN(getchar)
TAKEN_IN(getchar_unlocked)

/* As many bytes as in UTF-8: what a program's own locale makes of them is not worth asking. */
static int64_t bytes_of(wide letter) { return letter < 0x80 ? 1 : letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4; }
static int64_t bytes_in(const wide *text) {
    int64_t sum = 0;
    while (*text) sum += bytes_of(*text++);
    return sum;
}
static void put(FILE *stream, int64_t bytes) {
    if (bytes > 0 && is_paced_stream(stream)) pay_later(bytes, WRITE);
}
static void put_out(int64_t bytes) {
    if (bytes > 0 && ours() && is_paced(1, 0)) pay_later(bytes, WRITE);
}
static void taken(FILE *stream, int64_t bytes) {
    if (is_paced_stream(stream)) pay_later(bytes, READ);
}

#define LETTER(name)                                                 \
    NEXT(int, name, wide, FILE *)                                    \
    EXPORT int name(wide letter, FILE *stream) {                     \
        NEED(name, NO_LETTER)                                        \
        int result = next_##name(letter, stream);                    \
        if (result != NO_LETTER) put(stream, bytes_of(letter));      \
        return result;                                               \
    }
LETTER(fputwc)
LETTER(putwc)
LETTER(fputwc_unlocked)
LETTER(putwc_unlocked)
#define LETTER_OUT(name)                                    \
    NEXT(int, name, wide)                                   \
    EXPORT int name(wide letter) {                          \
        NEED(name, NO_LETTER)                               \
        int result = next_##name(letter);                   \
        if (result != NO_LETTER) put_out(bytes_of(letter)); \
        return result;                                      \
    }
LETTER_OUT(putwchar)
LETTER_OUT(putwchar_unlocked)
#define TEXT(name)                                       \
    NEXT(int, name, const wide *, FILE *)                \
    EXPORT int name(const wide *text, FILE *stream) {    \
        NEED(name, -1)                                   \
        int result = next_##name(text, stream);          \
        if (result >= 0 && ours()) put(stream, bytes_in(text)); \
        return result;                                   \
    }
TEXT(fputws)
TEXT(fputws_unlocked)
#define TAKEN(name)                                              \
    NEXT(int, name, FILE *)                                      \
    EXPORT int name(FILE *stream) {                              \
        NEED(name, NO_LETTER)                                    \
        int result = next_##name(stream);                        \
        if (result != NO_LETTER) taken(stream, bytes_of((wide)result)); \
        return result;                                           \
    }
TAKEN(fgetwc)
TAKEN(getwc)
TAKEN(fgetwc_unlocked)
TAKEN(getwc_unlocked)
#define WIDE_IN(name)                                              \
    NEXT(int, name, void)                                          \
    EXPORT int name(void) {                                        \
        NEED(name, NO_LETTER)                                      \
        int result = next_##name();                                \
        if (result != NO_LETTER) taken(stdin, bytes_of((wide)result)); \
        return result;                                             \
    }
WIDE_IN(getwchar)
WIDE_IN(getwchar_unlocked)
#define LINE(name)                                             \
    NEXT(wide *, name, wide *, int, FILE *)                    \
    EXPORT wide *name(wide *line, int room, FILE *stream) {    \
        NEED(name, 0)                                          \
        wide *result = next_##name(line, room, stream);        \
        if (result && ours()) taken(stream, bytes_in(line));   \
        return result;                                         \
    }
LINE(fgetws)
LINE(fgetws_unlocked)
NEXT(wide *, __fgetws_chk, wide *, size_t, int, FILE *)
EXPORT wide *__fgetws_chk(wide *line, size_t size, int room, FILE *stream) {
    NEED(__fgetws_chk, 0)
    wide *result = next___fgetws_chk(line, size, room, stream);
    if (result && ours()) taken(stream, bytes_in(line));
    return result;
}

/* A format says how many characters it wrote; each is taken for a byte. */
#define WITH(...) __VA_ARGS__
#define FORMAT(name, listed, DECLARED, TYPES, GIVEN, THEN) \
    NEXT(int, listed, TYPES, va_list)                      \
    EXPORT int listed(DECLARED, va_list list) {            \
        NEED(listed, -1)                                   \
        int result = next_##listed(GIVEN, list);           \
        THEN;                                              \
        return result;                                     \
    }                                                      \
    EXPORT int name(DECLARED, ...) {                       \
        va_list list;                                      \
        va_start(list, format);                            \
        int result = listed(GIVEN, list);                  \
        va_end(list);                                      \
        return result;                                     \
    }
FORMAT(fwprintf, vfwprintf, WITH(FILE *stream, const wide *format), WITH(FILE *, const wide *), WITH(stream, format),
       put(stream, result))
FORMAT(__fwprintf_chk, __vfwprintf_chk, WITH(FILE *stream, int flag, const wide *format), WITH(FILE *, int, const wide *),
       WITH(stream, flag, format), put(stream, result))
FORMAT(wprintf, vwprintf, const wide *format, const wide *, format, put_out(result))
FORMAT(__wprintf_chk, __vwprintf_chk, WITH(int flag, const wide *format), WITH(int, const wide *), WITH(flag, format),
       put_out(result))
