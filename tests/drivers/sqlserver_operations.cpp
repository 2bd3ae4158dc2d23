#include "drivers/sqlserver_operations.hpp"

#include <array>
#include <chrono>

#include "core/database/access.hpp"
#include "core/database/database_state.hpp"
#include "core/input/identifier.hpp"
#include "drivers/sqlserver_script.hpp"

namespace tableq_test {

using namespace std::chrono_literals;
using tableq::core::statement;

std::vector<sqlserver_operation> sqlserver_operations(tableq::database& db) {
  const auto receipt = [](const char* queue) {
    return tableq::receipt{.id = {3}, .fence = 5, .queue = sqlserver_script::queue(queue).identity};
  };
  auto heap = db.heap("heap");
  auto fifo = db.fifo("fifo");
  auto lifo = db.lifo("lifo");
  auto strict_fifo = db.fifo("strict_fifo");
  auto strict_lifo = db.lifo("strict_lifo");
  auto pending = db.pending("pending");
  auto claim = db.claim("claim");
  auto kept = db.claim("kept");
  const auto mine = receipt("claim");
  const auto kept_mine = receipt("kept");
  const auto waits = [db](statement which, const char* queue) {
    return [db, which, queue] {
      tableq::core::access::state_of(db).on_session([&](tableq::core::connection& session) {
        const tableq::core::value now;
        return session.execute(tableq::core::contract_of(which), tableq::core::names_for({}, queue),
                               {&now, 1}, {});
      });
    };
  };
  using tableq::core::value;
  const auto runs = [db](statement which, const std::vector<value>& shared,
                         const std::vector<value>& items) {
    return [db, which, shared, items] {
      tableq::core::access::state_of(db).on_session([&](tableq::core::connection& session) {
        return session.execute(tableq::core::contract_of(which),
                               tableq::core::names_for({}, "claim"), shared, items);
      });
    };
  };
  const value null;
  const value three(std::int64_t{3});
  const value name(std::string_view("k"));
  const auto counts = [db](statement which, const char* queue) {
    return [db, which, queue] {
      tableq::core::access::state_of(db).on_session([&](tableq::core::connection& session) {
        const std::array shared{tableq::core::value(std::int64_t{5}), tableq::core::value()};
        return session.execute(tableq::core::contract_of(which), tableq::core::names_for({}, queue),
                               shared, {});
      });
    };
  };
  return {
      {"heap.enqueue", [=]() mutable { heap.enqueue("p"); }},
      {"heap.dequeue", [=]() mutable { (void)heap.dequeue(); }},
      {"heap.dequeue", [=]() mutable { (void)heap.dequeue_batch(50); }},
      {"heap.peek", [=] { (void)heap.peek(2); }},
      {"heap.purge", [=]() mutable { heap.purge(); }},
      {"heap.stats", [=] { (void)heap.stats(); }},
      {"fifo.enqueue", [=]() mutable { fifo.enqueue("p"); }},
      {"fifo.dequeue", [=]() mutable { (void)fifo.dequeue(); }},
      {"fifo.dequeue_strict", [=]() mutable { (void)strict_fifo.dequeue(); }, true},
      {"fifo.enqueue", [=]() mutable { strict_fifo.enqueue("p"); }, true},
      {"fifo.peek", [=] { (void)fifo.peek(2); }},
      {"fifo.purge", [=]() mutable { fifo.purge(); }},
      {"fifo.stats", [=] { (void)fifo.stats(); }},
      {"lifo.enqueue", [=]() mutable { lifo.enqueue("p"); }},
      {"lifo.dequeue", [=]() mutable { (void)lifo.dequeue(); }},
      {"lifo.dequeue_strict", [=]() mutable { (void)strict_lifo.dequeue(); }, true},
      {"lifo.peek", [=] { (void)lifo.peek(2); }},
      {"lifo.purge", [=]() mutable { lifo.purge(); }},
      {"lifo.stats", [=] { (void)lifo.stats(); }},
      {"pending.enqueue", [=]() mutable { pending.enqueue("p", {.delay = 1s}); }},
      {"pending.dequeue", [=]() mutable { (void)pending.dequeue(); }},
      {"pending.peek", [=] { (void)pending.peek(2); }},
      {"pending.purge", [=]() mutable { pending.purge(); }},
      {"pending.stats", [=] { (void)pending.stats(); }},
      {"pending.next_due", waits(statement::pending_next_due, "pending")},
      {"claim.enqueue", [=]() mutable { claim.enqueue("p", {.key = "k"}); }},
      {"claim.complete", [=]() mutable { (void)claim.complete(mine); }},
      {"claim.keep", [=]() mutable { (void)kept.complete(kept_mine); }},
      {"claim.fail", [=]() mutable { (void)claim.fail(mine, "why"); }},
      {"claim.release", [=]() mutable { (void)claim.release(mine); }},
      {"claim.extend", [=]() mutable { (void)claim.extend(mine, 1s); }},
      {"claim.heartbeat", runs(statement::claim_heartbeat, {three, null}, {three, three})},
      {"claim.lost", runs(statement::claim_lost, {}, {three, three})},
      {"claim.unseen", runs(statement::claim_unseen, {}, {three})},
      {"claim.peek", [=] { (void)claim.peek(2); }},
      {"claim.list", [=] { (void)claim.list(tableq::message_state::dead); }},
      {"claim.list_ready", [=] { (void)claim.list(tableq::message_state::ready); }},
      {"claim.list_held", [=] { (void)claim.list(tableq::message_state::held); }},
      {"claim.list_waiting", [=] { (void)claim.list(tableq::message_state::delayed); }},
      {"claim.get", [=] { (void)claim.get(tableq::message_id{3}); }},
      {"claim.find", [=] { (void)claim.find("k"); }},
      {"claim.cancel", [=]() mutable { claim.cancel(tableq::message_id{3}); }},
      {"claim.set_priority", [=]() mutable { claim.set_priority(tableq::message_id{3}, 1); }},
      {"claim.redrive", [=]() mutable { claim.redrive(std::array{tableq::message_id{3}}); }},
      {"claim.redrive_all", [=]() mutable { claim.redrive_all(); }},
      {"claim.purge", [=]() mutable { claim.purge(tableq::message_state::done); }},
      {"claim.stats", [=] { (void)claim.stats(); }},
      {"claim.letters", runs(statement::claim_letters, {three, name}, {})},
      {"claim.next_due", waits(statement::claim_next_due, "claim")},
      {"claim.replace", runs(statement::claim_replace, {three, null},
                             {name, name, three, three, null, null, null, null, null})},
      {"claim.forget", runs(statement::claim_forget, {null}, {name})},
      {"claim.free", runs(statement::claim_free, {null}, {name})},
      {"claim.adopt",
       runs(statement::claim_adopt, {}, {name, three, three, null, null, null, null})},
      {"claim.advance", runs(statement::claim_advance, {three, three}, {name})},
      {"queue.count", counts(statement::queue_count, "fifo")},
      {"claim.count", counts(statement::claim_count, "claim")},
      {"claim.leased", counts(statement::claim_leased, "claim")},
  };
}

}  // namespace tableq_test
