#include "core/schema/catalog.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/database/alter_table.hpp"
#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// In bytes. The narrowest catalogue has 4,000 characters for it.
constexpr std::size_t longest_definition = 4000;
constexpr int layout_with_features = 3;

template <class Statement>
bool present(connection& session, const Statement& statement, const table_names& names) {
  return run(session, names, statement).at(0).present;
}

/// Reads rows of the catalogue. Checks the layout in the catalogue's own row.
std::vector<queue_info> read_rows(const database_state& database, std::vector<catalog_row> rows) {
  std::vector<queue_info> out;
  for (catalog_row& row : rows) {
    const bool own = row.name == catalog_row_name;
    const std::string subject = own ? "the catalogue" : "the queue " + row.name;
    if (row.layout > (own ? catalog_layout : queue_layout)) {
      refuse(errc::schema_too_new,
             subject + " has layout " + std::to_string(row.layout) +
                 ", which a newer tableq wrote; use that version or a later one");
    }
    if (!own && !good_queue_name(row.name, database.options().table_prefix)) {
      // The name would become part of statements, and plain SQL must have written it.
      refuse(errc::schema_mismatch,
             "the catalogue holds a name that no queue can have; delete its row");
    }
    if (row.layout < 1) {
      refuse(errc::schema_mismatch,
             subject + " has layout " + std::to_string(row.layout) +
                 " in the catalogue, which no tableq wrote; set the layout that it had");
    }
    if (own) continue;
    const std::optional<kind> known = known_kind(row.kind);
    if (!known) {
      refuse(
          errc::schema_mismatch,
          subject + " has a kind in the catalogue that no tableq wrote; set the kind that it had");
    }
    queue_info info{.name = std::move(row.name),
                    .kind = *known,
                    .layout = row.layout,
                    .identity = row.identity,
                    .created_at = row.created_at};
    decode_options(row.options, info);
    out.push_back(std::move(info));
  }
  return out;
}

/// The rows of a statement on the catalogue; none if there is no catalogue, or no longer.
template <class Shared, class Row>
std::vector<Row> read_catalog(database_state& database, connection& session,
                              const table_names& names,
                              const typed_statement<Shared, nothing, Row>& statement,
                              const Shared& shared) {
  if (!has_catalog(database, session)) return {};
  try {
    return run(session, names, statement, shared);
  } catch (const error& failure) {
    if (failure.code() != errc::not_found) throw;
    database.knows_catalog(false);
    if (has_catalog(database, session)) throw;
    return {};
  }
}

std::vector<queue_info> all_queues(database_state& database, connection& session) {
  return read_rows(database, read_catalog(database, session, names_for(database.options(), {}),
                                          statements::catalog_list, nothing{}));
}

/// A queue in the catalogue, and whether its table is there.
struct found_queue {
  queue_info info;
  bool present = false;
};

std::optional<found_queue> find(database_state& database, connection& session,
                                std::string_view name) {
  std::vector<queue_row> rows = read_catalog(database, session, names_for(database.options(), name),
                                             statements::catalog_queue, name_request{.name = name});
  if (rows.empty()) return std::nullopt;
  const bool present = rows.front().present;
  auto found = read_rows(database, {std::move(rows.front())});
  if (found.empty()) return std::nullopt;
  return found_queue{std::move(found.front()), present};
}

/// Some databases do not show a table to a user without rights on it, or with rights on columns
/// only. A look into the table tells. The queue opens without a right too, as a viewer's does whose
/// dead-letter queue is not its to see: the first call that needs the right says so.
bool is_there(connection& session, const table_names& names) {
  try {
    run(session, names, statements::queue_count, {.enough = 1, .max = 1});
  } catch (const error& failure) {
    if (failure.code() == errc::not_found) return false;
    if (failure.code() != errc::permission_denied) throw;
  }
  return true;
}

