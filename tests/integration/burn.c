#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

#define BURN(name)                                               \
  __attribute__((noinline)) void name(double microseconds) {     \
    double end = seconds(CLOCK_MONOTONIC) + microseconds * 1e-6; \
    while (seconds(CLOCK_MONOTONIC) < end)                       \
      for (volatile int at = 0; at < 500; at++) {}               \
  }
BURN(look_up)
BURN(verify_checksum)

int main(int count, char** words) {
  double length = atof(words[1]), extra = atof(words[2]), sleep = atof(words[3]);
  long operations = 0;
  while (seconds(CLOCK_PROCESS_CPUTIME_ID) < length) {
    look_up(20);
    if (extra > 0) verify_checksum(extra);
    if (sleep > 0) usleep(sleep);
    operations++;
  }
  printf("operations %ld rate %f\n", operations, operations / seconds(CLOCK_PROCESS_CPUTIME_ID));
}
