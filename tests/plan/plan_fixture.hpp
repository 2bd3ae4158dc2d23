#pragma once

#include <gtest/gtest.h>

#include <iterator>

#include <tableq/unstable/dialect.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

/// How the tests of plans count the work of a statement.
namespace tableq_test {

inline constexpr std::int64_t many = 50'000;
inline constexpr std::int64_t million = 1'000'000;

/// A statement of the dialect, with its parameters.
struct read {
  std::string name;
  parameters with = {};
  /// Its order is the primary key's, and nothing is left out.
  bool in_key_order = false;
  /// Its plan may sort what a LIMIT has bounded before; only its work is checked.
  bool bounded_sort = false;
};

/// Rows for a table.
struct additions {
  std::string columns;
  std::string values;
  std::int64_t count;
};

class plan : public on_each_backend {
 protected:
  /// The plain client plans as the library's own sessions do.
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const std::string& each : tableq::find_dialect(db().backend()).setup) here().sql(each);
  }
  /// The text for one message if there is one, otherwise that of the statement.
  [[nodiscard]] std::string single(const std::string& statement) {
    const std::string own = statement + ".one";
    return texts(own, "mail").contains(own) ? own : statement;
  }
  /// The texts of the statement's kind for one queue.
  std::map<std::string, std::string> texts(const std::string& statement, const std::string& table) {
    const std::string beginning = statement.substr(0, statement.find('.'));
    const bool of_all = beginning == "limits" || beginning == "queue" || beginning == "catalog" ||
                        beginning == "batch" || beginning == "group" || beginning == "schedules";
    tableq::queue_settings settings{.kind = tableq::parse_kind(of_all ? "heap" : beginning)};
    if (by_turns_) settings.claim.groups = {.by_turns = true};
    return tableq::statements(db().backend(), table, settings);
  }
  std::string text_of(const std::string& statement, const std::string& table) {
    // The catalogue's own table, which exists.
    std::string out = replaced(texts(statement, table).at(statement), ":own_identity", "0");
    constexpr std::string_view items = "{items: ";
    const std::size_t begin = out.find(items);
    if (begin == std::string::npos) return out;
    out.erase(begin, items.size());
    return out.erase(out.find('}', begin), 1);
  }
  /// The parameters, and the places where the statement begins if the driver fills them in: ids
  /// from `oldest` on, those of the priority 0 from `floor` on, due times from `passed` on.
  static parameters from(parameters with, const std::string& floor = "0",
                         const std::string& oldest = "0", const std::string& passed = "0") {
    with.insert({{"highs", "'2147483647,0,-1'"},
                 {"lows", "'1,0,-2147483648'"},
                 {"floors", "'" + oldest + "," + floor + "," + oldest + "'"},
                 {"oldest", oldest},
                 {"passed", passed}});
    return with;
  }
  /// The first page of a state.
  static parameters page_of(const char* state) {
    return {{"state", state}, {"max", "10"}, {"after_at", "0"}, {"after_id", "0"}};
  }
  /// The parameters of a list by filter that fits nothing.
  static parameters filter(const char* finished) {
    return from({{"states", "63"},
                 {"finished", finished},
                 {"older_than", "0"},
                 {"header", R"('{"a":"b"}')"},
                 {"group", "NULL"},
                 {"key_prefix", "'none'"},
                 {"error", "'none'"},
                 {"after_at", "0"},
                 {"after_id", "3"},
                 {"until", "NULL"},
                 {"scan", "10"},
                 {"max", "10"},
                 {"now", "NULL"}});
  }
  /// The parameters of a take, with ids of the priority 0 from `floor` on.
  static parameters take(const char* max, const char* guard, const std::string& floor = "0") {
    return from({{"max", max},
                 {"lease", "30000"},
                 {"claimed_at", "NULL"},
                 {"guard", guard},
                 {"now", "NULL"},
                 {"token", "7"},
                 {"unkey", "0"},
                 {"options", "NULL"}},
                floor);
  }
  /// The look of databases that have one, and their take within limits.
  void add_look(std::vector<read>& reads, const std::string& queue,
                const std::string& floor = "0") {
    if (!texts("claim.look", queue).contains("claim.look")) return;
    reads.push_back({.name = "claim.look", .with = take("10", "0", floor), .bounded_sort = true});
    parameters limited = take("10", "0", floor);
    limited.insert({"queue", "'" + queue + "'"});
    reads.push_back({.name = "claim.take_limited", .with = limited, .bounded_sort = true});
  }
  /// The takes without lists, where there are some.
  void add_first(std::vector<read>& reads, const std::string& floor = "0") {
    for (const std::string own :
         {"claim.take_first", "claim.take_first_limited", "claim.take_first_metered"}) {
      if (!texts(own, "jobs").contains(own)) continue;
      parameters with = take("1", "0", floor);
      with.merge(parameters{{"level", "0"}, {"floor", floor}, {"queue", "'jobs'"}});
      reads.push_back({.name = own, .with = with});
    }
  }
  static read promote() {
    return {.name = "claim.promote",
            .with = {{"max", "1000"},
                     {"max_attempts", "5"},
                     {"regroup", "0"},
                     {"starts", "0"},
                     {"locked", "NULL"},
                     {"now", "NULL"},
                     {"passed", "0"}}};
  }
  std::string now() const {
    using std::chrono::duration_cast;
    return std::to_string(duration_cast<std::chrono::milliseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count());
  }
  void expect_good_plans(const std::vector<read>& reads, const std::string& table,
                         const char* when) {
    for (const read& each : reads) {
      if (each.bounded_sort) continue;
      const std::string shown = here().explain(text_of(each.name, table), each.with);
      const auto complaint = here().complaint(shown, each.in_key_order);
      EXPECT_FALSE(complaint) << each.name << " on a table " << when << ": " << *complaint << "\n"
                              << shown;
    }
  }
  std::vector<std::int64_t> work(const std::vector<read>& reads, const std::string& table) {
    std::vector<std::int64_t> out;
    for (const read& each : reads) {
      out.push_back(here().work_of(text_of(each.name, table), each.with));
    }
    return out;
  }
  void expect_no_more(const std::vector<read>& reads, const std::string& table,
                      const std::vector<std::int64_t>& before, const char* when) {
    const std::vector<std::int64_t> after = work(reads, table);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      // A scan would touch thousands of times more; a deeper tree touches a little more.
      EXPECT_LE(after[i], 3 * before[i] + 300) << reads[i].name << " on a table " << when;
    }
  }
  /// Plans and work of reads on a table before and after the additions: with the statements that
  /// were prepared on the small table, and with new ones.
  void expect_constant(const std::vector<read>& reads, const std::string& table,
                       const additions& added) {
    expect_constant(reads, table,
                    [&] { here().insert_many(table, added.columns, added.values, added.count); });
  }
  template <class Add>
  void expect_constant(const std::vector<read>& reads, const std::string& table, Add add) {
    const std::vector<std::int64_t> before = work(reads, table);
    add();
    expect_no_more(reads, table, before, "that has grown");
    expect_good_plans(reads, table, "that has grown");
    here().analyze();
    expect_no_more(reads, table, before, "that was analyzed");
    expect_good_plans(reads, table, "that was analyzed");
  }

  /// Whether deleted rows stay in the indexes.
  [[nodiscard]] bool db_lingers() {
    return tableq::find_dialect(db().backend()).capabilities.deleted_rows_linger;
  }

  /// Five messages for each group.
  static void add_to_groups(tableq::claim_queue& jobs, int first_group, int groups) {
    std::vector<tableq::new_claim_message> some;
    for (int i = 0; i < 5 * groups; ++i) {
      some.push_back({"x", {.group = "group " + std::to_string(first_group + i % groups)}});
    }
    jobs.enqueue_batch(some);
  }

  bool by_turns_ = false;  ///< The texts are those of groups that take turns.
};

}  // namespace tableq_test
