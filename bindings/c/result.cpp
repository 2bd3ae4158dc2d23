#include "result.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fields.hpp"

namespace tableq_c {
namespace {

using failed = tableq::failure_record;
constexpr std::array failure_columns = {
    column<failed>{"at", [](const failed& of) { return time(of.at); }},
    column<failed>{"error", [](const failed& of) { return text(of.error); }},
};

constexpr std::array delay_columns = {
    column<std::int64_t>{"ms", [](const std::int64_t& of) { return integer(of); }},
};

/// A row of an application's table.
class columns final : public tq_result {
 public:
  explicit columns(const tableq::row& values) {
    cells_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      cells_.emplace_back(values.name(i), values.value(values.name(i)));
    }
  }

  [[nodiscard]] std::size_t count() const noexcept override { return 1; }
  [[nodiscard]] std::size_t field_count() const noexcept override { return cells_.size(); }
  [[nodiscard]] const char* field_name(std::size_t position) const noexcept override {
    return cells_[position].first.c_str();
  }
  [[nodiscard]] field at(std::size_t /*row*/, std::string_view name) const noexcept override {
    const tableq::row_value* const found = find(name);
    if (found == nullptr) return {.type = TQ_TYPE_NONE};
    const tableq::row_cell& cell = found->cell();
    if (const auto* const number = std::get_if<std::int64_t>(&cell)) {
      return {.type = type_of(found->type()), .number = *number};
    }
    if (const auto* const held = std::get_if<std::string>(&cell)) {
      return {.type = type_of(found->type()), .text = *held};
    }
    return null();
  }

 private:
  /// Exactly, then by the one name that differs in the case of ASCII letters only.
  [[nodiscard]] const tableq::row_value* find(std::string_view name) const noexcept {
    const tableq::row_value* found = nullptr;
    for (const auto& [each, value] : cells_) {
      if (each == name) return &value;
    }
    for (const auto& [each, value] : cells_) {
      if (!same(each, name)) continue;
      if (found != nullptr) return nullptr;
      found = &value;
    }
    return found;
  }
  static bool same(std::string_view left, std::string_view right) noexcept {
    const auto lower = [](char each) {
      return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
  }
  static int type_of(tableq::column_type type) noexcept {
    switch (type) {
      case tableq::column_type::integer:
        return TQ_TYPE_INT;
      case tableq::column_type::boolean:
        return TQ_TYPE_BOOL;
      case tableq::column_type::number:
        return TQ_TYPE_DECIMAL;
      case tableq::column_type::bytes:
        return TQ_TYPE_BYTES;
      case tableq::column_type::time:
        return TQ_TYPE_TIME;
      default:
        return TQ_TYPE_TEXT;
    }
  }

  std::vector<std::pair<std::string, tableq::row_value>> cells_;
};

constexpr std::array message_columns = {
    column<tableq::message>{"id", [](const tableq::message& of) { return integer(of.id.value); }},
    column<tableq::message>{"payload", [](const tableq::message& of) { return bytes(of.payload); }},
    column<tableq::message>{"created_at",
                            [](const tableq::message& of) { return time(of.created_at); }},
    column<tableq::message>{"due_at",
                            [](const tableq::message& of) { return optional(of.due_at, time); }},
};

const result no_list;

/// A message of a take, with what its getters borrow.
struct taken_row {
  const tableq::delivery& message;
  std::string_view receipt;
  const result& headers;
  const result& row;
};
constexpr std::array taken_columns = {
    column<taken_row>{"receipt", [](const taken_row& of) { return text(of.receipt); }},
    column<taken_row>{"id",
                      [](const taken_row& of) { return integer(of.message.receipt.id.value); }},
    column<taken_row>{"payload", [](const taken_row& of) { return bytes(of.message.payload); }},
    column<taken_row>{"headers",
                      [](const taken_row& of) { return list_or(of.headers, no_headers()); }},
    column<taken_row>{"key", [](const taken_row& of) { return optional(of.message.key, text); }},
    column<taken_row>{"group",
                      [](const taken_row& of) { return optional(of.message.group, text); }},
    column<taken_row>{"priority", [](const taken_row& of) { return integer(of.message.priority); }},
    column<taken_row>{"attempt", [](const taken_row& of) { return integer(of.message.attempt); }},
    column<taken_row>{"created_at",
                      [](const taken_row& of) { return time(of.message.created_at); }},
    column<taken_row>{"claimed_at",
                      [](const taken_row& of) { return optional(of.message.claimed_at, time); }},
    column<taken_row>{"lease_until",
                      [](const taken_row& of) { return time(of.message.lease_until); }},
    column<taken_row>{"row", [](const taken_row& of) { return of.row ? list(of.row) : null(); }},
};

/// The messages of a take, as the library returned them.
class taken final : public tq_result {
 public:
  explicit taken(std::vector<tableq::delivery> messages) : messages_(std::move(messages)) {
    receipts_.reserve(messages_.size());
    for (const tableq::delivery& each : messages_) {
      receipts_.push_back(to_string(each.receipt));
      if (!each.headers.empty()) inner_of(each, headers_) = list_of(each.headers);
      if (!each.row.empty()) inner_of(each, rows_) = result_of_columns(each.row);
    }
  }

