#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "site.hpp"

namespace tool::web {

namespace {

/// Of a queue, by the name of a count, or by a function; not a number: unknown.
struct gauge {
  std::string name;
  std::string_view help;
  std::string_view figure = {};
  double (*value)(const queue_view&) = nullptr;

  [[nodiscard]] double of(const queue_view& queue) const {
    if (name == "queue_readable") return queue.trouble.empty() ? 1 : 0;
    if (!queue.trouble.empty()) return unknown;
    if (value != nullptr) return value(queue);
    const auto count = queue.find(figure).count;
    return count ? static_cast<double>(*count) : unknown;
  }
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
};

const std::vector<gauge>& gauges() {
  using queue = const queue_view&;
  static const std::vector<gauge> all{
      {"queue_ready", "Messages that a read could return now.", "ready"},
      {"queue_delayed", "Messages that fall due later.", "delayed"},
      {"queue_leased", "Messages under a lease.", "leased"},
      {"queue_held", "Messages behind others of their group.", "held"},
      {"queue_done", "Messages that were completed and kept.", "done"},
      {"queue_dead", "Dead messages in the queue.", "dead"},
      {"queue_dead_elsewhere", "Dead messages of the queue in its dead-letter queue.",
       "dead_letters"},
      {"queue_oldest_seconds", "Age of the oldest ready message.", "",
       [](queue of) {
         // Nothing waits: that is no wait, and an alert ends.
         const auto oldest = of.oldest().value_or(std::chrono::milliseconds{0});
         return of.figures ? std::chrono::duration<double>(oldest).count() : gauge::unknown;
       }},
      {"queue_enqueued_per_second", "Messages added each second.", "",
       [](queue of) { return of.rates.enqueued.value_or(gauge::unknown); }},
      {"queue_left_per_second", "Messages that left each second.", "",
       [](queue of) { return of.rates.left.value_or(gauge::unknown); }},
      {"queue_paused", "1 while reads are stopped.", "",
       [](queue of) { return of.paused ? 1.0 : 0.0; }},
      {"queue_readable", "0 while the figures of the queue cannot be read."}};
  return all;
}

/// The text of /metrics.
struct exposition {
  std::string text = {};
  std::string name = {};

  void declare(const std::string& of, std::string_view help) {
    name = "tableq_" + of;
    text.append("# HELP " + name + " ").append(help).append("\n# TYPE " + name + " gauge\n");
  }
  void line(const std::vector<std::pair<std::string_view, std::string_view>>& labels,
            double value) {
    text.append(name).append("{");
    for (const auto& [label, of] : labels) {
      text.append(text.back() == '{' ? "" : ",").append(label).append("=\"");
      for (const char c : shown_text(of)) {
        if (c == '\\' || c == '"') text += '\\';
        text += c == '\n' ? ' ' : c;
      }
      text += '"';
    }
    std::array<char, 40> number{};
    std::snprintf(number.data(), number.size(), "} %.10g\n", value);
    text.append(number.data());
  }
};

}  // namespace

response metrics_text(const call& asked) {
  std::vector<std::pair<std::string_view, std::shared_ptr<const database_view>>> sources;
  for (const auto& each : asked.site.databases) {
    sources.emplace_back(each->label(), each->view());
  }
  exposition out;
  out.declare("database_up", "1 while the database answers.");
  for (const auto& [database, all] : sources) out.line({{"database", database}}, all->up() ? 1 : 0);
  out.declare("figures_age_seconds", "Time since the figures were read.");
  for (const auto& [database, all] : sources) {
    if (!all->looked_at) continue;
    out.line({{"database", database}}, std::chrono::duration<double>(all->age()).count());
  }
  const auto each_queue = [&](const auto& each) {
    for (const auto& [database, all] : sources) {
      if (!all->trouble.empty()) continue;  // Old figures would look like new ones.
      for (const queue_view& queue : all->queues) each(database, queue);
    }
  };
  for (const gauge& one : gauges()) {
    out.declare(one.name, one.help);
    each_queue([&](std::string_view database, const queue_view& queue) {
      const double value = one.of(queue);
      if (!std::isfinite(value)) return;
      const auto kind = to_string(queue.info.kind);
      out.line({{"database", database}, {"queue", queue.name()}, {"kind", kind}}, value);
    });
  }
  out.declare("queue_at_least", "1 for a count that stopped at its limit: there are more.");
  each_queue([&](std::string_view database, const queue_view& queue) {
    for (const figure& each : queue.trouble.empty() ? queue.counts : std::vector<figure>()) {
      if (!each.at_least) continue;
      out.line({{"database", database}, {"queue", queue.name()}, {"figure", each.name}}, 1);
    }
  });
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(out.text)};
}

response health(const site_parts& site) {
  const auto up = [](const auto& each) { return each->view()->up(); };
  return std::ranges::all_of(site.databases, up) ? plain(200, "ok\n") : plain(503, "not ok\n");
}

}  // namespace tool::web
