/* Paying: the job's segment is found by PENSTOCK_BUCKET, a call pays before it moves bytes, and waits if it must. */
#include "shim.h"

extern int clock_gettime(int, void *);
extern char *dlerror(void);

enum { BOOTTIME = 7, EINTR = 4, SET_MASK = 2 };
static const int64_t SECOND = 1000000000, STEP = 20000000;    /* nanoseconds: nobody sleeps longer without looking */
static const int64_t AFTER_A_SIGNAL = 1000000000;             /* the program may want to see to it */
static const int64_t CREDIT_LASTS = 5000000000;
enum { LITTLE = 65536 };

struct penstock_segment *penstock_mapped;
int penstock_looked;
static struct penstock_segment *common_mapped;
static char common_path[192], bell_path[320];
static int64_t later[2], credit, credit_until;

EXPORT struct penstock_segment *penstock_preloaded(void) { return ours(); }

intptr_t penstock_syscall(intptr_t number, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f) {
#if defined(__x86_64__)
    intptr_t result;
    register intptr_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    register intptr_t x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                      x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}

int64_t penstock_now(void) {
    int64_t time[2] = {0, 0};
    clock_gettime(BOOTTIME, time); /* by the kernel's page in our memory, not by a system call */
    return time[0] * SECOND + time[1];
}

static struct penstock_segment *map(const char *path) {
    intptr_t fd = SYSCALL(SYS_OPENAT, KERNEL_AT_FDCWD, path, KERNEL_O_RDWR | KERNEL_O_CLOEXEC | KERNEL_O_NOFOLLOW, 0, 0, 0);
    if (fd < 0) return 0;
    struct penstock_segment *found = 0;
    struct kernel_stat about;
    uint32_t us = (uint32_t)SYSCALL(SYS_GETEUID, 0, 0, 0, 0, 0, 0);
    if (kernel_fstat((int)fd, &about) == 0 && (about.mode & KIND_MASK) == KIND_FILE && (about.uid == us || about.uid == 0) &&
        about.size == sizeof *found) {
        intptr_t at = SYSCALL(SYS_MMAP, 0, sizeof *found, 3, 1, fd, 0); /* read and write, shared */
        if (at > 0 || at < -4095) found = (struct penstock_segment *)at;
        if (found && (found->magic != PENSTOCK_MAGIC || found->size != sizeof *found)) found = 0;
    }
    SYSCALL(SYS_CLOSE, fd, 0, 0, 0, 0, 0);
    return found;
}

static int copy(char *to, size_t room, const char *from, const char *then) {
    size_t at = 0;
    for (; *from; from++)
        if (at < room) to[at++] = *from;
    for (; *then; then++)
        if (at < room) to[at++] = *then;
    if (at >= room) return 0;
    to[at] = 0;
    return 1;
}

static int says_off(const char *word) {
    return word && (word[0] | 32) == 'o' && (word[1] | 32) == 'f' && (word[2] | 32) == 'f' && !word[3];
}

/* Whether another copy of this library stands in front of us, as one of the batch system's and one of a run. What is
 * exported is found in the first of them, so our own needs a name that is not. */
extern __typeof__(penstock_preloaded) here __attribute__((alias("penstock_preloaded"), visibility("hidden")));
static int is_second(void) {
    int kept = errno;
    void *first = dlsym((void *)0, "penstock_preloaded"); /* RTLD_DEFAULT */
    errno = kept;
    return first && first != (void *)here;
}

