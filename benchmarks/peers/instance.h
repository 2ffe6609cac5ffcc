/* The instance file of benchmarks/instance.py, read into memory. Valid C and C++. */
#ifndef PENSTOCK_INSTANCE_H
#define PENSTOCK_INSTANCE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t m, k;
    double capacity, begin, end;
    double *start, *progress, *release;
    int64_t *first; /* operations of application i are first[i] .. first[i + 1] - 1 */
    double *work, *volume, *limit, *tail;
} Instance;

static void *read_items(FILE *file, int64_t count, size_t size) {
    void *items = malloc(count > 0 ? (size_t)count * size : size);
    if (!items || fread(items, size, (size_t)count, file) != (size_t)count) {
        fprintf(stderr, "the instance file is shorter than its header says\n");
        exit(2);
    }
    return items;
}

static Instance read_instance(const char *path) {
    Instance in;
    char magic[4];
    FILE *file = fopen(path, "rb");
    if (!file || fread(magic, 1, 4, file) != 4 || memcmp(magic, "PENF", 4) != 0 ||
        fread(&in, sizeof(int64_t), 5, file) != 5) { /* two counts and three doubles, all eight bytes wide */
        fprintf(stderr, "%s is not an instance file\n", path);
        exit(2);
    }
    in.start = (double *)read_items(file, in.m, sizeof(double));
    in.progress = (double *)read_items(file, in.m, sizeof(double));
    in.release = (double *)read_items(file, in.m, sizeof(double));
    in.first = (int64_t *)read_items(file, in.m + 1, sizeof(int64_t));
    in.work = (double *)read_items(file, in.k, sizeof(double));
    in.volume = (double *)read_items(file, in.k, sizeof(double));
    in.limit = (double *)read_items(file, in.k, sizeof(double));
    in.tail = (double *)read_items(file, in.m, sizeof(double));
    fclose(file);
    return in;
}

/* One line `events seconds checksum`; the checksum is the sum of the progress of all applications, in scenario order. */
static void print_result(int64_t events, double seconds, int64_t m, const double *progress, int each) {
    double checksum = 0;
    for (int64_t i = 0; i < m; i++) checksum += progress[i];
    printf("%lld %.9g %.17g\n", (long long)events, seconds, checksum);
    for (int64_t i = 0; each && i < m; i++) printf("%.17g\n", progress[i]);
}

#endif
