#include "format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <tableq/text.hpp>

#include "output.hpp"

namespace tool {

namespace {

json history(const std::vector<tableq::failure_record>& errors) {
  json result = json::array();
  for (const auto& one : errors) result.push_back({{"at", iso(one.at)}, {"error", one.error}});
  return result;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < here ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      result += k <= here ? digits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return result;
}

std::string iso(tableq::timestamp time) {
  // The calendar of std::chrono ends after some 32,000 years; plain SQL may write any time.
  constexpr tableq::timestamp end{std::chrono::milliseconds{970'000'000'000'000}};
  time = std::clamp(time, tableq::timestamp(-end.time_since_epoch()), end);
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

json iso_or_null(const std::optional<tableq::timestamp>& time) {
  return time ? json(iso(*time)) : json();
}

std::string brief(std::chrono::milliseconds duration) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> units{
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}}};
  for (const auto& [size, name] : units) {
    if (duration.count() != 0 && duration.count() % size == 0) {
      return std::to_string(duration.count() / size) + name;
    }
  }
  return std::to_string(duration.count()) + "ms";
}

void add_bytes(json& object, const std::string& name, std::string_view bytes) {
  const json plain(bytes);
  try {
    static_cast<void>(plain.dump());
    object[name] = plain;
  } catch (const json::type_error&) {  // The library's own check for UTF-8.
    object[name + "_base64"] = base64(bytes);
  }
}

std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string with_payload(json object, std::string_view payload) {
  add_bytes(object, "payload", payload);
  return line_of(object);
}

std::string message_json(const tableq::message& message) {
  json object{{"id", message.id.value}, {"created_at", iso(message.created_at)}};
  if (message.due_at) object["due_at"] = iso(*message.due_at);
  return with_payload(std::move(object), message.payload);
}

std::string message_json(const tableq::stored_message& message) {
  json object{{"id", message.id.value},
              {"state", to_string(message.state)},
              {"attempts", message.attempts},
              {"priority", message.priority},
              {"key", or_null(message.key)},
              {"group", or_null(message.group)},
              {"headers", json::object()},
              {"created_at", iso(message.created_at)},
              {"due_at", iso_or_null(message.due_at)},
              {"expires_at", iso_or_null(message.expires_at)},
              {"claimed_at", iso_or_null(message.claimed_at)},
              {"finished_at", iso_or_null(message.finished_at)},
              {"errors", history(message.errors)}};
  for (const auto& [name, value] : message.headers) object["headers"][name] = value;
  if (message.unread_headers) object["unread_headers"] = *message.unread_headers;
  if (message.progress) {
    object["progress"] = {{"done", message.progress->done},
                          {"note", message.progress->note},
                          {"at", iso(message.progress->at)}};
  }
  if (message.result) add_bytes(object, "result", *message.result);
  return with_payload(std::move(object), message.payload);
}

std::string times_of(const tableq::schedule& rule) {
  return rule.cron.empty() ? brief(rule.every) : printable(rule.cron);
}

std::string state_of(const tableq::schedule_info& info) {
  if (!info.problem.empty()) return printable(info.problem);
  return !info.enabled ? "paused" : info.overdue ? "overdue since " + iso(*info.overdue) : "ok";
}

json schedule_json(const tableq::schedule_info& info) {
  json next = json::array();
  for (const tableq::timestamp each : info.next) next.push_back(iso(each));
  const tableq::schedule& rule = info.rule;
  const bool cron = !rule.cron.empty();
  return {{"name", rule.name},
          {"queue", rule.queue},
          {"owner", info.owner},
          {"cron", cron ? json(rule.cron) : json()},
          {"every_ms", cron ? json() : json(rule.every.count())},
          {"zone", rule.zone},
          {"enabled", info.enabled},
          {"problem", info.problem},
          {"last", iso_or_null(info.last)},
          {"overdue", iso_or_null(info.overdue)},
          {"next", next},
          {"key", rule.key ? json(*rule.key) : json()},
          {"group", rule.group ? json(*rule.group) : json()},
          {"priority", rule.priority},
          {"catch_up", rule.catch_up},
          {"not_later_than_ms", rule.not_later_than ? json(rule.not_later_than->count()) : json()},
          {"skip_if_running", rule.skip_if_running}};
}

