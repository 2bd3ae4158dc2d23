#include "core/watch/ready_descriptor.hpp"

#include <tableq/error.hpp>

#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>

#include <array>
#endif

namespace tableq::inline v0::core {

#if defined(_WIN32)

ready_descriptor::ready_descriptor() {
  throw error(errc::unsupported, advice::never,
              "this system has no descriptor that an event loop could wait for; use calls that "
              "wait, in threads");
}
ready_descriptor::~ready_descriptor() = default;
void ready_descriptor::raise() noexcept {}
void ready_descriptor::lower() noexcept {}

#else

// A pipe with one byte in it while it is raised.

ready_descriptor::ready_descriptor() {
  std::array<int, 2> ends{};
#if defined(__linux__)
  const bool made = ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0;
#else
  const bool made = ::pipe(ends.data()) == 0;
#endif
  if (!made) {
    throw error(errc::busy, advice::statement,
                "the system has no descriptor left for this process; raise its limit of open "
                "files, or close some");
  }
#if !defined(__linux__)
  for (const int each : ends) {
    ::fcntl(each, F_SETFD, FD_CLOEXEC);
    ::fcntl(each, F_SETFL, O_NONBLOCK);
  }
#endif
  reading_ = ends[0];
  writing_ = ends[1];
}

ready_descriptor::~ready_descriptor() {
  ::close(reading_);
  ::close(writing_);
}

void ready_descriptor::raise() noexcept {
  if (raised_) return;
  const char byte = 0;
  raised_ = ::write(writing_, &byte, 1) == 1;
}

void ready_descriptor::lower() noexcept {
  if (!raised_) return;
  char byte = 0;
  raised_ = ::read(reading_, &byte, 1) != 1;
}

#endif

}  // namespace tableq::inline v0::core
