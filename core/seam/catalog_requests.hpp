#pragma once

/// @file
/// Requests and rows of the catalogue, the locks, the notices and doctor.

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
  TABLEQ_FIELDS(name_request, name)
};

/// The kind and the layout decide the checks of doctor.
struct doctor_request {
  std::string_view kind = {};  ///< Of a queue.
  std::int64_t layout = 0;     ///< Of the queue, or of the catalogue; zero: there is none.
  TABLEQ_FIELDS(doctor_request, kind, layout)
};

/// A change of the layout in a row of the catalogue that has another one.
struct layout_request {
  std::string_view name = {};
  std::int64_t identity = 0;
  std::int64_t before = 0;
  std::int64_t layout = 0;
  TABLEQ_FIELDS(layout_request, name, identity, before, layout)
};

/// A change of the options in a row of the catalogue that has other ones.
struct options_request {
  std::string_view name = {};
  std::int64_t identity = 0;
  std::string_view before = {};
  std::string_view options = {};
  TABLEQ_FIELDS(options_request, name, identity, before, options)
};

/// The identity of a queue, or the number of a group. Locked in their order.
struct identity_request {
  std::int64_t identity = 0;
  TABLEQ_FIELDS(identity_request, identity)
};

/// A notice to other processes.
struct notice_request {
  std::string_view channel = {};
  std::string_view payload = {};
  std::int64_t identity = 0;
  TABLEQ_FIELDS(notice_request, channel, payload, identity)
};

/// A new row of the catalogue.
struct new_queue_request {
  std::string_view name = {};
  std::int64_t identity = 0;
  std::string_view kind = {};
  std::int64_t layout = 0;
  std::string_view options = {};
  TABLEQ_FIELDS(new_queue_request, name, identity, kind, layout, options)
};

/// A row of the catalogue.
struct catalog_row {
  std::string name = {};
  std::int64_t identity = 0;
  std::string kind = {};
  int layout = 0;
  std::string options = {};
  timestamp created_at = {};
  TABLEQ_FIELDS(catalog_row, name, identity, kind, layout, options, created_at)
};

/// A row of the catalogue, and whether the queue's table is there.
struct queue_row : catalog_row {
  bool present = false;
  TABLEQ_MORE_FIELDS(queue_row, catalog_row, present)
};

/// Whether an object exists.
struct present_row {
  bool present = false;
  TABLEQ_FIELDS(present_row, present)
};

/// Whether the catalogue exists, and the schema in which it is or would be created. Empty: the
/// database has no schemas, or none in which it can be created.
struct place_row {
  bool present = false;
  std::string schema = {};
  bool sharded = false;  ///< It is there, as a shard of a cluster.
  bool narrow = false;   ///< The database's texts have not all of Unicode's characters.
  TABLEQ_FIELDS(place_row, present, schema, sharded, narrow)
};

/// Which sessions the change of a table would wait for.
struct alter_request {
  bool only_writers = false;  ///< Readers are in nobody's way.
  TABLEQ_FIELDS(alter_request, only_writers)
};

/// The sessions that use a table, as the database's tools name them.
struct sessions_row {
  std::optional<std::string> sessions = {};  ///< Empty: none, or the database does not tell.
  TABLEQ_FIELDS(sessions_row, sessions)
};

/// Identifies the database of a session among the databases of all servers. Empty: no other session
/// can reach it.
struct database_row {
  std::string database = {};
  TABLEQ_FIELDS(database_row, database)
};

/// Whether a lock was free.
struct held_row {
  bool held = false;
  TABLEQ_FIELDS(held_row, held)
};

/// One finding of doctor.
struct finding_row {
  int severity = 0;
  std::string what = {};
  std::string fix = {};
  TABLEQ_FIELDS(finding_row, severity, what, fix)
};

}  // namespace tableq::inline v0::core
