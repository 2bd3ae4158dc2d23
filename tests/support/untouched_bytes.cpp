#include "support/untouched_bytes.hpp"

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace tableq_test {

#if defined(_WIN32)

untouched_bytes::untouched_bytes(std::size_t size)
    : size_(size), start_(::VirtualAlloc(nullptr, size, MEM_RESERVE, PAGE_NOACCESS)) {
  if (start_ == nullptr) throw std::runtime_error("no address space");
}

untouched_bytes::~untouched_bytes() {
  ::VirtualFree(start_, 0, MEM_RELEASE);
}

std::ptrdiff_t untouched_bytes::touched_pages() const {
  return 0;
}

#else

untouched_bytes::untouched_bytes(std::size_t size)
    : size_(size),
      start_(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (start_ == MAP_FAILED) throw std::runtime_error("no address space");
}

untouched_bytes::~untouched_bytes() {
  ::munmap(start_, size_);
}

std::ptrdiff_t untouched_bytes::touched_pages() const {
  std::vector<unsigned char> pages(size_ / 4096 + 1);
  if (::mincore(start_, size_, pages.data()) != 0) return -1;
  return std::count_if(pages.begin(), pages.end(),
                       [](unsigned char page) { return (page & 1U) != 0; });
}

#endif

}  // namespace tableq_test
