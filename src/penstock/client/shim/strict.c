/* For programs that no library can be put in front of: the kernel asks a supervisor before each of their reads and
 * writes (seccomp user notification), and goes on with the call once its bytes are served. The supervisor is a process
 * of its own that runs `penstock_supervise`; the program has the filter of `penstock_filter`, and so has all it starts.
 *
 * A call is let go on in one piece, and its result is not seen: what was asked is paid for, reads up to the end of
 * their file. Nothing is done in the program's place, so nothing that it changes meanwhile can be used against us. */
#include "shim.h"

enum { MOST_WAITING = 4096, PATH = 64, MOST_OF_A_CALL = 0x7ffff000, VECTORS = 1024 };
enum { EPERM = 1, EACCES = 13 };
enum { PAYS_READ, PAYS_WRITE, PAYS_BOTH };
struct kind {
    int number, pays, fd, amount, offset, vector; /* places of arguments; -1: there is none */
    int to;                                       /* of PAYS_BOTH: where it is written, `fd` is where it is read */
};
#if defined(__x86_64__)
enum { ARCH = (int)0xc000003e, SYS_PRCTL = 157, SYS_SECCOMP = 317, SYS_IOCTL = 16, SYS_PROCESS_VM_READV = 310 };
enum { N_READ = 0, N_WRITE = 1, N_PREAD = 17, N_PWRITE = 18, N_READV = 19, N_WRITEV = 20, N_SENDFILE = 40, N_SPLICE = 275,
       N_PREADV = 295, N_PWRITEV = 296, N_COPY = 326, N_PREADV2 = 327, N_PWRITEV2 = 328 };
#else
enum { ARCH = (int)0xc00000b7, SYS_PRCTL = 167, SYS_SECCOMP = 277, SYS_IOCTL = 29, SYS_PROCESS_VM_READV = 270 };
enum { N_READ = 63, N_WRITE = 64, N_PREAD = 67, N_PWRITE = 68, N_READV = 65, N_WRITEV = 66, N_SENDFILE = 71, N_SPLICE = 76,
       N_PREADV = 69, N_PWRITEV = 70, N_COPY = 285, N_PREADV2 = 286, N_PWRITEV2 = 287 };
#endif
static const struct kind KINDS[] = {
    {N_READ, PAYS_READ, 0, 2, -1, -1, -1},      {N_WRITE, PAYS_WRITE, 0, 2, -1, -1, -1},
    {N_PREAD, PAYS_READ, 0, 2, 3, -1, -1},      {N_PWRITE, PAYS_WRITE, 0, 2, 3, -1, -1},
    {N_READV, PAYS_READ, 0, 2, -1, 1, -1},      {N_WRITEV, PAYS_WRITE, 0, 2, -1, 1, -1},
    {N_PREADV, PAYS_READ, 0, 2, 3, 1, -1},      {N_PWRITEV, PAYS_WRITE, 0, 2, 3, 1, -1},
    {N_PREADV2, PAYS_READ, 0, 2, 3, 1, -1},     {N_PWRITEV2, PAYS_WRITE, 0, 2, 3, 1, -1},
    {N_SENDFILE, PAYS_BOTH, 1, 3, -1, -1, 0},   {N_SPLICE, PAYS_BOTH, 0, 4, -1, -1, 2},
    {N_COPY, PAYS_BOTH, 0, 4, -1, -1, 2},
};
enum { COUNT = sizeof KINDS / sizeof *KINDS };

/* as in linux/seccomp.h and linux/filter.h */
struct notice {
    uint64_t id;
    uint32_t pid, flags;
    int32_t number;
    uint32_t arch;
    uint64_t at, argument[6];
};
struct answer {
    uint64_t id;
    int64_t value;
    int32_t error;
    uint32_t flags;
};
struct step {
    uint16_t code;
    uint8_t yes, no;
    uint32_t k;
};
enum { RECEIVE = (int)0xc0502100, SEND = (int)0xc0182101, IS_VALID = (int)0x40082102, SET_FLAGS = 0x40082104 };
enum { GO_ON = 1, WAKE_AT_ONCE = 1 };
enum { LOAD = 0x20, IF_EQUAL = 0x15, RETURN = 0x06, ALLOW = 0x7fff0000, NOTIFY = 0x7fc00000 };
enum { NO_NEW_PRIVILEGES = 38, SET_FILTER = 1, NEW_LISTENER = 8, IN = 1, HUNG_UP = 16 };

