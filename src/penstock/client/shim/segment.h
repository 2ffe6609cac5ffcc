/* The segment of a job on a node: a page of shared memory in which the owner of the connection says how fast the job's
 * processes may go, and they say what they moved. `segment.py` is the same in Python; change both, and the magic.
 *
 * Who writes what: the owner (`penstock node` or `penstock run`) writes everything up to `promised`, processes that pay
 * write `promised` and what follows. Whoever can write the file cheats only his own job.
 *
 * A lane is a rate and what was served by it: served(now) = base + rate * (now - at) until `expiry` or `alive_until`,
 * whichever comes first, and by the fallback after that. Who pays n adds it to what is promised,
 *
 *     promised = max(promised, served(now) - depth) + n        (compare and swap),
 *
 * and goes on when served(now) >= its mark, the value that it wrote. So those who pay are served in the order they came,
 * a new rate reprices all of them, and one that is killed while it waits holds nobody up.
 *
 * The owner writes a lane into the slot that is not in force and then moves `seq`. A reader knows by `check`, an
 * exclusive or over the slot, that it saw all of it: Python has no memory barriers. An owner that is killed in between
 * leaves the old slot in force.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME; amounts are bytes, or operations.
 */
#ifndef PENSTOCK_SEGMENT_H
#define PENSTOCK_SEGMENT_H

#include <stdint.h>

#define PENSTOCK_MAGIC UINT64_C(0x31306765736e6570) /* "penseg01" */
#define PENSTOCK_CHECK UINT64_C(0x9e3779b97f4a7c15)
#define PENSTOCK_NEVER INT64_MAX
#define PENSTOCK_SECOND INT64_C(1000000000)
#define PENSTOCK_DEVICES 16
#define PENSTOCK_SLACK 0.02 /* seconds: how late a sleeper may wake up without losing bandwidth */
#define PENSTOCK_LEAST_SLICE 65536.0
#define PENSTOCK_MOST_SLICE 1048576.0
#define PENSTOCK_LEAST_OPERATIONS 16.0

enum { PENSTOCK_BYTES = 0, PENSTOCK_OPERATIONS = 1 };
enum {                       /* flags */
    PENSTOCK_STRANGE = 1,    /* no controller has named a rate; `common` is paid from, too */
    PENSTOCK_NO_WRITES = 2,  /* what is written is neither paced nor counted */
    PENSTOCK_NO_READS = 4,   /* nor what is read */
};

struct penstock_slot {
    uint64_t seq;
    double base, rate; /* a rate that is not a number: unpaced */
    int64_t at, expiry;
    double fallback, depth; /* a fallback that is not a number: unpaced */
    uint64_t check;
};

struct penstock_segment {
    uint64_t magic, size;
    int64_t alive_until; /* the owner moves it on as long as it lives */
    uint64_t state, flags;
    uint64_t devices; /* how many of `device` count; 0: every regular file is paced */
    uint64_t restart; /* of the job */
    uint64_t owner;   /* process id, for people */

    uint64_t seq[2]; /* of each lane */
    uint64_t unused[6];
    struct penstock_slot slot[2][2]; /* lane, parity of seq */
    uint64_t device[PENSTOCK_DEVICES];

    int64_t promised, unused_1[7];
    int64_t promised_operations, unused_2[7];
    int64_t written, read;
    int64_t last, want, last_close; /* when bytes were paid for, somebody waited, a paced file was closed */
    uint64_t bell;                  /* 1: somebody wants the owner's attention and has written to the bell */
    int64_t waited;                 /* nanoseconds, over all threads */
    int64_t unused_3;
    int64_t opened, stated, unlinked, created; /* operations on names */
    int64_t begun, ended;                      /* phases announced by penstock_begin and ended by penstock_end */
    int64_t announced_write, announced_read;   /* bytes, over all penstock_begin */
    char common[192]; /* path of the segment that all strangers of the node share; empty: none */
    uint64_t unused_4[8];
};

_Static_assert(sizeof(struct penstock_slot) == 64, "a slot is a cache line");
_Static_assert(sizeof(struct penstock_segment) == 1024, "segment.py knows this size");

static inline double penstock_depth_of(int lane, double rate) {
    if (lane == PENSTOCK_OPERATIONS) {
        double some = 5 * PENSTOCK_SLACK * rate;
        return some > PENSTOCK_LEAST_OPERATIONS ? some : PENSTOCK_LEAST_OPERATIONS;
    }
    double slice = PENSTOCK_SLACK * rate;
    if (slice < PENSTOCK_LEAST_SLICE) slice = PENSTOCK_LEAST_SLICE;
    if (slice > PENSTOCK_MOST_SLICE) slice = PENSTOCK_MOST_SLICE;
    return slice + PENSTOCK_SLACK * rate;
}

/* The lane in force; 0 if none could be read, which takes a damaged segment. */
static inline int penstock_lane(const struct penstock_segment *segment, int lane, struct penstock_slot *out) {
    for (int attempt = 0; attempt < 64; attempt++) {
        uint64_t seq = __atomic_load_n(&segment->seq[lane], __ATOMIC_ACQUIRE), word[8], check = PENSTOCK_CHECK;
        const uint64_t *from = (const uint64_t *)&segment->slot[lane][seq & 1];
        for (int i = 0; i < 8; i++) check ^= word[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
        if (check == 0 && word[0] == seq) {
            __builtin_memcpy(out, word, sizeof *out);
            return 1;
        }
    }
    return 0;
}

/* What was served by `now`, and by which rate and depth; a rate that is not a number: unpaced. */
static inline double penstock_served(const struct penstock_slot *slot, int lane, int64_t alive_until, int64_t now,
                                     double *rate, double *depth) {
    int64_t end = slot->expiry < alive_until ? slot->expiry : alive_until;
    *rate = slot->rate, *depth = slot->depth;
    if (now < slot->at - PENSTOCK_SECOND) *rate = __builtin_nan(""); /* another clock, as in a namespace of its own */
    if (now < end) return slot->base + (now > slot->at ? slot->rate * 1e-9 * (double)(now - slot->at) : 0.0);
    double served = slot->base;
    if (end > slot->at && slot->rate == slot->rate) served += slot->rate * 1e-9 * (double)(end - slot->at);
    int64_t since = end > slot->at ? end : slot->at;
    *rate = slot->fallback, *depth = penstock_depth_of(lane, slot->fallback);
    return served + (now > since ? slot->fallback * 1e-9 * (double)(now - since) : 0.0);
}

/* Promise n more when so much was served; the mark to wait for. */
static inline int64_t penstock_promise(int64_t *promised, double served, double depth, int64_t n) {
    int64_t least = (int64_t)(served - depth), before = __atomic_load_n(promised, __ATOMIC_RELAXED), mark;
    do mark = (before > least ? before : least) + n;
    while (!__atomic_compare_exchange_n(promised, &before, mark, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return mark;
}

#endif
