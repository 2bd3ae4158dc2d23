#pragma once

/// @file
/// Requests and rows of the catalogue, the locks, the notices and doctor.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// The name of a queue.
struct name_request {
  std::string_view name = {};

  static constexpr auto fields() { return std::tuple(text("name", &name_request::name)); }
};

/// The kind and the layout decide the checks of doctor.
struct doctor_request {
  std::string_view kind = {};  ///< Of a queue.
  std::int64_t layout = 0;     ///< Of the queue, or of the catalogue; zero: there is none.

  static constexpr auto fields() {
    return std::tuple(text("kind", &doctor_request::kind),
                      integer("layout", &doctor_request::layout));
  }
};

/// A change of the layout in a row of the catalogue that has another one.
struct layout_request {
  std::string_view name = {};
  std::int64_t identity = 0;
  std::int64_t before = 0;
  std::int64_t layout = 0;

  static constexpr auto fields() {
    return std::tuple(
        text("name", &layout_request::name), integer("identity", &layout_request::identity),
        integer("before", &layout_request::before), integer("layout", &layout_request::layout));
  }
};

/// The identity of a queue, or a number to lock by.
struct identity_request {
  std::int64_t identity = 0;

  static constexpr auto fields() {
    return std::tuple(integer("identity", &identity_request::identity));
  }
};

/// A notice to other processes.
struct notice_request {
  std::string_view channel = {};
  std::string_view payload = {};
  std::int64_t identity = 0;

  static constexpr auto fields() {
    return std::tuple(text("channel", &notice_request::channel),
                      text("payload", &notice_request::payload),
                      integer("identity", &notice_request::identity));
  }
};

/// A new row of the catalogue.
struct new_queue_request {
  std::string_view name = {};
  std::int64_t identity = 0;
  std::string_view kind = {};
  std::int64_t layout = 0;
  std::string_view options = {};

  static constexpr auto fields() {
    return std::tuple(
        text("name", &new_queue_request::name), integer("identity", &new_queue_request::identity),
        text("kind", &new_queue_request::kind), integer("layout", &new_queue_request::layout),
        text("options", &new_queue_request::options));
  }
};

/// A row of the catalogue.
struct catalog_row {
  std::string name = {};
  std::int64_t identity = 0;
  std::string kind = {};
  int layout = 0;
  std::string options = {};
  timestamp created_at = {};

  static constexpr auto fields() {
    return std::tuple(text("name", &catalog_row::name), integer("identity", &catalog_row::identity),
                      text("kind", &catalog_row::kind), integer("layout", &catalog_row::layout),
                      text("options", &catalog_row::options),
                      integer("created_at", &catalog_row::created_at));
  }
};

/// A row of the catalogue, and whether the queue's table is there.
struct queue_row : catalog_row {
  bool present = false;

  static constexpr auto fields() {
    return std::tuple_cat(catalog_row::fields(),
                          std::tuple(integer("present", &queue_row::present)));
  }
};

/// Whether an object exists.
struct present_row {
  bool present = false;

  static constexpr auto fields() { return std::tuple(integer("present", &present_row::present)); }
};

/// Whether the catalogue exists, and the schema in which it is or would be created. Empty: the
/// database has no schemas, or none in which it can be created.
struct place_row {
  bool present = false;
  std::string schema = {};
  bool sharded = false;  ///< It is there, as a shard of a cluster.
  bool narrow = false;   ///< The database's texts have not all of Unicode's characters.

  static constexpr auto fields() {
    return std::tuple(integer("present", &place_row::present), text("schema", &place_row::schema),
                      integer("sharded", &place_row::sharded),
                      integer("narrow", &place_row::narrow));
  }
};

/// Which sessions the change of a table would wait for.
struct alter_request {
  bool only_writers = false;  ///< Readers are in nobody's way.

  static constexpr auto fields() {
    return std::tuple(integer("only_writers", &alter_request::only_writers));
  }
};

