/* With -DTAKES, a library with an io_submit that takes so many requests and no more; else a program that submits a read
 * of 1 MiB of a file, so many times at once: submits FILE COUNT. It says what was taken. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct iocb {
    uint64_t data;
    uint32_t key, flags;
    uint16_t what;
    int16_t priority;
    uint32_t fd;
    uint64_t buffer, bytes;
    int64_t offset, more[2];
};
extern int io_submit(void *, long, struct iocb **);

#ifdef TAKES
int io_submit(void *context, long count, struct iocb **all) {
    static int taken;
    if (taken == TAKES) return -11;
    int some = count < TAKES - taken ? count : TAKES - taken;
    taken += some;
    return some;
}
#else
int main(int count, char **words) {
    long n = atol(words[2]);
    struct iocb *one = calloc(1, sizeof *one), **all = calloc(n, sizeof *all);
    one->fd = open(words[1], O_RDONLY), one->bytes = 1 << 20;
    for (long i = 0; i < n; i++) all[i] = one;
    printf("%d\n", io_submit(0, n, all));
    return 0;
}
#endif
