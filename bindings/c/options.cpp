#include "options.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace tableq_c {
namespace {

using std::chrono::milliseconds;

/// A value for a key. Borrows its text.
struct value {
  int type = TQ_TYPE_NULL;
  std::int64_t number = 0;
  double real = 0;
  std::string_view text = {};
  bool added = false;  ///< To a list.
  std::string_view key = {};

  [[nodiscard]] bool null() const noexcept { return type == TQ_TYPE_NULL; }
  [[nodiscard]] milliseconds length() const noexcept { return milliseconds(number); }
  [[nodiscard]] tableq::timestamp time() const noexcept { return tableq::timestamp(length()); }
};

/// A key of options whose values are a Values.
template <class Values>
struct key_of {
  std::string_view name;
  int type;
  void (*set)(Values&, const value&);
  bool list = false;
  bool nullable = false;
};

/// All values of an enumeration that is an option.
template <class Enum>
constexpr std::initializer_list<Enum> all_of = {};
template <>
inline constexpr auto all_of<tableq::schema_policy> = {tableq::schema_policy::create_if_missing,
                                                       tableq::schema_policy::verify_only};
template <>
inline constexpr auto all_of<tableq::notifications> = {
    tableq::notifications::automatic, tableq::notifications::send_only, tableq::notifications::off};
template <>
inline constexpr auto all_of<tableq::ordering> = {tableq::ordering::relaxed,
                                                  tableq::ordering::strict};
template <>
inline constexpr auto all_of<tableq::key_scope> = {tableq::key_scope::active,
                                                   tableq::key_scope::waiting};
template <>
inline constexpr auto all_of<tableq::group_policy> = {tableq::group_policy::hold,
                                                      tableq::group_policy::pass};
template <>
inline constexpr auto all_of<tableq::on_duplicate> = {
    tableq::on_duplicate::keep_first, tableq::on_duplicate::reject, tableq::on_duplicate::replace,
    tableq::on_duplicate::postpone};

/// The enumerator that the text names.
template <class Enum>
Enum named(const value& given) {
  std::string names;
  for (const Enum each : all_of<Enum>) {
    if (to_string(each) == given.text) return each;
    names += (names.empty() ? "" : ", ") + std::string(to_string(each));
  }
  refuse("the value of " + std::string(given.key) + " is none of: " + names);
}

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

/// The type of a member's values.
template <class T>
constexpr int type_of() {
  if constexpr (is_optional<T>) return type_of<typename T::value_type>();
  if constexpr (std::is_same_v<T, bool>) return TQ_TYPE_BOOL;
  if constexpr (std::is_same_v<T, double>) return TQ_TYPE_DOUBLE;
  if constexpr (std::is_same_v<T, tableq::timestamp>) return TQ_TYPE_TIME;
  if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return TQ_TYPE_TEXT;
  return TQ_TYPE_INT;
}

/// Stores a value, whose type is that of the member.
template <class T>
void store(T& to, const value& given) {
  if constexpr (is_optional<T>) {
    if constexpr (std::is_same_v<T, std::optional<tableq::lifetime>>) {
      to = given.null() ? tableq::lifetime::forever() : tableq::lifetime(given.length());
    } else {
      store(to.emplace(), given);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    to = given.number != 0;
  } else if constexpr (std::is_same_v<T, double>) {
    to = given.real;
  } else if constexpr (std::is_same_v<T, milliseconds>) {
    to = given.length();
  } else if constexpr (std::is_same_v<T, tableq::timestamp>) {
    to = given.time();
  } else if constexpr (std::is_same_v<T, std::string>) {
    to = given.text;
  } else if constexpr (std::is_enum_v<T>) {
    to = named<T>(given);
  } else if constexpr (std::is_same_v<T, std::size_t>) {
    to = size_of(given.number, given.key);
  } else {
    to = number_of<T>(given.number, given.key);
  }
}

/// The key of a member.
template <class Values, auto Member>
constexpr key_of<Values> key(std::string_view name) {
  using member = std::remove_reference_t<decltype(std::declval<Values&>().*Member)>;
  return {name, type_of<member>(), [](Values& to, const value& given) { store(to.*Member, given); },
          false, std::is_same_v<member, std::optional<tableq::lifetime>>};
}
/// The key of an optimization.
template <auto Member>
constexpr key_of<open_values> shortcut(std::string_view name) {
  return {name, TQ_TYPE_BOOL,
          [](open_values& to, const value& given) { store(to.shortcuts.*Member, given); }};
}
/// A key that gives the queue groups.
template <auto Member>
constexpr key_of<queue_values> group(std::string_view name) {
  using member = std::remove_reference_t<decltype(std::declval<tableq::group_options&>().*Member)>;
  return {name, type_of<member>(), [](queue_values& to, const value& given) {
            to.groups.enabled = true;
            store(to.groups.*Member, given);
          }};
}
/// Delays after failed attempts.
template <class Values>
constexpr std::array<key_of<Values>, 3> retry_keys() {
  return {{{"retry", TQ_TYPE_TEXT,
            [](Values& to, const value& given) {
              if (given.text != "none" && given.text != "usual") {
                refuse("the value of retry is none of: none, usual");
              }
              to.retry_given.delays = given.text == "none" ? tableq::retry_delays::none()
                                                           : tableq::retry_delays::usual();
            }},
           {"retry_ms", TQ_TYPE_INT,
            [](Values& to, const value& given) {
              if (!to.retry_given.delays) to.retry_given.delays.emplace();
              to.retry_given.delays->after.push_back(given.length());
            },
            true},
           {"retry_jitter", TQ_TYPE_INT,
            [](Values& to, const value& given) { store(to.retry_given.jitter, given); }}}};
}

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

tableq::claim_enqueue_options message_values::claim_options() const {
  tableq::claim_enqueue_options out = *this;
  out.retry = retry_given.all();
  return out;
}

namespace {

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
    switch (purpose) {
      case TQ_FOR_OPEN:
        made->values.emplace<tableq_c::open_values>();
        break;
      case TQ_FOR_QUEUE:
        made->values.emplace<tableq_c::queue_values>();
        break;
      case TQ_FOR_MESSAGE:
        made->values.emplace<tableq_c::message_values>();
        break;
      case TQ_FOR_ROW:
        made->values.emplace<tableq::row>();
        break;
      case TQ_FOR_ENQUEUE:
        made->values.emplace<tableq::when_full>();
        break;
      case TQ_FOR_READ:
        made->values.emplace<tableq_c::read_values>();
        break;
      case TQ_FOR_FAILURE:
        made->values.emplace<tableq_c::failure_values>();
        break;
      case TQ_FOR_LIMITS:
        made->values.emplace<tableq::queue_limits>();
        break;
      case TQ_FOR_STATS:
        made->values.emplace<tableq::stats_options>();
        break;
      case TQ_FOR_PURGE:
        made->values.emplace<tableq::purge_options>();
        break;
      case TQ_FOR_REDRIVE:
        made->values.emplace<tableq::redrive_options>();
        break;
      case TQ_FOR_MIGRATE:
        made->values.emplace<tableq::migrate_options>();
        break;
      default:
        tableq_c::refuse("this version has no such purpose of options");
    }
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
    auto* const message = std::get_if<tableq_c::message_values>(&checked(options).values);
    if (message == nullptr) tableq_c::refuse_purpose("a header", "TQ_FOR_MESSAGE");
    message->headers.insert_or_assign(std::string(text_of(name, name_size)),
                                      std::string(text_of(given, value_size)));
    message->keys.emplace_back("headers");
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
                               std::is_same_v<kind, tableq::redrive_options>) {
            values.stop = token;
          } else {
            tableq_c::refuse_purpose(
                "a stop", "TQ_FOR_MESSAGE, TQ_FOR_ENQUEUE, TQ_FOR_READ or TQ_FOR_REDRIVE");
          }
        },
        checked(options).values);
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
