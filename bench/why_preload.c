/* Loaded into a benchmark by bench/why.py: what a patch or a host would do to it.
   WHY_CGROUP: the cgroup whose limits hold for it. WHY_BURN: rounds of arithmetic at each look at the clock. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long rounds;
static volatile unsigned long burnt;

__attribute__((constructor)) static void begin(void) {
    const char *cgroup = getenv("WHY_CGROUP"), *burn = getenv("WHY_BURN");
    rounds = burn ? atol(burn) : 0;
    if (!cgroup) return;
    char path[4096];
    snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
    int file = open(path, O_WRONLY);
    if (file < 0 || dprintf(file, "%d\n", getpid()) < 0) {
        perror(path);
        _exit(70);
    }
    close(file);
}

__attribute__((noinline)) void slow_function(void) {
    for (long round = 0; round < rounds; ++round) burnt = burnt * 2862933555777941757UL + 3037000493UL;
}

/* db_bench looks for each operation, by one of these. */
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    slow_function();
    return (int)syscall(SYS_gettimeofday, now, zone);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    slow_function();
    return (int)syscall(SYS_clock_gettime, clock, now);
}
