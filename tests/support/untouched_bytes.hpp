#pragma once

#include <cstddef>
#include <string_view>

namespace tableq_test {

/// A view of more bytes than the memory has: pages exist only after an access, which on Windows
/// ends the program.
class untouched_bytes {
 public:
  explicit untouched_bytes(std::size_t size);
  untouched_bytes(const untouched_bytes&) = delete;
  untouched_bytes& operator=(const untouched_bytes&) = delete;
  ~untouched_bytes();

  [[nodiscard]] std::string_view view() const { return {static_cast<const char*>(start_), size_}; }
  [[nodiscard]] std::ptrdiff_t touched_pages() const;

 private:
  std::size_t size_;
  void* start_;
};

}  // namespace tableq_test
