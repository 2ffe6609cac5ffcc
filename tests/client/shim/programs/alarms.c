/* Writes a megabyte while one alarm comes, at a random moment of the wait; the write may not wait for ever after it. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static char data[1 << 20];
static volatile int seen;
static void handler(int number) {
    for (volatile long i = 0; i < 3000000; i++) /* long enough for the next sleep to be over */
        ;
    seen = number;
}
int main(int count, char **words) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct sigaction how = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &how, 0);
    struct itimerval once = {{0, 0}, {0, 30000 + now.tv_nsec % 25000}};
    setitimer(ITIMER_REAL, &once, 0);
    int fd = open(words[1], O_WRONLY | O_CREAT, 0600);
    return write(fd, data, sizeof data) == sizeof data && seen ? 0 : 1;
}
