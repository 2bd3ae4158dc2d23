#include "result.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fields.hpp"

namespace tableq_c {
namespace {

using failed = tableq::failure_record;
constexpr std::array failure_columns = {
    member<failed, &failed::at>("at"),
    member<failed, &failed::error>("error"),
};

constexpr std::array delay_columns = {
    member<std::int64_t>("ms"),
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
    member<tableq::message, &tableq::message::id>("id"),
    column<tableq::message>{"payload", [](const tableq::message& of) { return bytes(of.payload); }},
    member<tableq::message, &tableq::message::created_at>("created_at"),
    member<tableq::message, &tableq::message::due_at>("due_at"),
};

using stored = tableq::stored_message;
/// A field of a message that may be missing.
template <auto... Members>
constexpr column<listed_row> of_listed(std::string_view name) {
  return part<listed_row, [](const listed_row& of) { return of.message ? &*of.message : nullptr; },
              Members...>(name);
}
/// A field of what a handler has said.
using said = tableq::message_progress;
template <auto... Members>
constexpr column<listed_row> of_progress(std::string_view name) {
  return part<listed_row,
              [](const listed_row& of) {
                return of.message && of.message->progress ? &*of.message->progress : nullptr;
              },
              Members...>(name);
}
constexpr std::array listed_columns = {
    of_listed<&stored::id>("id"),
    of_listed<&stored::state>("state"),
    column<listed_row>{
        "payload",
        [](const listed_row& of) { return of.message ? bytes(of.message->payload) : null(); }},
    column<listed_row>{"headers",
                       [](const listed_row& of) {
                         return of.message ? list_or(of.headers, no_headers()) : null();
                       }},
    of_listed<&stored::key>("key"),
    of_listed<&stored::group>("group"),
    of_listed<&stored::priority>("priority"),
    of_listed<&stored::attempts>("attempts"),
    of_listed<&stored::created_at>("created_at"),
    of_listed<&stored::due_at>("due_at"),
    of_listed<&stored::expires_at>("expires_at"),
    of_listed<&stored::claimed_at>("claimed_at"),
    of_listed<&stored::finished_at>("finished_at"),
    column<listed_row>{"errors",
                       [](const listed_row& of) { return of.errors ? list(of.errors) : null(); }},
    of_listed<&stored::unread_headers>("unread_headers"),
    of_progress<&said::done>("progress"),
    of_progress<&said::note>("progress_note"),
    of_progress<&said::at>("progress_at"),
    column<listed_row>{"result",
                       [](const listed_row& of) {
                         return of.message ? optional(of.message->result, bytes) : null();
                       }},
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
    member<added_row, &added_row::id>("id"),
    member<added_row, &added_row::outcome>("outcome"),
    column<added_row>{"row", [](const added_row& of) { return of.row ? list(of.row) : null(); }},
};

struct queue_row {
  tableq::queue_info info;
  result retry = {};
  std::string definition = {};

