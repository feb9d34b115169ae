/* One of so many reads below a folder finds a stale file handle, as on NFS when a server restarted, or another machine
   replaced what was open. The next try finds the file. STALE_BELOW: the folder; STALE_ONE_OF: of how many calls. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *below;
static size_t length;
static long one_of;
static unsigned seed;

__attribute__((constructor)) static void begin(void) {
    struct timespec now;
    below = getenv("STALE_BELOW");
    one_of = atol(getenv("STALE_ONE_OF") ?: "0");
    length = below ? strlen(below) : 0;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = now.tv_nsec ^ getpid() << 8;
}

static int stale(void) {
    if (one_of <= 0 || rand_r(&seed) % one_of) return 0;
    return errno = ESTALE, 1;
}

static int stale_fd(int fd) {
    char link[64], path[4096];
    if (!below || fd < 3) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    return got >= (ssize_t)length && !strncmp(path, below, length) && stale();
}

static int stale_path(int folder, const char *path) {
    char at[4096], whole[8192];
    if (!below || !path || !*path) return 0;
    if (path[0] != '/') {
        if (folder != AT_FDCWD) return stale_fd(folder);
        if (!getcwd(at, sizeof at)) return 0;
        snprintf(whole, sizeof whole, "%s/%s", at, path);
        path = whole;
    }
    return !strncmp(path, below, length) && stale();
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define LOOK(type, name, params, given, folder) \
    type name params { return stale_path(folder, path) ? -1 : NEXT(name) given; }
LOOK(int, stat, (const char *path, struct stat *to), (path, to), AT_FDCWD)
LOOK(int, lstat, (const char *path, struct stat *to), (path, to), AT_FDCWD)
LOOK(int, stat64, (const char *path, struct stat64 *to), (path, to), AT_FDCWD)
LOOK(int, lstat64, (const char *path, struct stat64 *to), (path, to), AT_FDCWD)
LOOK(int, fstatat, (int at, const char *path, struct stat *to, int flags), (at, path, to, flags), at)
LOOK(int, fstatat64, (int at, const char *path, struct stat64 *to, int flags), (at, path, to, flags), at)
LOOK(int, access, (const char *path, int mode), (path, mode), AT_FDCWD)
LOOK(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size), AT_FDCWD)

ssize_t read(int fd, void *to, size_t size) { return stale_fd(fd) ? -1 : NEXT(read)(fd, to, size); }
ssize_t pread(int fd, void *to, size_t size, off_t at) { return stale_fd(fd) ? -1 : NEXT(pread)(fd, to, size, at); }
ssize_t pread64(int fd, void *to, size_t size, off64_t at) { return stale_fd(fd) ? -1 : NEXT(pread64)(fd, to, size, at); }
int fstat(int fd, struct stat *to) { return stale_fd(fd) ? -1 : NEXT(fstat)(fd, to); }
int fstat64(int fd, struct stat64 *to) { return stale_fd(fd) ? -1 : NEXT(fstat64)(fd, to); }
struct dirent *readdir(DIR *folder) { return stale_fd(dirfd(folder)) ? NULL : NEXT(readdir)(folder); }
struct dirent64 *readdir64(DIR *folder) { return stale_fd(dirfd(folder)) ? NULL : NEXT(readdir64)(folder); }

#define OPEN(name, folder, given)                                \
    mode_t mode = 0;                                             \
    if (flags & (O_CREAT | O_TMPFILE)) {                         \
        va_list more;                                            \
        va_start(more, flags);                                   \
        mode = va_arg(more, mode_t);                             \
        va_end(more);                                            \
    } else if (stale_path(folder, path)) {                       \
        return -1;                                               \
    }                                                            \
    return NEXT(name) given;

int open(const char *path, int flags, ...) { OPEN(open, AT_FDCWD, (path, flags, mode)) }
int open64(const char *path, int flags, ...) { OPEN(open64, AT_FDCWD, (path, flags, mode)) }
int openat(int at, const char *path, int flags, ...) { OPEN(openat, at, (at, path, flags, mode)) }
int openat64(int at, const char *path, int flags, ...) { OPEN(openat64, at, (at, path, flags, mode)) }
