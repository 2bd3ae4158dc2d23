#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/queue_changes.hpp>
#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"

namespace tableq::inline v0::core {

/// The layouts that this version reads and writes. Stored; each change of a table adds one.
inline constexpr int catalog_layout = 3;
inline constexpr int queue_layout = 3;
/// The name of the catalogue's own row.
inline constexpr std::string_view catalog_row_name = "tableq";

/// A row of the catalogue: the layout of a queue, or that of the catalogue itself.
struct stored_layout {
  std::string name = {};
  std::int64_t identity = 0;
  std::string part = {};  ///< The kind's name; `catalog`.
  int layout = 0;
};

/// The kind of that name.
std::optional<kind> known_kind(std::string_view text);

/// Random, so that two queues of one name have different identities.
std::int64_t new_identity();

/// Whether the catalogue exists. Notes where its tables are.
bool has_catalog(database_state& database, connection& session);
/// The row of a queue in a catalogue that exists.
/// @param catalog names of no queue.
std::optional<queue_info> find_row(const database_state& database, connection& session,
                                   const table_names& catalog, std::string_view name);

/// Opens a queue, or creates it if the database's policy allows.
/// @return the stored options, except those that the settings give.
/// @throws error as documented at database::fifo and the other kinds.
queue_info open_queue(database_state& database, std::string_view name,
                      const queue_settings& settings);

/// Runs when a database is opened. Finds the schema of its catalogue and checks its layout.
/// @throws error errc::schema_too_new; errc::unsupported for a schema whose name cannot be quoted.
void check_catalog(database_state& database);
std::vector<queue_info> list_queues(database_state& database);
/// All of them, the catalogue's own first; none if there is no catalogue.
/// @throws error as list_queues.
std::vector<stored_layout> list_layouts(const database_state& database, connection& session);
/// One of them.
std::optional<stored_layout> find_layout(const database_state& database, connection& session,
                                         std::string_view name);
std::optional<queue_info> find_queue(database_state& database, std::string_view name);
/// The same on a session.
std::optional<queue_info> find_queue(database_state& database, connection& session,
                                     std::string_view name);
/// Makes it known to all processes that messages at the ends of batches come to the queue. Without
/// the right to do that, readers of this queue alone do not look for batches that are over.
void mark_batch_ends(database_state& database, std::string_view name);
/// Stores the definition of an application's table, or replaces the one of that name.
void store_table(database_state& database, std::string_view name,
                 const table_definition& definition);
/// The definition of that name.
/// @throws error errc::not_found, errc::kind_mismatch.
table_definition stored_table(database_state& database, std::string_view name);
/// @param may_be_queue the table has the columns of all queues.
/// @throws error errc::invalid_argument for a table of this database's queues or catalogue.
void refuse_own_table(database_state& database, std::string_view schema, std::string_view table,
                      bool may_be_queue);
/// Changes the stored options of a queue in the session's transaction; its handles hear of it.
/// @return whether something has changed; not if there is no such queue.
/// @throws error errc::conflict when another program changes them at this time.
bool edit_options(const database_state& database, connection& session, std::string_view name,
                  const std::function<void(queue_info&)>& edit);
/// Whether the catalogue has the tables of schedules, batches and limits of groups.
bool has_feature_tables(database_state& database, connection& session);
/// @throws error errc::unsupported without them.
/// @param what needs them: `schedules need`.
void need_feature_tables(database_state& database, connection& session, const std::string& what);
/// The options that differ, by their names in tableq.h.
std::vector<option_change> differences(const queue_info& before, const queue_info& after);
/// Changes the stored options of a queue; database.hpp documents it. The dead-letter queue must be
/// there.
std::vector<option_change> alter_queue(database_state& database, std::string_view name,
                                       const queue_changes& changes, const alter_options& options);
/// @throws error as documented at database::migrate.
std::vector<migration_step> migrate(database_state& database, const migrate_options& options);
bool drop_queue(database_state& database, std::string_view name);
std::vector<finding> inspect(database_state& database);

}  // namespace tableq::inline v0::core
