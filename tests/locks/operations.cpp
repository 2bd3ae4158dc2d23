#include "locks/operations.hpp"

#include <algorithm>
#include <stdexcept>

namespace tableq_test::locks {
namespace {

/// Receipts of leased messages.
std::vector<values> receipts(const std::vector<std::int64_t>& ids) {
  std::vector<values> out;
  for (const std::int64_t id : ids) out.push_back({{"id", id}, {"fence", 1000}});
  return out;
}
std::vector<values> keys(const std::vector<std::int64_t>& given) {
  std::vector<values> out;
  for (const std::int64_t key : given) out.push_back({{"key", key}});
  return out;
}
call on(const char* statement, const std::vector<values>& items, const values& given = {}) {
  return {.statement = statement, .given = given, .items = items};
}

transaction settling(const char* name, const char* statement, const values& given = {}) {
  return {name, {on(statement, receipts({3}), given)}};
}
transaction replacing(const char* name, std::int64_t key, const values& given = {}) {
  return {name,
          {on("claim.replace", keys({key}), given), on("claim.enqueue", keys({key})),
           on("claim.find_key", keys({key}))}};
}
call locked_group() {
  return {.statement = "queue.lock"};
}
call advance() {
  return {.statement = "claim.advance", .given = {{"group_key", 1}, {"guard", 1}}};
}
call limited_take() {
  return {.statement = "claim.take", .given = {{"limited", 1}, {"max", 2}}};
}
std::vector<call> metered_read() {
  return {{.statement = "limits.lock"},
          {.statement = "claim.leased"},
          limited_take(),
          {.statement = "limits.spend"}};
}
std::vector<call> joined(std::vector<call> one, const std::vector<call>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

std::vector<transaction> writes() {
  return {
      {"enqueue", {on("claim.enqueue", {{}})}},
      {"enqueue a new key", {on("claim.enqueue", keys({20})), on("claim.find_key", keys({20}))}},
      {"enqueue a held key", {on("claim.enqueue", keys({10})), on("claim.find_key", keys({10}))}},
      {"enqueue two keys", {on("claim.enqueue", keys({80, 20}))}},
      {"enqueue two keys turned", {on("claim.enqueue", keys({20, 80}))}},
      replacing("replace a waiting one", 10),
      replacing("replace a leased one", 30),
      replacing("replace a missing one", 20),
      replacing("postpone", 10, {{"postponed_state", 2}, {"postponed_to", now + 50}}),
      {"enqueue with a window", {on("claim.forget", keys({60})), on("claim.enqueue", keys({60}))}},
      {"enqueue with a window, keeping",
       {on("claim.free", keys({60})), on("claim.enqueue", keys({60}))}},
      {"enqueue into a group",
       {locked_group(), on("claim.enqueue", {{{"group_key", 1}, {"state", 5}}}), advance()}},
  };
}

std::vector<transaction> reads() {
  return {
      {"take", {{.statement = "claim.take", .given = {{"guard", 1}}}}},
      {"take what is ready", {{.statement = "claim.take"}}},
      {"promote", {{.statement = "claim.promote"}}},
      {"take with limits", metered_read()},
      {"set limits", {{.statement = "limits.set"}}},
      {"peek", {{.statement = "claim.peek"}}},
      {"find", {{.statement = "claim.find", .given = {{"key", 30}}}}},
      {"find a waiting one", {{.statement = "claim.find", .given = {{"key", 10}}}}},
      {"get", {on("claim.get", receipts({3}))}},
      {"stats", {{.statement = "claim.stats"}}},
      {"count", {{.statement = "claim.count"}}},
      {"list the dead", {{.statement = "claim.list", .given = {{"of_state", 4}}}}},
  };
}

std::vector<transaction> settlements() {
  return {
      settling("complete", "claim.complete"),
      {"complete a batch", {on("claim.complete", receipts({10, 3}))}},
      {"complete a batch turned", {on("claim.complete", receipts({3, 10}))}},
      settling("keep", "claim.keep", {{"kept_key", 0}}),
      settling("keep with a window", "claim.keep", {{"window", now + 50}}),
      settling("fail", "claim.fail", {{"failed_state", 2}, {"failed_due", now + 50}}),
      settling("fail for the last time", "claim.fail",
               {{"failed_state", 4}, {"failed_due", 0}, {"failed_at", now}}),
      settling("release", "claim.release"),
      settling("extend", "claim.extend"),
      settling("heartbeat", "claim.heartbeat"),
      {"complete an expired one", {on("claim.complete", receipts({4}))}},
      {"extend an expired one", {on("claim.extend", receipts({4}))}},
      {"complete in a group",
       {on("claim.group_of", receipts({9})), locked_group(), on("claim.complete", receipts({9})),
        advance()}},
      {"complete and enqueue",
       {on("claim.complete", receipts({3})), on("claim.enqueue", keys({20}))}},
      {"complete and take with limits",
       joined({on("claim.complete", receipts({3}))}, metered_read())},
  };
}

std::vector<transaction> changes() {
  return {
      {"cancel", {on("claim.cancel", receipts({1}))}},
      {"cancel a dead one", {on("claim.cancel", receipts({7}))}},
      {"cancel a delayed one", {on("claim.cancel", receipts({5}))}},
      {"cancel in a group",
       {on("claim.group_of", receipts({8})), locked_group(), on("claim.cancel", receipts({8})),
        advance()}},
      {"set a priority", {on("claim.set_priority", receipts({1}), {{"priority", 5}})}},
      {"redrive", {on("claim.redrive", receipts({7}))}},
      {"redrive all", {{.statement = "claim.redrive_all"}}},
      {"move a dead one", {on("claim.remove", receipts({7})), on("claim.adopt", keys({90}))}},
      {"purge the dead", {{.statement = "claim.purge", .given = {{"of_state", 4}}}}},
      {"purge the done", {{.statement = "claim.purge", .given = {{"of_state", 3}}}}},
  };
}

}  // namespace

const std::vector<transaction>& claim_operations() {
  static const std::vector<transaction> all = [] {
    std::vector<transaction> out;
    for (const auto& part : {writes(), reads(), settlements(), changes()}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }();
  return all;
}

const std::vector<transaction>& plain_operations() {
  static const std::vector<transaction> all = {
      {"enqueue", {{.statement = "fifo.enqueue"}}},
      {"dequeue", {{.statement = "fifo.dequeue", .given = {{"max", 2}}}}},
      {"dequeue the last", {{.statement = "lifo.dequeue", .given = {{"max", 2}}}}},
      {"dequeue and enqueue",
       {{.statement = "fifo.dequeue", .given = {{"max", 1}}}, {.statement = "fifo.enqueue"}}},
      {"peek", {{.statement = "fifo.peek"}}},
      {"purge", {{.statement = "fifo.purge"}}},
      {"stats", {{.statement = "fifo.stats"}}},
  };
  return all;
}

const std::vector<transaction>& pending_operations() {
  static const std::vector<transaction> all = {
      {"enqueue", {on("pending.enqueue", {{{"due_at", now + 50}}})}},
      {"enqueue a due one", {on("pending.enqueue", {{{"due_at", 42}}})}},
      {"dequeue", {{.statement = "pending.dequeue", .given = {{"max", 2}}}}},
      {"dequeue and enqueue",
       {{.statement = "pending.dequeue", .given = {{"max", 1}}},
        on("pending.enqueue", {{{"due_at", 41}}})}},
      {"peek", {{.statement = "pending.peek"}}},
      {"purge", {{.statement = "pending.purge"}}},
      {"stats", {{.statement = "pending.stats"}}},
      {"next due", {{.statement = "pending.next_due"}}},
  };
  return all;
}

std::vector<transaction> strict_operations(order of) {
  const bool first = of == order::first_in_first_out;
  // Before each change core takes the queue's lock.
  const call lock{.statement = "queue.lock"};
  const char* dequeue = first ? "fifo.dequeue_strict" : "lifo.dequeue_strict";
  return {{"enqueue", {lock, {.statement = first ? "fifo.enqueue" : "lifo.enqueue"}}},
          {"dequeue", {lock, {.statement = dequeue, .given = {{"max", 1}}}}},
          {"dequeue all", {lock, {.statement = dequeue}}}};
}

const transaction& operation(std::string_view name) {
  const auto& all = claim_operations();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const transaction& each) { return each.name == name; });
  if (found == all.end()) throw std::runtime_error("no operation " + std::string(name));
  return *found;
}

}  // namespace tableq_test::locks