  [[nodiscard]] std::size_t count() const noexcept override { return messages_.size(); }
  [[nodiscard]] std::size_t field_count() const noexcept override { return taken_columns.size(); }
  [[nodiscard]] const char* field_name(std::size_t position) const noexcept override {
    return taken_columns[position].name.data();
  }
  [[nodiscard]] field at(std::size_t row, std::string_view name) const noexcept override {
    const taken_row found{messages_[row], receipts_[row],
                          headers_.empty() ? no_list : headers_[row],
                          rows_.empty() ? no_list : rows_[row]};
    return field_of<taken_row>(taken_columns, found, name);
  }

  [[nodiscard]] const std::vector<tableq::delivery>& messages() const noexcept { return messages_; }

 private:
  /// Most takes have neither headers nor rows, and no list.
  result& inner_of(const tableq::delivery& message, std::vector<result>& list) {
    list.resize(messages_.size());
    return list[static_cast<std::size_t>(&message - messages_.data())];
  }

  std::vector<tableq::delivery> messages_;
  std::vector<std::string> receipts_;
  std::vector<result> headers_;  // as many as messages, or none
  std::vector<result> rows_;     // the same
};

/// A field of a message that may be missing.
template <auto Get>
field of_listed(const listed_row& of) {
  return of.message ? Get(*of.message) : null();
}
using stored = tableq::stored_message;
/// A field of what a handler has said.
using said = tableq::message_progress;
template <auto Get>
field of_progress(const listed_row& of) {
  return of.message && of.message->progress ? Get(*of.message->progress) : null();
}
constexpr std::array listed_columns = {
    column<listed_row>{"id", of_listed<[](const stored& of) { return integer(of.id.value); }>},
    column<listed_row>{"state",
                       of_listed<[](const stored& of) { return text(to_string(of.state)); }>},
    column<listed_row>{"payload", of_listed<[](const stored& of) { return bytes(of.payload); }>},
    column<listed_row>{"headers",
                       [](const listed_row& of) {
                         return of.message ? list_or(of.headers, no_headers()) : null();
                       }},
    column<listed_row>{"key", of_listed<[](const stored& of) { return optional(of.key, text); }>},
    column<listed_row>{"group",
                       of_listed<[](const stored& of) { return optional(of.group, text); }>},
    column<listed_row>{"priority",
                       of_listed<[](const stored& of) { return integer(of.priority); }>},
    column<listed_row>{"attempts",
                       of_listed<[](const stored& of) { return integer(of.attempts); }>},
    column<listed_row>{"created_at",
                       of_listed<[](const stored& of) { return time(of.created_at); }>},
    column<listed_row>{"due_at",
                       of_listed<[](const stored& of) { return optional(of.due_at, time); }>},
    column<listed_row>{"expires_at",
                       of_listed<[](const stored& of) { return optional(of.expires_at, time); }>},
    column<listed_row>{"claimed_at",
                       of_listed<[](const stored& of) { return optional(of.claimed_at, time); }>},
    column<listed_row>{"finished_at",
                       of_listed<[](const stored& of) { return optional(of.finished_at, time); }>},
    column<listed_row>{"errors",
                       [](const listed_row& of) { return of.errors ? list(of.errors) : null(); }},
    column<listed_row>{
        "unread_headers",
        of_listed<[](const stored& of) { return optional(of.unread_headers, text); }>},
    column<listed_row>{"progress", of_progress<[](const said& of) { return real(of.done); }>},
    column<listed_row>{"progress_note", of_progress<[](const said& of) { return text(of.note); }>},
    column<listed_row>{"progress_at", of_progress<[](const said& of) { return time(of.at); }>},
    column<listed_row>{"result",
                       of_listed<[](const stored& of) { return optional(of.result, bytes); }>},
};

using tableq::awaited;
constexpr std::array awaited_columns = {
    column<awaited>{"ending", [](const awaited& of) { return integer(static_cast<int>(of.how)); }},
    column<awaited>{
        "state", [](const awaited& of) { return of.state ? text(to_string(*of.state)) : null(); }},
    column<awaited>{"result", [](const awaited& of) { return optional(of.result, bytes); }},
    column<awaited>{"error",
                    [](const awaited& of) { return of.error ? text(of.error->error) : null(); }},
    column<awaited>{"error_at",
                    [](const awaited& of) { return of.error ? time(of.error->at) : null(); }},
};
static_assert(static_cast<int>(awaited::ending::done) == TQ_ENDING_DONE);
static_assert(static_cast<int>(awaited::ending::dead) == TQ_ENDING_DEAD);
static_assert(static_cast<int>(awaited::ending::gone) == TQ_ENDING_GONE);
static_assert(static_cast<int>(awaited::ending::waiting) == TQ_ENDING_WAITING);

struct table_row {
  result row;
};
constexpr std::array row_columns = {
    column<table_row>{"row", [](const table_row& of) { return list(of.row); }},
};

constexpr std::array added_columns = {
    column<added_row>{"id", [](const added_row& of) { return integer(of.id); }},
    column<added_row>{"outcome", [](const added_row& of) { return integer(of.outcome); }},
    column<added_row>{"row", [](const added_row& of) { return of.row ? list(of.row) : null(); }},
};

struct queue_row {
  tableq::queue_info info;
  result retry = {};
  std::string definition = {};

