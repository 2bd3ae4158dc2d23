#pragma once

#include <cstddef>
#include <optional>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tableq_test {

/// The bytes that this process has allocated. Empty on a system that does not tell.
inline std::optional<std::size_t> allocated_bytes() {
#if defined(__GLIBC__)
  return ::mallinfo2().uordblks;
#else
  return std::nullopt;
#endif
}

}  // namespace tableq_test
