#include "overview.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace tool::web {

namespace {

/// Adds counts, of which some may be lower bounds; those that are not known add nothing.
figure sum_of(const figure& one, const figure& other) {
  figure out{"", one.count, one.at_least || other.at_least};
  if (other.count) out.count = out.count.value_or(0) + *other.count;
  return out;
}

/// The largest comes first.
double place_of(const std::string& by, const queue_view& of) {
  if (by == "ready") return static_cast<double>(of.find("ready").count.value_or(0));
  if (by == "dead") return static_cast<double>(dead_of(of).count.value_or(0));
  if (by == "oldest") return of.oldest() ? static_cast<double>(of.oldest()->count()) : -1;
  if (by == "rate") return of.rates.enqueued.value_or(-1);
  return 0;  // They are in the order of their names.
}

std::vector<item> totals_of(const std::vector<overview::place>& rows) {
  const auto sum = [&](const auto& figure_of) {
    figure out{"", 0};
    for (const auto& each : rows) out = sum_of(out, figure_of(*each.queue));
    return out;
  };
  const auto count = [&](std::string_view name) {
    return count_words(sum([&](const queue_view& of) { return of.find(name); }));
  };
  const auto rate = [&](auto which) {
    double out = 0;
    for (const auto& each : rows) out += (each.queue->rates.*which).value_or(0);
    return rate_words(out);
  };
  const figure dead = sum(dead_of);
  return {{"Queues", number(rows.size())},
          {"Ready", count("ready")},
          {"Leased", count("leased")},
          {"Delayed", count("delayed")},
          {"Dead", count_words(dead), dead.count > 0U ? "bad" : ""},
          {"In per second", rate(&tableq::queue_rates::enqueued)},
          {"Out per second", rate(&tableq::queue_rates::left)}};
}

}  // namespace

figure dead_of(const queue_view& of) {
  return sum_of(of.find("dead"), of.find("dead_letters"));
}

overview::overview(const call& asked)
    : start(asked.link("/?find=")),
      part(asked.from.asked("find")),
      by(asked.from.asked("by").empty() ? "name" : asked.from.asked("by")) {
  for (const auto& each : asked.site.databases) {
    views.push_back(each->view());
    for (const queue_view& queue : views.back()->queues) {
      if (queue.name().find(part) != std::string::npos) rows.push_back({views.size() - 1, &queue});
    }
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [&](const place& each) { return place_of(by, *each.queue); });
  totals = totals_of(rows);
  const std::string& first = asked.from.asked("from");
  std::from_chars(first.data(), first.data() + first.size(), from);
  from = std::min(from, rows.size());
  shown = std::span(rows).subspan(from, std::min(most, rows.size() - from));
}

std::string overview::link(std::string_view order, std::size_t begin) const {
  return start + escaped(part) + "&by=" + escaped(order) +
         (begin > 0 ? "&from=" + std::to_string(begin) : "");
}

}  // namespace tool::web
