#pragma once

#include <chrono>

namespace tableq_test {

/// Whether a descriptor of a watch or a keeper is readable, or becomes so within the time.
[[nodiscard]] bool readable(int descriptor, std::chrono::milliseconds longest);

}  // namespace tableq_test
