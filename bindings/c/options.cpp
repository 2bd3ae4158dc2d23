#include "options.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "fields.hpp"
#include "option_keys.hpp"

namespace tableq_c {
namespace {

constexpr std::array all_keys = {
    key<TQ_FOR_OPEN, &open_values::schema>("schema"),
    key<TQ_FOR_OPEN, &open_values::table_prefix>("table_prefix"),
    key<TQ_FOR_OPEN, &open_values::schema_name>("schema_name"),
    key<TQ_FOR_OPEN, &open_values::max_sessions>("max_sessions"),
    key<TQ_FOR_OPEN, &open_values::session_timeout>("session_timeout_ms"),
    key<TQ_FOR_OPEN, &open_values::retry_for>("retry_for_ms"),
    key<TQ_FOR_OPEN, &open_values::max_payload>("max_payload"),
    key<TQ_FOR_OPEN, &open_values::notifications>("notifications"),
    key<TQ_FOR_OPEN, &open_values::poll_interval>("poll_interval_ms"),
    key<TQ_FOR_OPEN, &open_values::refuses_beside_begin>("refuses_beside_begin"),
    key<TQ_FOR_OPEN, &open_values::metrics>("metrics"),
    key<TQ_FOR_OPEN, &open_values::shortcuts, &tableq::shortcuts::combining>("combining"),
    key<TQ_FOR_OPEN, &open_values::shortcuts, &tableq::shortcuts::spinning>("spinning"),
    key<TQ_FOR_OPEN, &open_values::shortcuts, &tableq::shortcuts::floors>("floors"),
    key<TQ_FOR_OPEN, &open_values::shortcuts, &tableq::shortcuts::writers_line>("writers_line"),
    key<TQ_FOR_QUEUE, &queue_values::ordering>("ordering"),
    key<TQ_FOR_QUEUE, &queue_values::lease>("lease_ms"),
    key<TQ_FOR_QUEUE, &queue_values::max_attempts>("max_attempts"),
    key<TQ_FOR_QUEUE, &queue_values::keep_completed>("keep_completed"),
    key<TQ_FOR_QUEUE, &queue_values::time_to_live>("time_to_live_ms"),
    key<TQ_FOR_QUEUE, &queue_values::keys>("keys"),
    key<TQ_FOR_QUEUE, &queue_values::key_window>("key_window_ms"),
    key<TQ_FOR_QUEUE, &queue_values::dead_letters>("dead_letters"),
    key<TQ_FOR_QUEUE, &queue_values::retain_done>("retain_done_ms"),
    key<TQ_FOR_QUEUE, &queue_values::retain_dead>("retain_dead_ms"),
    key<TQ_FOR_QUEUE, &queue_values::batches>("batches"),
    key<TQ_FOR_QUEUE, &queue_values::groups, &tableq::group_options::limit>("group_limit"),
    key<TQ_FOR_QUEUE, &queue_values::groups, &tableq::group_options::on_failure>(
        "group_on_failure"),
    key<TQ_FOR_QUEUE, &queue_values::groups, &tableq::group_options::by_turns>("group_by_turns"),
    key<TQ_FOR_QUEUE, &queue_values::has_groups>("groups"),
    key<TQ_FOR_QUEUE, &queue_values::delays>("retry"),
    key<TQ_FOR_QUEUE, &queue_values::delays, &tableq::retry_delays::after>("retry_ms"),
    key<TQ_FOR_QUEUE, &queue_values::jitter>("retry_jitter"),
    key<TQ_FOR_MESSAGE, &message_values::created_at>("created_at"),
    key<TQ_FOR_MESSAGE, &message_values::delay>("delay_ms"),
    key<TQ_FOR_MESSAGE, &message_values::due_at>("due_at"),
    key<TQ_FOR_MESSAGE, &message_values::priority>("priority"),
    key<TQ_FOR_MESSAGE, &message_values::key>("key"),
    key<TQ_FOR_MESSAGE, &message_values::group>("group"),
    key<TQ_FOR_MESSAGE, &message_values::on_duplicate>("on_duplicate"),
    key<TQ_FOR_MESSAGE, &message_values::time_to_live>("time_to_live_ms"),
    key<TQ_FOR_MESSAGE, &message_values::max_attempts>("max_attempts"),
    key<TQ_FOR_MESSAGE, &message_values::delays>("retry"),
    key<TQ_FOR_MESSAGE, &message_values::delays, &tableq::retry_delays::after>("retry_ms"),
    key<TQ_FOR_MESSAGE, &message_values::jitter>("retry_jitter"),
    key<TQ_FOR_MESSAGE, &message_values::batch_given, &batch_values::id>("batch"),
    key<TQ_FOR_MESSAGE, &message_values::batch_given, &batch_values::member>("batch_member"),
    key<TQ_FOR_MESSAGE, &message_values::full, &tableq::when_full::wait>("wait_ms"),
    key<TQ_FOR_ENQUEUE, &tableq::when_full::wait>("wait_ms"),
    key<TQ_FOR_READ, &read_values::wait>("wait_ms"),
    key<TQ_FOR_READ, &read_values::lease>("lease_ms"),
    key<TQ_FOR_READ, &read_values::claimed_at>("claimed_at"),
    key<TQ_FOR_FAILURE, &failure_values::delay>("delay_ms"),
    key<TQ_FOR_FAILURE, &failure_values::give_up>("give_up"),
    key<TQ_FOR_FAILURE, &failure_values::error>("error"),
    key<TQ_FOR_LIMITS, &tableq::queue_limits::capacity>("capacity"),
    key<TQ_FOR_LIMITS, &tableq::queue_limits::rate>("rate"),
    key<TQ_FOR_LIMITS, &tableq::queue_limits::burst>("burst"),
    key<TQ_FOR_LIMITS, &tableq::queue_limits::concurrency>("concurrency"),
    key<TQ_FOR_STATS, &tableq::stats_options::exact>("exact"),
    key<TQ_FOR_STATS, &tableq::stats_options::count_to>("count_to"),
    key<TQ_FOR_PURGE, &tableq::purge_options::older_than>("older_than_ms"),
    key<TQ_FOR_PURGE, &tableq::purge_options::batch>("batch"),
    key<TQ_FOR_REDRIVE, &tableq::redrive_options::max>("max"),
    key<TQ_FOR_REDRIVE, &tableq::redrive_options::per_second>("per_second"),
    key<TQ_FOR_MIGRATE, &tableq::migrate_options::to>("to"),
    key<TQ_FOR_MIGRATE, &tableq::migrate_options::dry_run>("dry_run"),
    key<TQ_FOR_MIGRATE, &tableq::migrate_options::wait>("wait_ms"),
    key<TQ_FOR_MIGRATE, &tableq::migrate_options::queues>("queues"),
    key<TQ_FOR_FILTER, &filter_values::state>("state"),
    key<TQ_FOR_FILTER, &filter_values::older_than>("older_than_ms"),
    key<TQ_FOR_FILTER, &filter_values::group>("group"),
    key<TQ_FOR_FILTER, &filter_values::key_prefix>("key_prefix"),
    key<TQ_FOR_FILTER, &filter_values::error>("error"),
    key<TQ_FOR_FILTER, &filter_values::all>("all"),
    key<TQ_FOR_FILTER, &filter_values::dry_run>("dry_run"),
    key<TQ_FOR_FILTER, &filter_values::batch>("batch"),
    key<TQ_FOR_FILTER, &filter_values::max>("max"),
    key<TQ_FOR_FILTER, &filter_values::after>("after"),
    key<TQ_FOR_FILTER, &filter_values::with, &tableq::look_options::detail>("detail"),
    key<TQ_FOR_FILTER, &filter_values::with, &tableq::look_options::progress>("progress"),
    key<TQ_FOR_FILTER, &filter_values::with, &tableq::look_options::result>("result"),
    key<TQ_FOR_ALTER, &alter_values::lease>("lease_ms"),
    key<TQ_FOR_ALTER, &alter_values::max_attempts>("max_attempts"),
    key<TQ_FOR_ALTER, &alter_values::keep_completed>("keep_completed"),
    key<TQ_FOR_ALTER, &alter_values::time_to_live>("time_to_live_ms"),
    key<TQ_FOR_ALTER, &alter_values::keys>("keys"),
    key<TQ_FOR_ALTER, &alter_values::key_window>("key_window_ms"),
    key<TQ_FOR_ALTER, &alter_values::group_limit>("group_limit"),
    key<TQ_FOR_ALTER, &alter_values::group_on_failure>("group_on_failure"),
    key<TQ_FOR_ALTER, &alter_values::dead_letters>("dead_letters"),
    key<TQ_FOR_ALTER, &alter_values::retain_done>("retain_done_ms"),
    key<TQ_FOR_ALTER, &alter_values::retain_dead>("retain_dead_ms"),
    key<TQ_FOR_ALTER, &alter_values::ordering>("ordering"),
    key<TQ_FOR_ALTER, &alter_values::groups>("groups"),
    key<TQ_FOR_ALTER, &alter_values::groups_by_turns>("group_by_turns"),
    key<TQ_FOR_ALTER, &alter_values::dry_run>("dry_run"),
    key<TQ_FOR_ALTER, &alter_values::delays>("retry"),
    key<TQ_FOR_ALTER, &alter_values::delays, &tableq::retry_delays::after>("retry_ms"),
    key<TQ_FOR_ALTER, &alter_values::jitter>("retry_jitter"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::name>("name"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::queue>("queue"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::cron>("cron"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::every>("every_ms"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::zone>("zone"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::key>("key"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::group>("group"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::priority>("priority"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::catch_up>("catch_up"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::not_later_than>("not_later_than_ms"),
    key<TQ_FOR_SCHEDULE, &tableq::schedule::skip_if_running>("skip_if_running"),
    key<TQ_FOR_BATCH, &begin_values::name>("name"),
    key<TQ_FOR_BATCH, &begin_values::then>("then"),
    key<TQ_FOR_BATCH, &begin_values::key>("key"),
    key<TQ_FOR_BATCH, &begin_values::group>("group"),
    key<TQ_FOR_BATCH, &begin_values::priority>("priority"),
    key<TQ_FOR_BATCH, &begin_values::parent, &batch_values::id>("parent"),
    key<TQ_FOR_BATCH, &begin_values::parent, &batch_values::member>("parent_member"),
    key<TQ_FOR_GROUP_LIMITS, &tableq::group_limits::running>("running"),
    key<TQ_FOR_GROUP_LIMITS, &tableq::group_limits::rate>("rate"),
    key<TQ_FOR_GROUP_LIMITS, &tableq::group_limits::burst>("burst"),
    key<TQ_FOR_GROUP_LIMITS, &tableq::group_limits::weight>("weight"),
    key<TQ_FOR_LOOK, &tableq::look_options::detail>("detail"),
    key<TQ_FOR_LOOK, &tableq::look_options::progress>("progress"),
    key<TQ_FOR_LOOK, &tableq::look_options::result>("result"),
};

/// @throws tableq::error errc::invalid_argument, naming the keys that the purpose has.
const option_key& key_of(std::size_t purpose, std::string_view name) {
  std::string names;
  for (const option_key& each : all_keys) {
    if (each.purpose == purpose && each.name == name) return each;
  }
  for (const option_key& each : all_keys) {
    if (each.purpose == purpose) names.append(names.empty() ? "" : ", ").append(each.name);
  }
  refuse("these options have no key " + std::string(name) + "; they have: " + names);
}

void set_key(tq_options& to, const value& given) {
  const option_key& key = key_of(to.values.index() + 1, given.key);
  const std::string name(key.name);
  if (key.list != given.added) {
    refuse(key.list ? name + " is a list: add its values one by one"
                    : name + " is no list: set its value");
  }
  if (given.type != key.type && !(given.type == TQ_TYPE_NULL && key.nullable)) {
    const char* const wanted = key.type == TQ_TYPE_INT      ? " is an integer"
                               : key.type == TQ_TYPE_BOOL   ? " is a boolean"
                               : key.type == TQ_TYPE_TIME   ? " is a time"
                               : key.type == TQ_TYPE_DOUBLE ? " is a double"
                                                            : " is a text";
    refuse(name + wanted + (key.nullable ? ", or null" : ""));
  }
  key.set(to, given);
  std::visit(
      [&](auto& values) {
        if constexpr (requires { values.note(key.name); }) values.note(key.name);
      },
      to.values);
}

tableq::row_value column_of(const value& given) {
  if (given.added) refuse("a column has one value, and no list");
  switch (given.type) {
    case TQ_TYPE_DOUBLE:
      return given.real;
    case TQ_TYPE_DECIMAL:
      return tableq::row_value::decimal(given.text);
    case TQ_TYPE_BYTES:
    case TQ_TYPE_TEXT:
      return {column_type_of(given.type), std::string(given.text)};
    case TQ_TYPE_NULL:
      return tableq::row_value::null(column_type_of(given.number));
    default:
      return {column_type_of(given.type), given.number};
  }
}

/// @param text of a value that is one.
int set(tq_options* options, const char* key, tq_error** error, value given,
        const void* text = nullptr, std::size_t size = 0) {
  return calling(error, [&] {
    given.text = text_of(text, size);
    given.key = word_of(key);
    tq_options& to = checked(options);
    auto* const row = std::get_if<tableq::row>(&to.values);
    if (row != nullptr) return row->set(given.key, column_of(given));
    set_key(to, given);
  });
}

/// @param of the purposes that have it.
[[noreturn]] void refuse_purpose(const char* what, const char* of) {
  refuse(std::string(what) + " is for options of the purpose " + of);
}

void allow_only(const std::vector<std::string_view>& given,
                std::initializer_list<std::string_view> known, const char* kinds) {
  for (const std::string_view each : given) {
    if (std::find(known.begin(), known.end(), each) != known.end()) continue;
    refuse("messages of " + std::string(kinds) + " have no " + std::string(each));
  }
}

/// The values of each purpose stand in the order of its numbers, from 1.
template <class Variant, std::size_t... Places>
void begin(Variant& to, int purpose, std::index_sequence<Places...> /*all*/) {
  const auto is = [&](std::size_t place) { return purpose == static_cast<int>(place) + 1; };
  if (!((is(Places) && (to.template emplace<Places>(), true)) || ...)) {
    refuse("this version has no such purpose of options");
  }
}

}  // namespace

tableq::optional_retry retry_values::delays_with_jitter() const {
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
  out.retry = delays_with_jitter();
  out.groups.enabled = has_groups.value_or(for_groups);
  if (for_groups && !out.groups.enabled) {
    refuse("groups is false, and a key that begins with group_ makes groups: leave one out");
  }
  if (retain_done || retain_dead) out.retention.emplace();
  if (retain_done) out.retention->done = retain_done->length();
  if (retain_dead) out.retention->dead = retain_dead->length();
  return out;
}
tableq::claim_enqueue_options message_values::claim_options() const {
  tableq::claim_enqueue_options out = *this;
  out.retry = delays_with_jitter();
  out.batch = batch_given.all();
  return out;
}
tableq::enqueue_options message_values::plain_options() const {
  allow_only(keys, {"created_at", "wait_ms"}, "heap, fifo and lifo queues");
  return {.created_at = created_at};
}
tableq::pending_options message_values::pending_options() const {
  allow_only(keys, {"created_at", "wait_ms", "delay_ms", "due_at"}, "pending queues");
  return {.delay = delay, .due_at = due_at, .created_at = created_at};
}

}  // namespace tableq_c

using namespace tableq_c;

int tq_options_new(int purpose, tq_options** options, tq_error** error) {
  return making(options, error, [&] {
    auto made = std::make_unique<tq_options>();
    constexpr std::size_t purposes = std::variant_size_v<decltype(made->values)>;
    begin(made->values, purpose, std::make_index_sequence<purposes>());
    return made;
  });
}
int tq_options_set_bool(tq_options* options, const char* key, int given, tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_BOOL, .number = given != 0 ? 1 : 0});
}
int tq_options_set_int(tq_options* options, const char* key, int64_t given, tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_INT, .number = given});
}
int tq_options_set_double(tq_options* options, const char* key, double given, tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_DOUBLE, .real = given});
}
int tq_options_set_text(tq_options* options, const char* key, const char* text, size_t size,
                        tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_TEXT}, text, size);
}
int tq_options_set_bytes(tq_options* options, const char* key, const void* bytes, size_t size,
                         tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_BYTES}, bytes, size);
}
int tq_options_set_decimal(tq_options* options, const char* key, const char* digits, size_t size,
                           tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_DECIMAL}, digits, size);
}
int tq_options_set_time(tq_options* options, const char* key, int64_t given, tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_TIME, .number = given});
}
int tq_options_set_null(tq_options* options, const char* key, int type, tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_NULL, .number = type});
}
int tq_options_add_int(tq_options* options, const char* key, int64_t given, tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_INT, .number = given, .added = true});
}
int tq_options_add_text(tq_options* options, const char* key, const char* text, size_t size,
                        tq_error** error) {
  return set(options, key, error, {.type = TQ_TYPE_TEXT, .added = true}, text, size);
}
int tq_options_set_header(tq_options* options, const char* name, size_t name_size,
                          const char* given, size_t value_size, tq_error** error) {
  return calling(error, [&] {
    std::string header(text_of(name, name_size));
    std::string text(text_of(given, value_size));
    std::visit(
        [&](auto& values) {
          if constexpr (requires { values.header; }) {
            values.header = tableq::header_value{std::move(header), std::move(text)};
          } else if constexpr (requires { values.headers; }) {
            values.headers.insert_or_assign(std::move(header), std::move(text));
            if constexpr (requires { values.note("headers"); }) values.note("headers");
          } else {
            refuse_purpose("a header",
                           "TQ_FOR_MESSAGE, TQ_FOR_FILTER, TQ_FOR_SCHEDULE or TQ_FOR_BATCH");
          }
        },
        checked(options).values);
  });
}
int tq_options_set_stop(tq_options* options, tq_stop* stop, tq_error** error) {
  return calling(error, [&] {
    const std::stop_token token =
        stop == nullptr ? std::stop_token() : checked(stop).source.get_token();
    std::visit(
        [&](auto& values) {
          if constexpr (requires { values.full.stop; }) {
            values.full.stop = token;
          } else if constexpr (requires { values.stop; }) {
            values.stop = token;
          } else {
            refuse_purpose(
                "a stop",
                "TQ_FOR_MESSAGE, TQ_FOR_ENQUEUE, TQ_FOR_READ, TQ_FOR_REDRIVE or TQ_FOR_FILTER");
          }
        },
        checked(options).values);
  });
}
int tq_options_set_clock(tq_options* options, tq_clock* clock, tq_error** error) {
  return calling(error, [&] {
    auto* const open = std::get_if<open_values>(&checked(options).values);
    if (open == nullptr) refuse_purpose("a clock", "TQ_FOR_OPEN");
    open->clock = clock == nullptr ? nullptr : checked(clock).clock;
  });
}
void tq_options_free(tq_options* options) {
  end(options);
}

int tq_stop_new(tq_stop** stop, tq_error** error) {
  return making(stop, error, [] { return std::make_unique<tq_stop>(); });
}
void tq_stop_request(tq_stop* stop) {
  if (tq_stop* const known = usable(stop)) known->source.request_stop();
}
int tq_stop_requested(const tq_stop* stop) {
  const tq_stop* const known = usable(stop);
  return static_cast<int>(known != nullptr && known->source.stop_requested());
}
void tq_stop_free(tq_stop* stop) {
  end(stop);
}

int tq_clock_new(int64_t now, tq_clock** clock, tq_error** error) {
  return making(clock, error, [&] { return std::make_unique<tq_clock>(now); });
}
void tq_clock_set(tq_clock* clock, int64_t now) {
  if (tq_clock* const known = usable(clock)) known->now->store(now);
}
void tq_clock_free(tq_clock* clock) {
  end(clock);
}
