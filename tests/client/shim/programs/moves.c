/* Moves bytes in the way that its first argument names; the second is a file, the third how many bytes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <locale.h>
#include <unistd.h>
#include <wchar.h>

static char data[1 << 16];
static const char *path;
static long volume;

static int out(void) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600); }
static void fill(int fd, long n) {
    for (long at = 0; at < n;) {
        ssize_t got = write(fd, data, n - at < (long)sizeof data ? n - at : (long)sizeof data);
        if (got <= 0) exit(3);
        at += got;
    }
}
static void *thread(void *number) {
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (long i = 0; i < volume / 4; i += 4096)
        if (pwrite(fd, data, 4096, (long)number * (volume / 4) + i) != 4096) exit(4);
    close(fd);
    return 0;
}

static void one_call(void) { /* a single large write */
    char *all = calloc(1, volume);
    if (write(out(), all, volume) != volume) exit(5);
}
static void vectors(void) {
    int fd = out();
    struct iovec parts[4];
    for (int i = 0; i < 4; i++) parts[i].iov_base = data, parts[i].iov_len = 4096;
    for (long at = 0; at < volume; at += 4 * 4096)
        if ((at < volume / 2 ? writev(fd, parts, 4) : pwritev(fd, parts, 4, at)) != 4 * 4096) exit(6);
}
static void large_vectors(void) { /* more than a piece, in parts that end anywhere */
    int fd = out(), count = 40;
    struct iovec parts[40];
    char *all = malloc(volume), *back = malloc(volume), *from = all;
    for (long i = 0; i < volume; i++) all[i] = (char)(i * 2654435761u >> 16);
    for (int i = 0; i < count; i++) {
        parts[i].iov_base = from, parts[i].iov_len = i == 7 ? 0 : i == count - 1 ? all + volume - from : volume / count + i - 20;
        from += parts[i].iov_len;
    }
    if (writev(fd, parts, count) != volume || pwritev(fd, parts, count, 0) != volume) exit(6);
    int reader = open(path, O_RDONLY);
    if (pread(reader, back, volume, 0) != volume || memcmp(all, back, volume)) exit(6);
    memset(back, 0, volume);
    for (int i = 0; i < count; i++) parts[i].iov_base = back + ((char *)parts[i].iov_base - all);
    if (preadv(reader, parts, count, 0) != volume || memcmp(all, back, volume)) exit(6);
}
static void streams(void) {
    FILE *file = fopen(path, "w");
    for (long at = 0; at < volume / 2; at += 100) fwrite(data, 1, 100, file);
    fwrite(calloc(1, volume / 2), 1, volume / 2, file);
    fclose(file);
}
static void formats(void) {
    FILE *file = fopen(path, "w");
    for (long at = 0; at < volume; at += 40) {
        fprintf(file, "%09ld\n", at);
        fputs("123456789\n", file);
        for (int i = 0; i < 9; i++) putc('x', file);
        fputc('\n', file);
        fprintf(file, "%s", "987654321\n");
    }
    fclose(file);
}
static void printed(void) { /* standard output is a file */
    if (!freopen(path, "w", stdout)) exit(7);
    for (long at = 0; at < volume; at += 20) {
        printf("%08ld\n", at);
        puts("12345678");
        putchar('x'), putchar('\n');
    }
}
static void at_exit(void) { /* what is still in a buffer when main returns */
    FILE *file = fopen(path, "w");
    for (long at = 0; at < volume; at += 8) fwrite("12345678", 1, 8, file);
}
static void reused(void) { /* the number of a pipe becomes that of a file, behind the back of close */
    int ends[2];
    if (pipe(ends)) exit(8);
    fill(ends[1], 10);
    FILE *stream = fdopen(ends[1], "w");
    fclose(stream);
    int fd = out();
    if (fd != ends[1]) exit(9);
    for (long at = 0; at < volume; at += 1000) fill(fd, 1000);
}
static void duplicated(void) { /* a descriptor becomes another file */
    int fd = open("/dev/null", O_WRONLY), file = out();
    fill(fd, 1000);
    if (dup2(file, fd) != fd) exit(10);
    close(file);
    for (long at = 0; at < volume; at += 1000) fill(fd, 1000);
    int null = open("/dev/null", O_WRONLY);
    if (dup3(null, fd, O_CLOEXEC) != fd) exit(10);
    fill(fd, volume); /* not into the file any more */
}
static void threads(void) {
    pthread_t all[4];
    for (long i = 0; i < 4; i++) pthread_create(all + i, 0, thread, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(all[i], 0);
}
static void forks(void) {
    FILE *file = fopen(path, "a");
    setvbuf(file, 0, _IONBF, 0);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            for (long at = 0; at < volume / 4; at += 100) fwrite(data, 1, 100, file);
            fclose(file);
            exit(0);
        }
    for (int i = 0; i < 4; i++) wait(0);
}
static void execs(void) {
    char count[50], name[4096];
    snprintf(count, sizeof count, "count=%ld", volume / 1000);
    snprintf(name, sizeof name, "of=%s", path);
    if (vfork() == 0) {
        close(out());
        execlp("dd", "dd", "if=/dev/zero", name, "bs=1000", count, "status=none", (char *)0);
        _exit(11);
    }
    wait(0);
}
static void sends(void) {
    int in = open("/proc/self/exe", O_RDONLY), fd = out();
    struct stat about;
    fstat(in, &about);
    for (long at = 0; at < volume;) {
        off_t from = 0;
        long part = volume - at < about.st_size ? volume - at : about.st_size;
        ssize_t got = sendfile(fd, in, &from, part);
        if (got <= 0) exit(12);
        at += got;
    }
}
static void spliced(void) { /* from a pipe into a file */
    int ends[2], fd = out();
    if (pipe(ends)) exit(13);
    for (long at = 0; at < volume; at += 1000) {
        fill(ends[1], 1000);
        if (splice(ends[0], 0, fd, 0, 1000, 0) != 1000) exit(13);
    }
}
static void errors(void) { /* errno is kept, and what fails is not paid for */
    int fd = out();
    fill(fd, volume);
    errno = 0;
    if (write(-1, data, 10) != -1 || errno != EBADF) exit(14);
    int reader = open(path, O_RDONLY);
    errno = 0;
    if (write(reader, data, 4096) != -1 || errno != EBADF) exit(15);
    errno = 77;
    fill(fd, 0);
    if (pread(reader, data, 100, volume) != 0 || errno != 77) exit(16);
    if (open("/no/such/file", O_RDONLY) != -1 || errno != ENOENT) exit(17);
}
static void appended(void) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    char *all = calloc(1, volume);
    if (write(fd, all, volume) != volume) exit(18);
}
static void unbuffered(void) { /* little of it, so that the library has collected the rest */
    FILE *file = fopen(path, "w");
    setvbuf(file, 0, _IONBF, 0);
    for (long at = 0; at < volume; at += 100) fwrite(data, 1, 100, file);
}
static void quits(void) { unbuffered(), _exit(0); }
static void quits_fast(void) { unbuffered(), quick_exit(0); }
static void becomes(void) {
    static char *const words[] = {"true", 0};
    unbuffered();
    execl("/no/such/program", "true", "a", (char *)0);
    execve("/no/such/program", words, 0);
    execlp("true", "true", "a", "b", (char *)0);
}
static void wide(void) { /* letters of one, two and three bytes */
    if (!setlocale(LC_ALL, "C.UTF-8")) exit(20);
    FILE *file = fopen(path, "w");
    for (long at = 0; at < volume; at += 25) {
        fputws(L"\u00e4\u20ac7\n", file);
        fputwc(L'\u00e4', file), putwc(L'\n', file);
        fwprintf(file, L"%014d\n", 7);
    }
    fclose(file);
}
static void removed(void) { /* operations on names: volume of each */
    struct stat about;
    for (long i = 0; i < volume; i++) {
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        close(fd);
        fd = open(path, O_RDONLY);
        close(fd);
        if (stat(path, &about) || unlink(path)) exit(19);
    }
}

