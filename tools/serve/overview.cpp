#include "overview.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace tool::web {

namespace {

/// The largest comes first.
double place_of(const std::string& by, const queue_view& of) {
  if (by == "oldest") return of.oldest() ? static_cast<double>(of.oldest()->count()) : -1;
  if (by == "rate") return of.rates.enqueued.value_or(-1);
  // By their names they are in order; no figure has this name.
  return static_cast<double>(count_of(of, by).count.value_or(0));
}

/// Adds a count, which may be a lower bound; one that is not known adds nothing.
void add(figure& to, const figure& count) {
  if (count.count) to.count = to.count.value_or(0) + *count.count;
  to.at_least = to.at_least || count.at_least;
}

}  // namespace

figure count_of(const queue_view& of, std::string_view name) {
  figure out = of.find(name);
  if (name == "dead") add(out, of.find("dead_letters"));
  return out;
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
  const std::string& first = asked.from.asked("from");
  std::from_chars(first.data(), first.data() + first.size(), from);
  from = std::min(from, rows.size());
  shown = std::span(rows).subspan(from, std::min(most, rows.size() - from));
}

figure overview::count(std::string_view name) const {
  figure out{"", 0};
  for (const place& each : rows) add(out, count_of(*each.queue, name));
  return out;
}

double overview::rate(std::optional<double> tableq::queue_rates::*which) const {
  double out = 0;
  for (const place& each : rows) out += (each.queue->rates.*which).value_or(0);
  return out;
}

std::string overview::link(std::string_view order, std::size_t begin) const {
  return start + escaped(part) + "&by=" + escaped(order) +
         (begin > 0 ? "&from=" + std::to_string(begin) : "");
}

}  // namespace tool::web
