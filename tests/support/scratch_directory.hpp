#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "support/text.hpp"

namespace tableq_test {

/// A directory that is removed with the object.
class scratch_directory {
 public:
  scratch_directory() {
    path_ = std::filesystem::temp_directory_path() / ("tableq-" + unique_name());
    if (!std::filesystem::create_directory(path_)) throw std::runtime_error("it is there already");
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() {
    std::error_code ignored;  // Files left in a temporary directory do no harm.
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tableq_test
