#pragma once

#include <span>

#include "site.hpp"

namespace tool::web {

/// The count of a figure; of dead messages wherever they are.
figure count_of(const queue_view& of, std::string_view name);

/// The queues of all databases that the address asks for: with a part of a name, in an order, from
/// a place in it.
struct overview {
  explicit overview(const call& asked);

  /// The address of the same in this order, from this place.
  [[nodiscard]] std::string link(std::string_view order, std::size_t begin = 0) const;

  /// Of all rows together.
  [[nodiscard]] figure count(std::string_view name) const;
  [[nodiscard]] double rate(std::optional<double> tableq::queue_rates::*which) const;

  struct place {
    std::size_t database;
    const queue_view* queue;
  };
  static constexpr std::size_t most = 200;  ///< Rows of a page.

  const std::string start;  ///< Of its addresses.
  const std::string part;
  const std::string by;
  std::vector<std::shared_ptr<const database_view>> views = {};
  std::vector<place> rows = {};
  std::size_t from = 0;
  std::span<const place> shown = {};
};

}  // namespace tool::web
