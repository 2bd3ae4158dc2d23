#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tableq/batch_options.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/schedules.hpp>
#include <tableq/schema.hpp>

#include "exit_status.hpp"

namespace tool {

/// Members stay in the order in which they were added.
using json = nlohmann::ordered_json;

/// `2025-01-31T12:00:00.000Z`; for a time beyond some 30,000 years the last one.
std::string iso(tableq::timestamp time);

/// The value, or null.
template <class Value>
json or_null(const std::optional<Value>& of) {
  return of ? json(*of) : json();
}
/// The text, or null.
json iso_or_null(const std::optional<tableq::timestamp>& time);

/// Base64 as in RFC 4648.
std::string base64(std::string_view bytes);

/// `30s`, in the largest unit without a remainder.
std::string brief(std::chrono::milliseconds duration);

/// The object on one line. Bytes that are no UTF-8, which only plain SQL can store, are replaced.
std::string line_of(const json& object);

/// One JSON object on one line. The payload is the member `payload` when it is UTF-8, otherwise
/// `payload_base64`.
std::string with_payload(json object, std::string_view payload);
/// Adds bytes: as a text, or NAME_base64 if they are no UTF-8.
void add_bytes(json& object, const std::string& name, std::string_view bytes);

std::string message_json(const tableq::message& message);
std::string message_json(const tableq::stored_message& message);

/// `90s`, or the five fields.
std::string times_of(const tableq::schedule& rule);
/// `ok`, `paused`, `overdue since ...` or its problem.
std::string state_of(const tableq::schedule_info& info);
/// Without headers and payload.
json schedule_json(const tableq::schedule_info& info);

/// `open`, `sealed`, `cancelling`, `cancelled` or `ended`.
std::string state_of(const tableq::batch_info& of);
json batch_json(const tableq::batch_info& of);

/// A finding of `doctor`.
json finding_json(const tableq::finding& of);

/// Null: no limit.
json limits_json(const tableq::queue_limits& limits);
json limits_json(const tableq::group_limits& limits);

/// `lease=30s max_attempts=5`; empty if the kind has no options or all are default.
std::string options_text(const tableq::queue_info& queue);

/// Columns as wide as their widest cell, two blanks between them; the last one is not padded.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows);

/// The list that a command prints: rows under a heading, or with --json an object on each line.
class listing {
 public:
  listing(bool as_json, std::vector<std::string> heading)
      : as_json_(as_json), rows_{std::move(heading)} {}
  void add(const std::string& object, std::vector<std::string> cells);
  /// Prints all that was added since, nothing if that is nothing. @throws output_error
  void print();
  /// Done, if there was a row.
  [[nodiscard]] exit_status status() const;

 private:
  bool as_json_;
  bool any_ = false;
  std::vector<std::string> objects_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tool
