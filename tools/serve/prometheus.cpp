#include <array>
#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "site.hpp"

namespace tool::web {

namespace {

struct gauge {
  std::string_view name;
  std::string_view help;
  std::function<std::optional<double>(const queue_view&)> value;
};

/// One of the counts of `stats`.
gauge counted(std::string_view name, std::string_view help, std::string_view figure) {
  return {name, help, [figure](const queue_view& queue) -> std::optional<double> {
            const auto count = queue.find(figure).count;
            return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
          }};
}

const std::vector<gauge>& gauges() {
  using value = std::optional<double>;
  using queue = const queue_view&;
  static const std::vector<gauge> all{
      counted("tableq_queue_ready", "Messages that a read could return now.", "ready"),
      counted("tableq_queue_delayed", "Messages that fall due later.", "delayed"),
      counted("tableq_queue_leased", "Messages under a lease.", "leased"),
      counted("tableq_queue_held", "Messages behind others of their group.", "held"),
      counted("tableq_queue_done", "Messages that were completed and kept.", "done"),
      counted("tableq_queue_dead", "Dead messages in the queue.", "dead"),
      counted("tableq_queue_dead_elsewhere", "Dead messages of the queue in its dead-letter queue.",
              "dead_letters"),
      {"tableq_queue_oldest_seconds", "Age of the oldest ready message.",
       [](queue of) -> value {
         const auto oldest = of.oldest();
         // Nothing waits: that is no wait, and an alert ends.
         if (!oldest) return of.figures ? value(0) : std::nullopt;
         return std::chrono::duration<double>(*oldest).count();
       }},
      {"tableq_queue_enqueued_per_second", "Messages added each second.",
       [](queue of) { return of.rates.enqueued; }},
      {"tableq_queue_left_per_second", "Messages that left each second.",
       [](queue of) { return of.rates.left; }},
      {"tableq_queue_paused", "1 while reads are stopped.",
       [](queue of) -> value { return of.paused ? 1 : 0; }}};
  return all;
}

/// The text of /metrics.
struct exposition {
  std::string text = {};
  std::string_view name = {};

  void declare(std::string_view of, std::string_view help) {
    name = of;
    text.append("# HELP ").append(name).append(" ").append(help);
    text.append("\n# TYPE ").append(name).append(" gauge\n");
  }
  void line(std::initializer_list<std::pair<std::string_view, std::string_view>> labels,
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
  std::vector<std::pair<std::string, std::shared_ptr<const database_view>>> sources;
  for (const auto& each : asked.site.databases) {
    sources.emplace_back(each->label(), each->view());
  }
  exposition out;
  out.declare("tableq_database_up", "1 while the database answers.");
  for (const auto& [database, all] : sources) out.line({{"database", database}}, all->up() ? 1 : 0);
  out.declare("tableq_figures_age_seconds", "Time since the figures were read.");
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
  const auto of_queue = [&](const std::string& database, const queue_view& queue, double value) {
    out.line(
        {{"database", database}, {"queue", queue.name()}, {"kind", to_string(queue.info.kind)}},
        value);
  };
  for (const gauge& one : gauges()) {
    out.declare(one.name, one.help);
    each_queue([&](const std::string& database, const queue_view& queue) {
      const auto value = queue.trouble.empty() ? one.value(queue) : std::nullopt;
      if (value && std::isfinite(*value)) of_queue(database, queue, *value);
    });
  }
  out.declare("tableq_queue_readable", "0 while the figures of the queue cannot be read.");
  each_queue([&](const std::string& database, const queue_view& queue) {
    of_queue(database, queue, queue.trouble.empty() ? 1 : 0);
  });
  out.declare("tableq_queue_at_least", "1 for a count that stopped at its limit: there are more.");
  each_queue([&](const std::string& database, const queue_view& queue) {
    for (const figure& each : queue.trouble.empty() ? queue.counts : std::vector<figure>()) {
      if (!each.at_least) continue;
      out.line({{"database", database}, {"queue", queue.name()}, {"figure", each.name}}, 1);
    }
  });
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(out.text)};
}

response health(const site_parts& site) {
  for (const auto& each : site.databases) {
    if (!each->view()->up()) return plain(503, "not ok\n");
  }
  return plain(200, "ok\n");
}

}  // namespace tool::web
