#include <algorithm>
#include <atomic>
#include <mutex>

#include "first/place.hpp"
#include "support/in_threads.hpp"

namespace tableq_test::first {
namespace {

using clock = std::chrono::steady_clock;

constexpr int readers = 16;

std::string delete_from(const std::string& table) {
  return "WITH picked AS (SELECT TOP (1) id, payload FROM " + table +
         " WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) ORDER BY id)"
         " DELETE FROM picked OUTPUT deleted.id, deleted.payload";
}

void create(sqlserver_client& client, const std::string& table, const std::string& clustered) {
  client.run("CREATE TABLE " + table + " (id bigint IDENTITY(1, 1) NOT NULL PRIMARY KEY " +
             clustered + ", payload varbinary(max) NOT NULL)");
}

void tell(report& to, sqlserver_client& client, const std::string& what, const std::string& text) {
  to.attempt(what, [&] {
    std::string line = what + ":";
    for (const row& each : client.run(text)) {
      for (const auto& field : each) line += " " + field.value_or("NULL");
    }
    to.note(line);
  });
}
/// The server's so far, also of other sessions.
constexpr const char* latch_waits =
    "SELECT ISNULL(SUM(waiting_tasks_count), 0), ISNULL(SUM(wait_time_ms), 0)"
    " FROM sys.dm_os_wait_stats WHERE wait_type LIKE N'PAGELATCH%'";

/// Deleted rows that are still there, beside rows and pages, of all indexes.
std::string ghosts_in(const std::string& table) {
  return "SELECT index_type_desc, CAST(page_count AS nvarchar(20)) + N' pages,',"
         " CAST(record_count AS nvarchar(20)) + N' rows,',"
         " CAST(ghost_record_count AS nvarchar(20)) + N' ghosts,',"
         " CAST(version_ghost_record_count AS nvarchar(20)) + N' with versions;'"
         " FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(N'" +
         table +
         "'), NULL, NULL, 'DETAILED') WHERE index_level = 0 AND alloc_unit_type_desc ="
         " N'IN_ROW_DATA'";
}

/// Readers at the front of a table, until it is empty.
void empty(report& to, const place& on, const std::string& name, const std::string& clustered) {
  const std::string table = on.name_of(name);
  const auto number = std::clamp<std::int64_t>(on.time.count() / 2, 200, 20'000);
  sqlserver_client client = on.client();
  create(client, table, clustered);
  client.run("INSERT INTO " + table + " (payload) SELECT TOP (" + std::to_string(number) +
             ") CAST(REPLICATE('x', 200) AS varbinary(max))"
             " FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b");
  tell(to, client, name + ": latch waits and their ms before", latch_waits);
  std::atomic<std::int64_t> pages{0};
  std::atomic<std::int64_t> read{0};
  std::mutex guard;
  std::string failures;
  const auto began = clock::now();
  in_threads(readers, [&](int) {
    sqlserver_client own = on.client();
    const std::int64_t before = own.pages_read();
    for (bool some = true; some && !interrupted;) {
      try {
        some = !own.run(delete_from(table)).empty();
        read += some ? 1 : 0;
      } catch (const std::exception& failure) {  // A deadlock: told once, and this reader ends.
        const std::lock_guard lock(guard);
        failures = failure.what();
        some = false;
      }
    }
    pages += own.pages_read() - before;
  });
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - began);
  if (!failures.empty()) to.finding(name + ": " + failures);
  to.note(name + ": " + std::to_string(readers) + " readers, " + std::to_string(read) + " of " +
          std::to_string(number) + " rows, " + std::to_string(took.count()) + " ms, " +
          std::to_string(pages / std::max<std::int64_t>(read, 1)) + " pages read for a row");
  tell(to, client, name + ": latch waits and their ms after", latch_waits);
  tell(to, client, name, ghosts_in(table));
}

}  // namespace

void compare_layouts(report& to, const place& on) {
  for (const auto& [name, clustered] :
       {std::pair{"clustered_table", "CLUSTERED"}, {"heap_with_an_index", "NONCLUSTERED"}}) {
    to.attempt(name, [&, table = name, kind = clustered] { empty(to, on, table, kind); });
  }
}

}  // namespace tableq_test::first
