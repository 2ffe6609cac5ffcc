/* Ends that run no destructor: a process that leaves at once or becomes another program pays for what was collected. It
 * does not wait for it: whoever pays next does. A child of vfork is in its parent's memory, and pays for the parent. One
 * that becomes two pays before, lest both do. */
#include "shim.h"

NEXT(int, fork, void)
EXPORT int fork(void) {
    NEED(fork, -1)
    if (ours()) pay_what_is_left(1);
    return next_fork();
}

static void before_the_end(void) {
    if (ours()) pay_what_is_left(0);
}

#define LEAVE(name)                   \
    NEXT(void, name, int)             \
    EXPORT void name(int code) {      \
        before_the_end();             \
        if (have_##name()) next_##name(code); \
        __builtin_trap();             \
    }
LEAVE(_exit)
LEAVE(_Exit)
LEAVE(quick_exit)

typedef char *const *words_type;
#define BECOME(name, DECLARED, TYPES, GIVEN) \
    NEXT(int, name, TYPES)                   \
    EXPORT int name DECLARED {               \
        NEED(name, -1)                       \
        before_the_end();                    \
        return next_##name GIVEN;            \
    }
#define WITH(...) __VA_ARGS__
BECOME(execve, (const char *path, words_type words, words_type env), WITH(const char *, words_type, words_type),
       (path, words, env))
BECOME(execv, (const char *path, words_type words), WITH(const char *, words_type), (path, words))
BECOME(execvp, (const char *file, words_type words), WITH(const char *, words_type), (file, words))
BECOME(execvpe, (const char *file, words_type words, words_type env), WITH(const char *, words_type, words_type),
       (file, words, env))
BECOME(fexecve, (int fd, words_type words, words_type env), WITH(int, words_type, words_type), (fd, words, env))
BECOME(execveat, (int folder, const char *path, words_type words, words_type env, int flags),
       WITH(int, const char *, words_type, words_type, int), (folder, path, words, env, flags))

/* Those that take their words one by one are made into those that take a list. */
#define LISTED(name, BECOMES)                                                    \
    EXPORT int name(const char *file, const char *first, ...) {                  \
        va_list list;                                                            \
        size_t count = 0;                                                        \
        va_start(list, first);                                                   \
        for (const char *word = first; word; word = va_arg(list, const char *)) count++; \
        va_end(list);                                                            \
        char *words[count + 1];                                                  \
        va_start(list, first);                                                   \
        words[0] = (char *)first;                                                \
        for (size_t i = 1; i <= count; i++) words[i] = va_arg(list, char *);     \
        int result = BECOMES;                                                    \
        va_end(list);                                                            \
        return result;                                                           \
    }
LISTED(execl, execv(file, words))
LISTED(execlp, execvp(file, words))
LISTED(execle, execve(file, words, va_arg(list, words_type)))