/// The sessions that use a table, as the database's tools name them.
struct sessions_row {
  std::optional<std::string> sessions = {};  ///< Empty: none, or the database does not tell.

  static constexpr auto fields() { return std::tuple(text("sessions", &sessions_row::sessions)); }
};

/// Identifies the database of a session among the databases of all servers. Empty: no other session
/// can reach it.
struct database_row {
  std::string database = {};

  static constexpr auto fields() { return std::tuple(text("database", &database_row::database)); }
};

/// Whether a lock was free.
struct held_row {
  bool held = false;

  static constexpr auto fields() { return std::tuple(integer("held", &held_row::held)); }
};

/// One finding of doctor.
struct finding_row {
  int severity = 0;
  std::string what = {};
  std::string fix = {};

  static constexpr auto fields() {
    return std::tuple(integer("severity", &finding_row::severity), text("what", &finding_row::what),
                      text("fix", &finding_row::fix));
  }
};

namespace statements {

inline constexpr typed_statement<nothing, nothing, place_row> catalog_exists{
    statement::catalog_exists};
inline constexpr typed_statement<nothing, nothing, nothing> catalog_lock{statement::catalog_lock};
inline constexpr typed_statement<nothing, nothing, catalog_row> catalog_list{
    statement::catalog_list};
inline constexpr typed_statement<name_request, nothing, catalog_row> catalog_find{
    statement::catalog_find};
inline constexpr typed_statement<name_request, nothing, queue_row> catalog_queue{
    statement::catalog_queue};
inline constexpr typed_statement<new_queue_request, nothing, nothing> catalog_insert{
    statement::catalog_insert};
inline constexpr typed_statement<name_request, nothing, nothing> catalog_remove{
    statement::catalog_remove};
inline constexpr typed_statement<nothing, nothing, present_row> table_exists{
    statement::table_exists};
inline constexpr typed_statement<identity_request, nothing, nothing> queue_lock{
    statement::queue_lock};
inline constexpr typed_statement<nothing, nothing, nothing> queue_drop{statement::queue_drop};
/// Before a change of the table itself, in its transaction: which from then on waits briefly for
/// locks, where the database can tell it so.
inline constexpr typed_statement<alter_request, nothing, sessions_row> queue_alter{
    statement::queue_alter};
/// No row, or the finding that messages may be hidden from this session's user. Its severity is 2
/// if all are, and 1 if some may be or the database cannot tell.
inline constexpr typed_statement<nothing, nothing, finding_row> queue_hidden{
    statement::queue_hidden};
inline constexpr typed_statement<notice_request, nothing, nothing> notify_send{
    statement::notify_send};
inline constexpr typed_statement<nothing, nothing, nothing> listen_begin{statement::listen_begin};
inline constexpr typed_statement<identity_request, nothing, held_row> listen_hold{
    statement::listen_hold};
inline constexpr typed_statement<identity_request, nothing, nothing> listen_drop{
    statement::listen_drop};
inline constexpr typed_statement<nothing, nothing, nothing> listen_end{statement::listen_end};
inline constexpr typed_statement<nothing, nothing, database_row> session_identity{
    statement::session_identity};
/// Locks other migrators out until the session ends.
inline constexpr typed_statement<nothing, nothing, held_row> catalog_migrator{
    statement::catalog_migrator};
/// A row for the changed row.
inline constexpr typed_statement<layout_request, nothing, present_row> catalog_set_layout{
    statement::catalog_set_layout};
inline constexpr typed_statement<doctor_request, nothing, finding_row> doctor_database{
    statement::doctor_database};
inline constexpr typed_statement<doctor_request, nothing, finding_row> doctor_queue{
    statement::doctor_queue};
/// Whether the next id is above all others. Unlike the other checks it reads the queue's table.
inline constexpr typed_statement<nothing, nothing, finding_row> doctor_ids{statement::doctor_ids};

}  // namespace statements

}  // namespace tableq::inline v0::core
