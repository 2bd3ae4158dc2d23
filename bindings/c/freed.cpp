#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "call.hpp"

namespace tableq_c {

void keep_freed(void* freed) noexcept {
  constexpr std::size_t most = 4096;
  static std::mutex mutex;
  static std::array<void*, most> kept{};
  static std::size_t next = 0;
  {
    const std::scoped_lock hold(mutex);
    std::swap(kept.at(next), freed);
    next = (next + 1) % most;
  }
  ::operator delete(freed);
}

}  // namespace tableq_c
