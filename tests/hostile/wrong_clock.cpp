// Preloaded, it tells a program the wrong time: off by WRONG_CLOCK_SECONDS, forwards and backwards
// in turn with WRONG_CLOCK_JUMPS. The time that only grows is left alone: it is what waiting is
// measured by.

#include <dlfcn.h>
#include <sys/time.h>
#include <ctime>

#include <atomic>
#include <cstdlib>

namespace {

long error_of_the_clock() {
  static const char* const seconds = std::getenv("WRONG_CLOCK_SECONDS");
  static const bool jumps = std::getenv("WRONG_CLOCK_JUMPS") != nullptr;
  static std::atomic<bool> forwards = false;
  const long by = seconds == nullptr ? 0 : std::atol(seconds);
  return jumps && forwards.exchange(!forwards) ? -by : by;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the names are the system's.
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t which,
                                                                    timespec* out) noexcept {
  static const auto real_one = real<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int answer = real_one(which, out);
  if (answer == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
    out->tv_sec += error_of_the_clock();
  }
  return answer;
}

extern "C" __attribute__((visibility("default"))) int gettimeofday(timeval* out,
                                                                   void* zone) noexcept {
  static const auto real_one = real<int (*)(timeval*, void*)>("gettimeofday");
  const int answer = real_one(out, zone);
  if (answer == 0) out->tv_sec += error_of_the_clock();
  return answer;
}

extern "C" __attribute__((visibility("default"))) time_t time(time_t* out) noexcept {
  static const auto real_one = real<time_t (*)(time_t*)>("time");
  const time_t now = real_one(nullptr) + error_of_the_clock();
  if (out != nullptr) *out = now;
  return now;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
