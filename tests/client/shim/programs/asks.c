/* Asks for 64 MiB of a small file in the way that its first argument names; the second is the file, the third how many
 * bytes it has. 0: it got all of them, and then the end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MUCH = 64 << 20 };

int main(int count, char **words) {
    if (count != 4) return 2;
    const char *way = words[1];
    char *data = malloc(MUCH);
    long there = atol(words[3]), got = -1;
    int fd = open(words[2], O_RDONLY), out = open("/dev/null", O_WRONLY), ends[2];
    struct iovec parts[2] = {{data, 10}, {data + 10, MUCH - 10}};
    for (int round = 0; round < 2; round++) {
        if (!strcmp(way, "read")) got = read(fd, data, MUCH);
        if (!strcmp(way, "pread")) got = pread(fd, data, MUCH, round * there);
        if (!strcmp(way, "readv")) got = readv(fd, parts, 2);
        if (!strcmp(way, "preadv")) got = preadv(fd, parts, 2, round * there);
        if (!strcmp(way, "sendfile")) got = sendfile(out, fd, 0, MUCH);
        if (!strcmp(way, "fread")) {
            static FILE *file;
            if (!file) file = fdopen(fd, "r");
            got = fread(data, 1, MUCH, file);
        }
        if (!strcmp(way, "splice")) { /* what is in a pipe goes into a file */
            int into = open(words[2], O_WRONLY);
            if (pipe(ends) || write(ends[1], data, there) != there || close(ends[1])) return 3;
            got = splice(ends[0], 0, into, 0, MUCH, 0);
            return got == there ? 0 : 1;
        }
        if (got != (round ? 0 : there)) return 1;
    }
    return 0;
}