  [[nodiscard]] bool claims() const noexcept { return info.kind == tableq::kind::claim; }
};
/// A field of "claim" queues.
template <auto Get>
field of_claim(const queue_row& of) {
  return of.claims() ? Get(of.info) : null();
}
/// A field of queues with groups.
template <auto Get>
field of_groups(const queue_row& of) {
  return of.claims() && of.info.groups ? Get(*of.info.groups) : null();
}
using queue_info = tableq::queue_info;
constexpr std::array queue_columns = {
    column<queue_row>{"name", [](const queue_row& of) { return text(of.info.name); }},
    column<queue_row>{"kind", [](const queue_row& of) { return text(to_string(of.info.kind)); }},
    column<queue_row>{"layout", [](const queue_row& of) { return integer(of.info.layout); }},
    column<queue_row>{"identity", [](const queue_row& of) { return integer(of.info.identity); }},
    column<queue_row>{"ordering",
                      [](const queue_row& of) { return text(to_string(of.info.ordering)); }},
    column<queue_row>{"schedules", [](const queue_row& of) { return boolean(of.info.schedules); }},
    column<queue_row>{"created_at", [](const queue_row& of) { return time(of.info.created_at); }},
    column<queue_row>{"lease_ms", of_claim<[](const queue_info& of) { return length(of.lease); }>},
    column<queue_row>{"max_attempts",
                      of_claim<[](const queue_info& of) { return integer(of.max_attempts); }>},
    column<queue_row>{"keep_completed",
                      of_claim<[](const queue_info& of) { return boolean(of.keep_completed); }>},
    column<queue_row>{"retry_ms",
                      [](const queue_row& of) { return of.retry ? list(of.retry) : null(); }},
    column<queue_row>{"retry_jitter",
                      of_claim<[](const queue_info& of) { return integer(of.retry.jitter); }>},
    column<queue_row>{
        "time_to_live_ms",
        of_claim<[](const queue_info& of) { return optional(of.time_to_live, length); }>},
    column<queue_row>{"keys",
                      of_claim<[](const queue_info& of) { return text(to_string(of.keys)); }>},
    column<queue_row>{"key_window_ms",
                      of_claim<[](const queue_info& of) { return length(of.key_window); }>},
    column<queue_row>{"group_limit",
                      of_groups<[](const tableq::group_options& of) { return integer(of.limit); }>},
    column<queue_row>{
        "group_on_failure",
        of_groups<[](const tableq::group_options& of) { return text(to_string(of.on_failure)); }>},
    column<queue_row>{
        "group_by_turns",
        of_groups<[](const tableq::group_options& of) { return boolean(of.by_turns); }>},
    column<queue_row>{"group_limits",
                      of_claim<[](const queue_info& of) { return boolean(of.group_limits); }>},
    column<queue_row>{"group_rates",
                      of_claim<[](const queue_info& of) { return boolean(of.group_rates); }>},
    column<queue_row>{"dead_letters",
                      of_claim<[](const queue_info& of) { return text(of.dead_letters); }>},
    column<queue_row>{"batches",
                      of_claim<[](const queue_info& of) { return boolean(of.batches); }>},
    column<queue_row>{"batch_ends",
                      [](const queue_row& of) { return boolean(of.info.batch_ends); }},
    column<queue_row>{
        "retain_done_ms",
        of_claim<[](const queue_info& of) { return optional(of.retention.done, length); }>},
    column<queue_row>{
        "retain_dead_ms",
        of_claim<[](const queue_info& of) { return optional(of.retention.dead, length); }>},
    column<queue_row>{
        "definition",
        [](const queue_row& of) { return of.info.table ? text(of.definition) : null(); }},
};

using tableq::finding;
constexpr std::array finding_columns = {
    column<finding>{"severity", [](const finding& of) { return text(to_string(of.severity)); }},
    column<finding>{"subject", [](const finding& of) { return text(of.subject); }},
    column<finding>{"what", [](const finding& of) { return text(of.what); }},
    column<finding>{"fix", [](const finding& of) { return text(of.fix); }},
};

using tableq::migration_step;
constexpr std::array step_columns = {
    column<migration_step>{"queue", [](const migration_step& of) { return text(of.queue); }},
    column<migration_step>{"from", [](const migration_step& of) { return integer(of.from); }},
    column<migration_step>{"to", [](const migration_step& of) { return integer(of.to); }},
    column<migration_step>{"sql", [](const migration_step& of) { return text(of.sql); }},
};

struct lost_row {
  tableq::lost_lease lost;
  std::string receipt;
};
constexpr std::array lost_columns = {
    column<lost_row>{"receipt", [](const lost_row& of) { return text(of.receipt); }},
    column<lost_row>{"queue", [](const lost_row& of) { return text(of.lost.queue); }},
    column<lost_row>{"why", [](const lost_row& of) { return text(to_string(of.lost.why)); }},
};

using named_text = std::pair<std::string, std::string>;
constexpr std::array named_text_columns = {
    column<named_text>{"name", [](const named_text& of) { return text(of.first); }},
    column<named_text>{"text", [](const named_text& of) { return text(of.second); }},
};
constexpr std::array text_columns = {
    column<std::string>{"text", [](const std::string& of) { return text(of); }},
};
constexpr std::array name_columns = {
    column<std::string>{"name", [](const std::string& of) { return text(of); }},
};
constexpr std::array outcome_columns = {
    column<int>{"outcome", [](const int& of) { return integer(of); }},
};

field id(const tableq::message_id& value) noexcept {
  return integer(value.value);
}
using tableq::queue_stats;
constexpr std::array queue_stats_columns = {
    column<queue_stats>{"waiting", [](const queue_stats& of) { return count(of.waiting); }},
    column<queue_stats>{"delayed", [](const queue_stats& of) { return count(of.delayed); }},
    column<queue_stats>{"oldest", [](const queue_stats& of) { return optional(of.oldest, time); }},
    column<queue_stats>{"counted_to",
                        [](const queue_stats& of) { return optional(of.counted_to, count); }},
    column<queue_stats>{"last_id", [](const queue_stats& of) { return optional(of.last_id, id); }},
    column<queue_stats>{"as_of", [](const queue_stats& of) { return time(of.as_of); }},
};
using tableq::claim_stats;
constexpr std::array claim_stats_columns = {
    column<claim_stats>{"ready", [](const claim_stats& of) { return count(of.ready); }},
    column<claim_stats>{"due", [](const claim_stats& of) { return count(of.due); }},
    column<claim_stats>{"delayed", [](const claim_stats& of) { return count(of.delayed); }},
    column<claim_stats>{"leased", [](const claim_stats& of) { return count(of.leased); }},
    column<claim_stats>{"held", [](const claim_stats& of) { return count(of.held); }},
    column<claim_stats>{"done", [](const claim_stats& of) { return count(of.done); }},
    column<claim_stats>{"dead", [](const claim_stats& of) { return count(of.dead); }},
    column<claim_stats>{"oldest", [](const claim_stats& of) { return optional(of.oldest, time); }},
    column<claim_stats>{"counted_to",
                        [](const claim_stats& of) { return optional(of.counted_to, count); }},
    column<claim_stats>{"last_id", [](const claim_stats& of) { return optional(of.last_id, id); }},
    column<claim_stats>{"as_of", [](const claim_stats& of) { return time(of.as_of); }},
    column<claim_stats>{"dead_letters",
                        [](const claim_stats& of) { return optional(of.dead_letters, count); }},
    column<claim_stats>{"dead_letters_at_least",
                        [](const claim_stats& of) { return boolean(of.dead_letters_at_least); }},
};
using tableq::queue_rates;
constexpr std::array rate_columns = {
    column<queue_rates>{"enqueued",
                        [](const queue_rates& of) { return optional(of.enqueued, real); }},
    column<queue_rates>{"left", [](const queue_rates& of) { return optional(of.left, real); }},
};
using tableq::queue_limits;
field number(int value) noexcept {
  return integer(value);
}
constexpr std::array limit_columns = {
    column<queue_limits>{"capacity",
                         [](const queue_limits& of) { return optional(of.capacity, count); }},
    column<queue_limits>{"rate", [](const queue_limits& of) { return optional(of.rate, real); }},
    column<queue_limits>{"burst",
                         [](const queue_limits& of) { return optional(of.burst, number); }},
    column<queue_limits>{"concurrency",
                         [](const queue_limits& of) { return optional(of.concurrency, number); }},
};
using tableq::limited_group;
constexpr std::array limited_group_columns = {
    column<limited_group>{"group", [](const limited_group& of) { return text(of.group); }},
    column<limited_group>{
        "running", [](const limited_group& of) { return optional(of.limits.running, number); }},
    column<limited_group>{"rate",
                          [](const limited_group& of) { return optional(of.limits.rate, real); }},
    column<limited_group>{
        "burst", [](const limited_group& of) { return optional(of.limits.burst, number); }},
    column<limited_group>{
        "weight", [](const limited_group& of) { return optional(of.limits.weight, number); }},
};
using tableq::waiting_group;
constexpr std::array waiting_group_columns = {
    column<waiting_group>{"group", [](const waiting_group& of) { return text(of.group); }},
    column<waiting_group>{"waiting", [](const waiting_group& of) { return count(of.waiting); }},
    column<waiting_group>{"oldest", [](const waiting_group& of) { return time(of.oldest); }},
};
using tableq::redriven;
constexpr std::array redriven_columns = {
    column<redriven>{"count", [](const redriven& of) { return count(of.count); }},
    column<redriven>{"key_held", [](const redriven& of) { return count(of.key_held); }},
};

std::string text_of(const tableq::filter_place& place) {
  return std::to_string(place.part) + ":" + std::to_string(place.at) + ":" +
         std::to_string(place.id) + ":" + std::to_string(place.until);
}
struct bulk_row {
  tableq::bulk_result done;
  std::string stopped_at = {};
};
constexpr std::array bulk_columns = {
    column<bulk_row>{"count", [](const bulk_row& of) { return count(of.done.count); }},
    column<bulk_row>{"running", [](const bulk_row& of) { return count(of.done.running); }},
    column<bulk_row>{"changed", [](const bulk_row& of) { return count(of.done.changed); }},
    column<bulk_row>{"key_held", [](const bulk_row& of) { return count(of.done.key_held); }},
    column<bulk_row>{
        "stopped_at",
        [](const bulk_row& of) { return of.done.stopped_at ? text(of.stopped_at) : null(); }},
};
constexpr std::array place_columns = {
    column<std::string>{"place", [](const std::string& of) { return text(of); }},
};
using tableq::option_change;
constexpr std::array change_columns = {
    column<option_change>{"option", [](const option_change& of) { return text(of.option); }},
    column<option_change>{"before", [](const option_change& of) { return text(of.before); }},
    column<option_change>{"after", [](const option_change& of) { return text(of.after); }},
    column<option_change>{"refused_at_open",
                          [](const option_change& of) { return boolean(of.refused_at_open); }},
};

using settings_row = handle_settings;
template <auto Get>
field of_handle(const settings_row& of) {
  return of.claim ? Get(*of.claim) : null();
}
template <auto Get>
field of_guarantee(const settings_row& of) {
  return of.guarantee ? Get(*of.guarantee) : null();
}
using tableq::claim_queue;
using tableq::table_guarantee;
constexpr std::array settings_columns = {
    column<settings_row>{"lease_ms",
                         of_handle<[](const claim_queue& of) { return length(of.lease()); }>},
    column<settings_row>{
        "max_attempts",
        of_handle<[](const claim_queue& of) { return integer(of.max_attempts()); }>},
    column<settings_row>{
        "definition",
        [](const settings_row& of) { return of.guarantee ? text(of.definition) : null(); }},
    column<settings_row>{
        "at_least_once",
        of_guarantee<[](const table_guarantee& of) { return boolean(of.at_least_once); }>},
    column<settings_row>{
        "fenced", of_guarantee<[](const table_guarantee& of) { return boolean(of.fenced); }>},
    column<settings_row>{"ends",
                         of_guarantee<[](const table_guarantee& of) { return boolean(of.ends); }>},
    column<settings_row>{
        "settles", of_guarantee<[](const table_guarantee& of) { return boolean(of.settles); }>},
    column<settings_row>{"words",
                         of_guarantee<[](const table_guarantee& of) { return text(of.words); }>},
};

}  // namespace

result result_of_columns(const tableq::row& values) {
  return inner(std::make_unique<columns>(values));
}

result result_of(std::vector<tableq::message> messages) {
  return made(std::move(messages), message_columns);
}
result result_of(std::vector<tableq::delivery> messages) {
  return std::make_unique<taken>(std::move(messages));
}
const std::vector<tableq::delivery>* deliveries_of(const tq_result& given) noexcept {
  const auto* const found = dynamic_cast<const taken*>(&given);
  return found == nullptr ? nullptr : &found->messages();
}
result result_of(std::vector<listed> messages) {
  std::vector<listed_row> out;
  out.reserve(messages.size());
  for (listed& each : messages) {
    listed_row& one = out.emplace_back(listed_row{.message = std::move(each)});
    if (!one.message) continue;
    one.headers = list_of(one.message->headers);
    one.errors = inner(made(std::vector(one.message->errors), failure_columns));
  }
  return made(std::move(out), listed_columns);
}
result result_of(std::vector<tableq::stored_message> messages) {
  std::vector<listed> out;
  out.reserve(messages.size());
  for (tableq::stored_message& each : messages) out.emplace_back(std::move(each));
  return result_of(std::move(out));
}
result result_of(awaited found) {
  return made_of_one(std::move(found), awaited_columns);
}
result result_of(std::vector<tableq::row> table_rows) {
  std::vector<table_row> out;
  out.reserve(table_rows.size());
  for (const tableq::row& each : table_rows) out.push_back({result_of_columns(each)});
  return made(std::move(out), row_columns);
}
result result_of(std::vector<added_row> added) {
  return made(std::move(added), added_columns);
}
result result_of(std::vector<tableq::queue_info> queues) {
  std::vector<queue_row> out;
  out.reserve(queues.size());
  for (tableq::queue_info& each : queues) {
    queue_row& one = out.emplace_back(queue_row{.info = std::move(each)});
    if (one.info.table) one.definition = to_json(*one.info.table);
    if (!one.claims()) continue;
    std::vector<std::int64_t> delays;
    for (const std::chrono::milliseconds delay : one.info.retry.after)
      delays.push_back(delay.count());
    one.retry = inner(made(std::move(delays), delay_columns));
  }
  return made(std::move(out), queue_columns);
}
result result_of(std::vector<tableq::finding> findings) {
  return made(std::move(findings), finding_columns);
}
result result_of(std::vector<tableq::migration_step> steps) {
  return made(std::move(steps), step_columns);
}
result result_of(std::vector<tableq::lost_lease> lost) {
  std::vector<lost_row> out;
  out.reserve(lost.size());
  for (tableq::lost_lease& each : lost) {
    std::string receipt = to_string(each.receipt);
    out.push_back({std::move(each), std::move(receipt)});
  }
  return made(std::move(out), lost_columns);
}
result result_of(const std::map<std::string, std::string>& statements) {
  return made(std::vector<named_text>(statements.begin(), statements.end()), named_text_columns);
}
result result_of(const tableq::queue_stats& stats) {
  return made_of_one(stats, queue_stats_columns);
}
result result_of(const tableq::claim_stats& stats) {
  return made_of_one(stats, claim_stats_columns);
}
result result_of(const tableq::queue_rates& rates) {
  return made_of_one(rates, rate_columns);
}
result result_of(const tableq::queue_limits& limits) {
  return made_of_one(limits, limit_columns);
}
result result_of(std::vector<tableq::limited_group> groups) {
  return made(std::move(groups), limited_group_columns);
}
result result_of(std::vector<tableq::waiting_group> groups) {
  return made(std::move(groups), waiting_group_columns);
}
result result_of(const tableq::redriven& done) {
  return made_of_one(done, redriven_columns);
}
result result_of(const tableq::bulk_result& done) {
  bulk_row row{.done = done};
  if (done.stopped_at) row.stopped_at = text_of(*done.stopped_at);
  return made_of_one(std::move(row), bulk_columns);
}
result result_of(std::vector<tableq::option_change> changes) {
  return made(std::move(changes), change_columns);
}
result result_of(const std::optional<tableq::filter_place>& next) {
  std::vector<std::string> places;
  if (next) places.push_back(text_of(*next));
  return made(std::move(places), place_columns);
}
result result_of(handle_settings settings) {
  return made_of_one(std::move(settings), settings_columns);
}
result result_of_text(std::string text) {
  return made_of_one(std::move(text), text_columns);
}
result result_of_names(std::vector<std::string> names) {
  return made(std::move(names), name_columns);
}
result result_of_outcomes(std::vector<int> outcomes) {
  return made(std::move(outcomes), outcome_columns);
}

}  // namespace tableq_c
