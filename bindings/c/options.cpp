#include "options.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "option_keys.hpp"

namespace tableq_c {
namespace {

constexpr std::array open_keys = {
    key<open_values, &open_values::schema>("schema"),
    key<open_values, &open_values::table_prefix>("table_prefix"),
    key<open_values, &open_values::schema_name>("schema_name"),
    key<open_values, &open_values::max_sessions>("max_sessions"),
    key<open_values, &open_values::session_timeout>("session_timeout_ms"),
    key<open_values, &open_values::retry_for>("retry_for_ms"),
    key<open_values, &open_values::max_payload>("max_payload"),
    key<open_values, &open_values::notifications>("notifications"),
    key<open_values, &open_values::poll_interval>("poll_interval_ms"),
    key<open_values, &open_values::refuses_beside_begin>("refuses_beside_begin"),
    key<open_values, &open_values::metrics>("metrics"),
    shortcut<&tableq::shortcuts::combining>("combining"),
    shortcut<&tableq::shortcuts::spinning>("spinning"),
    shortcut<&tableq::shortcuts::floors>("floors"),
    shortcut<&tableq::shortcuts::writers_line>("writers_line"),
};
constexpr std::array queue_retry_keys = retry_keys<queue_values>();
constexpr std::array queue_keys = {
    key<queue_values, &queue_values::ordering>("ordering"),
    key<queue_values, &queue_values::lease>("lease_ms"),
    key<queue_values, &queue_values::max_attempts>("max_attempts"),
    key<queue_values, &queue_values::keep_completed>("keep_completed"),
    key<queue_values, &queue_values::time_to_live>("time_to_live_ms"),
    key<queue_values, &queue_values::keys>("keys"),
    key<queue_values, &queue_values::key_window>("key_window_ms"),
    key<queue_values, &queue_values::dead_letters>("dead_letters"),
    retained<&tableq::retention::done>("retain_done_ms"),
    retained<&tableq::retention::dead>("retain_dead_ms"),
    key<queue_values, &queue_values::batches>("batches"),
    group<&tableq::group_options::limit>("group_limit"),
    group<&tableq::group_options::on_failure>("group_on_failure"),
    group<&tableq::group_options::by_turns>("group_by_turns"),
    group<&tableq::group_options::enabled>("groups"),
    queue_retry_keys[0],
    queue_retry_keys[1],
    queue_retry_keys[2],
};
constexpr std::array message_retry_keys = retry_keys<message_values>();
constexpr std::array message_keys = {
    key<message_values, &message_values::created_at>("created_at"),
    key<message_values, &message_values::delay>("delay_ms"),
    key<message_values, &message_values::due_at>("due_at"),
    key<message_values, &message_values::priority>("priority"),
    key<message_values, &message_values::key>("key"),
    key<message_values, &message_values::group>("group"),
    key<message_values, &message_values::on_duplicate>("on_duplicate"),
    key<message_values, &message_values::time_to_live>("time_to_live_ms"),
    key<message_values, &message_values::max_attempts>("max_attempts"),
    message_retry_keys[0],
    message_retry_keys[1],
    message_retry_keys[2],
    key_of<message_values>{
        "batch", TQ_TYPE_INT,
        [](message_values& to, const value& given) { store(to.batch_given.id, given); }},
    key_of<message_values>{
        "batch_member", TQ_TYPE_TEXT,
        [](message_values& to, const value& given) { store(to.batch_given.member, given); }},
    key_of<message_values>{
        "wait_ms", TQ_TYPE_INT,
        [](message_values& to, const value& given) { store(to.full.wait, given); }},
};
constexpr std::array enqueue_keys = {
    key<tableq::when_full, &tableq::when_full::wait>("wait_ms"),
};
constexpr std::array read_keys = {
    key<read_values, &read_values::wait>("wait_ms"),
    key<read_values, &read_values::lease>("lease_ms"),
    key<read_values, &read_values::claimed_at>("claimed_at"),
};
constexpr std::array failure_keys = {
    key<failure_values, &failure_values::delay>("delay_ms"),
    key<failure_values, &failure_values::give_up>("give_up"),
    key<failure_values, &failure_values::error>("error"),
};
using tableq::queue_limits;
constexpr std::array limit_keys = {
    key<queue_limits, &queue_limits::capacity>("capacity"),
    key<queue_limits, &queue_limits::rate>("rate"),
    key<queue_limits, &queue_limits::burst>("burst"),
    key<queue_limits, &queue_limits::concurrency>("concurrency"),
};
using tableq::group_limits;
constexpr std::array group_limit_keys = {
    key<group_limits, &group_limits::running>("running"),
    key<group_limits, &group_limits::rate>("rate"),
    key<group_limits, &group_limits::burst>("burst"),
    key<group_limits, &group_limits::weight>("weight"),
};
using tableq::stats_options;
constexpr std::array stats_keys = {
    key<stats_options, &stats_options::exact>("exact"),
    key<stats_options, &stats_options::count_to>("count_to"),
};
using tableq::purge_options;
constexpr std::array purge_keys = {
    key<purge_options, &purge_options::older_than>("older_than_ms"),
    key<purge_options, &purge_options::batch>("batch"),
};
using tableq::redrive_options;
constexpr std::array redrive_keys = {
    key<redrive_options, &redrive_options::max>("max"),
    key<redrive_options, &redrive_options::per_second>("per_second"),
};
using tableq::migrate_options;
constexpr std::array migrate_keys = {
    key<migrate_options, &migrate_options::to>("to"),
    key<migrate_options, &migrate_options::dry_run>("dry_run"),
    key<migrate_options, &migrate_options::wait>("wait_ms"),
    key_of<migrate_options>{
        "queues", TQ_TYPE_TEXT,
        [](migrate_options& to, const value& given) { to.queues.emplace_back(given.text); }, true},
};

constexpr std::array filter_keys = {
    key<filter_values, &filter_values::state>("state"),
    key<filter_values, &filter_values::older_than>("older_than_ms"),
    key<filter_values, &filter_values::group>("group"),
    key<filter_values, &filter_values::key_prefix>("key_prefix"),
    key<filter_values, &filter_values::error>("error"),
    key<filter_values, &filter_values::all>("all"),
    key<filter_values, &filter_values::dry_run>("dry_run"),
    key<filter_values, &filter_values::batch>("batch"),
    key<filter_values, &filter_values::max>("max"),
    key<filter_values, &filter_values::after>("after"),
    looked<&tableq::look_options::detail>("detail"),
    looked<&tableq::look_options::progress>("progress"),
    looked<&tableq::look_options::result>("result"),
};
using tableq::look_options;
constexpr std::array look_keys = {
    key<look_options, &look_options::detail>("detail"),
    key<look_options, &look_options::progress>("progress"),
    key<look_options, &look_options::result>("result"),
};
constexpr std::array alter_retry_keys = retry_keys<alter_values>();
constexpr std::array alter_keys = {
    key<alter_values, &alter_values::lease>("lease_ms"),
    key<alter_values, &alter_values::max_attempts>("max_attempts"),
    key<alter_values, &alter_values::keep_completed>("keep_completed"),
    key<alter_values, &alter_values::time_to_live>("time_to_live_ms"),
    key<alter_values, &alter_values::keys>("keys"),
    key<alter_values, &alter_values::key_window>("key_window_ms"),
    key<alter_values, &alter_values::group_limit>("group_limit"),
    key<alter_values, &alter_values::group_on_failure>("group_on_failure"),
    key<alter_values, &alter_values::dead_letters>("dead_letters"),
    key<alter_values, &alter_values::retain_done>("retain_done_ms"),
    key<alter_values, &alter_values::retain_dead>("retain_dead_ms"),
    key<alter_values, &alter_values::ordering>("ordering"),
    key<alter_values, &alter_values::groups>("groups"),
    key<alter_values, &alter_values::groups_by_turns>("group_by_turns"),
    key<alter_values, &alter_values::dry_run>("dry_run"),
    alter_retry_keys[0],
    alter_retry_keys[1],
    alter_retry_keys[2],
};

using tableq::schedule;
constexpr std::array schedule_keys = {
    key<schedule, &schedule::name>("name"),
    key<schedule, &schedule::queue>("queue"),
    key<schedule, &schedule::cron>("cron"),
    key<schedule, &schedule::every>("every_ms"),
    key<schedule, &schedule::zone>("zone"),
    key<schedule, &schedule::key>("key"),
    key<schedule, &schedule::group>("group"),
    key<schedule, &schedule::priority>("priority"),
    key<schedule, &schedule::catch_up>("catch_up"),
    key<schedule, &schedule::not_later_than>("not_later_than_ms"),
    key<schedule, &schedule::skip_if_running>("skip_if_running"),
};

constexpr std::array batch_keys = {
    key<begin_values, &begin_values::name>("name"),
    key_of<begin_values>{"then", TQ_TYPE_TEXT,
                         [](begin_values& to, const value& given) {
                           if (given.text.empty()) refuse("then is the name of a queue");
                           store(to.queue, given);
                         }},
    key<begin_values, &begin_values::key>("key"),
    key<begin_values, &begin_values::group>("group"),
    key<begin_values, &begin_values::priority>("priority"),
    key_of<begin_values>{"parent", TQ_TYPE_INT,
                         [](begin_values& to, const value& given) { store(to.parent.id, given); }},
    key_of<begin_values>{
        "parent_member", TQ_TYPE_TEXT,
        [](begin_values& to, const value& given) { store(to.parent.member, given); }},
};

template <class Values>
constexpr std::span<const key_of<Values>> keys_of() {
  if constexpr (std::is_same_v<Values, open_values>) return open_keys;
  if constexpr (std::is_same_v<Values, queue_values>) return queue_keys;
  if constexpr (std::is_same_v<Values, message_values>) return message_keys;
  if constexpr (std::is_same_v<Values, tableq::when_full>) return enqueue_keys;
  if constexpr (std::is_same_v<Values, read_values>) return read_keys;
  if constexpr (std::is_same_v<Values, failure_values>) return failure_keys;
  if constexpr (std::is_same_v<Values, tableq::queue_limits>) return limit_keys;
  if constexpr (std::is_same_v<Values, tableq::stats_options>) return stats_keys;
  if constexpr (std::is_same_v<Values, tableq::purge_options>) return purge_keys;
  if constexpr (std::is_same_v<Values, tableq::redrive_options>) return redrive_keys;
  if constexpr (std::is_same_v<Values, tableq::migrate_options>) return migrate_keys;
  if constexpr (std::is_same_v<Values, filter_values>) return filter_keys;
  if constexpr (std::is_same_v<Values, alter_values>) return alter_keys;
  if constexpr (std::is_same_v<Values, tableq::schedule>) return schedule_keys;
  if constexpr (std::is_same_v<Values, begin_values>) return batch_keys;
  if constexpr (std::is_same_v<Values, tableq::group_limits>) return group_limit_keys;
  if constexpr (std::is_same_v<Values, tableq::look_options>) return look_keys;
}

const char* words_of(int type) {
  switch (type) {
    case TQ_TYPE_INT:
      return "an integer";
    case TQ_TYPE_BOOL:
      return "a boolean";
    case TQ_TYPE_TIME:
      return "a time";
    case TQ_TYPE_DOUBLE:
      return "a double";
    default:
      return "a text";
  }
}

template <class Values>
void set_key(Values& to, const value& given) {
  const std::string name(given.key);
  const auto all = keys_of<Values>();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& each) { return each.name == given.key; });
  if (found == all.end()) {
    std::string names;
    for (const auto& each : all) names += (names.empty() ? "" : ", ") + std::string(each.name);
    refuse("these options have no key " + name + "; they have: " + names);
  }
  if (found->list != given.added) {
    refuse(found->list ? name + " is a list: add its values one by one"
                       : name + " is no list: set its value");
  }
  if (given.type != found->type && !(given.null() && found->nullable)) {
    refuse(name + " is " + words_of(found->type) + (found->nullable ? ", or null" : ""));
  }
  found->set(to, given);
  if constexpr (std::is_same_v<Values, message_values>) to.keys.push_back(found->name);
  if constexpr (std::is_same_v<Values, queue_values>) {
    to.for_claim = to.for_claim || found->name != "ordering";
  }
  if constexpr (std::is_same_v<Values, read_values>) {
    to.for_claim = to.for_claim || found->name != "wait_ms";
  }
}