/* Ask before these calls from now on, in this process and all that come of it; the listener, or -errno. */
EXPORT int penstock_filter(void) {
    struct step steps[COUNT + 5];
    int n = 0;
    steps[n++] = (struct step){LOAD, 0, 0, 4};
    steps[n++] = (struct step){IF_EQUAL, 0, COUNT + 1, (uint32_t)ARCH};
    steps[n++] = (struct step){LOAD, 0, 0, 0};
    for (int i = 0; i < COUNT; i++) steps[n++] = (struct step){IF_EQUAL, (uint8_t)(COUNT - i), 0, (uint32_t)KINDS[i].number};
    steps[n++] = (struct step){RETURN, 0, 0, ALLOW};
    steps[n++] = (struct step){RETURN, 0, 0, NOTIFY};
    struct {
        uint16_t length;
        struct step *steps;
    } program = {(uint16_t)n, steps};
    intptr_t wrong = SYSCALL(SYS_PRCTL, NO_NEW_PRIVILEGES, 1, 0, 0, 0, 0);
    return (int)(wrong ? wrong : SYSCALL(SYS_SECCOMP, SET_FILTER, NEW_LISTENER, &program, 0, 0, 0));
}

/* "/proc/" pid folder fd */
static void name_of(char *path, uint32_t pid, const char *folder, uint32_t fd) {
    const char *const words[] = {"/proc/", folder};
    const uint32_t numbers[] = {pid, fd};
    for (int part = 0; part < 2; part++) {
        char digits[10];
        int n = 0;
        for (const char *from = words[part]; *from; from++) *path++ = *from;
        uint32_t left = numbers[part];
        do digits[n++] = (char)('0' + left % 10);
        while (left /= 10);
        while (n) *path++ = digits[--n];
    }
    *path = 0;
}

/* Whether a descriptor of the program is a file on a paced device, and how long it is. Programs that may be run but not
 * read hide their descriptors from all but root; theirs count as paced, without an end, lest hiding be a way past. */
static int paced_file(uint32_t pid, uint64_t fd, int64_t *length) {
    char path[PATH];
    struct kernel_stat found;
    name_of(path, pid, "/fd/", (uint32_t)fd);
    intptr_t wrong = SYSCALL(SYS_NEWFSTATAT, KERNEL_AT_FDCWD, path, &found, 0, 0, 0);
    if (wrong == -EACCES || wrong == -EPERM) {
        *length = INT64_MAX;
        return 1;
    }
    if (wrong || (found.mode & KIND_MASK) != KIND_FILE) return 0;
    *length = found.size;
    return is_paced_device(found.dev);
}

/* Where a descriptor of the program stands; 0 if that cannot be seen. */
static int64_t position(uint32_t pid, uint64_t fd) {
    char path[PATH], text[64];
    name_of(path, pid, "/fdinfo/", (uint32_t)fd);
    intptr_t file = SYSCALL(SYS_OPENAT, KERNEL_AT_FDCWD, path, KERNEL_O_CLOEXEC, 0, 0, 0);
    if (file < 0) return 0;
    intptr_t got = SYSCALL(SYS_READ, file, text, sizeof text, 0, 0, 0);
    SYSCALL(SYS_CLOSE, file, 0, 0, 0, 0, 0);
    int64_t at = 0;
    for (intptr_t i = 5; i < got && text[i] != '\n'; i++) /* after "pos:\t" */
        if (text[i] >= '0' && text[i] <= '9') at = at * 10 + (text[i] - '0');
    return at;
}

