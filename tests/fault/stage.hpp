#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>

#include "support/any_queue.hpp"
#include "support/fixture.hpp"

namespace tableq_test {

/// Counts the sessions of a database object that are open.
class session_counter final : public tableq::observer {
 public:
  void session_opened(std::string_view /*backend*/, std::chrono::nanoseconds /*took*/) override {
    ++open_;
  }
  void session_closed(std::string_view /*backend*/, bool /*broken*/) override { --open_; }
  [[nodiscard]] int open() const { return open_; }

 private:
  std::atomic<int> open_{0};
};

/// A database object with the queues that were opened through it, each of them once.
class actor {
 public:
  explicit actor(tableq::database db) : db_(std::move(db)) {}

  tableq::database& db() { return db_; }
  /// A queue of a destructive kind.
  any_queue& plain(tableq::kind type, const std::string& name);
  tableq::fifo_queue& fifo(const std::string& name, const tableq::order_options& options = {});
  tableq::pending_queue& pending(const std::string& name);
  tableq::claim_queue& claim(const std::string& name, const tableq::claim_options& options = {});

  /// A table of the application, which exists.
  tableq::table_queue& table(const std::string& name, const tableq::table_mapping& mapping);

  /// From now on `state` also lists the queues.
  void look_at_schema() { schema_ = true; }
  /// Also the limits of that queue.
  void look_at_limits(const tableq::queue& queue) { limits_.push_back(&queue); }

  /// The contents of the queues that were used since `forget`, without ids and fences.
  [[nodiscard]] std::string state();
  /// The names of these queues.
  [[nodiscard]] const std::set<std::string>& used() const { return used_; }
  void forget();

 private:
  template <class Map, class Open>
  auto& opened(Map& map, const std::string& name, Open open);

  tableq::database db_;
  std::set<std::string> used_;
  std::vector<const tableq::queue*> limits_;
  bool schema_ = false;
  std::map<std::string, any_queue> plain_;
  std::map<std::string, tableq::fifo_queue> fifo_;
  std::map<std::string, tableq::pending_queue> pending_;
  std::map<std::string, tableq::claim_queue> claim_;
  std::map<std::string, tableq::table_queue> tables_;
};

/// Every way in which a call may fail.
std::vector<tableq::testing::fault> all_faults();

/// The result of the preparation of a scenario, for its act.
struct notes {
  place* here = nullptr;
  manual_clock* clock = nullptr;
  std::vector<tableq::receipt> receipts = {};
  std::vector<tableq::message_id> ids = {};
};

/// One operation, or several related ones, on prepared queues.
struct scenario {
  std::string name;
  std::function<void(actor& player, notes& left)> prepare;
  /// The caller's result, as text.
  std::function<std::string(actor& player, notes& left)> act;
  /// The caller began the transaction, so that nothing in it is repeated.
  bool by_hand = false;
  /// Several units of work: if the answer of one is lost, or a later one fails, messages may stay
  /// leased without a worker until their leases end.
  bool in_steps = false;
  /// The first of these units does the requested work: the failure of a later one is not reported.
  bool first_counts = false;
  /// Another session must reach the place.
  bool shared = false;
};

/// The result of a call, as text.
inline std::string told(std::string text) {
  return text;
}
template <class Value>
requires(std::is_arithmetic_v<Value> || std::is_enum_v<Value>) std::string told(Value value) {
  return std::to_string(static_cast<std::int64_t>(value));
}
inline std::string told(const tableq::enqueued& result) {
  return told(result.result);
}
template <class Message>
requires requires(const Message& one) {
  one.payload;
}
std::string told(const Message& one) {
  return one.payload;
}
template <class Value>
std::string told(const std::optional<Value>& one) {
  return one ? told(*one) : "nothing";
}
template <class Value>
std::string told(const std::vector<Value>& all) {
  std::string out;
  for (const Value& each : all) out += told(each) + " ";
  return out;
}

/// Calls a part of a scenario with what it takes, and tells the result.
template <class Part, class On>
std::string result_of(const Part& part, On& on, notes& left) {
  const auto run = [&]() -> decltype(auto) {
    if constexpr (std::is_invocable_v<const Part&, On&>) {
      return part(on);
    } else {
      return part(on, left);
    }
  };
  if constexpr (std::is_void_v<decltype(run())>) {
    run();
    return "done";
  } else {
    return told(run());
  }
}

/// @param prepare and `act` as for `result_of`.
template <class Before, class Act>
scenario playing(std::string name, Before prepare, Act act) {
  return {.name = std::move(name),
          .prepare = [=](actor& player, notes& left) { result_of(prepare, player, left); },
          .act = [=](actor& player, notes& left) { return result_of(act, player, left); }};
}

std::vector<scenario> destructive_scenarios();
std::vector<scenario> claim_scenarios();
std::vector<scenario> settling_scenarios();
std::vector<scenario> looking_scenarios();
std::vector<scenario> database_scenarios();
std::vector<scenario> transaction_scenarios();
std::vector<scenario> table_scenarios();

}  // namespace tableq_test