/* Once in a process. Whoever comes while another thread looks goes unpaced for that moment. */
__attribute__((constructor)) void penstock_look(void) {
    static int begun;
    if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL)) return;
    const char *path = getenv("PENSTOCK_BUCKET");
    if (path && path[0] == '/' && !says_off(getenv("PENSTOCK")) && !is_second()) {
        if (!copy(bell_path, sizeof bell_path, path, ".bell")) bell_path[0] = 0;
        penstock_mapped = map(path);
    }
    dlerror(); /* what was not found is not the program's to hear of */
    __atomic_store_n(&penstock_looked, 1, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void leave(void) {
    if (penstock_mapped) pay_what_is_left(0);
}

static void ring(struct penstock_segment *segment) {
    if (__atomic_exchange_n(&segment->bell, 1, __ATOMIC_ACQ_REL) || !bell_path[0]) return;
    /* For reading, too: so nobody can be gone, and there is no SIGPIPE. */
    int how = KERNEL_O_RDWR | KERNEL_O_NONBLOCK | KERNEL_O_CLOEXEC | KERNEL_O_NOFOLLOW;
    intptr_t fd = SYSCALL(SYS_OPENAT, KERNEL_AT_FDCWD, bell_path, how, 0, 0, 0);
    if (fd < 0) return; /* the owner looks at the word now and then */
    SYSCALL(SYS_WRITE, fd, "!", 1, 0, 0, 0);
    SYSCALL(SYS_CLOSE, fd, 0, 0, 0, 0, 0);
}

/* Nanoseconds until a mark is served, but never more than a step; 0: it is, or nobody has to wait. */
static int64_t until_served(struct penstock_segment *segment, int lane, int64_t mark, int64_t now) {
    struct penstock_slot slot;
    double rate, depth, served;
    if (!penstock_lane(segment, lane, &slot)) return 0;
    served = penstock_served(&slot, lane, __atomic_load_n(&segment->alive_until, __ATOMIC_RELAXED), now, &rate, &depth);
    if (rate != rate || served >= (double)mark) return 0;
    double left = rate > 0 ? ((double)mark - served) / rate * 1e9 : (double)STEP;
    return left < (double)STEP ? (int64_t)left + 1 : STEP;
}

/* Sleep until a mark is served; when that was. In short steps and not on the segment: a program must hear its signals,
 * and we must know that it did. So they are let in while we sleep only; one that came a moment before would be missed. */
static int64_t wait_for(struct penstock_segment *segment, int lane, int64_t mark, int64_t since, int rings) {
    int64_t now = since, signalled = 0;
    uint64_t all = ~UINT64_C(0), own = 0;
    SYSCALL(SYS_RT_SIGPROCMASK, SET_MASK, &all, &own, sizeof own, 0, 0);
    for (;;) {
        int64_t left = until_served(segment, lane, mark, now);
        if (!left || (signalled && now - signalled >= AFTER_A_SIGNAL)) break;
        __atomic_store_n(&segment->want, now, __ATOMIC_RELAXED);
        if (rings) ring(segment);
        int64_t pause[2] = {0, left};
        intptr_t slept = SYSCALL(SYS_PPOLL, 0, 0, pause, &own, sizeof own, 0);
        now = penstock_now();
        if (slept == -EINTR && !signalled) signalled = now;
    }
    SYSCALL(SYS_RT_SIGPROCMASK, SET_MASK, &own, 0, sizeof own, 0, 0);
    __atomic_fetch_add(&segment->waited, now - since, __ATOMIC_RELAXED);
    return now;
}

/* Promise in one lane of one segment; the mark to wait for, or the least number if all was served. `forever` is set if
 * the rate is nobody's word: then what all strangers of the node share counts, too. */
static int64_t promise(struct penstock_segment *segment, int lane, int64_t n, int64_t now, int *forever) {
    struct penstock_slot slot;
    double rate, depth, served;
    if (!penstock_lane(segment, lane, &slot)) return INT64_MIN;
    served = penstock_served(&slot, lane, __atomic_load_n(&segment->alive_until, __ATOMIC_RELAXED), now, &rate, &depth);
    if (rate != rate) return INT64_MIN;
    if (forever) *forever = slot.expiry == PENSTOCK_NEVER;
    int64_t mark = penstock_promise(lane == PENSTOCK_BYTES ? &segment->promised : &segment->promised_operations, served, depth, n);
    return served >= (double)mark ? INT64_MIN : mark;
}

static struct penstock_segment *common_of(struct penstock_segment *segment) {
    char wanted[sizeof common_path];
    __builtin_memcpy(wanted, segment->common, sizeof wanted);
    wanted[sizeof wanted - 1] = 0;
    if (!wanted[0]) return 0;
    if (!common_mapped || __builtin_strcmp(wanted, common_path)) { /* the old one stays mapped: another thread may be in it */
        __builtin_memcpy(common_path, wanted, sizeof wanted);
        common_mapped = map(wanted);
    }
    return common_mapped;
}

/* Promise everywhere at once, before any wait. */
struct pledge pledge(int64_t bytes, int64_t now) {
    struct penstock_segment *segment = penstock_mapped;
    int forever = 0;
    struct pledge made = {promise(segment, PENSTOCK_BYTES, bytes, now, &forever), INT64_MIN, 0};
    if (forever && segment->flags & PENSTOCK_STRANGE) made.common = common_of(segment);
    if (UNLIKELY(made.common != 0)) made.common_mark = promise(made.common, PENSTOCK_BYTES, bytes, now, 0);
    return made;
}

int64_t until_kept(const struct pledge *made, int64_t now) {
    int64_t left = made->mark == INT64_MIN ? 0 : until_served(penstock_mapped, PENSTOCK_BYTES, made->mark, now);
    if (left || made->common_mark == INT64_MIN) return left;
    return until_served(made->common, PENSTOCK_BYTES, made->common_mark, now);
}

void say_want(int64_t now) {
    __atomic_store_n(&penstock_mapped->want, now, __ATOMIC_RELAXED);
    ring(penstock_mapped);
}

/* What was paid, without what had been before. */
static struct paid settle(int64_t bytes, int direction, int waits) {
    static const struct paid nothing;
    struct penstock_segment *segment = penstock_mapped;
    if (segment->flags & (direction == WRITE ? PENSTOCK_NO_WRITES : PENSTOCK_NO_READS)) return nothing;
    int64_t now = penstock_now();
    if (UNLIKELY(__atomic_load_n(&credit, __ATOMIC_RELAXED) > 0)) { /* paid for by penstock_acquire */
        if (now > __atomic_load_n(&credit_until, __ATOMIC_RELAXED)) {
            __atomic_store_n(&credit, 0, __ATOMIC_RELAXED);
        } else {
            int64_t before = __atomic_fetch_sub(&credit, bytes, __ATOMIC_RELAXED);
            if (before >= bytes) return nothing;
            if (before < 0) before = 0;
            __atomic_fetch_add(&credit, bytes - before, __ATOMIC_RELAXED);
            bytes -= before;
        }
    }
    struct pledge made = pledge(bytes, now);
    if (waits && made.mark != INT64_MIN) now = wait_for(segment, PENSTOCK_BYTES, made.mark, now, 1);
    if (waits && made.common_mark != INT64_MIN) now = wait_for(made.common, PENSTOCK_BYTES, made.common_mark, now, 0);
    __atomic_fetch_add(direction == WRITE ? &segment->written : &segment->read, bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&segment->last, now, __ATOMIC_RELAXED);
    return (struct paid){bytes, made.common};
}

struct paid pay(int64_t bytes, int direction) {
    struct paid paid = {0, 0};
    if (bytes <= 0) return paid;
    int kept = errno;
    paid = settle(bytes, direction, 1);
    errno = kept;
    return paid;
}

void pay_later(int64_t bytes, int direction) {
    if (bytes <= 0) return;
    if (__atomic_add_fetch(&later[direction], bytes, __ATOMIC_RELAXED) >= LITTLE)
        pay(__atomic_exchange_n(&later[direction], 0, __ATOMIC_RELAXED), direction);
}

void pay_what_is_left(int wait) {
    int kept = errno;
    for (int direction = WRITE; direction <= READ; direction++) {
        int64_t left = __atomic_exchange_n(&later[direction], 0, __ATOMIC_RELAXED);
        if (left > 0) settle(left, direction, wait);
    }
    errno = kept;
}

void refund(struct paid paid, int64_t moved, int direction) {
    int64_t bytes = paid.bytes - (moved > 0 ? moved : 0);
    if (bytes <= 0) return;
    struct penstock_segment *segment = penstock_mapped;
    __atomic_fetch_sub(&segment->promised, bytes, __ATOMIC_RELAXED);
    if (UNLIKELY(paid.common != 0)) __atomic_fetch_sub(&paid.common->promised, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_sub(direction == WRITE ? &segment->written : &segment->read, bytes, __ATOMIC_RELAXED);
}

void pay_operation(int which) {
    int kept = errno;
    struct penstock_segment *segment = penstock_mapped;
    int64_t *count[] = {&segment->opened, &segment->stated, &segment->unlinked, &segment->created};
    __atomic_fetch_add(count[which], 1, __ATOMIC_RELAXED);
    int64_t now = penstock_now(), mark = promise(segment, PENSTOCK_OPERATIONS, 1, now, 0);
    if (mark != INT64_MIN) wait_for(segment, PENSTOCK_OPERATIONS, mark, now, 1);
    errno = kept;
}

/* For programs that say what they do (penstock.h). */

EXPORT int penstock_shim_begin(int64_t bytes, int direction) {
    struct penstock_segment *segment = ours();
    if (!segment) return 0;
    int kept = errno;
    if (bytes > 0) __atomic_fetch_add(direction == WRITE ? &segment->announced_write : &segment->announced_read, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&segment->begun, 1, __ATOMIC_RELEASE);
    ring(segment);
    errno = kept;
    return 1;
}

EXPORT void penstock_shim_end(void) {
    struct penstock_segment *segment = ours();
    if (!segment) return;
    int kept = errno;
    pay_what_is_left(1);
    __atomic_fetch_add(&segment->ended, 1, __ATOMIC_RELEASE);
    ring(segment);
    errno = kept;
}

EXPORT void penstock_credit(int64_t bytes) {
    __atomic_store_n(&credit_until, penstock_now() + CREDIT_LASTS, __ATOMIC_RELAXED);
    __atomic_fetch_add(&credit, bytes, __ATOMIC_RELAXED);
}

EXPORT void penstock_shim_acquire(int64_t bytes) {
    if (bytes <= 0 || !ours()) return;
    pay(bytes, WRITE);
    penstock_credit(bytes);
}

/* For Python, which cannot compare and swap: the mark to wait for, or the least number if all was served. */
EXPORT int64_t penstock_try(struct penstock_segment *segment, int lane, int64_t n, int64_t now) {
    return promise(segment, lane, n, now, 0);
}

EXPORT void penstock_add(int64_t *word, int64_t n) { __atomic_fetch_add(word, n, __ATOMIC_RELAXED); }
