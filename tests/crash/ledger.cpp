#include "crash/ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace tableq_test {
namespace {

using names = std::set<std::string>;

/// The rows of one column, each of which must exist once.
names column(const rows& of) {
  names out;
  for (const row& each : of) {
    EXPECT_TRUE(out.insert(each.at(0).value()).second) << "twice: " << *each.at(0);
  }
  return out;
}

/// The first few that are in one and not in the other, for a message.
std::string missing(const names& these, const names& in) {
  names out;
  std::set_difference(these.begin(), these.end(), in.begin(), in.end(),
                      std::inserter(out, out.end()));
  std::string text = std::to_string(out.size());
  std::size_t shown = 0;
  for (const std::string& each : out) {
    if (++shown > 5) break;
    text += " " + each;
  }
  return out.empty() ? std::string() : text;
}

}  // namespace

void make_tables(const plain_sql& sql) {
  for (const char* table : {"moved", "finished"}) {
    sql("CREATE TABLE " + std::string(table) + " (payload varchar(100) PRIMARY KEY)");
  }
}

bool ledger::read(process& from) {
  const auto news = from.news();
  for (const auto& line : news) take_in(line);
  const char* const deeds[] = {"put", "moved", "finished", "completed"};
  return std::any_of(news.begin(), news.end(), [&](const nlohmann::json& line) {
    return std::any_of(std::begin(deeds), std::end(deeds),
                       [&](const char* deed) { return line.contains(deed); });
  });
}

void ledger::take_in(const nlohmann::json& line) {
  const auto all = [&line](const char* of, names& into) {
    for (const auto& each : line.at(of)) into.insert(each.get<std::string>());
  };
  if (line.contains("put")) all("put", line.contains("keyed") ? keyed_ : put_);
  if (line.contains("lost")) all("lost", lost_);
  if (line.contains("refused")) all("refused", refused_);
  if (line.contains("moved")) moved_.insert(line.at("moved").get<std::string>());
  if (line.contains("finished")) finished_.insert(line.at("finished").get<std::string>());
  if (line.contains("completed")) completed_.insert(line.at("completed").get<std::int64_t>());
  if (line.contains("resolved")) ++resolved_[line.at("resolved").get<std::string>()];
  if (line.contains("unknown")) ++unknown_;
  if (line.contains("trouble")) ++trouble_;
}

bool ledger::may_be_there(const std::string& payload) const {
  // `<name>s:12b`: what comes before the last letter of the part before the colon.
  const std::string sender = payload.substr(0, payload.find(':') - 1);
  return lost_.contains(payload) || killed_.contains(sender);
}

void ledger::balance(tableq::database& db, const plain_sql& sql) const {
  crash_queues queues(db);
  EXPECT_EQ(queues.in.stats().waiting, 0U);
  const auto jobs = queues.jobs.stats();
  EXPECT_EQ(jobs.ready + jobs.leased + jobs.delayed + jobs.dead, 0U);

  const names moved = column(sql("SELECT payload FROM moved"));
  const names finished = column(sql("SELECT payload FROM finished"));
  // Each message that left `in` has its row, and its work is done: exactly once, since both tables
  // have the payload as their primary key.
  EXPECT_EQ(missing(moved, finished), "") << "moved and never finished";
  EXPECT_EQ(missing(finished, moved), "") << "finished and never moved";
  EXPECT_EQ(missing(moved_, moved), "") << "told as moved, and undone";
  EXPECT_EQ(missing(finished_, finished), "") << "told as finished, and undone";
  check_in(moved);
  check_chores(db);
}

void ledger::check_in(const names& stored) const {
  EXPECT_EQ(missing(put_, stored), "") << "acknowledged, and lost";
  for (const std::string& each : stored) {
    EXPECT_TRUE(put_.contains(each) || may_be_there(each)) << "nobody sent " << each;
    EXPECT_FALSE(refused_.contains(each)) << "refused, and stored: " << each;
    // A batch is stored completely or not at all.
    if (each.ends_with("b")) {
      const std::string stem = each.substr(0, each.size() - 1);
      EXPECT_TRUE(stored.contains(stem) && stored.contains(stem + "c")) << stem;
    }
  }
}

void ledger::check_chores(tableq::database& db) const {
  crash_queues queues(db);
  const auto left = queues.chores.stats();
  EXPECT_EQ(left.ready + left.leased + left.delayed + left.dead, 0U);
  names done;
  std::set<std::int64_t> ids;
  tableq::page next{.max = 1000};
  for (;;) {
    const auto found = queues.chores.list(tableq::message_state::done, next);
    if (found.empty()) break;
    for (const auto& each : found) {
      EXPECT_TRUE(done.insert(each.key.value()).second) << "stored twice: " << *each.key;
      ids.insert(each.id.value);
    }
    next.after = found.back();
  }
  EXPECT_EQ(missing(keyed_, done), "") << "acknowledged, and lost";
  for (const std::string& each : done) {
    EXPECT_TRUE(keyed_.contains(each) || may_be_there(each)) << "nobody sent " << each;
  }
  for (const std::int64_t id : completed_) {
    EXPECT_EQ(completed_.count(id), 1U) << "completed by two receipts: " << id;
    EXPECT_TRUE(ids.contains(id)) << "told as completed, and undone: " << id;
  }
}

std::string ledger::summary() const {
  std::string out = std::to_string(acknowledged()) + " messages acknowledged; ";
  if (unknown_ != 0) {
    out += std::to_string(unknown_) + " unknown outcomes told";
    for (const auto& [how, count] : resolved_) out += ", " + std::to_string(count) + " " + how;
    out += "; ";
  }
  return out + "0 lost, 0 twice";
}

}  // namespace tableq_test
