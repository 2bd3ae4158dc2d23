#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tableq/text.hpp>

#include "core/observe/metric_store.hpp"

namespace tableq::inline v0::core {
namespace {

using json = nlohmann::json;
using series_key = metric_key<std::string>;
using labels = std::vector<std::pair<std::string_view, std::string_view>>;

constexpr double nanoseconds_in_second = 1e9;
constexpr double microseconds_in_second = 1e6;

/// Independent of the locale.
std::string decimal(double value) {
  std::array<char, 64> text{};
  const auto [end, failed] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return {text.data(), failed == std::errc{} ? end : text.data()};
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

double seconds(total nanoseconds) {
  return static_cast<double>(nanoseconds) / nanoseconds_in_second;
}

/// One family of the exposition format. Its head precedes its first sample.
class family {
 public:
  family(std::string& out, std::string_view name, std::string_view type, std::string_view help)
      : out_(out), name_(name) {
    head_ += "# HELP " + name_ + ' ';
    head_ += help;
    head_ += "\n# TYPE " + name_ + ' ';
    head_ += type;
    head_ += '\n';
  }

  void sample(const labels& tags, const std::string& value, std::string_view suffix = {}) {
    out_ += std::exchange(head_, {});
    out_ += name_;
    out_ += suffix;
    char before = '{';
    for (const auto& [name, text] : tags) {
      out_ += before;
      out_ += name;
      out_ += "=\"" + escaped(text) + '"';
      before = ',';
    }
    out_ += "} " + value + '\n';
  }
  void sample(const labels& tags, total value, std::string_view suffix = {}) {
    sample(tags, std::to_string(value), suffix);
  }

 private:
  std::string& out_;
  std::string name_;
  std::string head_;
};

labels labels_of(const series_key& labelled) {
  labels out{{"backend", labelled.backend}};
  if (!labelled.queue.empty()) out.emplace_back("queue", labelled.queue);
  if (!labelled.kind.empty()) out.emplace_back("kind", labelled.kind);
  if (!labelled.operation.empty()) out.emplace_back("operation", labelled.operation);
  return out;
}

labels with(labels extended, std::string_view name, std::string_view value) {
  extended.emplace_back(name, value);
  return extended;
}

void write_durations(std::string& out, const metric_snapshot& all, const metrics_options& options) {
  family durations(out, "tableq_operation_duration_seconds", "histogram",
                   "How long operations took, failed ones too, with waits for sessions and "
                   "locks, retries and their pauses.");
  for (const auto& [labelled, series] : all) {
    if (series.operations == 0) continue;
    const labels its = labels_of(labelled);
    total so_far = 0;
    for (std::size_t i = 0; i < options.buckets.size(); ++i) {
      so_far += series.buckets[i];
      const std::string bound =
          decimal(static_cast<double>(options.buckets[i].count()) / microseconds_in_second);
      durations.sample(with(its, "le", bound), so_far, "_bucket");
    }
    durations.sample(with(its, "le", "+Inf"), series.operations, "_bucket");
    durations.sample(its, decimal(seconds(series.nanoseconds)), "_sum");
    durations.sample(its, series.operations, "_count");
  }
}

void write_counts(family target, const metric_snapshot& all, total metric_series::*value) {
  for (const auto& [labelled, series] : all) {
    if (series.*value > 0) target.sample(labels_of(labelled), series.*value);
  }
}

template <class Counts, class Name>
void write_array(family target, const metric_snapshot& all, Counts metric_series::*counts,
                 const char* label, Name name) {
  for (const auto& [labelled, series] : all) {
    for (std::size_t i = 0; i < (series.*counts).size(); ++i) {
      const total found = (series.*counts)[i];
      if (found > 0) target.sample(with(labels_of(labelled), label, name(i)), found);
    }
  }
}

std::string_view code_name(std::size_t i) {
  return to_string(static_cast<errc>(i));
}
std::string_view end_name_at(std::size_t i) {
  return to_string(static_cast<worker_event::kind>(i));
}

void write_sessions(std::string& out, const metric_snapshot& all) {
  family opened(out, "tableq_sessions_opened_total", "counter", "Sessions opened.");
  for (const auto& [labelled, series] : all) {
    if (series.sessions_opened > 0) opened.sample(labels_of(labelled), series.sessions_opened);
  }
  family closed(out, "tableq_sessions_closed_total", "counter",
                "Sessions closed: with their database object, or because they were broken.");
  family open(out, "tableq_sessions_open", "gauge", "Sessions that are open.");
  for (const auto& [labelled, series] : all) {
    if (series.sessions_opened == 0) continue;
    closed.sample(with(labels_of(labelled), "broken", "false"),
                  series.sessions_closed - series.sessions_broken);
    closed.sample(with(labels_of(labelled), "broken", "true"), series.sessions_broken);
  }
  for (const auto& [labelled, series] : all) {
    if (series.sessions_opened > 0) {
      // For lack of memory one may have been closed that was not counted.
      open.sample(labels_of(labelled), series.sessions_opened - std::min(series.sessions_opened,
                                                                         series.sessions_closed));
    }
  }
}

void write_looks(std::string& out, const metric_snapshot& all) {
  family dead(out, "tableq_dead_messages", "gauge",
              "Dead messages in the queue, as its last stats() counted them.");
  for (const auto& [labelled, series] : all) {
    if (series.last_look) dead.sample(labels_of(labelled), series.last_look->dead);
  }
  family letters(out, "tableq_dead_letters", "gauge",
                 "Messages of the queue that wait in its dead-letter queue, as its last stats() "
                 "counted them.");
  for (const auto& [labelled, series] : all) {
    if (series.last_look && series.last_look->dead_letters) {
      letters.sample(labels_of(labelled), *series.last_look->dead_letters);
    }
  }
}

template <class Counts, class Name>
json counts_by_name(const Counts& counts, Name name) {
  json out = json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) out[std::string(name(i))] = counts[i];
  }
  return out;
}

json base(const series_key& labelled) {
  json out{{"backend", labelled.backend}};
  if (!labelled.queue.empty()) out["queue"] = labelled.queue;
  if (!labelled.kind.empty()) out["kind"] = labelled.kind;
  if (!labelled.operation.empty()) out["operation"] = labelled.operation;
  return out;
}

json operation_object(const series_key& labelled, const metric_series& series,
                      const metrics_options& options) {
  json out = base(labelled);
  json buckets = json::array();
  for (std::size_t i = 0; i < options.buckets.size(); ++i) {
    buckets.push_back(
        {{"le", static_cast<double>(options.buckets[i].count()) / microseconds_in_second},
         {"count", series.buckets[i]}});
  }
  out["count"] = series.operations;
  out["seconds"] = seconds(series.nanoseconds);
  out["buckets"] = std::move(buckets);
  out["messages"] = series.messages;
  out["errors"] = counts_by_name(series.errors, code_name);
  out["retries"] = counts_by_name(series.retries, code_name);
  out["leases_lost"] = series.leases_lost;
  return out;
}

json look_object(const series_key& labelled, const queue_look& look) {
  json out = base(labelled);
  out["dead"] = look.dead;
  out["dead_letters"] = look.dead_letters ? json(*look.dead_letters) : json();
  return out;
}

}  // namespace