std::string state_of(const tableq::batch_info& of) {
  if (of.finished_at) return of.cancelled ? "cancelled" : "ended";
  if (of.cancelled) return "cancelling";
  return of.sealed ? "sealed" : "open";
}

json batch_json(const tableq::batch_info& of) {
  json out{{"batch", of.id},
           {"name", of.name.empty() ? json() : json(of.name)},
           {"state", state_of(of)},
           {"total", of.total},
           {"outstanding", of.outstanding},
           {"completed", of.completed},
           {"dead", of.dead},
           {"removed", of.removed},
           {"gone", of.gone},
           {"then", of.then.empty() ? json() : json(of.then)},
           {"created_at", iso(of.created_at)},
           {"finished_at", iso_or_null(of.finished_at)}};
  if (of.counted_to) out["counted_to"] = *of.counted_to;
  return out;
}

json finding_json(const tableq::finding& of) {
  return {{"severity", to_string(of.severity)},
          {"subject", of.subject},
          {"what", of.what},
          {"fix", of.fix}};
}

json limits_json(const tableq::queue_limits& limits) {
  return {{"capacity", or_null(limits.capacity)},
          {"rate", or_null(limits.rate)},
          {"burst", or_null(limits.burst)},
          {"concurrency", or_null(limits.concurrency)}};
}

json limits_json(const tableq::group_limits& limits) {
  return {{"running", or_null(limits.running)},
          {"rate", or_null(limits.rate)},
          {"burst", or_null(limits.burst)},
          {"weight", or_null(limits.weight)}};
}

namespace {

std::string retry_text(const tableq::retry_delays& retry) {
  std::string out;
  for (const std::chrono::milliseconds each : retry.after) {
    out += out.empty() ? " retry=" : ",";
    out += brief(each);
  }
  return out;
}

std::string claim_text(const tableq::queue_info& queue) {
  std::string out = "lease=" + brief(queue.lease);
  out += " max_attempts=" + std::to_string(queue.max_attempts);
  if (queue.keep_completed) out += " keep";
  out += retry_text(queue.retry);
  if (queue.time_to_live) out += " ttl=" + brief(*queue.time_to_live);
  if (queue.keys == tableq::key_scope::waiting) out += " free_keys";
  if (queue.key_window.count() > 0) out += " key_window=" + brief(queue.key_window);
  if (queue.groups) {
    out += " groups=" + std::to_string(queue.groups->limit);
    if (queue.groups->on_failure == tableq::group_policy::pass) out += " groups_pass";
    if (queue.groups->by_turns) out += " groups_by_turns";
  }
  if (!queue.dead_letters.empty()) out += " dead_letters=" + queue.dead_letters;
  if (queue.retention.done) out += " retain_done=" + brief(*queue.retention.done);
  if (queue.retention.dead) out += " retain_dead=" + brief(*queue.retention.dead);
  if (queue.group_limits) out += " group_limits";
  if (queue.batches) out += " batches";
  return out;
}

}  // namespace

std::string options_text(const tableq::queue_info& queue) {
  switch (queue.kind) {
    case tableq::kind::fifo:
    case tableq::kind::lifo:
      return queue.ordering == tableq::ordering::strict ? "strict" : "";
    case tableq::kind::claim:
      return claim_text(queue);
    case tableq::kind::table:
      return "table=" + queue.table.value().table;
    default:
      return "";
  }
}

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

void listing::add(const std::string& object, std::vector<std::string> cells) {
  any_ = true;
  if (as_json_) {
    objects_.push_back(object);
  } else {
    rows_.push_back(std::move(cells));
  }
}

void listing::print() {
  if (!any_) return;
  output out;
  for (const std::string& line : as_json_ ? objects_ : aligned(rows_)) out.line(line);
  out.flush();
  objects_.clear();
  rows_.clear();  // The heading, too: it stands above the first page only.
}

exit_status listing::status() const {
  return any_ ? exit_status::done : exit_status::nothing;
}

}  // namespace tool
