#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/seam/statement.hpp"
#include "core/seam/value.hpp"

namespace tableq::inline v0::drivers {

/// Arrays as text, for transports that cannot bind them: PostgreSQL's form `{1,NULL}` or
/// `{"a","\\x00ff"}`, which the statement casts. The SQL standard has no such form.
///
/// Owns the texts; one for each item parameter.
class array_texts {
 public:
  /// @param items item by item, each with the values of `fields`.
  array_texts(std::span<const core::value> items, std::span<const core::field> fields);
  array_texts(const array_texts&) = delete;
  array_texts& operator=(const array_texts&) = delete;

  /// Arrays of one item.
  [[nodiscard]] std::span<const core::value> values() const noexcept { return values_; }

 private:
  std::vector<std::string> texts_;
  std::vector<core::value> values_;
};

}  // namespace tableq::inline v0::drivers
