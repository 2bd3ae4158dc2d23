#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "raw.hpp"

namespace bench {

inline constexpr const char* child_argument = "--child";
inline constexpr const char* last_message = "last";

/// Nanoseconds of a clock that all processes of the machine share.
std::int64_t now_ns();

/// Another process of this program. Killed with the object if it still runs.
class child_process {
 public:
  explicit child_process(const json& order);
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&&) = delete;
  ~child_process();

  /// Its next line.
  /// @throws std::runtime_error when the process has ended.
  json answer();
  /// Starts its work.
  void go() const;

 private:
  ::pid_t id_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;
};

}  // namespace bench