/* Bytes of a vector in the program's memory; where that cannot be seen, a piece. */
static int64_t length_of(uint32_t pid, uint64_t vector, uint64_t count) {
    static struct iovec pieces[VECTORS];
    if (!count || count > VECTORS) return 0;
    struct iovec here = {pieces, count * sizeof *pieces}, there = {(void *)(uintptr_t)vector, count * sizeof *pieces};
    if (SYSCALL(SYS_PROCESS_VM_READV, pid, &here, 1, &there, 1, 0) != (intptr_t)here.length) return PIECE;
    int64_t sum = 0;
    for (uint64_t i = 0; i < count && sum < MOST_OF_A_CALL; i++) sum += (int64_t)(pieces[i].length & MOST_OF_A_CALL);
    return sum;
}

struct waiting {
    struct notice call;
    int64_t read, written, since;
    int64_t signalled; /* when a signal first took it out of its wait; 0: none did */
    struct pledge made;
};
static struct waiting waiting[MOST_WAITING];
static int waiting_count;

/* What a call is to pay for. */
static void weigh(struct waiting *one) {
    const struct notice *call = &one->call;
    const struct kind *kind = 0;
    for (int i = 0; i < COUNT && !kind; i++)
        if (KINDS[i].number == call->number) kind = &KINDS[i];
    one->read = one->written = 0;
    if (!kind || !penstock_mapped) return;
    uint64_t flags = penstock_mapped->flags;
    int64_t length = 0, unused, n = (int64_t)call->argument[kind->amount];
    int reads = kind->pays != PAYS_WRITE && paced_file(call->pid, call->argument[kind->fd], &length);
    int writes = kind->pays == PAYS_WRITE   ? paced_file(call->pid, call->argument[kind->fd], &unused)
                 : kind->pays == PAYS_BOTH ? paced_file(call->pid, call->argument[kind->to], &unused)
                                           : 0;
    if (flags & PENSTOCK_NO_READS && kind->pays == PAYS_READ) return;
    if (!reads && !writes) return;
    if (kind->vector >= 0) n = length_of(call->pid, call->argument[kind->vector], (uint64_t)n);
    n = n < 0 ? MOST_OF_A_CALL : least(n, MOST_OF_A_CALL);
    if (reads) {
        int64_t offset = kind->offset >= 0 ? (int64_t)call->argument[kind->offset] : -1;
        if (offset < 0) offset = position(call->pid, call->argument[kind->fd]);
        n = offset < length ? least(n, length - offset) : 0;
    }
    if (kind->number == N_SPLICE) n = least(n, OF_A_PIPE); /* one of its ends always is one */
    if (reads && !(flags & PENSTOCK_NO_READS)) one->read = n;
    if (writes && !(flags & PENSTOCK_NO_WRITES)) one->written = n;
}

/* The program's call goes on; whether it was still waiting for that. */
static int go_on(int listener, uint64_t id) {
    struct answer answer = {id, 0, 0, GO_ON};
    return SYSCALL(SYS_IOCTL, listener, (unsigned)SEND, &answer, 0, 0, 0) == 0;
}

static void take_back(const struct waiting *one) {
    int64_t bytes = one->read + one->written;
    if (!bytes) return;
    __atomic_fetch_sub(&penstock_mapped->promised, bytes, __ATOMIC_RELAXED);
    if (one->made.common) __atomic_fetch_sub(&one->made.common->promised, bytes, __ATOMIC_RELAXED);
}

static void let_go(int listener, struct waiting *one, int64_t now) {
    if (!go_on(listener, one->call.id)) {
        take_back(one);
        return;
    }
    if (one->read + one->written == 0) return;
    struct penstock_segment *segment = penstock_mapped;
    if (one->written) __atomic_fetch_add(&segment->written, one->written, __ATOMIC_RELAXED);
    if (one->read) __atomic_fetch_add(&segment->read, one->read, __ATOMIC_RELAXED);
    __atomic_fetch_add(&segment->waited, now - one->since, __ATOMIC_RELAXED);
    __atomic_store_n(&segment->last, now, __ATOMIC_RELAXED);
}

/* One that a signal took out of its wait comes again with the same call, and keeps its place; but not for long: the
 * program may want to see to the signal, as dd does to Ctrl-C, once its call is over. */
