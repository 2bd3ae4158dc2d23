#pragma once

#include <stdexcept>

#include <tableq/error.hpp>

namespace tool {

/// The exit status. Scripts depend on it; never renumber.
enum class exit_status : int {
  done = 0,
  /// There is no such message, batch or schedule, or a lease was lost. Of a queue: `refused`.
  nothing = 1,
  usage = 2,  ///< The arguments are wrong; nothing was changed.
  /// The database, or the receiver of the output, refused; or `work` ended before it answered; or
  /// there is no such queue.
  refused = 3,
};

/// The arguments are wrong.
class usage_error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// An operation is refused, without a tableq::error.
class refused_error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

inline exit_status status_of(const tableq::error& failure) {
  switch (failure.code()) {
    case tableq::errc::invalid_argument:
    case tableq::errc::kind_mismatch:
    case tableq::errc::options_mismatch:
      return exit_status::usage;
    default:
      return exit_status::refused;
  }
}

}  // namespace tool
