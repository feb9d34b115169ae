/* Loaded into a benchmark by bench/why.py: WHY_CGROUP is the cgroup whose limits hold for it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void) {
    const char *cgroup = getenv("WHY_CGROUP");
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