/// The queue, if it is there with its table.
std::optional<queue_info> find_whole(database_state& database, connection& session,
                                     std::string_view name) {
  std::optional<found_queue> found = find(database, session, name);
  while (found && found->info.kind != kind::table && !found->present) {
    // Another process may have dropped the queue meanwhile.
    const std::int64_t identity = found->info.identity;
    found = find(database, session, name);
    if (!found || found->info.identity != identity) continue;
    if (is_there(session, names_for(database.options(), name))) break;
    const bool verify = database.options().schema == schema_policy::verify_only;
    refuse(verify ? errc::not_found : errc::schema_mismatch,
           "the catalogue has the queue " + found->info.name +
               " but its table is gone; drop the queue, then create it anew");
  }
  return found ? std::optional(std::move(found->info)) : std::nullopt;
}

stored_layout layout_of(const catalog_row& row) {
  const bool own = row.name == catalog_row_name;
  return {.name = row.name,
          .identity = row.identity,
          .part = own ? "catalog" : row.kind,
          .layout = row.layout};
}

finding older(const std::string& subject, const stored_layout& found) {
  return {finding::level::warning, subject,
          (found.name == catalog_row_name ? "the catalogue has the older layout "
                                          : "the queue has the older layout ") +
              std::to_string(found.layout),
          "when no older version of tableq uses it: tableq migrate " + found.name};
}

/// Whether new ids are above the old ones; nothing if the user may not read the queue's table.
std::vector<finding_row> inspect_ids(connection& session, const table_names& names) {
  try {
    return run(session, names, statements::doctor_ids);
  } catch (const error& failure) {
    if (failure.code() != errc::permission_denied) throw;
    return {};
  }
}

/// Adds a row to the catalogue.
void insert_row(connection& session, const table_names& names, const queue_info& info) {
  const std::string options = encode_options(info);
  run(session, names, statements::catalog_insert,
      {.name = info.name,
       .identity = info.identity,
       .kind = to_string(info.kind),
       .layout = info.layout,
       .options = options});
}

/// Creates the catalogue if it does not exist. Locks it until the transaction ends.
/// @param catalog names of no queue: the statements that have them serve all queues.
void lock_catalog(connection& session, const table_names& catalog) {
  run(session, catalog, statements::catalog_lock);
  if (!present(session, statements::catalog_exists, catalog)) session.define("catalog", catalog);
}

/// Messages at the ends of batches may wait for a queue of this name, which was dropped.
void claim_batch_ends(database_state& database, const std::string& name) noexcept {
  constexpr std::size_t most = 1000;
  try {
    const bool awaited = database.on_session([&](connection& session) {
      const table_names catalog = names_for(database.options(), {});
      std::vector<batch_open_row> page;
      do {
        const std::int64_t first = page.empty() ? 0 : page.back().batch + 1;
        page = run(session, catalog, statements::batch_open, {.first = first, .max = most});
        if (std::ranges::find(page, name, &batch_open_row::ends_in) != page.end()) return true;
      } while (page.size() == most);
      return false;
    });
    if (awaited) mark_batch_ends(database, name);
  } catch (const std::exception&) {  // noexcept: the queue is made. An older layout has no batches;
                                     // without the right to read them, readers of the members'
                                     // queues end them.
  }
}

/// Creates the queue, unless another process was faster. The catalogue's lock is held.
queue_info create(database_state& database, connection& session, queue_info info) {
  const table_names names = names_of(database.options(), info);
  const table_names catalog = names_for(database.options(), {});
  lock_catalog(session, catalog);
  if (auto found = find_row(database, session, catalog, info.name)) return *std::move(found);
  if (present(session, statements::table_exists, names)) {
    refuse(
        errc::schema_mismatch,
        "a table called " + names.table +
            " is there already and is no queue of tableq; choose another name or a table_prefix");
  }
  if (info.batches) need_feature_tables(database, session, "batches need");
  info.identity = new_identity();
  info.layout = queue_layout;
  session.define(to_string(info.kind), names);
  if (names.by_turns) session.define("turns", names);
  // Another process may have set limits of a former queue of this name while it was dropped.
  run(session, catalog, statements::limits_remove, {.queue = info.name});
  insert_row(session, catalog, info);
  return info;
}

}  // namespace

