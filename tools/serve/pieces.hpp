#pragma once

#include <charconv>
#include <functional>
#include <span>

#include "selection.hpp"
#include "serve_assets.hpp"
#include "site.hpp"
#include "words.hpp"

namespace tool::web {

/// The queues of all databases that the address asks for: with a part of a name, in an order, from
/// a place in it.
struct overview {
  static constexpr std::size_t most = 200;  ///< Rows of a page.
  struct place {
    std::size_t database;
    const queue_view* queue;
  };

  explicit overview(const call& asked)
      : start(asked.site.link("/?find=")),
        part(asked.from.query["find"]),
        by(asked.from.query["by"].empty() ? "name" : asked.from.query["by"]) {
    for (const auto& each : asked.site.databases) {
      views.push_back(each->view());
      for (const queue_view& queue : views.back()->queues) {
        if (queue.name().find(part) != std::string::npos)
          rows.push_back({views.size() - 1, &queue});
      }
    }
    std::ranges::stable_sort(rows, std::ranges::greater(),
                             [&](const place& each) { return order_of(*each.queue); });
    const std::string& first = asked.from.query["from"];
    std::from_chars(first.data(), first.data() + first.size(), from);
    from = std::min(from, rows.size());
    shown = std::span(rows).subspan(from, std::min(most, rows.size() - from));
  }

  /// The count of a figure; of dead messages wherever they are.
  static figure count_of(const queue_view& of, std::string_view name) {
    figure out = of.find(name);
    if (name == "dead") add(out, of.find("dead_letters"));
    return out;
  }
  /// Of all rows together.
  [[nodiscard]] figure count(std::string_view name) const {
    figure out{"", 0};
    for (const place& each : rows) add(out, count_of(*each.queue, name));
    return out;
  }
  [[nodiscard]] double rate(std::optional<double> tableq::queue_rates::*which) const {
    double out = 0;
    for (const place& each : rows) out += (each.queue->rates.*which).value_or(0);
    return out;
  }
  /// The address of the same in this order, from this place.
  [[nodiscard]] std::string link(std::string_view order, std::size_t begin = 0) const {
    return start + escaped(part) + "&by=" + escaped(order) +
           (begin > 0 ? "&from=" + std::to_string(begin) : "");
  }

  const std::string start;  ///< Of its addresses.
  const std::string part;
  const std::string by;
  std::vector<std::shared_ptr<const database_view>> views = {};
  std::vector<place> rows = {};
  std::size_t from = 0;
  std::span<const place> shown = {};

 private:
  /// The largest comes first.
  [[nodiscard]] double order_of(const queue_view& of) const {
    if (by == "oldest") return of.oldest() ? static_cast<double>(of.oldest()->count()) : -1;
    if (by == "rate") return of.rates.enqueued.value_or(-1);
    // By their names they are in order; no figure has this name.
    return static_cast<double>(count_of(of, by).count.value_or(0));
  }
  /// Adds a count, which may be a lower bound; one that is not known adds nothing.
  static void add(figure& to, const figure& count) {
    if (count.count) to.count = to.count.value_or(0) + *count.count;
    to.at_least = to.at_least || count.at_least;
  }
};

/// A value with its name: a fact, a tile, or a cell of a table.
struct item {
  html name;
  html value;
  std::string_view style = {};
  std::string link = {};        ///< The tile's page; of a cell: to the table sorted by its column.
  std::string_view order = {};  ///< Of a cell: how the table is sorted by its column.
};
/// The first cell names the row.
struct row {
  std::vector<item> cells = {};
  std::string live = {};  ///< Names it for the script.
};

}  // namespace tool::web
