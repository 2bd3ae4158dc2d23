#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

std::string contents_of(const std::string& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

/// Without blanks, in lower case.
std::string plain_name(const std::string& title) {
  std::string out;
  for (const char c : title) {
    if (c != ' ') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// The statements of docs/sql.md for a database, by the title of their section.
std::vector<std::string> statements_for(const std::string& backend) {
  std::istringstream page(contents_of(TABLEQ_DOCUMENTED_SQL));
  std::vector<std::string> out;
  bool mine = false;
  bool code = false;
  std::string statement;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) mine = plain_name(line.substr(3)) == backend;
    if (line.starts_with("```")) code = line == "```sql";
    if (!mine || !code || line.empty() || line.starts_with("```") || line.starts_with("--")) {
      continue;
    }
    statement += line + '\n';
    if (!line.ends_with(';')) continue;
    statement.resize(statement.size() - 2);
    out.push_back(std::exchange(statement, {}));
  }
  return out;
}

class documented_sql : public on_each_backend {
 protected:
  /// Runs the statements, and returns how many begin like that.
  std::size_t count(std::string_view begin) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        statements_, [&](const std::string& each) { return each.starts_with(begin); }));
  }
  void run_all() {
    statements_ = statements_for(std::string(db().backend()));
    ASSERT_GE(statements_.size(), 15U);
    for (const std::string& each : statements_) here().sql(each);
  }
  /// Inserts a message into a group as the page does.
  void insert_of_group(const std::string& payload, const std::string& group,
                       const std::string& key = {}) {
    for (std::string each : statements_for(std::string(db().backend()))) {
      const auto name = each.find("customer-7");
      if (!each.starts_with("INSERT") || name == std::string::npos) continue;
      each.replace(name, std::string("customer-7").size(), group);
      if (!key.empty()) {
        each.insert(each.rfind(", ", name), ", " + here().key_literal(key));
        each.insert(each.find("group_key"), "\"key\", ");
      }
      each.replace(each.find("first of customer 7"), std::string("first of customer 7").size(),
                   payload);
      here().sql(each);
    }
  }
  static std::string taken(tableq::claim_queue& jobs) {
    const auto got = jobs.take(10);
    std::string out;
    for (const auto& each : got) {
      out += each.payload + ' ';
      EXPECT_EQ(jobs.complete(each), tableq::settle_result::applied);
    }
    return out;
  }

 private:
  std::vector<std::string> statements_;
};
TABLEQ_ON_BACKENDS(documented_sql, distinct_backends);

TEST_P(documented_sql, of_every_language_is_what_tableq_delivers) {
  auto mail = db().fifo("mail");
  auto later = db().pending("later");
  auto jobs = db().claim("jobs", {.groups = tableq::group_options{}});
  auto ledger = db().fifo("ledger", {.ordering = tableq::ordering::strict});
  run_all();
  EXPECT_EQ(mail.dequeue_batch(10).size(), count("INSERT INTO mail"));
  EXPECT_EQ(later.dequeue().value().payload, "now");
  EXPECT_EQ(later.stats().delayed, count("INSERT INTO later") - 1);
  EXPECT_EQ(ledger.dequeue_batch(10).size(), count("INSERT INTO ledger"));
  const auto taken = jobs.take(10);
  ASSERT_EQ(taken.size(), count("INSERT INTO jobs") - 2) << "one is delayed, and one cancelled";
  EXPECT_EQ(taken.front().payload, "invoice");
  EXPECT_EQ(taken.front().headers, (tableq::headers{{"type", "pdf"}}));
  EXPECT_TRUE(std::ranges::any_of(
      taken, [](const tableq::delivery& each) { return each.group == "customer-7"; }));
  EXPECT_EQ(jobs.stats().delayed, 1U);
  EXPECT_TRUE(db().find("jobs")->schedules);
  EXPECT_EQ(db().schedules().find("nightly")->problem, "");
  EXPECT_EQ(db().schedules().find("nightly")->next.size(), 5U);
}

TEST_P(documented_sql, waits_for_its_group_and_its_group_for_it) {
  for (const auto policy : {tableq::group_policy::hold, tableq::group_policy::pass}) {
    auto jobs = db().claim("jobs", {.groups = tableq::group_options{.on_failure = policy}});
    jobs.enqueue("a", {.group = "g"});
    insert_of_group("b", "g");
    insert_of_group("c", "g");
    jobs.enqueue("d", {.group = "g"});
    insert_of_group("x", "h");
    std::string seen;
    for (int i = 0; i < 5; ++i) seen += taken(jobs) + "| ";
    EXPECT_EQ(seen, "a x | b | c | d | | ");
    db().drop("jobs");
  }
}

TEST_P(documented_sql, of_a_group_stays_behind_it_with_another_priority) {
  auto jobs = db().claim("jobs", {.groups = tableq::group_options{}});
  jobs.enqueue("a", {.group = "g"});
  const auto first = jobs.take_one().value();
  insert_of_group("b", "g");
  const auto waiting = jobs.list(tableq::message_state::delayed);
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(jobs.set_priority(waiting.front().id, 5), tableq::change_result::applied);
  EXPECT_EQ(taken(jobs), "");
  EXPECT_EQ(jobs.complete(first), tableq::settle_result::applied);
  EXPECT_EQ(taken(jobs), "b ");
}

TEST_P(documented_sql, of_a_group_stays_behind_it_with_a_later_payload) {
  for (const auto how : {tableq::on_duplicate::replace, tableq::on_duplicate::postpone}) {
    auto jobs = db().claim("jobs", {.groups = tableq::group_options{}});
    jobs.enqueue("a", {.group = "g"});
    const auto first = jobs.take_one().value();
    insert_of_group("b", "g", "k");
    jobs.enqueue("later", {.key = "k", .on_duplicate = how});
    EXPECT_EQ(taken(jobs), "");
    EXPECT_EQ(jobs.complete(first), tableq::settle_result::applied);
    EXPECT_EQ(taken(jobs), "later ");
    db().drop("jobs");
  }
}

}  // namespace
