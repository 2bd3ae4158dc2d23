#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "site.hpp"

namespace tool::web {

namespace {

std::string label_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : shown_text(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::string words_of(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return text.data();
}

struct gauge {
  std::string_view name;
  std::string_view help;
  std::function<std::optional<double>(const queue_view&)> value;
};

std::optional<double> count_of(const queue_view& queue, std::string_view name) {
  const auto count = queue.find(name).count;
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

/// One of the counts of `stats`.
gauge counted(std::string_view name, std::string_view help, std::string_view figure) {
  return {name, help, [figure](const queue_view& queue) { return count_of(queue, figure); }};
}

std::array<gauge, 12> gauges() {
  return {
      counted("tableq_queue_ready", "Messages that a read could return now.", "ready"),
      counted("tableq_queue_delayed", "Messages that fall due later.", "delayed"),
      counted("tableq_queue_leased", "Messages under a lease.", "leased"),
      counted("tableq_queue_held", "Messages behind others of their group.", "held"),
      counted("tableq_queue_done", "Messages that were completed and kept.", "done"),
      counted("tableq_queue_dead", "Dead messages in the queue.", "dead"),
      counted("tableq_queue_dead_elsewhere", "Dead messages of the queue in its dead-letter queue.",
              "dead_letters"),
      {"tableq_queue_oldest_seconds", "Age of the oldest ready message.",
       [](const queue_view& queue) -> std::optional<double> {
         const auto oldest = queue.oldest();
         // Nothing waits: that is no wait, and an alert ends.
         if (!oldest) return queue.figures ? std::optional(0.0) : std::nullopt;
         return std::chrono::duration<double>(*oldest).count();
       }},
      {"tableq_queue_enqueued_per_second", "Messages added each second.",
       [](const queue_view& queue) { return queue.rates.enqueued; }},
      {"tableq_queue_left_per_second", "Messages that left each second.",
       [](const queue_view& queue) { return queue.rates.left; }},
      {"tableq_queue_paused", "1 while reads are stopped.",
       [](const queue_view& queue) -> std::optional<double> { return queue.paused ? 1 : 0; }},
      {"tableq_queue_readable", "0 while the figures of the queue cannot be read.",
       [](const queue_view& queue) -> std::optional<double> {
         return queue.trouble.empty() ? 1 : 0;
       }},
  };
}

void declare(std::string& out, std::string_view name, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
  out.append(name).append(" gauge\n");
}

void line(std::string& out, std::string_view name, const std::string& labels, double value) {
  out.append(name).append("{").append(labels).append("} ").append(words_of(value)).append("\n");
}

}  // namespace

response metrics_text(const site_parts& site) {
  std::vector<std::shared_ptr<const database_view>> views;
  std::vector<std::string> labels;
  for (const auto& each : site.databases) {
    views.push_back(each->view());
    labels.push_back("database=" + label_text(each->label()));
  }
  std::string out;
  declare(out, "tableq_database_up", "1 while the database answers.");
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool up = views[i]->trouble.empty() && views[i]->looked_at;
    line(out, "tableq_database_up", labels[i], up ? 1 : 0);
  }
  declare(out, "tableq_figures_age_seconds", "Time since the figures were read.");
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!views[i]->looked_at) continue;
    line(out, "tableq_figures_age_seconds", labels[i],
         std::chrono::duration<double>(views[i]->age()).count());
  }
  for (const gauge& each : gauges()) {
    declare(out, each.name, each.help);
    for (std::size_t i = 0; i < views.size(); ++i) {
      // Old figures would look like new ones.
      if (!views[i]->trouble.empty()) continue;
      for (const queue_view& queue : views[i]->queues) {
        const bool known = queue.trouble.empty() || each.name == "tableq_queue_readable";
        const auto value = known ? each.value(queue) : std::nullopt;
        if (!value || !std::isfinite(*value)) continue;
        line(out, each.name,
             labels[i] + ",queue=" + label_text(queue.name()) + ",kind=\"" +
                 std::string(to_string(queue.info.kind)) + "\"",
             *value);
      }
    }
  }
  // Which of the counts above are lower bounds.
  declare(out, "tableq_queue_at_least", "1 for a count that stopped at its limit: there are more.");
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!views[i]->trouble.empty()) continue;
    for (const queue_view& queue : views[i]->queues) {
      if (!queue.trouble.empty()) continue;
      for (const figure& each : queue.counts) {
        if (!each.at_least) continue;
        line(out, "tableq_queue_at_least",
             labels[i] + ",queue=" + label_text(queue.name()) + ",figure=\"" +
                 std::string(each.name) + "\"",
             1);
      }
    }
  }
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(out)};
}

response health(const site_parts& site) {
  for (const auto& each : site.databases) {
    const auto all = each->view();
    if (!all->trouble.empty() || !all->looked_at) return plain(503, "not ok\n");
  }
  return plain(200, "ok\n");
}

}  // namespace tool::web
