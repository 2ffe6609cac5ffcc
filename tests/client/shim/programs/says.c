/* Says what it will write; 0 if somebody heard of it, 7 if nobody did. C and C++. */
#include "penstock.h"
#include <fcntl.h>
#include <unistd.h>
static char data[1000000];
int main(int count, char **words) {
    int heard = penstock_begin(3000000, PENSTOCK_WRITE), fd = open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(fd, data, sizeof data) < 0) return 1;
    penstock_acquire(sizeof data);
    if (write(fd, data, sizeof data) < 0) return 1; /* paid for already */
    penstock_acquire(sizeof data);                  /* for bytes that nobody sees */
    close(fd);
    penstock_end();
    return heard ? 0 : 7;
}