tableq::column_type column_type_of(int type) {
  switch (type) {
    case TQ_TYPE_INT:
      return tableq::column_type::integer;
    case TQ_TYPE_BOOL:
      return tableq::column_type::boolean;
    case TQ_TYPE_TIME:
      return tableq::column_type::time;
    case TQ_TYPE_DOUBLE:
    case TQ_TYPE_DECIMAL:
      return tableq::column_type::number;
    case TQ_TYPE_BYTES:
      return tableq::column_type::bytes;
    case 0:
    case TQ_TYPE_TEXT:
      return tableq::column_type::text;
    default:
      refuse("a NULL has the type of a column");
  }
}

tableq::row_value column_of(const value& given) {
  if (given.added) refuse("a column has one value, and no list");
  switch (given.type) {
    case TQ_TYPE_INT:
      return given.number;
    case TQ_TYPE_BOOL:
      return given.number != 0;
    case TQ_TYPE_TIME:
      return given.time();
    case TQ_TYPE_DOUBLE:
      return given.real;
    case TQ_TYPE_DECIMAL:
      return tableq::row_value::decimal(given.text);
    case TQ_TYPE_BYTES:
      return {tableq::column_type::bytes, std::string(given.text)};
    case TQ_TYPE_TEXT:
      return given.text;
    default:
      return tableq::row_value::null(column_type_of(static_cast<int>(given.number)));
  }
}

