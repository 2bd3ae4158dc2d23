#pragma once

#include <span>
#include <string>

#include "core/floor/read_gaps.hpp"

namespace tableq::inline v0::core {

/// Ranges of ids as the two lists of numbers that statements take.
class id_ranges {
 public:
  explicit id_ranges(std::span<const read_gaps::range> ranges) {
    for (const read_gaps::range& each : ranges) {
      const char* const comma = highs_.empty() ? "" : ",";
      highs_.append(comma).append(std::to_string(each.high));
      lows_.append(comma).append(std::to_string(each.low));
    }
  }

  [[nodiscard]] const std::string& highs() const noexcept { return highs_; }
  [[nodiscard]] const std::string& lows() const noexcept { return lows_; }

 private:
  std::string highs_;
  std::string lows_;
};

}  // namespace tableq::inline v0::core
