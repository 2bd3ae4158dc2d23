#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tableq/tableq.hpp>

#include "format.hpp"
#include "source.hpp"

namespace tool {

/// The result of one query of a queue.
struct queue_figures {
  std::string queue;
  tableq::kind kind = tableq::kind::fifo;
  std::variant<tableq::queue_stats, tableq::claim_stats> found;

  [[nodiscard]] tableq::timestamp as_of() const;
  [[nodiscard]] std::optional<tableq::timestamp> oldest() const;
};

queue_figures look_at(const any_source& opened, const tableq::stats_options& options);

/// A figure by its name, as printed.
struct figure {
  std::string_view name;
  std::optional<std::size_t> count;  ///< Empty: the queue has no such figure.
  bool at_least = false;             ///< A lower bound.

  /// `12`, `10000+` or `-`.
  [[nodiscard]] std::string text() const;
};

/// ready, delayed, leased, held, done, dead, and dead_letters: dead ones in another queue.
std::vector<figure> figures_of(const queue_figures& of);

/// One queue's figures; null if the kind lacks a figure.
json figures_json(const queue_figures& of);

/// The changes between two queries of one queue.
tableq::queue_rates rates_of(const queue_figures& earlier, const queue_figures& later);

}  // namespace tool
