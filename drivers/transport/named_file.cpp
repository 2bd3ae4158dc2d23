#include "drivers/transport/named_file.hpp"

#include <utility>

namespace tableq::inline v0::drivers {

named_file::named_file(std::string name)
    : name_(std::move(name)), identity_(identity_of_file(name_)) {}

named_file named_file::gone(std::string name) {
  named_file out;
  out.name_ = std::move(name);
  return out;
}

std::string named_file::complaint() const {
  return "the file " + name_ +
         " was deleted, moved or replaced while it was in use, so that others do not see what is "
         "written; open the database anew";
}

std::string named_file::doubt() const {
  return "the file " + name_ +
         " was deleted, moved or replaced while the change was written, so that others may not see "
         "it; find out whether it is there before you repeat it";
}

bool named_file::there() const noexcept {
  // The node number of an open file is never reused, even after the file was deleted.
  if (!found()) return false;
  if (open_files_keep_their_names) return true;
  return identity_of_file(name_) == identity_;
}

std::string named_file::number() const {
  return std::to_string(identity_.device).append(" ").append(std::to_string(identity_.node));
}

}  // namespace tableq::inline v0::drivers
