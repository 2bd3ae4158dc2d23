#include <array>
#include <cstdio>
#include <functional>

#include "site.hpp"

namespace tool::web {

namespace {

using view = const queue_view&;
using reading = std::optional<double>;

/// Of a queue.
struct gauge {
  const char* name;
  const char* help;
  std::function<reading(view)> of;
};

auto count_gauge(const char* figure) {
  return [figure](view of) -> reading { return of.find(figure).count; };
}

const std::vector<gauge>& gauges() {
  static const std::vector<gauge> all{
      {"queue_ready", "Messages that a read could return now.", count_gauge("ready")},
      {"queue_delayed", "Messages that fall due later.", count_gauge("delayed")},
      {"queue_leased", "Messages under a lease.", count_gauge("leased")},
      {"queue_held", "Messages behind others of their group.", count_gauge("held")},
      {"queue_done", "Messages that were completed and kept.", count_gauge("done")},
      {"queue_dead", "Dead messages in the queue.", count_gauge("dead")},
      {"queue_dead_elsewhere", "Dead messages of the queue in its dead-letter queue.",
       count_gauge("dead_letters")},
      {"queue_oldest_seconds", "Age of the oldest ready message.",
       [](view of) -> reading {
         if (!of.figures) return std::nullopt;
         // Nothing waits: that is no wait, and an alert ends.
         return std::chrono::duration<double>(of.oldest().value_or(std::chrono::seconds{0}))
             .count();
       }},
      {"queue_enqueued_per_second", "Messages added each second.",
       [](view of) { return of.rates.enqueued; }},
      {"queue_left_per_second", "Messages that left each second.",
       [](view of) { return of.rates.left; }},
      {"queue_paused", "1 while reads are stopped.", [](view of) { return of.paused ? 1 : 0; }}};
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

response metrics_page(const call& asked) {
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
      for (view one : all->queues) each(database, one);
    }
  };
  for (const gauge& one : gauges()) {
    out.declare(one.name, one.help);
    each_queue([&](std::string_view database, view of) {
      const reading value = of.trouble.empty() ? one.of(of) : std::nullopt;
      if (value)
        out.line({{"database", database}, {"queue", of.name()}, {"kind", to_string(of.info.kind)}},
                 *value);
    });
  }
  out.declare("queue_readable", "0 while the figures of the queue cannot be read.");
  each_queue([&](std::string_view database, view of) {
    out.line({{"database", database}, {"queue", of.name()}, {"kind", to_string(of.info.kind)}},
             of.trouble.empty() ? 1 : 0);
  });
  out.declare("queue_at_least", "1 for a count that stopped at its limit: there are more.");
  each_queue([&](std::string_view database, view of) {
    for (const figure& each : of.trouble.empty() ? of.counts : std::vector<figure>()) {
      if (!each.at_least) continue;
      out.line({{"database", database}, {"queue", of.name()}, {"figure", each.name}}, 1);
    }
  });
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(out.text)};
}

response health(const site& site) {
  const auto up = [](const auto& each) { return each->view()->up(); };
  return std::ranges::all_of(site.databases, up) ? plain(200, "ok\n") : plain(503, "not ok\n");
}

}  // namespace tool::web
