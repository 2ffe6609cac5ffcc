/* Writes COUNT blocks of SIZE bytes to FILE by system calls; says how long it took from the first block's end on. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    long count = atol(argv[2]), size = atol(argv[3]);
    char *block = calloc(1, (size_t)size);
    int fd = open(argv[1], O_CREAT | O_TRUNC | O_WRONLY, 0600);
    double began = 0;
    for (long i = 0; i < count; i++) {
        if (write(fd, block, (size_t)size) != size) return 1;
        if (i == 0) began = now();
    }
    printf("%.6f\n", now() - began);
    return argc < 4;
}
