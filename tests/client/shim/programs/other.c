/* Another library that is preloaded and counts what is written, as profilers do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static long total;
ssize_t write(int fd, const void *data, size_t n) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    ssize_t got = next(fd, data, n);
    if (got > 0 && fd == 1) total += got;
    return got;
}
__attribute__((destructor)) static void say(void) {
    const char *path = getenv("OTHER_LOG");
    FILE *log = path ? fopen(path, "w") : 0;
    if (log) fprintf(log, "%ld\n", total), fclose(log);
}
