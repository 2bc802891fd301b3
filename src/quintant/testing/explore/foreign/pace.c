/* Makes the clocks of a process run PACE times as fast, and everything that waits wait as much less.

   Preloaded into programs that are linked dynamically. The two clocks count from moments that the
   environment gives, so that processes that are started one after another agree:

     QUINTANT_PACE=30 QUINTANT_PACE_REALTIME=1760000000.0 QUINTANT_PACE_MONOTONIC=12345.6

   CPU clocks are left alone. QUINTANT_PACE_MARK names a file that is made once it is loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

typedef long long ns_t;
#define SECOND 1000000000LL

static double pace = 1.0;
static ns_t realtime_origin, monotonic_origin;
static int ready;

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static ns_t of_seconds(const char *text) { return (ns_t)(strtold(text, NULL) * 1e9L); }

__attribute__((constructor)) static void begin(void) {
  const char *given = getenv("QUINTANT_PACE"), *mark = getenv("QUINTANT_PACE_MARK");
  const char *realtime = getenv("QUINTANT_PACE_REALTIME");
  const char *monotonic = getenv("QUINTANT_PACE_MONOTONIC");
  if (ready || !given || !realtime || !monotonic) return;
  pace = strtod(given, NULL);
  if (!(pace >= 1.0)) pace = 1.0;
  realtime_origin = of_seconds(realtime);
  monotonic_origin = of_seconds(monotonic);
  ready = 1;
  if (mark) {
    int file = open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
  }
}

static ns_t ns_of(const struct timespec *t) { return t->tv_sec * SECOND + t->tv_nsec; }
static struct timespec spec_of(ns_t ns) {
  if (ns < 0) ns = 0;
  struct timespec made = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
  return made;
}
static int is_realtime(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE; }
static int is_monotonic(clockid_t id) {
  return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE ||
         id == CLOCK_BOOTTIME;
}
static ns_t origin_of(clockid_t id) { return is_realtime(id) ? realtime_origin : monotonic_origin; }
/* From the machine's time to ours, and back. */
static ns_t faster(clockid_t id, ns_t ns) {
  ns_t origin = origin_of(id);
  return origin + (ns_t)((double)(ns - origin) * pace);
}
static ns_t slower(clockid_t id, ns_t ns) {
  ns_t origin = origin_of(id);
  return origin + (ns_t)((double)(ns - origin) / pace);
}
static struct timespec shorter(const struct timespec *t) {
  ns_t ns = (ns_t)((double)ns_of(t) / pace);
  return spec_of(ns_of(t) > 0 && ns == 0 ? 1 : ns);
}
static int shorter_ms(int ms) {
  if (ms <= 0) return ms;
  int made = (int)(ms / pace);
  return made ? made : 1;
}

int clock_gettime(clockid_t id, struct timespec *t) {
  REAL(clock_gettime);
  begin();
  int code = real(id, t);
  if (code == 0 && ready && (is_realtime(id) || is_monotonic(id))) *t = spec_of(faster(id, ns_of(t)));
  return code;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  struct timespec now;
  (void)zone;
  int code = clock_gettime(CLOCK_REALTIME, &now);
  if (code == 0 && t) {
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
  }
  return code;
}

time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}

static void lengthen(struct timespec *left) {
  if (left) *left = spec_of((ns_t)((double)ns_of(left) * pace));
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left) {
  REAL(clock_nanosleep);
  struct timespec made = *t;
  if (ready && (is_realtime(id) || is_monotonic(id)))
    made = flags & TIMER_ABSTIME ? spec_of(slower(id, ns_of(t))) : shorter(t);
  int code = real(id, flags, &made, left);
  if (code == EINTR && ready && !(flags & TIMER_ABSTIME)) lengthen(left);
  return code;
}

int nanosleep(const struct timespec *t, struct timespec *left) {
  REAL(nanosleep);
  struct timespec made = ready ? shorter(t) : *t;
  int code = real(&made, left);
  if (code < 0 && errno == EINTR && ready) lengthen(left);
  return code;
}

int usleep(useconds_t us) {
  struct timespec t = spec_of((ns_t)us * 1000);
  return nanosleep(&t, NULL);
}

