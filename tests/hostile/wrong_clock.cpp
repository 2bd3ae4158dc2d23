// Preloaded, it gives a program a wrong time: wrong by WRONG_CLOCK_SECONDS, forwards and backwards
// in turn with WRONG_CLOCK_JUMPS; or by the seconds in WRONG_CLOCK_FILE, which may change at any
// time. The monotonic clock is not changed, because it measures waits.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <ctime>

#include <atomic>
#include <cstdlib>

namespace {

/// The file's current text; null without a file.
const char* named_file() {
  const char* const name = std::getenv("WRONG_CLOCK_FILE");
  const int file = name == nullptr ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  constexpr std::size_t size = 32;
  void* const text = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return text == MAP_FAILED ? nullptr : static_cast<const char*>(text);
}

long error_of_the_clock() {
  static const char* const file = named_file();
  if (file != nullptr) return std::atol(file);
  static const char* const seconds = std::getenv("WRONG_CLOCK_SECONDS");
  static const bool jumps = std::getenv("WRONG_CLOCK_JUMPS") != nullptr;
  static std::atomic<bool> forwards{false};
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