int set(tq_options* options, const char* key, tq_error** error, value given) {
  return calling(error, [&] {
    given.key = word_of(key);
    std::visit(
        [&](auto& values) {
          if constexpr (std::is_same_v<decltype(values), tableq::row&>) {
            values.set(given.key, column_of(given));
          } else {
            set_key(values, given);
          }
        },
        checked(options).values);
  });
}

/// @param of the purposes that have it.
[[noreturn]] void refuse_purpose(const char* what, const char* of) {
  refuse(std::string(what) + " is for options of the purpose " + of);
}

}  // namespace

tableq::optional_retry retry_values::all() const {
  if (!delays) {
    if (jitter) refuse("retry_jitter needs delays: give retry_ms, or retry");
    return std::nullopt;
  }
  tableq::retry_delays out = *delays;
  if (jitter) out.jitter = *jitter;
  return out;
}

tableq::claim_options queue_values::claim() const {
  tableq::claim_options out = *this;
  out.retry = retry_given.all();
  return out;
}

tableq::queue_changes alter_values::changes() const {
  tableq::queue_changes out = *this;
  out.retry = retry_given.all();
  return out;
}

tableq::claim_enqueue_options message_values::claim_options() const {
  tableq::claim_enqueue_options out = *this;
  out.retry = retry_given.all();
  out.batch = batch_given.all();
  return out;
}

