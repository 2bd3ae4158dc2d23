#include "support/readable.hpp"

#if defined(_WIN32)
#include <winsock2.h>
#else
#include <poll.h>
#endif

namespace tableq_test {

bool readable(int descriptor, std::chrono::milliseconds longest) {
  const auto time = static_cast<int>(longest.count());
#if defined(_WIN32)
  WSAPOLLFD one{.fd = static_cast<SOCKET>(descriptor), .events = POLLIN, .revents = 0};
  return ::WSAPoll(&one, 1, time) == 1 && (one.revents & POLLIN) != 0;
#else
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, time) == 1 && (one.revents & POLLIN) != 0;
#endif
}

}  // namespace tableq_test
