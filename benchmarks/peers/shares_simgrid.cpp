/* Flows over links in SimGrid: its max-min sharing with weights, on the instance that penstock's machine runs.
 *
 *     shares_simgrid INSTANCE REPEATS        events, processor seconds (the least of all repeats), then when each flow is over
 *     shares_simgrid INSTANCE --rates        the rate of each flow while all of them are under way
 *
 * An instance is text: the numbers of links and flows, the capacity of each link, then for each flow its start, volume,
 * weight and peak, how many links it crosses, and which. In SimGrid's network model CM02 a flow weighs one over the sum
 * of its links' latencies; so every flow has a link of its own, as wide as its peak, with one over its weight for a
 * latency. It is sent that much before its start. SimGrid keeps one engine per process: every repeat is a forked child.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <simgrid/s4u.hpp>
#include <ctime>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <xbt/log.h>

namespace sg4 = simgrid::s4u;

struct Flow {
    double start, volume, weight, peak;
    std::vector<int> links;
};

static std::vector<double> capacities;
static std::vector<Flow> flows;
static double *outcome; // events, seconds, then one number for each flow

static double number(FILE *file) {
    double value;
    if (fscanf(file, "%lf", &value) != 1) {
        fprintf(stderr, "the instance is too short\n");
        exit(2);
    }
    return value;
}

static void read_instance(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }
    capacities.resize((size_t)number(file));
    flows.resize((size_t)number(file));
    for (double &capacity : capacities) capacity = number(file);
    for (Flow &flow : flows) {
        flow.start = number(file), flow.volume = number(file);
        flow.weight = number(file), flow.peak = number(file);
        flow.links.resize((size_t)number(file));
        for (int &link : flow.links) link = (int)number(file);
    }
    fclose(file);
}

/* As the other side counts: a machine that is busy with something else counts for neither. */
static double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static double last_event = -1;

static void note_event() {
    double now = sg4::Engine::get_clock();
    if (now > last_event) outcome[0]++;
    last_event = now;
}

static double scale() { // so that every flow can be sent before its start, and latencies add nothing
    double least = INFINITY;
    for (const Flow &flow : flows) least = std::fmin(least, flow.weight);
    return least;
}

static void send(size_t i, sg4::Host *from, sg4::Host *to, double early) {
    sg4::this_actor::sleep_until(flows[i].start + 1.0 - early);
    auto comm = sg4::Comm::sendto_init(from, to);
    comm->set_payload_size((uint64_t)flows[i].volume);
    comm->start();
    sg4::this_actor::sleep_for(early);
    note_event();
    comm->wait();
    note_event();
    outcome[2 + i] = sg4::Engine::get_clock() - 1.0;
}

static void measure(std::vector<std::pair<sg4::Host *, sg4::Host *>> ends) {
    std::vector<sg4::CommPtr> sent;
    for (auto &[from, to] : ends) {
        auto comm = sg4::Comm::sendto_init(from, to);
        comm->set_payload_size(1ull << 52);
        comm->start();
        sent.push_back(comm);
    }
    sg4::this_actor::sleep_for(2.0);
    std::vector<double> before;
    for (auto &comm : sent) before.push_back(comm->get_remaining());
    const double seconds = 1 << 20; // of so many bytes many must pass for their difference to have its digits
    sg4::this_actor::sleep_for(seconds);
    for (size_t i = 0; i < sent.size(); i++) outcome[2 + i] = (before[i] - sent[i]->get_remaining()) / seconds;
    for (auto &comm : sent) comm->cancel();
}

static void run_once(int argc, char **argv, bool rates) {
    xbt_log_control_set("root.thresh:warning"); // else every setting is told
    sg4::Engine engine(&argc, argv);
    for (const char *setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e30",
                                "network/weight-S:0", "network/bandwidth-factor:1", "network/latency-factor:1",
                                "maxmin/precision:1e-12", "surf/precision:1e-12", "contexts/stack-size:64"})
        sg4::Engine::set_config(setting);
    auto *zone = sg4::create_full_zone("world");
    std::vector<const sg4::Link *> links;
    for (size_t k = 0; k < capacities.size(); k++)
        links.push_back(zone->create_link("link" + std::to_string(k), capacities[k])->seal());
    std::vector<std::pair<sg4::Host *, sg4::Host *>> ends;
    std::vector<double> early;
    double least = scale();
    for (size_t i = 0; i < flows.size(); i++) {
        std::string name = std::to_string(i);
        auto *from = zone->create_host("from" + name, 1.0)->seal();
        auto *to = zone->create_host("to" + name, 1.0)->seal();
        early.push_back(least / flows[i].weight);
        std::vector<sg4::LinkInRoute> way;
        auto *own = zone->create_link("own" + name, flows[i].peak);
        way.emplace_back(own->set_latency(early.back())->seal());
        for (int link : flows[i].links) way.emplace_back(links[link]);
        zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, way, false);
        ends.emplace_back(from, to);
    }
    zone->seal();
    if (rates) sg4::Actor::create("measure", ends[0].first, measure, ends);
    for (size_t i = 0; !rates && i < flows.size(); i++)
        sg4::Actor::create("flow", ends[i].first, send, i, ends[i].first, ends[i].second, early[i]);
    double started = processor_seconds();
    engine.run();
    outcome[1] = processor_seconds() - started;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: shares_simgrid INSTANCE REPEATS | --rates\n");
        return 2;
    }
    read_instance(argv[1]);
    bool rates = strcmp(argv[2], "--rates") == 0;
    size_t size = (2 + flows.size()) * sizeof(double);
    outcome = (double *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double best = INFINITY;
    for (int repeat = 0; repeat < (rates ? 1 : atoi(argv[2])); repeat++) {
        outcome[0] = 0;
        pid_t child = fork();
        if (child == 0) {
            run_once(argc, argv, rates);
            _exit(0);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "a SimGrid run failed\n");
            return 1;
        }
        best = std::fmin(best, outcome[1]);
    }
    printf("%.0f %.9g\n", outcome[0], best);
    for (size_t i = 0; i < flows.size(); i++) printf("%.17g\n", outcome[2 + i]);
    return 0;
}