namespace {

/// The values of each purpose stand in the order of its numbers, from 1.
template <class Variant, std::size_t... Places>
void begin(Variant& to, int purpose, std::index_sequence<Places...> /*all*/) {
  const auto is = [&](std::size_t place) { return purpose == static_cast<int>(place) + 1; };
  if (!((is(Places) && (to.template emplace<Places>(), true)) || ...)) {
    refuse("this version has no such purpose of options");
  }
}

void allow_only(const std::vector<std::string_view>& given,
                std::initializer_list<std::string_view> known, const char* kinds) {
  for (const std::string_view each : given) {
    if (std::find(known.begin(), known.end(), each) != known.end()) continue;
    refuse("messages of " + std::string(kinds) + " have no " + std::string(each));
  }
}

}  // namespace

tableq::enqueue_options message_values::plain_options() const {
  allow_only(keys, {"created_at", "wait_ms"}, "heap, fifo and lifo queues");
  return {.created_at = created_at};
}
tableq::pending_options message_values::pending_options() const {
  allow_only(keys, {"created_at", "wait_ms", "delay_ms", "due_at"}, "pending queues");
  return {.delay = delay, .due_at = due_at, .created_at = created_at};
}

}  // namespace tableq_c

using tableq_c::calling;
using tableq_c::checked;
using tableq_c::text_of;

