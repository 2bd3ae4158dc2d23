#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "crash/queues.hpp"
#include "support/backend.hpp"
#include "support/process.hpp"

namespace tableq_test {

/// Runs plain SQL as a client without tableq.
using plain_sql = std::function<rows(const std::string&)>;

/// Creates the tables of the application that the actors write to.
void make_tables(const plain_sql& sql);

/// The reports of the actors, which are compared with the database at the end.
class ledger {
 public:
  /// Reads an actor's reports since the last call. @return whether there were any.
  bool read(process& from);
  /// An actor was killed: it may have done its last step without a report.
  void killed(const std::string& name) { killed_.insert(name); }

  /// Checks that everything is done, nothing twice, and that every message was sent by an actor.
  /// @param db without any activity.
  void balance(tableq::database& db, const plain_sql& sql) const;

  /// As text: how many messages were acknowledged, and how unknown outcomes were resolved.
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
  std::set<std::string> lost_;     // may be stored or not
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
