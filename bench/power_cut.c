/* Writes down what is done below a folder, in whichever process: a line for each name that is made, moved or removed,
   and for each fsync, at which the file's content is copied. bench/power_cut.py makes of it what a power cut leaves.
   CUT_BELOW: the folder; CUT_LOG: the lines; CUT_COPIES: a folder for contents, named by pid and number. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define LONGEST 4096

static const char *below, *copies;
static size_t length;
static char logged[LONGEST];
static _Atomic int copied;

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("CUT_LOG");
    copies = getenv("CUT_COPIES");
    below = getenv("CUT_BELOW");
    if (!file || !copies || !below) {
        below = NULL;
        return;
    }
    length = strlen(below);
    snprintf(logged, sizeof logged, "%s", file);
}

static void note(const char *what, const char *first, const char *second) {
    char line[3 * LONGEST];
    int size = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, first, second ? second : "");
    int fd = NEXT(open)(logged, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return;
    NEXT(write)(fd, line, size); /* one call: lines of several processes do not mix */
    NEXT(close)(fd);
}

static int of_fd(int fd, char *whole) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, whole, LONGEST - 1);
    whole[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* The absolute path of a name, relative to an open folder; 1 where it is below ours. */
static int inside(int folder, const char *path, char *whole) {
    if (!below || !path) return 0;
    if (path[0] == '/') snprintf(whole, LONGEST, "%s", path);
    else {
        char start[LONGEST];
        if (folder == AT_FDCWD ? !getcwd(start, sizeof start) : !of_fd(folder, start)) return 0;
        if (strlen(start) + strlen(path) + 2 > LONGEST) return 0;
        snprintf(whole, LONGEST, "%.*s/%.*s", LONGEST / 2, start, LONGEST / 2 - 2, path);
    }
    return strncmp(whole, below, length) == 0 && whole[length] == '/';
}

static int opened(int folder, const char *path, int flags, int there, int fd) {
    char whole[LONGEST];
    if (fd >= 0 && (flags & (O_CREAT | O_TRUNC)) && inside(folder, path, whole)) {
        if (!there) note("create", whole, NULL);
        else if (flags & O_TRUNC) note("truncate", whole, NULL);
    }
    return fd;
}

static int exists(int folder, const char *path) { return faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

#define OPEN(name, folder, before)                                                          \
    mode_t mode = 0;                                                                        \
    if (flags & O_CREAT) {                                                                  \
        va_list more;                                                                       \
        va_start(more, flags);                                                              \
        mode = va_arg(more, mode_t);                                                        \
        va_end(more);                                                                       \
    }                                                                                       \
    int there = !below || !(flags & (O_CREAT | O_TRUNC)) || exists(folder, path);           \
    return opened(folder, path, flags, there, NEXT(name) before);

int open(const char *path, int flags, ...) { OPEN(open, AT_FDCWD, (path, flags, mode)) }
int open64(const char *path, int flags, ...) { OPEN(open64, AT_FDCWD, (path, flags, mode)) }
int openat(int folder, const char *path, int flags, ...) { OPEN(openat, folder, (folder, path, flags, mode)) }
int openat64(int folder, const char *path, int flags, ...) { OPEN(openat64, folder, (folder, path, flags, mode)) }

static int done(int result, const char *what, int folder, const char *path) {
    char whole[LONGEST];
    if (result == 0 && inside(folder, path, whole)) note(what, whole, NULL);
    return result;
}

int mkdir(const char *path, mode_t mode) { return done(NEXT(mkdir)(path, mode), "mkdir", AT_FDCWD, path); }
int mkdirat(int folder, const char *path, mode_t mode) {
    return done(NEXT(mkdirat)(folder, path, mode), "mkdir", folder, path);
}
int unlink(const char *path) { return done(NEXT(unlink)(path), "remove", AT_FDCWD, path); }
int rmdir(const char *path) { return done(NEXT(rmdir)(path), "remove", AT_FDCWD, path); }
int unlinkat(int folder, const char *path, int flags) {
    return done(NEXT(unlinkat)(folder, path, flags), "remove", folder, path);
}

static int moved(int result, const char *what, int folder, const char *from, int other, const char *to) {
    char first[LONGEST], second[LONGEST];
    if (result == 0 && inside(other, to, second)) note(what, inside(folder, from, first) ? first : "", second);
    return result;
}

int rename(const char *from, const char *to) {
    return moved(NEXT(rename)(from, to), "rename", AT_FDCWD, from, AT_FDCWD, to);
}
int renameat(int folder, const char *from, int other, const char *to) {
    return moved(NEXT(renameat)(folder, from, other, to), "rename", folder, from, other, to);
}
int link(const char *from, const char *to) { return moved(NEXT(link)(from, to), "link", AT_FDCWD, from, AT_FDCWD, to); }
int linkat(int folder, const char *from, int other, const char *to, int flags) {
    return moved(NEXT(linkat)(folder, from, other, to, flags), "link", folder, from, other, to);
}

static int linked(int result, const char *to, int folder, const char *path) {
    char whole[LONGEST];
    if (result == 0 && inside(folder, path, whole)) note("symlink", whole, to);
    return result;
}

int symlink(const char *to, const char *path) { return linked(NEXT(symlink)(to, path), to, AT_FDCWD, path); }
int symlinkat(const char *to, int folder, const char *path) {
    return linked(NEXT(symlinkat)(to, folder, path), to, folder, path);
}

static void copy(const char *from, char *name) {
    char part[65536], to[LONGEST];
    struct stat found;
    snprintf(name, 64, "%d-%d", (int)getpid(), atomic_fetch_add(&copied, 1));
    snprintf(to, sizeof to, "%s/%s", copies, name);
    int source = NEXT(open)(from, O_RDONLY | O_CLOEXEC), target = NEXT(open)(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    for (ssize_t got; (got = read(source, part, sizeof part)) > 0;) NEXT(write)(target, part, got);
    if (fstat(source, &found) == 0) {
        struct timespec times[2] = {found.st_atim, found.st_mtim};
        futimens(target, times);
        fchmod(target, found.st_mode & 07777);
    }
    NEXT(close)(source);
    NEXT(close)(target);
}

static int synced(int result, int fd) {
    char whole[LONGEST], name[64];
    struct stat found;
    if (result || !below || !of_fd(fd, whole) || strncmp(whole, below, length) || fstat(fd, &found)) return result;
    if (S_ISDIR(found.st_mode)) note("sync", whole, NULL);
    else if (whole[length] == '/' && S_ISREG(found.st_mode)) {
        copy(whole, name);
        note("sync", whole, name);
    }
    return result;
}

int fsync(int fd) { return synced(NEXT(fsync)(fd), fd); }
int fdatasync(int fd) { return synced(NEXT(fdatasync)(fd), fd); }
