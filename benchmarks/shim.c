/* Processor time of a pwrite through the preloaded library over that of libc's own, in one process, in turns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef ssize_t (*call)(int, const void *, size_t, off_t);
static char data[1 << 20];

static double block(call write_at, int fd, size_t size, int calls) {
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (int i = 0; i < calls; i++)
        if (write_at(fd, data, size, (i % 16) * (off_t)size) != (ssize_t)size) exit(3);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (after.tv_sec - before.tv_sec) * 1e9 + (after.tv_nsec - before.tv_nsec);
}

int main(int count, char **words) { /* file, bytes of a call, calls of a block, pairs of blocks */
    size_t size = strtoul(words[2], 0, 10);
    int calls = atoi(words[3]), pairs = atoi(words[4]), fd = open(words[1], O_RDWR | O_CREAT, 0600);
    call own = (call)dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "pwrite"), through = pwrite;
    if (count != 5 || !own || fd < 0) return 2;
    block(own, fd, size, calls), block(through, fd, size, calls);
    for (int i = 0; i < pairs; i++) {
        double a, b;
        if (i % 2) b = block(through, fd, size, calls), a = block(own, fd, size, calls);
        else a = block(own, fd, size, calls), b = block(through, fd, size, calls);
        printf("%.1f %.1f\n", a / calls, b / calls);
    }
}
