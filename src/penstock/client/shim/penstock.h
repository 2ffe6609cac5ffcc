/* For programs in C and C++ that say what they do. Header only: nothing is linked, and where the program is not run under
 * penstock every call does nothing.
 *
 *     penstock_begin(10e9, PENSTOCK_WRITE);   about to write 10 GB: the controller hears of it now
 *     write(…);                               paced by the preloaded library, as without this header
 *     penstock_end();
 *
 * penstock_acquire(n) waits until n bytes may be moved; the writes that follow are not paid for again. It is for bytes
 * that the library cannot see, as those of a mapped file. In programs compiled with -fno-pic the calls do nothing. */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stdint.h>

enum { PENSTOCK_WRITE = 0, PENSTOCK_READ = 1 };

#ifdef __cplusplus
extern "C" {
#endif

extern int penstock_shim_begin(int64_t bytes, int direction) __attribute__((weak));
extern void penstock_shim_end(void) __attribute__((weak));
extern void penstock_shim_acquire(int64_t bytes) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* A phase begins in which so many bytes will be moved; 0: not known. Whether anybody hears of it. */
static inline int penstock_begin(int64_t bytes, int direction) {
    return penstock_shim_begin ? penstock_shim_begin(bytes, direction) : 0;
}

/* It is over. */
static inline void penstock_end(void) {
    if (penstock_shim_end) penstock_shim_end();
}

/* Wait until so many bytes may be moved. */
static inline void penstock_acquire(int64_t bytes) {
    if (penstock_shim_acquire) penstock_shim_acquire(bytes);
}

#endif