int tq_options_new(int purpose, tq_options** options, tq_error** error) {
  return tableq_c::making(options, error, [&] {
    auto made = std::make_unique<tq_options>();
    constexpr std::size_t purposes = std::variant_size_v<decltype(made->values)>;
    tableq_c::begin(made->values, purpose, std::make_index_sequence<purposes>());
    return made;
  });
}

int tq_options_set_bool(tq_options* options, const char* key, int given, tq_error** error) {
  return tableq_c::set(options, key, error, {.type = TQ_TYPE_BOOL, .number = given != 0 ? 1 : 0});
}
int tq_options_set_int(tq_options* options, const char* key, int64_t given, tq_error** error) {
  return tableq_c::set(options, key, error, {.type = TQ_TYPE_INT, .number = given});
}
int tq_options_set_double(tq_options* options, const char* key, double given, tq_error** error) {
  return tableq_c::set(options, key, error, {.type = TQ_TYPE_DOUBLE, .real = given});
}

namespace tableq_c {
namespace {

int set_text(tq_options* options, const char* key, int type, const void* text, size_t size,
             bool added, tq_error** error) {
  std::string_view bytes;
  const int wrong = calling(error, [&] { bytes = text_of(text, size); });
  if (wrong != TQ_OK) return wrong;
  return set(options, key, error, {.type = type, .text = bytes, .added = added});
}

}  // namespace
}  // namespace tableq_c

