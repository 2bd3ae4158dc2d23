#include "drivers/transport/closed_in_child.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/base/process.hpp"

namespace tableq::inline v0::drivers {
namespace {

/// Guarded by process_wide(). Never destroyed: static objects may hold sessions.
std::vector<int>& all() {
  static auto* const made = new std::vector<int>;
  return *made;
}

void close_all() {
  for (const int each : all()) ::close(each);
  all().clear();
}

}  // namespace

closed_in_child::closed_in_child(int descriptor) : descriptor_(descriptor) {
  if (descriptor_ < 0) return;
  core::in_each_child(close_all);
  const std::scoped_lock hold(core::process_wide());
  all().push_back(descriptor_);
}

closed_in_child::~closed_in_child() {
  if (descriptor_ < 0) return;
  const std::scoped_lock hold(core::process_wide());
  const auto found = std::find(all().begin(), all().end(), descriptor_);
  if (found != all().end()) all().erase(found);
}

}  // namespace tableq::inline v0::drivers
