/* The yardstick: fair-share on one link, with linear scans over all applications at every event.
 *
 *     fluid INSTANCE REPEATS [--progress]
 *
 * Prints `events seconds checksum` of the fastest repeat; with --progress also each application's progress (compute
 * seconds done + bytes / cap, with what it had before). Only the loop is timed. Under fair-share all transfers run at
 * the same fraction alpha of their caps, so what is left of one is kept in seconds at full rate: no division per
 * application, and scans so plain that the compiler can vectorise them.
 */
#define _POSIX_C_SOURCE 199309L
#include "instance.h"

#include <math.h>
#include <time.h>

typedef struct {
    double *due;   /* when a compute ends in a posting, or the release; INFINITY if neither lies ahead */
    double *left;  /* seconds at full rate of the transfer under way; INFINITY if there is none */
    double *cap;   /* bytes/s that transfer could use; 0 if there is none */
    double *since; /* start of the compute under way */
    double *progress;
    int64_t *op; /* current or next operation; -1 before the release */
} State;

static void begin_compute(const Instance *in, State *s, int64_t i, double now) {
    s->since[i] = now;
    /* A trailing compute ends in no event. */
    s->due[i] = s->op[i] < in->first[i + 1] ? now + in->work[s->op[i]] : INFINITY;
}

static void release_or_post(const Instance *in, State *s, int64_t i, double now) {
    int64_t op = s->op[i];
    if (op < 0) {
        s->op[i] = in->first[i];
        begin_compute(in, s, i, now);
    } else {
        s->progress[i] += in->work[op];
        s->left[i] = in->volume[op] / in->limit[op];
        s->cap[i] = in->limit[op];
        s->due[i] = INFINITY;
    }
}

static void complete(const Instance *in, State *s, int64_t i, double now) {
    int64_t op = s->op[i]++;
    s->progress[i] += in->volume[op] / in->limit[op];
    s->left[i] = INFINITY;
    s->cap[i] = 0;
    begin_compute(in, s, i, now);
}

/* Out of line, so that the scan that calls it once per event stays a tight loop. */
static __attribute__((noinline)) void turn(const Instance *in, State *s, int64_t i, double now, double horizon) {
    if (s->cap[i] > 0) complete(in, s, i, now);
    while (s->due[i] <= horizon) release_or_post(in, s, i, now);
}

/* All that falls within 1e-9 relative of the instant happens at it. */
static void apply(const Instance *in, State *s, double now, double alpha) {
    const double slack = 1e-9 * fabs(now), horizon = now + slack, rest = alpha * slack;
    const double *due = s->due, *left = s->left;
    for (int64_t i = 0; i < in->m; i++) {
        if ((due[i] <= horizon) | (left[i] <= rest)) turn(in, s, i, now, horizon);
    }
}

/* The fair share of everyone now, and when the next thing happens under it. */
static double decide(const Instance *in, const State *s, double now, double *alpha) {
    const double *due = s->due, *left = s->left, *cap = s->cap;
    double demand = 0, posting = INFINITY, shortest = INFINITY;
#pragma omp simd reduction(+ : demand) reduction(min : posting, shortest)
    for (int64_t i = 0; i < in->m; i++) {
        demand += cap[i];
        posting = due[i] < posting ? due[i] : posting;
        shortest = left[i] < shortest ? left[i] : shortest;
    }
    *alpha = demand > in->capacity ? in->capacity / demand : 1;
    double next = fmin(posting, now + shortest / *alpha);
    return next + 1e-9 * fabs(next) < in->end ? next : in->end;
}

static int64_t simulate(const Instance *in, State *s) {
    double now = in->begin, alpha = 1, next = decide(in, s, now, &alpha);
    int64_t events = 0;
    while (now < in->end && !isinf(next)) {
        const double done = alpha * (next - now);
        for (int64_t i = 0; i < in->m; i++) s->left[i] -= done;
        now = next;
        events++;
        apply(in, s, now, alpha);
        next = decide(in, s, now, &alpha);
    }
    return events;
}

/* Add what was under way when the window closed: part of a transfer, or of a compute. */
static void close_window(const Instance *in, State *s) {
    for (int64_t i = 0; i < in->m; i++) {
        int64_t op = s->op[i];
        if (op < 0) continue;
        double work = op < in->first[i + 1] ? in->work[op] : in->tail[i];
        if (s->cap[i] > 0) s->progress[i] += in->volume[op] / in->limit[op] - s->left[i];
        else s->progress[i] += fmin(work, in->end - s->since[i]);
    }
}

static void reset(const Instance *in, State *s) {
    for (int64_t i = 0; i < in->m; i++) {
        s->due[i] = in->start[i];
        s->left[i] = INFINITY;
        s->cap[i] = 0;
        s->progress[i] = in->progress[i];
        s->op[i] = -1;
    }
}

static double *doubles(int64_t count) { return (double *)calloc((size_t)count, sizeof(double)); }

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: fluid INSTANCE REPEATS [--progress]\n");
        return 2;
    }
    Instance in = read_instance(argv[1]);
    State s = {doubles(in.m), doubles(in.m), doubles(in.m), doubles(in.m), doubles(in.m),
               (int64_t *)calloc((size_t)in.m, sizeof(int64_t))};
    int64_t events = 0;
    double best = INFINITY;
    for (int repeat = 0; repeat < atoi(argv[2]); repeat++) {
        reset(&in, &s);
        double started = clock_seconds();
        events = simulate(&in, &s);
        best = fmin(best, clock_seconds() - started);
    }
    close_window(&in, &s);
    print_result(events, best, in.m, s.progress, argc > 3 && strcmp(argv[3], "--progress") == 0);
    return 0;
}
