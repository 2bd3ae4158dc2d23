#include "fault/stage.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace tableq_test {
namespace {

void tell(std::ostream& to, const tableq::stored_message& one) {
  to << ' ' << one.payload << '[' << one.attempts << ',' << one.priority;
  if (one.key) to << ",key " << *one.key;
  if (one.group) to << ",group " << *one.group;
  if (one.due_at) to << ",due " << one.due_at->time_since_epoch().count();
  for (const tableq::failure_record& each : one.errors) to << ',' << each.error;
  to << ']';
}

void tell(std::ostream& to, tableq::claim_queue& queue) {
  using enum tableq::message_state;
  for (const auto state : {ready, leased, delayed, done, dead, held}) {
    const auto found = queue.list(state);
    if (found.empty()) continue;
    to << " {" << static_cast<int>(state) << ':';
    for (const auto& each : found) tell(to, each);
    to << '}';
  }
}

void tell(std::ostream& to, tableq::table_queue& table) {
  for (const tableq::row& each : table.peek(100)) {
    to << ' ' << each.get<std::string>("what") << '[' << each.get<int>("attempts") << ']';
  }
  const tableq::claim_stats stats = table.stats();
  to << " delayed " << stats.delayed << " leased " << stats.leased << " dead " << stats.dead;
}

void tell(std::ostream& to, const tableq::queue& queue) {
  const tableq::queue_limits limits = queue.limits();
  if (queue.paused()) to << " paused";
  if (limits.capacity) to << " capacity " << *limits.capacity;
  if (limits.rate) to << " rate " << *limits.rate;
  if (limits.concurrency) to << " concurrency " << *limits.concurrency;
}

template <class Messages>
void tell_payloads(std::ostream& to, Messages messages) {
  for (const auto& each : messages) to << ' ' << each.payload;
}

}  // namespace

template <class Map, class Open>
auto& actor::opened(Map& in, const std::string& name, Open open) {
  used_.insert(name);
  const auto found = in.find(name);
  return found != in.end() ? found->second : in.emplace(name, open()).first->second;
}

any_queue& actor::plain(tableq::kind of, const std::string& name) {
  return opened(plain_, name, [&] { return any_queue(db_, of, name); });
}
tableq::fifo_queue& actor::fifo(const std::string& name, const tableq::order_options& options) {
  return opened(fifo_, name, [&] { return db_.fifo(name, options); });
}
tableq::pending_queue& actor::pending(const std::string& name) {
  return opened(pending_, name, [&] { return db_.pending(name); });
}
tableq::claim_queue& actor::claim(const std::string& name, const tableq::claim_options& options) {
  return opened(claim_, name, [&] { return db_.claim(name, options); });
}

tableq::table_queue& actor::table(const std::string& name, const tableq::table_mapping& mapping) {
  return opened(tables_, name, [&] { return db_.table(name, mapping); });
}

std::string actor::state() {
  std::ostringstream out;
  if (schema_) {
    for (const tableq::queue_info& each : db_.queues()) out << each.name << ' ';
  }
  for (const std::string& name : used_) {
    out << "\n  " << name << ':';
    if (const auto found = plain_.find(name); found != plain_.end()) {
      auto payloads = found->second.peek(100);
      // A heap has no order.
      if (found->second.kind() == tableq::kind::heap) std::sort(payloads.begin(), payloads.end());
      for (const auto& each : payloads) out << ' ' << each;
    }
    if (const auto found = fifo_.find(name); found != fifo_.end()) {
      tell_payloads(out, found->second.peek(100));
    }
    if (const auto found = pending_.find(name); found != pending_.end()) {
      tell_payloads(out, found->second.peek(100));
    }
    if (const auto found = claim_.find(name); found != claim_.end()) tell(out, found->second);
    if (const auto found = tables_.find(name); found != tables_.end()) tell(out, found->second);
  }
  for (const tableq::queue* const each : limits_) tell(out, *each);
  return out.str();
}

void actor::forget() {
  used_.clear();
  limits_.clear();
  schema_ = false;
}

std::vector<tableq::testing::fault> all_faults() {
  using enum tableq::testing::trouble;
  using enum tableq::testing::moment;
  std::vector<tableq::testing::fault> out;
  for (const auto what : {lost_connection, unknown_commit, busy, deadlock, time_out}) {
    for (const auto when : {before, after}) out.push_back({what, when});
  }
  return out;
}

scenario playing(std::string name, std::function<void(actor& by)> prepare,
                 std::function<std::string(actor& by)> act) {
  return {.name = std::move(name),
          .prepare = [prepare = std::move(prepare)](actor& by, notes& /*left*/) { prepare(by); },
          .act = [act = std::move(act)](actor& by, notes& /*left*/) { return act(by); }};
}

}  // namespace tableq_test
