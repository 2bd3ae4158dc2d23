#include "core/schema/catalog.hpp"

#include <array>
#include <random>
#include <utility>

#include <tableq/error.hpp>

#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"

namespace tableq::core {
namespace {

constexpr std::string_view own_row = "tableq";

[[noreturn]] void fail(const database_state& in, errc code, const std::string& sentence) {
  throw error(code, advice::never, sentence, {.backend = in.name()});
}

bool present(connection& session, statement id, const table_names& names) {
  return session.execute(id, names, {}, {}).integer(0, 0) != 0;
}

/// Reads rows of the catalogue, checking its own on the way.
std::vector<queue_info> read_rows(const database_state& in, row_set rows) {
  std::vector<queue_info> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    queue_info info;
    info.name = rows.take_text(i, 0);
    info.identity = rows.integer(i, 1);
    info.layout = static_cast<int>(rows.integer(i, 3));
    info.created_at = timestamp(std::chrono::milliseconds(rows.integer(i, 5)));
    const bool own = info.name == own_row;
    if (info.layout > (own ? catalog_layout : queue_layout)) {
      fail(in, errc::schema_too_new,
           (own ? std::string("the catalogue") : "the queue " + info.name) + " has layout " +
               std::to_string(info.layout) +
               ", which a newer tableq wrote; use that version or a later one");
    }
    if (own) continue;
    if (!good_queue_name(info.name, in.options().table_prefix)) {
      // It would stand in statements, and plain SQL must have written it.
      fail(in, errc::schema_mismatch,
           "the catalogue holds a name that no queue can have; delete its row");
    }
    info.kind = parse_kind(rows.take_text(i, 2));
    decode_options(rows.take_text(i, 4), info);
    out.push_back(std::move(info));
  }
  return out;
}

std::vector<queue_info> rows_of(const database_state& in, connection& session, statement id,
                                std::span<const value> shared) {
  const table_names names = names_for(in.options(), {});
  if (!present(session, statement::catalog_exists, names)) return {};
  return read_rows(in, session.execute(id, names, shared, {}));
}

std::optional<queue_info> find(const database_state& in, connection& session,
                               std::string_view name) {
  const value wanted(name);
  std::vector<queue_info> found = rows_of(in, session, statement::catalog_find, {&wanted, 1});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

/// Makes the queue unless somebody was quicker. The catalogue's lock is held.
queue_info create(const database_state& in, connection& session, queue_info info) {
  const table_names names = names_for(in.options(), info.name);
  session.execute(statement::catalog_lock, names, {}, {});
  if (!present(session, statement::catalog_exists, names)) session.define("catalog", names);
  if (auto found = find(in, session, info.name)) return *std::move(found);
  if (present(session, statement::table_exists, names)) {
    fail(in, errc::schema_mismatch,
         "a table called " + names.table +
             " is there already and is no queue of tableq; choose another name or a table_prefix");
  }
  info.identity = new_identity();
  session.define(to_string(info.kind), names);
  const std::string options = encode_options(info);
  const std::array row{value(std::string_view(info.name)), value(info.identity),
                       value(to_string(info.kind)), value(std::int64_t{queue_layout}),
                       value(std::string_view(options))};
  // Of a queue of that name before, whose limits were set while it was dropped.
  session.execute(statement::limits_remove, names, {row.data(), 1}, {});
  session.execute(statement::catalog_insert, names, row, {});
  return info;
}

}  // namespace

std::int64_t new_identity() {
  std::random_device random;
  std::uniform_int_distribution<std::int64_t> any(1);
  return any(random);
}

queue_info open_queue(database_state& in, std::string_view name, const queue_settings& settings) {
  check_queue_name(name, in.options().table_prefix);
  const queue_info wanted = settle_options(name, settings);
  std::optional<queue_info> stored = in.on_session([&](connection& session) {
    std::optional<queue_info> found = find(in, session, name);
    const table_names names = names_for(in.options(), name);
    if (found && !present(session, statement::table_exists, names)) {
      const bool verify = in.options().schema == schema_policy::verify_only;
      fail(in, verify ? errc::not_found : errc::schema_mismatch,
           "the catalogue knows the queue " + found->name +
               " but its table is gone; drop the queue, "
               "then create it anew");
    }
    return found;
  });
  if (!stored) {
    if (in.options().schema == schema_policy::verify_only) {
      fail(in, errc::not_found,
           "there is no queue " + wanted.name +
               ", and the schema policy is to verify only; let `tableq create` or a database "
               "administrator make it");
    }
    stored = in.in_transaction([&](connection& session) { return create(in, session, wanted); });
  }
  return merge_options(*stored, settings);
}

void check_catalog(database_state& in) {
  const value own(own_row);
  in.on_session([&](connection& session) {
    return rows_of(in, session, statement::catalog_find, {&own, 1}).size();
  });
}

std::vector<queue_info> list_queues(database_state& in) {
  return in.on_session(
      [&](connection& session) { return rows_of(in, session, statement::catalog_list, {}); });
}

std::optional<queue_info> find_queue(database_state& in, std::string_view name) {
  check_queue_name(name, in.options().table_prefix);
  return in.on_session([&](connection& session) { return find(in, session, name); });
}

bool drop_queue(database_state& in, std::string_view name) {
  check_queue_name(name, in.options().table_prefix);
  const table_names names = names_for(in.options(), name);
  return in.in_transaction([&](connection& session) {
    if (!present(session, statement::catalog_exists, names)) return false;
    session.execute(statement::catalog_lock, names, {}, {});
    if (!find(in, session, name)) return false;
    if (present(session, statement::table_exists, names)) {
      session.execute(statement::queue_drop, names, {}, {});
    }
    const value gone(name);
    session.execute(statement::catalog_remove, names, {&gone, 1}, {});
    session.execute(statement::limits_remove, names, {&gone, 1}, {});
    in.limits_of(names).forget();
    return true;
  });
}

std::vector<finding> inspect(database_state& in) {
  return in.on_session([&](connection& session) {
    std::vector<finding> out;
    const auto add = [&](const std::string& subject, row_set rows) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        out.push_back({static_cast<finding::level>(rows.integer(i, 0)), subject,
                       rows.take_text(i, 1), rows.take_text(i, 2)});
      }
    };
    add("database",
        session.execute(statement::doctor_database, names_for(in.options(), {}), {}, {}));
    for (const queue_info& queue : rows_of(in, session, statement::catalog_list, {})) {
      const table_names names = names_for(in.options(), queue.name);
      if (!present(session, statement::table_exists, names)) {
        out.push_back({finding::level::problem, queue.name, "the table is gone",
                       "drop the queue, then create it anew"});
        continue;
      }
      const value kind(to_string(queue.kind));
      const value name{std::string_view(queue.name)};
      const row_set limits = session.execute(statement::limits_read, names, {&name, 1}, {});
      if (!limits.empty() && limits.integer(0, 0) != 0) {
        out.push_back({finding::level::warning, queue.name, "the queue is paused",
                       "resume it, or nothing is read: tableq resume " + queue.name});
      }
      add(queue.name, session.execute(statement::doctor_queue, names, {&kind, 1}, {}));
    }
    return out;
  });
}

}  // namespace tableq::core
