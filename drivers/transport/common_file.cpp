#include "drivers/transport/common_file.hpp"

namespace tableq::inline v0::drivers {

std::string common_file::complaint() const {
  const std::scoped_lock hold(mutex_);
  return file_ && !file_->there() ? file_->complaint() : lost_;
}

std::string common_file::opened(const named_file& found) {
  const std::scoped_lock hold(mutex_);
  if (!file_) file_ = found;
  return file_->same(found) ? std::string() : file_->complaint();
}

void common_file::lost(const named_file& log) {
  const std::scoped_lock hold(mutex_);
  lost_ = log.complaint();
}

}  // namespace tableq::inline v0::drivers
