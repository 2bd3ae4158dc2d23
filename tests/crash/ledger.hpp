#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "crash/queues.hpp"
#include "support/backend.hpp"
#include "support/process.hpp"

namespace tableq_test {

/// Runs plain SQL as a client that knows nothing of tableq.
using plain_sql = std::function<rows(const std::string&)>;

/// Creates the tables of the application that the actors write to.
void make_tables(const plain_sql& sql);

/// What actors have told, which is held against what the database has in the end.
class ledger {
 public:
  /// Takes in what an actor has told since the last time. @return whether it has done something.
  bool read(process& from);
  /// An actor was killed: of what it has not told, it may have done the last.
  void killed(const std::string& name) { killed_.insert(name); }

  /// Everything is done, nothing twice, and nothing is there that nobody has sent: as test
  /// failures.
  /// @param db where nobody works any more.
  void balance(tableq::database& db, const plain_sql& sql) const;

  /// In words: how many messages were acknowledged, and what became of unknown outcomes.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] std::size_t acknowledged() const { return put_.size() + keyed_.size(); }
  [[nodiscard]] std::size_t unknown() const { return unknown_; }

 private:
  void take_in(const nlohmann::json& line);
  void check_in(const std::set<std::string>& stored) const;
  void check_chores(tableq::database& db) const;
  [[nodiscard]] bool may_be_there(const std::string& payload) const;

  std::set<std::string> put_;      // into `in`
  std::set<std::string> keyed_;    // into `chores`
  std::set<std::string> lost_;     // nobody knows whether they were stored
  std::set<std::string> refused_;  // certainly not stored
  std::set<std::string> moved_;
  std::set<std::string> finished_;
  std::multiset<std::int64_t> completed_;
  std::set<std::string> killed_;
  std::map<std::string, std::size_t> resolved_;
  std::size_t unknown_ = 0;
  std::size_t trouble_ = 0;
};

}  // namespace tableq_test
