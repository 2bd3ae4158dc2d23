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

/// Inside a transaction there is no other session to open them.
void open_both(actor& by) {
  by.fifo("mail");
  by.claim("jobs");
}

/// From one queue to the other, and a job done.
std::string move(actor& by, tableq::transaction& tx) {
  const auto got = by.fifo("mail").in(tx).dequeue();
  by.claim("jobs").in(tx).enqueue(got.value().payload, {.key = "moved"});
  const auto taken = by.claim("jobs").in(tx).take(1);
  const auto done = by.claim("jobs").in(tx).complete(taken.at(0).receipt);
  return got->payload + (done == tableq::settle_result::applied ? " done" : " lost");
}

/// A transaction that the caller began.
scenario by_hand(const std::string& name,
                 const std::function<std::string(actor& by, notes& left)>& act) {
  return {.name = name,
          .prepare = fill,
          .act =
              [=](actor& by, notes& left) {
                open_both(by);
                return act(by, left);
              },
          .by_hand = true};
}

/// A transaction on the caller's session.
scenario enlisting(const std::string& name,
                   const std::function<std::string(actor& by, soci::session& callers)>& act) {
  scenario out = by_hand(name, [=](actor& by, notes& left) {
    const auto session = left.here->session();
    return act(by, *session);
  });
  out.shared = true;
  return out;
}

}  // namespace

std::vector<scenario> transaction_scenarios() {
  std::vector<scenario> out;
  out.push_back({.name = "transact", .prepare = fill, .act = [](actor& by, notes& /*left*/) {
                   open_both(by);
                   return by.db().transact([&](tableq::transaction& tx) { return move(by, tx); });
                 }});
  out.push_back(by_hand("begin and commit", [](actor& by, notes& /*left*/) {
    tableq::transaction tx = by.db().begin();
    std::string done = move(by, tx);
    tx.commit();
    return done;
  }));
  out.push_back(by_hand("begin and roll back", [](actor& by, notes& /*left*/) {
    tableq::transaction tx = by.db().begin();
    std::string undone = move(by, tx);
    tx.rollback();
    return undone;
  }));
  out.push_back(
      enlisting("enlist a transaction of the caller's", [](actor& by, soci::session& callers) {
        soci::transaction mine(callers);
        std::string done;
        {
          tableq::enlistment joined = tableq::enlist(by.db(), callers);
          done = move(by, static_cast<tableq::transaction&>(joined));
        }
        mine.commit();
        return done;
      }));
  out.push_back(
      enlisting("enlist a session without a transaction", [](actor& by, soci::session& callers) {
        tableq::enlistment alone = tableq::enlist(by.db(), callers, tableq::autocommit);
        by.fifo("mail").in(alone).enqueue("x");
        return std::string("stored");
      }));
  return out;
}

}  // namespace tableq_test