std::string prometheus_text(const metric_snapshot& all, const metrics_options& options) {
  std::string out;
  write_durations(out, all, options);
  write_counts(family(out, "tableq_messages_total", "counter",
                      "Messages that operations added, took, settled, changed or read."),
               all, &metric_series::messages);
  write_array(
      family(out, "tableq_operation_errors_total", "counter", "Operations that failed, by error."),
      all, &metric_series::errors, "code", code_name);
  write_array(family(out, "tableq_operation_retries_total", "counter",
                     "Failures that were repaired by doing the same again, by error."),
              all, &metric_series::retries, "code", code_name);
  write_counts(family(out, "tableq_leases_lost_total", "counter",
                      "Receipts of settlements that did not match any more."),
               all, &metric_series::leases_lost);
  write_array(family(out, "tableq_worker_messages_total", "counter",
                     "What became of the messages of workers."),
              all, &metric_series::handled, "outcome", end_name_at);
  write_sessions(out, all);
  write_looks(out, all);
  return out;
}

std::string json_text(const metric_snapshot& all, const metrics_options& options) {
  json operations = json::array();
  json workers = json::array();
  json queues = json::array();
  json sessions = json::array();
  for (const auto& [labelled, series] : all) {
    if (!labelled.operation.empty()) {
      operations.push_back(operation_object(labelled, series, options));
    } else if (!labelled.queue.empty()) {
      json handled = counts_by_name(series.handled, end_name_at);
      if (!handled.empty()) {
        json worker = base(labelled);
        worker["messages"] = std::move(handled);
        workers.push_back(std::move(worker));
      }
      if (series.last_look) queues.push_back(look_object(labelled, *series.last_look));
    } else {
      json one = base(labelled);
      one["opened"] = series.sessions_opened;
      one["closed"] = series.sessions_closed;
      one["broken"] = series.sessions_broken;
      sessions.push_back(std::move(one));
    }
  }
  // tableq's names are UTF-8; an application may pass any text.
  return json{{"operations", std::move(operations)},
              {"workers", std::move(workers)},
              {"queues", std::move(queues)},
              {"sessions", std::move(sessions)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tableq::inline v0::core
