#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/export.hpp>
#include <tableq/message.hpp>
#include <tableq/options.hpp>

namespace tableq::inline v0 {

/// The name of a kind as it is stored and as the command reads it: `fifo`.
TABLEQ_EXPORT std::string_view to_string(kind value) noexcept;

/// @throws error errc::invalid_argument when the text names no kind; lists the five.
TABLEQ_EXPORT kind parse_kind(std::string_view text);

/// What a queue is made with. The options of other kinds are refused.
struct queue_settings {
  tableq::kind kind = kind::fifo;
  order_options order = {};  ///< `fifo` and `lifo`.
  claim_options claim = {};  ///< `claim`.
};

/// A queue as the catalogue knows it.
struct queue_info {
  std::string name = {};
  tableq::kind kind = kind::fifo;
  int layout = 1;             ///< The version of its table's layout.
  std::int64_t identity = 0;  ///< What receipts carry; another one after drop and create.
  tableq::ordering ordering = ordering::relaxed;
  std::chrono::milliseconds lease{30'000};  ///< `claim` only, as all down to created_at.
  int max_attempts = 5;
  bool keep_completed = false;
  retry_delays retry = {};
  std::optional<std::chrono::milliseconds> time_to_live = {};  ///< Empty: for ever.
  key_scope keys = key_scope::active;
  std::chrono::milliseconds key_window{0};
  std::optional<group_options> groups = {};
  std::string dead_letters = {};  ///< Empty: dead messages stay in the queue.
  timestamp created_at = {};
};

/// What a user of the database may do with a queue. docs/security.md says what each can and cannot.
enum class role {
  producer,  ///< Adds messages, and reads none.
  replacer,  ///< `claim`: a producer whose messages replace or postpone those that hold their keys.
  consumer,  ///< Reads messages, and settles them.
  viewer,    ///< Sees the figures of the queue, and no payload, header or key.
  manager,   ///< All that is no DDL: looks, purges, redrives, cancels, sets limits, pauses.
  owner,     ///< Creates and drops.
};

/// The role's name as the command reads it: `producer`.
TABLEQ_EXPORT std::string_view to_string(role value) noexcept;

/// @throws error errc::invalid_argument when the text names no role; lists them.
TABLEQ_EXPORT role parse_role(std::string_view text);

/// One result of `database::inspect`.
struct finding {
  enum class level { ok, warning, problem };
  level severity = level::ok;
  std::string subject;  ///< A queue's name, or `database`.
  std::string what;     ///< One sentence.
  std::string fix;      ///< What to do; empty for `ok`.
};

/// The names of the databases that this build can speak to, in alphabetical order.
TABLEQ_EXPORT std::vector<std::string> dialects();

/// What a database administrator would run by hand to make a queue: the catalogue if it is missing,
/// the table, its indexes and the catalogue's row. Needs no connection.
/// @param options table_prefix and schema_name are used.
/// @throws error errc::invalid_argument for an unknown dialect, a bad name, or options that do not
/// fit.
TABLEQ_EXPORT std::string ddl(std::string_view dialect, std::string_view queue,
                              const queue_settings& settings, const open_options& options = {});

/// The statements that tableq runs on a queue of this kind, by name, for a person who reads or
/// debugs them: whole, with names filled in, and parameters as `:name`. A name that ends with
/// `.one` or `.bare` is a cheaper form of the statement before it; in a batch `{items: ...}` stands
/// once for each message. Needs no connection.
/// @param options table_prefix and schema_name are used.
/// @throws error errc::invalid_argument for an unknown dialect or a bad name.
TABLEQ_EXPORT std::map<std::string, std::string> statements(std::string_view dialect,
                                                            kind queue_kind, std::string_view queue,
                                                            const open_options& options = {});

/// What an administrator would run to give a user what the role needs on a queue, and no more. The
/// user works with `schema_policy::verify_only`, unless it is an owner. Needs no connection.
/// @param user 1 to 128 bytes, as the database knows it, without quotes, brackets, braces, `;` and
///   control characters.
/// @param granted what the user is to be.
/// @param settings as the queue was created: groups, keep_completed, key_window and dead_letters
///   need rights.
/// @param options table_prefix and schema_name are used.
/// @throws error errc::invalid_argument for an unknown dialect, a bad name, a replacer of a kind
///   without keys; errc::unsupported where the database has no users.
TABLEQ_EXPORT std::string grants(std::string_view dialect, role granted, std::string_view user,
                                 std::string_view queue, const queue_settings& settings,
                                 const open_options& options = {});

}  // namespace tableq::inline v0