unsigned sleep(unsigned seconds) {
  struct timespec t = {.tv_sec = seconds}, left = {0};
  return nanosleep(&t, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
  REAL(select);
  if (!t || !ready) return real(n, r, w, e, t);
  struct timespec given = {.tv_sec = t->tv_sec, .tv_nsec = t->tv_usec * 1000};
  struct timespec made = shorter(&given);
  struct timeval brief = {.tv_sec = made.tv_sec, .tv_usec = (made.tv_nsec + 999) / 1000};
  if (brief.tv_usec >= 1000000) brief.tv_usec = 999999;
  return real(n, r, w, e, &brief);
}

int pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *m) {
  REAL(pselect);
  struct timespec made;
  if (t) made = ready ? shorter(t) : *t;
  return real(n, r, w, e, t ? &made : NULL, m);
}

int poll(struct pollfd *fds, nfds_t n, int ms) {
  REAL(poll);
  return real(fds, n, ready ? shorter_ms(ms) : ms);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *m) {
  REAL(ppoll);
  struct timespec made;
  if (t) made = ready ? shorter(t) : *t;
  return real(fds, n, t ? &made : NULL, m);
}

int epoll_wait(int fd, struct epoll_event *events, int most, int ms) {
  REAL(epoll_wait);
  return real(fd, events, most, ready ? shorter_ms(ms) : ms);
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *m) {
  REAL(epoll_pwait);
  return real(fd, events, most, ready ? shorter_ms(ms) : ms, m);
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                           const struct timespec *restrict t) {
  REAL(pthread_cond_timedwait);
  if (!ready) return real(c, m, t);
  /* Of which clock the time is, the condition knows. The two are decades apart, unless the machine
     has just been switched on at the beginning of time. */
  clockid_t id = t->tv_sec > realtime_origin / SECOND / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  struct timespec made = spec_of(slower(id, ns_of(t)));
  return real(c, m, &made);
}

int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t id,
                           const struct timespec *restrict t) {
  REAL(pthread_cond_clockwait);
  struct timespec made = ready ? spec_of(slower(id, ns_of(t))) : *t;
  return real(c, m, id, &made);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const struct timespec *restrict t) {
  REAL(pthread_mutex_timedlock);
  struct timespec made = ready ? spec_of(slower(CLOCK_REALTIME, ns_of(t))) : *t;
  return real(m, &made);
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict t) {
  REAL(sem_timedwait);
  struct timespec made = ready ? spec_of(slower(CLOCK_REALTIME, ns_of(t))) : *t;
  return real(s, &made);
}

int sem_clockwait(sem_t *restrict s, clockid_t id, const struct timespec *restrict t) {
  REAL(sem_clockwait);
  struct timespec made = ready ? spec_of(slower(id, ns_of(t))) : *t;
  return real(s, id, &made);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *old) {
  REAL(timerfd_settime);
  if (!ready || !t) return real(fd, flags, t, old);
  struct itimerspec made = *t;
  if (flags & TFD_TIMER_ABSTIME) {
    clockid_t id = t->it_value.tv_sec > realtime_origin / SECOND / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (ns_of(&t->it_value)) made.it_value = spec_of(slower(id, ns_of(&t->it_value)));
  } else {
    made.it_value = shorter(&t->it_value);
  }
  made.it_interval = shorter(&t->it_interval);
  return real(fd, flags, &made, old);
}

int setitimer(__itimer_which_t which, const struct itimerval *restrict t,
              struct itimerval *restrict old) {
  REAL(setitimer);
  if (!ready || !t || which != ITIMER_REAL) return real(which, t, old);
  struct timespec value = {t->it_value.tv_sec, t->it_value.tv_usec * 1000};
  struct timespec again = {t->it_interval.tv_sec, t->it_interval.tv_usec * 1000};
  value = shorter(&value), again = shorter(&again);
  struct itimerval made = {{again.tv_sec, (again.tv_nsec + 999) / 1000},
                           {value.tv_sec, (value.tv_nsec + 999) / 1000}};
  return real(which, &made, old);
}

/* Rust waits for its locks by futexes, without the functions above. */
long syscall(long number, ...) {
  REAL(syscall);
  long a[6];
  va_list given;
  va_start(given, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(given, long);
  va_end(given);
  struct timespec made;
  if (ready && number == SYS_futex && a[3]) {
    int operation = (int)a[1] & FUTEX_CMD_MASK;
    const struct timespec *t = (const struct timespec *)a[3];
    clockid_t id = a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (operation == FUTEX_WAIT) {
      made = shorter(t);
      a[3] = (long)&made;
    } else if (operation == FUTEX_WAIT_BITSET) {
      made = spec_of(slower(id, ns_of(t)));
      a[3] = (long)&made;
    }
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