static void names(void) { /* as many of each as volume: 5 opened, 6 stated, 3 unlinked, 6 created */
    char other[4096], none[4096], text[10];
    struct stat about;
    snprintf(other, sizeof other, "%s-2", path), snprintf(none, sizeof none, "%s-none/x", path);
    close(out());
    for (long i = 0; i < volume; i++) {
        if (open(other, O_RDONLY) >= 0 || fopen(other, "r") || open(none, O_RDONLY) >= 0) exit(21); /* opened, twice: */
        closedir(opendir(".")); /* nobody can say on which device what is in a folder that is not there */
        if (opendir(other)) exit(21);
        close(open(path, O_RDONLY));
        if (!stat(other, &about) || !lstat(other, &about) || access(path, F_OK) || !access(other, F_OK)) exit(22);
        if (readlink(path, text, sizeof text) >= 0) exit(22); /* which fails with EINVAL: not counted */
        if (faccessat(AT_FDCWD, path, R_OK, 0) || fstatat(AT_FDCWD, path, &about, 0)) exit(22);
        if (link(path, other) || !link(path, other) || unlink(other)) exit(23);
        if (symlink(path, other) || rename(other, other) || unlink(other) || !unlink(other)) exit(23);
        if (!mkdir(path, 0700) || open(path, O_RDWR | O_CREAT | O_EXCL, 0600) >= 0) exit(24);
        if (stat((void *)1, &about) != -1 || errno != EFAULT) exit(25); /* and nobody stumbles */
    }
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"one_call", one_call}, {"vectors", vectors}, {"large_vectors", large_vectors}, {"streams", streams}, {"formats", formats},
                {"printed", printed}, {"at_exit", at_exit}, {"reused", reused}, {"duplicated", duplicated},
                {"threads", threads}, {"forks", forks}, {"execs", execs}, {"sends", sends}, {"spliced", spliced},
                {"errors", errors}, {"appended", appended}, {"quits", quits}, {"quits_fast", quits_fast}, {"becomes", becomes},
                {"wide", wide}, {"removed", removed}, {"names", names}};
    if (count != 4) return 2;
    path = words[2], volume = atol(words[3]);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(ways[i].name, words[1])) return ways[i].run(), 0;
    return 2;
}