int tq_options_set_text(tq_options* options, const char* key, const char* text, size_t size,
                        tq_error** error) {
  return tableq_c::set_text(options, key, TQ_TYPE_TEXT, text, size, false, error);
}
int tq_options_set_bytes(tq_options* options, const char* key, const void* bytes, size_t size,
                         tq_error** error) {
  return tableq_c::set_text(options, key, TQ_TYPE_BYTES, bytes, size, false, error);
}
int tq_options_set_decimal(tq_options* options, const char* key, const char* digits, size_t size,
                           tq_error** error) {
  return tableq_c::set_text(options, key, TQ_TYPE_DECIMAL, digits, size, false, error);
}
int tq_options_set_time(tq_options* options, const char* key, int64_t given, tq_error** error) {
  return tableq_c::set(options, key, error, {.type = TQ_TYPE_TIME, .number = given});
}
int tq_options_set_null(tq_options* options, const char* key, int type, tq_error** error) {
  return tableq_c::set(options, key, error, {.type = TQ_TYPE_NULL, .number = type});
}
int tq_options_add_int(tq_options* options, const char* key, int64_t given, tq_error** error) {
  return tableq_c::set(options, key, error, {.type = TQ_TYPE_INT, .number = given, .added = true});
}
int tq_options_add_text(tq_options* options, const char* key, const char* text, size_t size,
                        tq_error** error) {
  return tableq_c::set_text(options, key, TQ_TYPE_TEXT, text, size, true, error);
}
int tq_options_set_header(tq_options* options, const char* name, size_t name_size,
                          const char* given, size_t value_size, tq_error** error) {
  return calling(error, [&] {
    auto& values = checked(options).values;
    if (auto* const filter = std::get_if<tableq_c::filter_values>(&values)) {
      filter->header = tableq::header_value{std::string(text_of(name, name_size)),
                                            std::string(text_of(given, value_size))};
      return;
    }
    auto* const message = std::get_if<tableq_c::message_values>(&values);
    auto* const rule = std::get_if<tableq::schedule>(&values);
    auto* const batch = std::get_if<tableq_c::begin_values>(&values);
    tableq::headers* const to = message != nullptr ? &message->headers
                                : rule != nullptr  ? &rule->headers
                                : batch != nullptr ? &batch->headers
                                                   : nullptr;
    if (to == nullptr) {
      tableq_c::refuse_purpose("a header",
                               "TQ_FOR_MESSAGE, TQ_FOR_FILTER, TQ_FOR_SCHEDULE or TQ_FOR_BATCH");
    }
    to->insert_or_assign(std::string(text_of(name, name_size)),
                         std::string(text_of(given, value_size)));
    if (message != nullptr) message->keys.emplace_back("headers");
  });
}
int tq_options_set_stop(tq_options* options, tq_stop* stop, tq_error** error) {
  return calling(error, [&] {
    const std::stop_token token =
        stop == nullptr ? std::stop_token() : checked(stop).source.get_token();
    std::visit(
        [&](auto& values) {
          using kind = std::remove_reference_t<decltype(values)>;
          if constexpr (std::is_same_v<kind, tableq_c::message_values>) {
            values.full.stop = token;
          } else if constexpr (std::is_same_v<kind, tableq_c::read_values> ||
                               std::is_same_v<kind, tableq::when_full> ||
                               std::is_same_v<kind, tableq_c::filter_values> ||
                               std::is_same_v<kind, tableq::redrive_options>) {
            values.stop = token;
          } else {
            tableq_c::refuse_purpose(
                "a stop",
                "TQ_FOR_MESSAGE, TQ_FOR_ENQUEUE, TQ_FOR_READ, TQ_FOR_REDRIVE or TQ_FOR_FILTER");
          }
        },
        checked(options).values);
  });
}
int tq_options_set_clock(tq_options* options, tq_clock* clock, tq_error** error) {
  return calling(error, [&] {
    auto* const open = std::get_if<tableq_c::open_values>(&checked(options).values);
    if (open == nullptr) tableq_c::refuse_purpose("a clock", "TQ_FOR_OPEN");
    open->clock = clock == nullptr ? nullptr : checked(clock).clock;
  });
}
void tq_options_free(tq_options* options) {
  tableq_c::end(options);
}

int tq_stop_new(tq_stop** stop, tq_error** error) {
  return tableq_c::making(stop, error, [] { return std::make_unique<tq_stop>(); });
}
void tq_stop_request(tq_stop* stop) {
  if (tq_stop* const known = tableq_c::usable(stop)) known->source.request_stop();
}
int tq_stop_requested(const tq_stop* stop) {
  const tq_stop* const known = tableq_c::usable(stop);
  return static_cast<int>(known != nullptr && known->source.stop_requested());
}
void tq_stop_free(tq_stop* stop) {
  tableq_c::end(stop);
}

int tq_clock_new(int64_t now, tq_clock** clock, tq_error** error) {
  return tableq_c::making(clock, error, [&] { return std::make_unique<tq_clock>(now); });
}
void tq_clock_set(tq_clock* clock, int64_t now) {
  if (tq_clock* const known = tableq_c::usable(clock)) known->now->store(now);
}
void tq_clock_free(tq_clock* clock) {
  tableq_c::end(clock);
}
