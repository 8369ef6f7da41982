// A library for LD_PRELOAD that lets one call fail: the n-th of a kind, counted from the beginning of main.
//
//   FAULT=KIND:N:ERRNO   the N-th call of the KIND fails with this error, and the file FAULT_REACHED is made
//   FAULT=short:N:0      every write writes at most N bytes, and every read reads at most N
//   FAULT=again:N:0      every N-th call that may be interrupted is (EINTR), beginning with the first
//   FAULT=KIND:0:0       none fails; FAULT_REACHED becomes as many bytes long as there were calls, at exit
//
// Kinds: memory, map, thread, open, read, write, sync, close, rename, truncate, folder, lock, mode.
// Writes to standard error never fail, since what fails is told there. What is allocated before main, by the loader and
// by static objects, never fails: nobody could tell it. The same holds after main.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char kind[16];
static long chosen;
static int with_errno;
static const char* reached;
static atomic_long calls;
static atomic_int armed;

static void mark(long bytes) {
  if (!reached) return;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, reached, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  syscall(SYS_ftruncate, file, bytes);
  syscall(SYS_close, file);
}

// Whether this call is to fail; then errno is set.
static int fails(const char* name) {
  if (!atomic_load(&armed) || strcmp(name, kind) != 0) return 0;
  if (atomic_fetch_add(&calls, 1) + 1 != chosen) return 0;
  mark(0);
  errno = with_errno;
  return 1;
}

static int interrupted(void) {
  if (!atomic_load(&armed) || strcmp("again", kind) != 0) return 0;
  if (atomic_fetch_add(&calls, 1) % chosen != 0) return 0;
  mark(0);
  errno = EINTR;
  return 1;
}

static size_t shortened(size_t size) {
  if (!atomic_load(&armed) || strcmp("short", kind) != 0 || size <= (size_t)chosen) return size;
  mark(0);
  return (size_t)chosen;
}

static void count(void) {
  if (!atomic_exchange(&armed, 0)) return;
  if (chosen == 0) mark(atomic_load(&calls));
}

static int (*real_main)(int, char**, char**);

static int main_with_faults(int argc, char** argv, char** variables) {
  const char* const fault = getenv("FAULT");
  reached = getenv("FAULT_REACHED");
  if (fault && sscanf(fault, "%15[^:]:%ld:%d", kind, &chosen, &with_errno) == 3) atomic_store(&armed, 1);
  const int code = real_main(argc, argv, variables);
  count();
  return code;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int __libc_start_main(int (*its_main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void* end) {
  real_main = its_main;
  int (*const start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  return start(main_with_faults, argc, argv, init, fini, loader, end);
}

// Memory: glibc's own names are called, because dlsym itself allocates.

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  return fails("memory") ? NULL : __libc_malloc(size);
}
void* calloc(size_t count_of, size_t size) {
  return fails("memory") ? NULL : __libc_calloc(count_of, size);
}
void* realloc(void* old, size_t size) {
  return fails("memory") ? NULL : __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails("memory") ? NULL : __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) {
  return fails("memory") ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  if (fails("memory")) return errno;
  void* const memory = __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

// The others.

#define SIMPLE(result, name, of_kind, failure, parameters, arguments) \
  result name parameters {                                            \
    if (fails(of_kind)) return failure;                               \
    return NEXT(name) arguments;                                      \
  }
#define RETRIED(result, name, of_kind, parameters, arguments) \
  result name parameters {                                    \
    if (fails(of_kind) || interrupted()) return -1;           \
    return NEXT(name) arguments;                              \
  }

SIMPLE(void*, mmap, "map", MAP_FAILED, (void* at, size_t size, int how, int flags, int file, off_t offset),
       (at, size, how, flags, file, offset))
RETRIED(int, fsync, "sync", (int file), (file))
RETRIED(int, fdatasync, "sync", (int file), (file))
SIMPLE(int, rename, "rename", -1, (const char* from, const char* to), (from, to))
SIMPLE(int, renameat, "rename", -1, (int a, const char* from, int b, const char* to), (a, from, b, to))
SIMPLE(int, linkat, "rename", -1, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags))
SIMPLE(int, ftruncate, "truncate", -1, (int file, off_t size), (file, size))
SIMPLE(int, mkdir, "folder", -1, (const char* path, mode_t mode), (path, mode))
RETRIED(int, flock, "lock", (int file, int operation), (file, operation))
SIMPLE(int, fchmod, "mode", -1, (int file, mode_t mode), (file, mode))
SIMPLE(int, fchown, "mode", -1, (int file, uid_t user, gid_t group), (file, user, group))
SIMPLE(int, mkstemp, "open", -1, (char* path), (path))
SIMPLE(int, mkostemp, "open", -1, (char* path, int flags), (path, flags))
SIMPLE(FILE*, fopen, "open", NULL, (const char* path, const char* how), (path, how))

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  if (fails("thread")) return EAGAIN;
  return NEXT(pthread_create)(thread, attributes, run, argument);
}

// What is closed is closed, whatever close says of it.
int close(int file) {
  const int fault = fails("close");
  const int error = errno;
  const int result = (int)syscall(SYS_close, file);
  if (!fault) return result;
  errno = error;
  return -1;
}

ssize_t write(int file, const void* bytes, size_t size) {
  if (file != STDERR_FILENO && (fails("write") || interrupted())) return -1;
  return syscall(SYS_write, file, bytes, shortened(size));
}
ssize_t writev(int file, const struct iovec* parts, int count_of) {
  if (file != STDERR_FILENO && (fails("write") || interrupted())) return -1;
  return syscall(SYS_writev, file, parts, count_of);
}
ssize_t read(int file, void* bytes, size_t size) {
  if (fails("read") || interrupted()) return -1;
  return syscall(SYS_read, file, bytes, shortened(size));
}

// As glibc's own fread does when the system's read fails.
size_t fread(void* bytes, size_t size, size_t count_of, FILE* file) {
  if (!fails("read")) return NEXT(fread)(bytes, size, count_of, file);
  file->_flags |= 0x20;
  return 0;
}

static mode_t mode_of(int flags, va_list more) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}
#define OPEN(name, parameters, folder)                            \
  int name parameters {                                           \
    va_list more;                                                 \
    va_start(more, flags);                                        \
    const mode_t mode = mode_of(flags, more);                     \
    va_end(more);                                                 \
    if (fails("open")) return -1;                                 \
    return (int)syscall(SYS_openat, folder, path, flags, mode);   \
  }
OPEN(open, (const char* path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char* path, int flags, ...), AT_FDCWD)
OPEN(openat, (int at, const char* path, int flags, ...), at)