static int comes_again(const struct notice *call) {
    for (int i = 0; i < waiting_count; i++) {
        struct notice *before = &waiting[i].call;
        if (before->pid != call->pid) continue;
        int same = before->number == call->number;
        for (int k = 0; k < 6; k++) same &= before->argument[k] == call->argument[k];
        if (same) {
            before->id = call->id;
            if (!waiting[i].signalled) waiting[i].signalled = penstock_now();
            return 1;
        }
        take_back(&waiting[i]);
        waiting[i] = waiting[--waiting_count];
        return 0;
    }
    return 0;
}

static void receive(int listener) {
    struct waiting one;
    __builtin_memset(&one, 0, sizeof one);
    if (SYSCALL(SYS_IOCTL, listener, (unsigned)RECEIVE, &one.call, 0, 0, 0)) return; /* it is gone already */
    if (comes_again(&one.call)) return;
    weigh(&one);
    int64_t now = one.since = penstock_now();
    if (one.read + one.written) {
        one.made = pledge(one.read + one.written, now);
        if (until_kept(&one.made, now)) {
            waiting[waiting_count++] = one;
            return;
        }
    }
    let_go(listener, &one, now);
}

/* Let go on who is served; nanoseconds until somebody is. Now and then those are looked for that are no more. */
static int64_t release(int listener, int64_t now, int look) {
    int64_t soonest = PENSTOCK_SECOND;
    for (int i = 0; i < waiting_count;) {
        int64_t signalled = waiting[i].signalled, left = until_kept(&waiting[i].made, now);
        if (signalled && now - signalled >= PENSTOCK_SECOND) left = 0;
        int gone = look && SYSCALL(SYS_IOCTL, listener, (unsigned)IS_VALID, &waiting[i].call.id, 0, 0, 0);
        if (left && !gone) {
            soonest = least(soonest, left);
            i++;
            continue;
        }
        if (gone)
            take_back(&waiting[i]);
        else
            let_go(listener, &waiting[i], now);
        waiting[i] = waiting[--waiting_count];
    }
    if (waiting_count) say_want(now);
    return soonest;
}

struct poll {
    int fd;
    int16_t events, revents;
};

static intptr_t wait_on(int listener, int events, int64_t nanoseconds, struct poll *found) {
    *found = (struct poll){listener, (int16_t)events, 0};
    int64_t pause[2] = {nanoseconds / PENSTOCK_SECOND, nanoseconds % PENSTOCK_SECOND};
    return SYSCALL(SYS_PPOLL, found, 1, pause, 0, 0, 0);
}

/* Until all processes with the filter are gone. */
EXPORT void penstock_supervise(int listener) {
    int64_t looked = penstock_now();
    /* Since Linux 6.6: we and the program take turns on one processor, which spares waking another. */
    SYSCALL(SYS_IOCTL, listener, SET_FLAGS, WAKE_AT_ONCE, 0, 0, 0);
    for (;;) {
        int64_t now = penstock_now();
        int look = now - looked > PENSTOCK_SECOND;
        if (look) looked = now;
        int64_t pause = release(listener, now, look);
        struct poll found;
        if (wait_on(listener, waiting_count < MOST_WAITING ? IN : 0, pause, &found) < 1) continue;
        if (found.revents & IN)
            receive(listener);
        else if (found.revents)
            break;
    }
    while (waiting_count) take_back(&waiting[--waiting_count]);
}

/* Whether this kernel does all that is needed, with a listener on a process that makes one call and ends; 0: it does. */
EXPORT int penstock_try_strict(int listener) {
    struct notice call;
    struct poll found;
    __builtin_memset(&call, 0, sizeof call);
    if (wait_on(listener, IN, 5 * PENSTOCK_SECOND, &found) < 1 || !(found.revents & IN)) return 1;
    if (SYSCALL(SYS_IOCTL, listener, (unsigned)RECEIVE, &call, 0, 0, 0)) return 2;
    if (!go_on(listener, call.id)) return 3;
    if (wait_on(listener, 0, 5 * PENSTOCK_SECOND, &found) < 1 || !(found.revents & HUNG_UP)) return 4;
    return 0;
}
