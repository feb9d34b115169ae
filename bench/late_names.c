/* Names that another machine made are seen late, as an NFS client sees them whose cache says that they are not there.
   LATE_BELOW: the folder; LATE_SECONDS: how late; LATE_OWN: a file of 1 MiB, shared by the processes of this machine,
   in which each marks the inodes that it made or renamed itself. Jobs of SLURM are other machines: they see all. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIZE (1 << 20)
static unsigned char *own;
static const char *below;
static size_t length;
static double late;

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("LATE_OWN");
    below = getenv("LATE_BELOW");
    if (!file || !below || getenv("SLURM_JOB_ID")) return;
    length = strlen(below);
    late = atof(getenv("LATE_SECONDS") ?: "5");
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return;
    void *found = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found != MAP_FAILED) own = found;
}

static int raw_stat(const char *path, struct stat *found) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}

static int absolute(int folder, const char *path, char whole[4096]) {
    if (!own || !path || !*path) return 0;
    if (path[0] == '/') return snprintf(whole, 4096, "%s", path) < 4096;
    char at[4096];
    if (folder == AT_FDCWD) {
        if (!getcwd(at, sizeof at)) return 0;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t got = syscall(SYS_readlinkat, AT_FDCWD, link, at, sizeof at - 1);
        if (got <= 0) return 0;
        at[got] = 0;
    }
    return snprintf(whole, 4096, "%s/%s", at, path) < 4096;
}

static int young(const struct stat *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double age = now.tv_sec - found->st_ctim.tv_sec + (now.tv_nsec - found->st_ctim.tv_nsec) / 1e9;
    return age < late && !(own[found->st_ino % (SIZE * 8ul) / 8] & 1 << found->st_ino % 8);
}

/* Whether a part of the path is a name that came from elsewhere just now. A folder that something was put into is not. */
static int hidden(int folder, const char *path) {
    char whole[4096];
    struct stat found;
    if (!absolute(folder, path, whole) || strncmp(whole, below, length)) return 0;
    for (char *end = whole + length; end; end = strchr(end + 1, '/')) {
        char *next = strchr(end + 1, '/');
        if (next) *next = 0;
        int hides = raw_stat(whole, &found) == 0 && young(&found) && !(S_ISDIR(found.st_mode) && found.st_mtime >= found.st_ctime);
        if (next) *next = '/';
        if (hides) return errno = ENOENT, 1;
        if (!next) break;
    }
    return 0;
}

static void mine(int folder, const char *path) {
    char whole[4096];
    struct stat found;
    int kept = errno;
    if (absolute(folder, path, whole) && !strncmp(whole, below, length) && raw_stat(whole, &found) == 0)
        own[found.st_ino % (SIZE * 8ul) / 8] |= 1 << found.st_ino % 8;
    errno = kept;
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define LOOK(type, name, params, given, folder) \
    type name params { return hidden(folder, path) ? -1 : NEXT(name) given; }
LOOK(int, stat, (const char *path, struct stat *to), (path, to), AT_FDCWD)
LOOK(int, lstat, (const char *path, struct stat *to), (path, to), AT_FDCWD)
LOOK(int, stat64, (const char *path, struct stat64 *to), (path, to), AT_FDCWD)
LOOK(int, lstat64, (const char *path, struct stat64 *to), (path, to), AT_FDCWD)
LOOK(int, fstatat, (int at, const char *path, struct stat *to, int flags), (at, path, to, flags), at)
LOOK(int, fstatat64, (int at, const char *path, struct stat64 *to, int flags), (at, path, to, flags), at)
LOOK(int, access, (const char *path, int mode), (path, mode), AT_FDCWD)
LOOK(int, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), at)
LOOK(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size), AT_FDCWD)

#define MAKE(name, params, given, folder) \
    int name params { int done = NEXT(name) given; if (done == 0) mine(folder, path); return done; }
MAKE(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD)
MAKE(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), at)
MAKE(symlink, (const char *to, const char *path), (to, path), AT_FDCWD)
MAKE(symlinkat, (const char *to, int at, const char *path), (to, at, path), at)
MAKE(link, (const char *from, const char *path), (from, path), AT_FDCWD)
MAKE(rename, (const char *from, const char *path), (from, path), AT_FDCWD)
MAKE(renameat, (int f, const char *from, int at, const char *path), (f, from, at, path), at)

#define OPEN(name, folder, given)                                \
    mode_t mode = 0;                                             \
    if (flags & O_CREAT) {                                       \
        va_list more;                                            \
        va_start(more, flags);                                   \
        mode = va_arg(more, mode_t);                             \
        va_end(more);                                            \
    } else if (hidden(folder, path)) return -1;                  \
    int done = NEXT(name) given;                                 \
    if (done >= 0 && flags & O_CREAT) mine(folder, path);        \
    return done;
int open(const char *path, int flags, ...) { OPEN(open, AT_FDCWD, (path, flags, mode)) }
int open64(const char *path, int flags, ...) { OPEN(open64, AT_FDCWD, (path, flags, mode)) }
int openat(int at, const char *path, int flags, ...) { OPEN(openat, at, (at, path, flags, mode)) }
int openat64(int at, const char *path, int flags, ...) { OPEN(openat64, at, (at, path, flags, mode)) }

#define READ(name, entry)                                                        \
    struct entry *name(DIR *folder) {                                            \
        struct entry *found;                                                     \
        while ((found = NEXT(name)(folder)) && hidden(dirfd(folder), found->d_name)) {} \
        return found;                                                            \
    }
READ(readdir, dirent)
READ(readdir64, dirent64)
