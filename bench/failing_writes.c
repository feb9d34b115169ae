/* Lets one call that writes below a folder fail, in whichever process it comes: the n-th of all that are counted.
   FAIL_BELOW: the folder; FAIL_COUNTER: a file of 8 bytes, shared; FAIL_AT: n, 0 for none; FAIL_WITH: errno;
   FAIL_ON: also all calls after it, as a disk that stays full; FAIL_SLOW: ms that each of them takes longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic long *counter;
static const char *below;
static size_t length;
static long at;
static int with, on, slow;

__attribute__((constructor)) void wake(void) {
    const char *file = getenv("FAIL_COUNTER");
    below = getenv("FAIL_BELOW");
    if (!file || !below) return;
    length = strlen(below);
    at = atol(getenv("FAIL_AT") ?: "0");
    with = atoi(getenv("FAIL_WITH") ?: "28");
    on = getenv("FAIL_ON") != NULL;
    slow = atoi(getenv("FAIL_SLOW") ?: "0");
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return;
    void *found = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found != MAP_FAILED) counter = found;
}

static int fails(void) {
    long now = atomic_fetch_add(counter, 1) + 1;
    if (slow) usleep(slow * 1000);
    if (at && (now == at || (on && now > at))) {
        errno = with;
        return 1;
    }
    return 0;
}

static int inside(const char *path) { return counter && path && strncmp(path, below, length) == 0; }

static int path_fails(const char *path) {
    char whole[4096];
    if (!counter || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole - 1 - strlen(path) % 2048)) return 0;
        strncat(whole, "/", sizeof whole - strlen(whole) - 1);
        strncat(whole, path, sizeof whole - strlen(whole) - 1);
        path = whole;
    }
    return inside(path) && fails();
}

static int fd_fails(int fd) {
    char link[64], path[4096];
    if (!counter || fd < 3) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, path, sizeof path - 1);
    if (got <= 0) return 0;
    path[got] = 0;
    return inside(path) && fails();
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) { return fd_fails(fd) ? -1 : NEXT(write)(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t to) { return fd_fails(fd) ? -1 : NEXT(pwrite)(fd, data, size, to); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t to) { return fd_fails(fd) ? -1 : NEXT(pwrite64)(fd, data, size, to); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return fd_fails(fd) ? -1 : NEXT(writev)(fd, parts, count); }
int fsync(int fd) { return fd_fails(fd) ? -1 : NEXT(fsync)(fd); }
int fdatasync(int fd) { return fd_fails(fd) ? -1 : NEXT(fdatasync)(fd); }
int ftruncate(int fd, off_t size) { return fd_fails(fd) ? -1 : NEXT(ftruncate)(fd, size); }
int rename(const char *from, const char *to) { return path_fails(to) ? -1 : NEXT(rename)(from, to); }
int mkdir(const char *path, mode_t mode) { return path_fails(path) ? -1 : NEXT(mkdir)(path, mode); }
int symlink(const char *to, const char *path) { return path_fails(path) ? -1 : NEXT(symlink)(to, path); }
int link(const char *from, const char *to) { return path_fails(to) ? -1 : NEXT(link)(from, to); }

#define OPEN(name, given)                                                         \
    mode_t mode = 0;                                                              \
    if (flags & O_CREAT) {                                                        \
        va_list more;                                                             \
        va_start(more, flags);                                                    \
        mode = va_arg(more, mode_t);                                              \
        va_end(more);                                                             \
        if (path_fails(path)) return -1;                                          \
    }                                                                             \
    return NEXT(name) given;

int open(const char *path, int flags, ...) { OPEN(open, (path, flags, mode)) }
int open64(const char *path, int flags, ...) { OPEN(open64, (path, flags, mode)) }
int openat(int folder, const char *path, int flags, ...) { OPEN(openat, (folder, path, flags, mode)) }
int openat64(int folder, const char *path, int flags, ...) { OPEN(openat64, (folder, path, flags, mode)) }
