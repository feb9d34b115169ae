/* A benchmark with a planted cause, for bench/why_trial.py: why_planted PLANT SECONDS FOLDER [WIDTH | PORT | CGROUP] */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 4096, BLOCK = 4096, BLOCKS = 4096, MAPPED = 256 * 1024 };

static const char *plant, *folder, *detail;
static double seconds;
static atomic_long operations;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sink;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void compute(int rounds) {
    uint64_t value = sink | 1;
    for (int round = 0; round < rounds; round++) value = value * 6364136223846793005ULL + 1442695040888963407ULL;
    sink = value;
}

__attribute__((noinline)) static void verify_slowly(int rounds) {
    uint64_t value = sink | 1;
    for (int round = 0; round < rounds; round++) value = (value ^ (value >> 13)) * 0x9E3779B97F4A7C15ULL;
    sink = value;
}

static int is(const char *name) { return !strcmp(plant, name); }

static int open_file(const char *name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, flags, 0644);
    if (file < 0) {
        perror(path);
        exit(1);
    }
    return file;
}

static void load(int width) {
    char *row = malloc(width > BLOCK ? width : BLOCK);
    int file = open_file("rows", O_WRONLY | O_CREAT | O_TRUNC);
    memset(row, 7, width > BLOCK ? width : BLOCK);
    for (int number = 0; number < ROWS; number++)
        if (write(file, row, width) != width) exit(1);
    int blocks = open_file("blocks", O_WRONLY | O_CREAT | O_TRUNC);
    for (int number = 0; number < BLOCKS; number++)
        if (write(blocks, row, BLOCK) != BLOCK) exit(1);
    if (fsync(file) || fsync(blocks)) exit(1);
}

static int connected(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(detail))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int peer = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(peer, (struct sockaddr *)&address, sizeof address)) {
        perror("connect");
        exit(1);
    }
    return peer;
}

static void *client(void *unused) {
    (void)unused;
    int writes = is("write") || is("sync") || is("sync16");
    int reads = is("read") || is("throttle") || is("doze"), asks = is("ask"), rows = is("row");
    int log = writes ? open_file("log", O_WRONLY | O_CREAT | O_TRUNC) : -1, peer = asks ? connected() : -1;
    int blocks = reads ? open_file("blocks", O_RDONLY | O_DIRECT) : -1, table = rows ? open_file("rows", O_RDONLY) : -1;
    struct stat status = {0};
    if (rows && fstat(table, &status)) exit(1);
    size_t width = rows ? status.st_size / ROWS : 0;
    char *buffer = aligned_alloc(BLOCK, (width / BLOCK + 1) * BLOCK);
    memset(buffer, 1, (width / BLOCK + 1) * BLOCK);
    unsigned seed = getpid();
    double end = now() + seconds;
    for (long count = 0; now() < end; count++) {
        compute(10000);
        if (is("short") || is("long")) { /* the lock is held for the sleep, or not */
            if (is("short")) nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
            pthread_mutex_lock(&mutex);
            if (is("long")) nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
            pthread_mutex_unlock(&mutex);
        }
        if (is("sleep")) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        if (is("slow")) verify_slowly(10000);
        if (writes && pwrite(log, buffer, 512, count % 4096 * 512) != 512) exit(1);
        if (is("sync") && fdatasync(log)) exit(1);
        if (is("sync16") && count % 16 == 0 && fdatasync(log)) exit(1);
        if (is("doze")) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* in each pread */
        if (reads && pread(blocks, buffer, BLOCK, (off_t)(rand_r(&seed) % BLOCKS) * BLOCK) != BLOCK) exit(1);
        if (asks && (write(peer, buffer, 1) != 1 || read(peer, buffer, 1) != 1)) exit(1);
        if (is("map")) {
            char *memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (int at = 0; at < MAPPED; at += BLOCK) memory[at] = 1;
            munmap(memory, MAPPED);
        }
        if (rows) {
            if (pread(table, buffer, width, (off_t)(rand_r(&seed) % ROWS) * width) != (ssize_t)width) exit(1);
            uint64_t sum = 0;
            for (size_t at = 0; at < width; at++) sum = sum * 31 + buffer[at];
            sink += sum;
        }
        atomic_fetch_add(&operations, 1);
    }
    return NULL;
}

int main(int count, char **words) {
    if (count < 4) return 2;
    plant = words[1], seconds = atof(words[2]), folder = words[3], detail = count > 4 ? words[4] : "";
    if (is("load")) return load(atoi(detail)), 0;
    if (is("throttle")) {
        FILE *group = fopen(detail, "w");
        if (!group || fprintf(group, "%d\n", getpid()) < 0 || fclose(group)) return perror(detail), 1;
    }
    int threads = is("short") || is("long") ? 4 : 1;
    pthread_t clients[4];
    double begin = now();
    for (int number = 0; number < threads; number++) pthread_create(&clients[number], NULL, client, NULL);
    for (int number = 0; number < threads; number++) pthread_join(clients[number], NULL);
    double elapsed = now() - begin;
    printf("operations: %ld\nper second: %.3f\naverage: %.3f us\n", (long)operations, operations / elapsed,
           threads * elapsed * 1e6 / operations);
    return 0;
}
