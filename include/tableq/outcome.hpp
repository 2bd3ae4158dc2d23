#pragma once

#include <optional>
#include <utility>

#include <tableq/error.hpp>

namespace tableq::inline v0 {

/// The outcome of an asynchronous call: its result, or its error.
///
/// A value: owns its result or its error.
template <class Result>
class outcome {
 public:
  /// The call succeeded.
  explicit outcome(Result result) : result_(std::move(result)) {}
  /// The call failed.
  explicit outcome(error failure) : failure_(std::move(failure)) {}

  /// Whether there is a result.
  [[nodiscard]] bool ok() const noexcept { return result_.has_value(); }
  /// The result. Valid as long as this object.
  /// @throws error the error, if there is no result.
  [[nodiscard]] const Result& result() const {
    if (failure_) throw error(*failure_);
    return *result_;
  }
  /// The error, valid as long as this object. Null when there is a result.
  [[nodiscard]] const error* failure() const noexcept { return failure_ ? &*failure_ : nullptr; }

 private:
  std::optional<Result> result_;
  std::optional<error> failure_;
};

}  // namespace tableq::inline v0
