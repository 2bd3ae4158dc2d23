#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "fault/stage.hpp"

namespace tableq_test {
namespace {

void fill(actor& by, notes& /*left*/) {
  by.fifo("mail").enqueue("p0");
  by.fifo("mail").enqueue("p1");
  by.claim("jobs").enqueue("j0");
}

/// Inside a transaction there would be no session left to open them.
void open_both(actor& by) {
  by.fifo("mail");
  by.claim("jobs");
}

/// From one queue to the other, and a job done.
std::string move(actor& by, tableq::transaction& tx) {
  const auto got = by.fifo("mail").dequeue(tx);
  by.claim("jobs").enqueue(tx, got.value().payload, {.key = "moved"});
  const auto taken = by.claim("jobs").take(tx);
  const auto done = by.claim("jobs").complete(tx, taken.at(0).receipt);
  return got->payload + (done == tableq::settled::done ? " done" : " lost");
}

}  // namespace

std::vector<scenario> transaction_scenarios() {
  std::vector<scenario> out;
  out.push_back({.name = "transact", .prepare = fill, .act = [](actor& by, notes& /*left*/) {
                   open_both(by);
                   return by.db().transact([&](tableq::transaction& tx) { return move(by, tx); });
                 }});
  out.push_back({.name = "begin and commit",
                 .prepare = fill,
                 .act =
                     [](actor& by, notes& /*left*/) {
                       open_both(by);
                       tableq::transaction tx = by.db().begin();
                       std::string done = move(by, tx);
                       tx.commit();
                       return done;
                     },
                 .by_hand = true});
  out.push_back({.name = "begin and roll back",
                 .prepare = fill,
                 .act =
                     [](actor& by, notes& /*left*/) {
                       open_both(by);
                       tableq::transaction tx = by.db().begin();
                       std::string undone = move(by, tx);
                       tx.rollback();
                       return undone;
                     },
                 .by_hand = true});
  out.push_back({.name = "enlist a transaction of the caller's",
                 .prepare = fill,
                 .act =
                     [](actor& by, notes& left) {
                       open_both(by);
                       const auto session = left.here->session();
                       soci::transaction mine(*session);
                       std::string done;
                       {
                         tableq::enlistment joined = tableq::enlist(by.db(), *session);
                         done = move(by, joined);
                       }
                       mine.commit();
                       return done;
                     },
                 .by_hand = true,
                 .shared = true});
  out.push_back({.name = "enlist a session without a transaction",
                 .prepare = fill,
                 .act = [](actor& by, notes& left) -> std::string {
                   open_both(by);
                   const auto session = left.here->session();
                   tableq::enlistment alone = tableq::enlist(by.db(), *session);
                   by.fifo("mail").enqueue(alone, "x");
                   return "stored";
                 },
                 .by_hand = true,
                 .shared = true});
  return out;
}

}  // namespace tableq_test
