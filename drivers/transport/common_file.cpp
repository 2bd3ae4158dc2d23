#include "drivers/transport/common_file.hpp"

#include <vector>

#include "core/base/process.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {
namespace {

struct open_file {
  const common_file* by;
  named_file file;
  core::birthplace opened_in = {};
};

/// Guarded by process_wide(). Never destroyed: static objects may hold databases.
std::vector<open_file>& open_files() {
  static auto* const made = new std::vector<open_file>;
  return *made;
}

}  // namespace

common_file::~common_file() {
  const std::scoped_lock hold(core::process_wide());
  std::erase_if(open_files(), [this](const open_file& each) { return each.by == this; });
}

void common_file::refuse_inherited(const named_file& file) {
  const std::scoped_lock hold(core::process_wide());
  for (const open_file& each : open_files()) {
    if (each.opened_in.here() || !each.file.same(file)) continue;
    throw native_failure::judged_as(
        {errc::invalid_argument, advice::never},
        "a parent process had the file " + file.name() +
            " open before fork(), and a child cannot open it again; fork before the parent opens "
            "it, or start another program in the child");
  }
}

std::string common_file::complaint() const {
  const std::scoped_lock hold(mutex_);
  return file_ && !file_->there() ? file_->complaint() : lost_;
}

std::string common_file::opened(const named_file& found) {
  const std::scoped_lock hold(mutex_);
  if (!file_) {
    file_ = found;
    const std::scoped_lock recorded(core::process_wide());
    open_files().push_back({this, found});
  }
  return file_->same(found) ? std::string() : file_->complaint();
}

void common_file::lost(const named_file& log) {
  const std::scoped_lock hold(mutex_);
  lost_ = log.complaint();
}

}  // namespace tableq::inline v0::drivers