bool has_catalog(database_state& database, connection& session) {
  if (database.catalog_known()) return true;
  const place_row found =
      run(session, names_for(database.options(), {}), statements::catalog_exists).at(0);
  if (found.sharded) database.settle_shards();
  if (found.present) database.knows_catalog(true);
  return found.present;
}

std::optional<queue_info> find_row(const database_state& database, connection& session,
                                   const table_names& catalog, std::string_view name) {
  auto found = read_rows(database, run(session, catalog, statements::catalog_find, {.name = name}));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::int64_t new_identity() {
  std::random_device random;
  std::uniform_int_distribution<std::int64_t> any(1);
  return any(random);
}

queue_info open_queue(database_state& database, std::string_view name,
                      const queue_settings& settings) {
  check_queue_name(name, database.options().table_prefix);
  const queue_info wanted = settle_options(name, settings);
  std::optional<queue_info> stored =
      database.on_session([&](connection& session) { return find_whole(database, session, name); });
  if (!stored) {
    if (database.options().schema == schema_policy::verify_only) {
      refuse(errc::not_found,
             "there is no queue " + wanted.name +
                 ", and the schema policy is to verify only; let `tableq create` or a database "
                 "administrator make it");
    }
    stored = database.in_transaction(
        [&](connection& session) { return create(database, session, wanted); });
    claim_batch_ends(database, stored->name);
  }
  return merge_options(*stored, settings);
}

void check_catalog(database_state& database) {
  database.on_session([&](connection& session) {
    place_row place =
        run(session, names_for(database.options(), {}), statements::catalog_exists).at(0);
    database.settle_schema(std::move(place.schema));
    if (place.sharded) database.settle_shards();
    if (place.narrow) database.settle_narrow_texts();
    if (!place.present) return std::size_t{0};
    database.knows_catalog(true);
    const table_names names = names_for(database.options(), {});
    try {
      return read_rows(database,
                       run(session, names, statements::catalog_find, {.name = catalog_row_name}))
          .size();
    } catch (const error& failure) {
      // Such a user has no queues; a table of the application needs no catalogue.
      if (failure.code() != errc::permission_denied) throw;
      return std::size_t{0};
    }
  });
}

std::vector<queue_info> list_queues(database_state& database) {
  return database.on_session([&](connection& session) { return all_queues(database, session); });
}

std::optional<stored_layout> find_layout(const database_state& database, connection& session,
                                         std::string_view name) {
  const table_names names = names_for(database.options(), {});
  const std::vector<catalog_row> rows =
      run(session, names, statements::catalog_find, {.name = name});
  return rows.empty() ? std::nullopt : std::optional(layout_of(rows.front()));
}

std::vector<stored_layout> list_layouts(const database_state& database, connection& session) {
  const table_names names = names_for(database.options(), {});
  if (!present(session, statements::catalog_exists, names)) return {};
  const std::vector<catalog_row> rows = run(session, names, statements::catalog_list);
  read_rows(database, rows);
  std::vector<stored_layout> out;
  std::transform(rows.begin(), rows.end(), std::back_inserter(out), layout_of);
  std::stable_partition(out.begin(), out.end(),
                        [](const stored_layout& each) { return each.name == catalog_row_name; });
  return out;
}

std::optional<queue_info> find_queue(database_state& database, connection& session,
                                     std::string_view name) {
  check_queue_name(name, database.options().table_prefix);
  auto found = find(database, session, name);
  return found ? std::optional(std::move(found->info)) : std::nullopt;
}
std::optional<queue_info> find_queue(database_state& database, std::string_view name) {
  return database.on_session(
      [&](connection& session) { return find_queue(database, session, name); });
}

bool edit_options(const database_state& database, connection& session, std::string_view name,
                  const std::function<void(queue_info&)>& edit) {
  const table_names catalog = names_for(database.options(), {});
  const auto rows = run(session, catalog, statements::catalog_find, {.name = name});
  auto found = read_rows(database, rows);
  if (found.empty()) return false;
  queue_info& info = found.front();
  const std::string before = encode_options(info);
  edit(info);
  const std::string options = encode_options(info);
  if (options == before) return false;
  if (run(session, catalog, statements::catalog_set_options,
          {.name = name,
           .identity = info.identity,
           .before = rows.front().options,
           .options = options})
          .empty()) {
    throw error(errc::conflict, advice::transaction,
                "another program changes the options of the queue " + info.name + " at this time",
                {.backend = database.name()});
  }
  return true;
}

void mark_batch_ends(database_state& database, std::string_view name) {
  database.on_session([&](connection& session) {
    return edit_options(database, session, name, [](queue_info& info) { info.batch_ends = true; });
  });
}

bool has_feature_tables(database_state& database, connection& session) {
  if (!has_catalog(database, session)) return false;
  const auto own = find_layout(database, session, catalog_row_name);
  return own && own->layout >= layout_with_features;
}

void need_feature_tables(database_state& database, connection& session, const std::string& what) {
  if (has_feature_tables(database, session)) return;
  refuse(
      errc::unsupported,
      what +
          " layout 3 of the catalogue: run `tableq migrate` when no older version of tableq uses "
          "the database; in a new one the first queue makes it");
}

void store_table(database_state& database, std::string_view name,
                 const table_definition& definition) {
  check_queue_name(name, database.options().table_prefix);
  queue_info info;
  info.name = name;
  info.kind = kind::table;
  info.table = definition;
  if (encode_options(info).size() > longest_definition) {
    refuse(
        "the JSON of the mapping has over 4,000 bytes; name fewer columns, or keep it in a file");
  }
  if (database.options().schema == schema_policy::verify_only) {
    refuse(errc::unsupported,
           "the schema policy is to verify only: nothing is stored in the catalogue; let `tableq "
           "create table` do it, or open the table with its mapping");
  }
  database.in_transaction([&](connection& session) {
    const table_names catalog = names_for(database.options(), {});
    lock_catalog(session, catalog);
    if (const auto before = find_row(database, session, catalog, name)) {
      merge_options(*before, {.kind = kind::table});
      run(session, catalog, statements::catalog_remove, {.name = name});
    }
    info.identity = new_identity();
    info.layout = queue_layout;
    insert_row(session, catalog, info);
    return true;
  });
}

table_definition stored_table(database_state& database, std::string_view name) {
  const auto found = find_queue(database, name);
  if (!found) {
    refuse(errc::not_found, "no table is stored under the name " + std::string(name) +
                                "; store_table or `tableq create table` stores one");
  }
  merge_options(*found, {.kind = kind::table});
  return *found->table;
}

void refuse_own_table(database_state& database, std::string_view schema, std::string_view table,
                      bool may_be_queue) {
  const open_options& options = database.options();
  if (!schema.empty() && schema != options.schema_name) return;
  const std::string_view prefix = options.table_prefix;
  if (!table.starts_with(prefix)) return;
  const std::string_view name = table.substr(prefix.size());
  const bool queue = may_be_queue && good_queue_name(name, prefix);
  const auto found = queue ? find_queue(database, name) : std::nullopt;
  const bool own =
      std::ranges::find(shared_tables, name, &shared_table::name) != shared_tables.end();
  if (!own && (!found || found->kind == kind::table)) return;
  refuse("the table " + std::string(table) +
         " belongs to tableq itself; a mapping is for tables of the application");
}

namespace {

/// Nothing is lost silently: a queue that is made again would be without its rules.
void refuse_rules(const std::vector<rule_row>& rules, std::string_view queue) {
  const auto found = std::ranges::find(rules, queue, &rule_row::queue);
  if (found == rules.end()) return;
  refuse("the schedule " + found->name +
         " adds messages to the queue; remove it first: tableq schedules remove " + found->name);
}

}  // namespace

bool drop_queue(database_state& database, std::string_view name) {
  check_queue_name(name, database.options().table_prefix);
  const table_names names = names_for(database.options(), name);
  const table_names catalog = names_for(database.options(), {});
  const auto dropped =
      database.in_transaction([&](connection& session) -> std::optional<queue_info> {
        if (!has_catalog(database, session)) return std::nullopt;
        run(session, catalog, statements::catalog_lock);
        auto found = find_row(database, session, catalog, name);
        if (!found) return std::nullopt;
        if (found->schedules) refuse_rules(run(session, catalog, statements::schedules_list), name);
        // If the outcome stays unknown, the next call of a handle asks the database.
        database.changing(names_for(database.options(), name, found->identity));
        alter_table(session, names, false, [&] {
          // Before the table, as in a take.
          run(session, catalog, statements::limits_remove, {.queue = name});
          // The table of an application stays.
          if (found->kind != kind::table && present(session, statements::table_exists, names))
            run(session, names, statements::queue_drop);
        });
        run(session, catalog, statements::catalog_remove, {.name = name});
        if (found->group_limits) {
          run(session, catalog, statements::group_remove_all, {.queue = name});
          run(session, catalog, statements::group_forget, {.queue = name, .all = true});
        }
        if (found->batches) {
          run(session, catalog, statements::batch_mark_all,
              {.queue = found->identity, .outcome = member_outcome::removed});
        }
        return found;
      });
  if (dropped) database.dropped(names_for(database.options(), name, dropped->identity));
  return dropped.has_value();
}

std::vector<finding> inspect(database_state& database) {
  return database.on_session([&](connection& session) {
    std::vector<finding> out;
    const capabilities& can = database.capabilities();
    if (!can.caution.empty()) {
      out.push_back({finding::level::warning, "database", std::string(can.caution),
                     std::string(can.caution_remedy)});
    }
    const doubt unsure = doubt_of(database.dialect_driver());
    if (!unsure.what.empty()) {
      out.push_back({finding::level::warning, "database", std::string(unsure.what),
                     std::string(unsure.remedy)});
    }
    const auto add = [&](const std::string& subject, std::vector<finding_row> rows) {
      for (finding_row& row : rows) {
        out.push_back({static_cast<finding::level>(row.severity), subject, std::move(row.what),
                       std::move(row.fix)});
      }
    };
    const auto own = has_catalog(database, session)
                         ? find_layout(database, session, catalog_row_name)
                         : std::nullopt;
    table_names catalog = names_for(database.options(), {});
    catalog.sharded = database.sharded();
    add("database",
        run(session, catalog, statements::doctor_database, {.layout = own ? own->layout : 0}));
    if (own && own->layout < catalog_layout) out.push_back(older("database", *own));
    for (const queue_info& queue : all_queues(database, session)) {
      if (queue.kind == kind::table) continue;  // database::inspect opens it
      if (queue.layout < queue_layout) {
        out.push_back(older(queue.name, {.name = queue.name, .layout = queue.layout}));
      }
      const table_names names = names_of(database.options(), queue);
      if (!present(session, statements::table_exists, names)) {
        out.push_back({finding::level::problem, queue.name, "the table is missing",
                       "drop the queue, then create it anew"});
        continue;
      }
      const auto limits = run(session, names, statements::limits_read, {.queue = queue.name});
      if (!limits.empty() && limits.front().paused) {
        out.push_back({finding::level::warning, queue.name, "the queue is paused",
                       "resume it, or nothing is read: tableq resume " + queue.name});
      }
      add(queue.name, run(session, names, statements::doctor_queue,
                          {.kind = to_string(queue.kind), .layout = queue.layout}));
      add(queue.name, inspect_ids(session, names));
    }
    return out;
  });
}

}  // namespace tableq::inline v0::core