  [[nodiscard]] bool claims() const noexcept { return info.kind == tableq::kind::claim; }
};
using queue_info = tableq::queue_info;
/// A field of "claim" queues.
template <auto... Members>
constexpr column<queue_row> of_claim(std::string_view name) {
  return part<queue_row, [](const queue_row& of) { return of.claims() ? &of.info : nullptr; },
              Members...>(name);
}
/// A field of queues with groups.
template <auto... Members>
constexpr column<queue_row> of_groups(std::string_view name) {
  return part<queue_row,
              [](const queue_row& of) {
                return of.claims() && of.info.groups ? &*of.info.groups : nullptr;
              },
              Members...>(name);
}
constexpr std::array queue_columns = {
    member<queue_row, &queue_row::info, &queue_info::name>("name"),
    member<queue_row, &queue_row::info, &queue_info::kind>("kind"),
    member<queue_row, &queue_row::info, &queue_info::layout>("layout"),
    member<queue_row, &queue_row::info, &queue_info::identity>("identity"),
    member<queue_row, &queue_row::info, &queue_info::ordering>("ordering"),
    member<queue_row, &queue_row::info, &queue_info::schedules>("schedules"),
    member<queue_row, &queue_row::info, &queue_info::created_at>("created_at"),
    of_claim<&queue_info::lease>("lease_ms"),
    of_claim<&queue_info::max_attempts>("max_attempts"),
    of_claim<&queue_info::keep_completed>("keep_completed"),
    column<queue_row>{"retry_ms",
                      [](const queue_row& of) { return of.retry ? list(of.retry) : null(); }},
    of_claim<&queue_info::retry, &tableq::retry_delays::jitter>("retry_jitter"),
    of_claim<&queue_info::time_to_live>("time_to_live_ms"),
    of_claim<&queue_info::keys>("keys"),
    of_claim<&queue_info::key_window>("key_window_ms"),
    of_claim<&queue_info::key_windows>("key_windows"),
    of_groups<&tableq::group_options::limit>("group_limit"),
    of_groups<&tableq::group_options::on_failure>("group_on_failure"),
    of_groups<&tableq::group_options::by_turns>("group_by_turns"),
    of_claim<&queue_info::group_limits>("group_limits"),
    of_claim<&queue_info::group_rates>("group_rates"),
    of_claim<&queue_info::dead_letters>("dead_letters"),
    of_claim<&queue_info::batches>("batches"),
    member<queue_row, &queue_row::info, &queue_info::batch_ends>("batch_ends"),
    of_claim<&queue_info::retention, &tableq::retention::done>("retain_done_ms"),
    of_claim<&queue_info::retention, &tableq::retention::dead>("retain_dead_ms"),
    column<queue_row>{
        "definition",
        [](const queue_row& of) { return of.info.table ? text(of.definition) : null(); }},
};

using tableq::finding;
constexpr std::array finding_columns = {
    member<finding, &finding::severity>("severity"),
    member<finding, &finding::subject>("subject"),
    member<finding, &finding::what>("what"),
    member<finding, &finding::fix>("fix"),
};

using tableq::migration_step;
constexpr std::array step_columns = {
    member<migration_step, &migration_step::queue>("queue"),
    member<migration_step, &migration_step::from>("from"),
    member<migration_step, &migration_step::to>("to"),
    member<migration_step, &migration_step::sql>("sql"),
};

struct lost_row {
  tableq::lost_lease lost;
  std::string receipt;
};
constexpr std::array lost_columns = {
    member<lost_row, &lost_row::receipt>("receipt"),
    member<lost_row, &lost_row::lost, &tableq::lost_lease::queue>("queue"),
    member<lost_row, &lost_row::lost, &tableq::lost_lease::why>("why"),
};

using named_text = std::pair<std::string, std::string>;
constexpr std::array named_text_columns = {
    member<named_text, &named_text::first>("name"),
    member<named_text, &named_text::second>("text"),
};
constexpr std::array text_columns = {
    member<std::string>("text"),
};
constexpr std::array name_columns = {
    member<std::string>("name"),
};
constexpr std::array outcome_columns = {
    member<int>("outcome"),
};

using tableq::queue_stats;
constexpr std::array queue_stats_columns = {
    member<queue_stats, &queue_stats::waiting>("waiting"),
    member<queue_stats, &queue_stats::delayed>("delayed"),
    member<queue_stats, &queue_stats::oldest>("oldest"),
    member<queue_stats, &queue_stats::counted_to>("counted_to"),
    member<queue_stats, &queue_stats::last_id>("last_id"),
    member<queue_stats, &queue_stats::as_of>("as_of"),
};
using tableq::claim_stats;
constexpr std::array claim_stats_columns = {
    member<claim_stats, &claim_stats::ready>("ready"),
    member<claim_stats, &claim_stats::due>("due"),
    member<claim_stats, &claim_stats::delayed>("delayed"),
    member<claim_stats, &claim_stats::leased>("leased"),
    member<claim_stats, &claim_stats::held>("held"),
    member<claim_stats, &claim_stats::done>("done"),
    member<claim_stats, &claim_stats::dead>("dead"),
    member<claim_stats, &claim_stats::oldest>("oldest"),
    member<claim_stats, &claim_stats::counted_to>("counted_to"),
    member<claim_stats, &claim_stats::last_id>("last_id"),
    member<claim_stats, &claim_stats::as_of>("as_of"),
    member<claim_stats, &claim_stats::dead_letters>("dead_letters"),
    member<claim_stats, &claim_stats::dead_letters_at_least>("dead_letters_at_least"),
};
using tableq::queue_rates;
constexpr std::array rate_columns = {
    member<queue_rates, &queue_rates::enqueued>("enqueued"),
    member<queue_rates, &queue_rates::left>("left"),
};
using tableq::queue_limits;
constexpr std::array limit_columns = {
    member<queue_limits, &queue_limits::capacity>("capacity"),
    member<queue_limits, &queue_limits::rate>("rate"),
    member<queue_limits, &queue_limits::burst>("burst"),
    member<queue_limits, &queue_limits::concurrency>("concurrency"),
};
using tableq::limited_group;
constexpr std::array limited_group_columns = {
    member<limited_group, &limited_group::group>("group"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::running>("running"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::rate>("rate"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::burst>("burst"),
    member<limited_group, &limited_group::limits, &tableq::group_limits::weight>("weight"),
};
using tableq::waiting_group;
constexpr std::array waiting_group_columns = {
    member<waiting_group, &waiting_group::group>("group"),
    member<waiting_group, &waiting_group::waiting>("waiting"),
    member<waiting_group, &waiting_group::oldest>("oldest"),
};
using tableq::redriven;
constexpr std::array redriven_columns = {
    member<redriven, &redriven::count>("count"),
    member<redriven, &redriven::key_held>("key_held"),
};

std::string place_text(const tableq::filter_place& place) {
  return std::to_string(place.part) + ":" + std::to_string(place.at) + ":" +
         std::to_string(place.id) + ":" + std::to_string(place.until);
}
struct bulk_row {
  tableq::bulk_result done;
  std::string stopped_at = {};
};
constexpr std::array bulk_columns = {
    member<bulk_row, &bulk_row::done, &tableq::bulk_result::count>("count"),
    member<bulk_row, &bulk_row::done, &tableq::bulk_result::running>("running"),
    member<bulk_row, &bulk_row::done, &tableq::bulk_result::changed>("changed"),
    member<bulk_row, &bulk_row::done, &tableq::bulk_result::key_held>("key_held"),
    column<bulk_row>{
        "stopped_at",
        [](const bulk_row& of) { return of.done.stopped_at ? text(of.stopped_at) : null(); }},
};
constexpr std::array place_columns = {
    member<std::string>("place"),
};
using tableq::option_change;
constexpr std::array change_columns = {
    member<option_change, &option_change::option>("option"),
    member<option_change, &option_change::before>("before"),
    member<option_change, &option_change::after>("after"),
    member<option_change, &option_change::refused_at_open>("refused_at_open"),
};

using settings_row = handle_settings;
using tableq::table_guarantee;
template <auto... Members>
constexpr column<settings_row> of_guarantee(std::string_view name) {
  return part<settings_row,
              [](const settings_row& of) { return of.guarantee ? &*of.guarantee : nullptr; },
              Members...>(name);
}
constexpr std::array settings_columns = {
    column<settings_row>{
        "lease_ms",
        [](const settings_row& of) { return of.claim ? length(of.claim->lease()) : null(); }},
    column<settings_row>{"max_attempts",
                         [](const settings_row& of) {
                           return of.claim ? integer(of.claim->max_attempts()) : null();
                         }},
    column<settings_row>{
        "definition",
        [](const settings_row& of) { return of.guarantee ? text(of.definition) : null(); }},
    of_guarantee<&table_guarantee::at_least_once>("at_least_once"),
    of_guarantee<&table_guarantee::fenced>("fenced"),
    of_guarantee<&table_guarantee::ends>("ends"),
    of_guarantee<&table_guarantee::settles>("settles"),
    of_guarantee<&table_guarantee::words>("words"),
};

}  // namespace

result result_of_columns(const tableq::row& values) {
  return inner(std::make_unique<columns>(values));
}

result result_of(std::vector<tableq::message> messages) {
  return made(std::move(messages), message_columns);
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
  if (done.stopped_at) row.stopped_at = place_text(*done.stopped_at);
  return made_of_one(std::move(row), bulk_columns);
}
result result_of(std::vector<tableq::option_change> changes) {
  return made(std::move(changes), change_columns);
}
result result_of(const std::optional<tableq::filter_place>& next) {
  std::vector<std::string> places;
  if (next) places.push_back(place_text(*next));
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
