#include "fault/stage.hpp"

#include <algorithm>
#include <sstream>

namespace tableq_test {
namespace {

void write(std::ostream& out, const tableq::stored_message& one) {
  out << ' ' << one.payload << '[' << one.attempts << ',' << one.priority;
  if (one.key) out << ",key " << *one.key;
  if (one.group) out << ",group " << *one.group;
  if (one.due_at) out << ",due " << one.due_at->time_since_epoch().count();
  for (const tableq::failure_record& each : one.errors) out << ',' << each.error;
  out << ']';
}

void write(std::ostream& out, tableq::claim_queue& queue) {
  using enum tableq::message_state;
  for (const auto state : {ready, leased, delayed, done, dead, held}) {
    const auto found = queue.list(state);
    if (found.empty()) continue;
    out << " {" << static_cast<int>(state) << ':';
    for (const auto& each : found) write(out, each);
    out << '}';
  }
}

void write(std::ostream& out, tableq::table_queue& table) {
  for (const tableq::row& each : table.peek(100)) {
    out << ' ' << each.get<std::string>("what") << '[' << each.get<int>("attempts") << ']';
  }
  const tableq::claim_stats stats = table.stats();
  out << " delayed " << stats.delayed << " leased " << stats.leased << " dead " << stats.dead;
}

void write(std::ostream& out, const tableq::queue& queue) {
  const tableq::queue_limits limits = queue.limits();
  if (queue.paused()) out << " paused";
  if (limits.capacity) out << " capacity " << *limits.capacity;
  if (limits.rate) out << " rate " << *limits.rate;
  if (limits.concurrency) out << " concurrency " << *limits.concurrency;
}

template <class Messages>
void write_payloads(std::ostream& out, Messages messages) {
  for (const auto& each : messages) out << ' ' << each.payload;
}

}  // namespace

template <class Map, class Open>
auto& actor::opened(Map& map, const std::string& name, Open open) {
  used_.insert(name);
  const auto found = map.find(name);
  return found != map.end() ? found->second : map.emplace(name, open()).first->second;
}

any_queue& actor::plain(tableq::kind type, const std::string& name) {
  return opened(plain_, name, [&] { return any_queue(db_, type, name); });
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
      write_payloads(out, found->second.peek(100));
    }
    if (const auto found = pending_.find(name); found != pending_.end()) {
      write_payloads(out, found->second.peek(100));
    }
    if (const auto found = claim_.find(name); found != claim_.end()) write(out, found->second);
    if (const auto found = tables_.find(name); found != tables_.end()) write(out, found->second);
  }
  for (const tableq::queue* const each : limits_) write(out, *each);
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

}  // namespace tableq_test
