/* The same instance in SimGrid: one actor per application on a one-core host, whose speed it shares equally.
 *
 *     fluid_simgrid INSTANCE REPEATS [--progress]
 *
 * Prints what fluid.c prints; only engine.run() is timed. Equal sharing is fair-share only when every cap is the whole
 * bandwidth, so other instances are refused. SimGrid keeps one engine per process: every repeat is a forked child.
 */
#include "instance.h"

#include <chrono>
#include <cmath>
#include <simgrid/s4u.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sg4 = simgrid::s4u;

/* Where an application is, for its progress when the window closes. */
struct Application {
    double done = 0;       // ideal seconds of the phases that are over
    double since = 0;      // start of the compute under way
    double volume = 0;     // bytes of the transfer under way
    bool running = false;  // released, and not at its end
    sg4::ExecPtr transfer; // null while computing
};

/* What a child leaves to its parent: counters, then the progress of each application. */
struct Outcome {
    int64_t events;
    double seconds;
    double progress[1];
};

static Instance in;
static std::vector<Application> applications;
static Outcome *outcome;
static double last_event = -1;

/* An event is an instant, however many applications it concerns. */
static void note_event() {
    double now = sg4::Engine::get_clock();
    if (now > last_event) outcome->events++;
    last_event = now;
}

static void compute(Application &app, double seconds) {
    app.since = sg4::Engine::get_clock();
    sg4::this_actor::sleep_for(seconds);
    app.done += seconds;
}

static void transfer(Application &app, double bytes) {
    app.volume = bytes;
    app.transfer = sg4::this_actor::exec_init(bytes);
    app.transfer->wait();
    app.transfer = nullptr;
    app.done += bytes / in.capacity;
}

static void live(int64_t i) {
    Application &app = applications[i];
    sg4::this_actor::sleep_until(in.start[i] - in.begin);
    note_event();
    app.running = true;
    for (int64_t op = in.first[i]; op < in.first[i + 1]; op++) {
        if (in.work[op] > 0) {
            compute(app, in.work[op]);
            note_event();
        }
        transfer(app, in.volume[op]);
        note_event();
    }
    compute(app, in.tail[i]);
    app.running = false;
}

static double progress_now(const Application &app) {
    if (!app.running) return app.done;
    if (app.transfer) return app.done + (app.volume - app.transfer->get_remaining()) / in.capacity;
    return app.done + (sg4::Engine::get_clock() - app.since);
}

static void record_progress() {
    for (int64_t i = 0; i < in.m; i++) outcome->progress[i] = in.progress[i] + progress_now(applications[i]);
}

static void close_window() {
    sg4::this_actor::sleep_until(in.end - in.begin);
    note_event();
    record_progress();
    sg4::Actor::kill_all();
}

static void run_once(int argc, char **argv) {
    sg4::Engine engine(&argc, argv);
    sg4::Engine::set_config("contexts/stack-size:64"); // KiB: actors this shallow need no more
    auto *zone = sg4::create_full_zone("world");
    auto *storage = zone->create_host("storage", in.capacity);
    zone->seal();
    applications.resize(in.m);
    for (int64_t i = 0; i < in.m; i++) sg4::Actor::create("application", storage, live, i);
    bool windowed = std::isfinite(in.end);
    if (windowed) sg4::Actor::create("window", storage, close_window);
    auto started = std::chrono::steady_clock::now();
    engine.run();
    outcome->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    if (!windowed) record_progress();
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: fluid_simgrid INSTANCE REPEATS [--progress]\n");
        return 2;
    }
    in = read_instance(argv[1]);
    for (int64_t op = 0; op < in.k; op++) {
        if (in.limit[op] != in.capacity) {
            fprintf(stderr, "operation %lld has a cap below the bandwidth, which equal sharing cannot express\n",
                    (long long)op);
            return 2;
        }
    }
    size_t size = sizeof(Outcome) + in.m * sizeof(double);
    outcome = (Outcome *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double best = INFINITY;
    for (int repeat = 0; repeat < atoi(argv[2]); repeat++) {
        outcome->events = 0;
        pid_t child = fork();
        if (child == 0) {
            run_once(argc, argv);
            _exit(0);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "a SimGrid run failed\n");
            return 1;
        }
        best = std::fmin(best, outcome->seconds);
    }
    print_result(outcome->events, best, in.m, outcome->progress, argc > 3 && strcmp(argv[3], "--progress") == 0);
    return 0;
}
