#pragma once

#include <optional>
#include <utility>

#include <tableq/error.hpp>

namespace tableq::inline v0 {

/// The outcome of an asynchronous call: its result, or its error.
template <class Result>
class outcome {
 public:
  explicit outcome(Result result) : result_(std::move(result)) {}
  explicit outcome(error failure) : failure_(std::move(failure)) {}

  /// Whether there is a result.
  [[nodiscard]] bool ok() const noexcept { return result_.has_value(); }
  /// @throws error the error, if there is no result.
  [[nodiscard]] const Result& result() const {
    if (failure_) throw error(*failure_);
    return *result_;
  }
  /// Null when there is a result.
  [[nodiscard]] const error* failure() const noexcept { return failure_ ? &*failure_ : nullptr; }

 private:
  std::optional<Result> result_;
  std::optional<error> failure_;
};

}  // namespace tableq::inline v0
