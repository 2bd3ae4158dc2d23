#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "fault/stage.hpp"

namespace tableq_test {
namespace {

void fill(actor& player, notes& /*left*/) {
  player.fifo("mail").enqueue("p0");
  player.fifo("mail").enqueue("p1");
  player.claim("jobs").enqueue("j0");
}

/// Inside a transaction there is no other session to open them.
void open_both(actor& player) {
  player.fifo("mail");
  player.claim("jobs");
}

/// From one queue to the other, and a job done.
std::string move(actor& player, tableq::transaction& tx) {
  const auto got = player.fifo("mail").in(tx).dequeue();
  player.claim("jobs").in(tx).enqueue(got.value().payload, {.key = "moved"});
  const auto taken = player.claim("jobs").in(tx).take(1);
  const auto done = player.claim("jobs").in(tx).complete(taken.at(0).receipt);
  return got->payload + (done == tableq::settle_result::applied ? " done" : " lost");
}

/// A transaction that the caller began.
scenario by_hand(const std::string& name,
                 const std::function<std::string(actor& player, notes& left)>& act) {
  return {.name = name,
          .prepare = fill,
          .act =
              [=](actor& player, notes& left) {
                open_both(player);
                return act(player, left);
              },
          .by_hand = true};
}

/// A transaction on the caller's session.
scenario enlisting(const std::string& name,
                   const std::function<std::string(actor& player, soci::session& callers)>& act) {
  scenario out = by_hand(name, [=](actor& player, notes& left) {
    const auto session = left.here->session();
    return act(player, *session);
  });
  out.shared = true;
  return out;
}

}  // namespace

std::vector<scenario> transaction_scenarios() {
  std::vector<scenario> out;
  out.push_back({.name = "transact", .prepare = fill, .act = [](actor& player, notes& /*left*/) {
                   open_both(player);
                   return player.db().transact(
                       [&](tableq::transaction& tx) { return move(player, tx); });
                 }});
  out.push_back(by_hand("begin and commit", [](actor& player, notes& /*left*/) {
    tableq::transaction tx = player.db().begin();
    std::string done = move(player, tx);
    tx.commit();
    return done;
  }));
  out.push_back(by_hand("begin and roll back", [](actor& player, notes& /*left*/) {
    tableq::transaction tx = player.db().begin();
    std::string undone = move(player, tx);
    tx.rollback();
    return undone;
  }));
  out.push_back(
      enlisting("enlist a transaction of the caller's", [](actor& player, soci::session& callers) {
        soci::transaction mine(callers);
        std::string done;
        {
          tableq::enlistment joined = tableq::enlist(player.db(), callers);
          done = move(player, static_cast<tableq::transaction&>(joined));
        }
        mine.commit();
        return done;
      }));
  out.push_back(enlisting(
      "enlist a session without a transaction", [](actor& player, soci::session& callers) {
        tableq::enlistment alone = tableq::enlist(player.db(), callers, tableq::autocommit);
        player.fifo("mail").in(alone).enqueue("x");
        return std::string("stored");
      }));
  scenario limited =
      enlisting("take from a limited queue in a transaction of the caller's",
                [](actor& player, soci::session& callers) {
                  player.claim("limited_jobs");
                  soci::transaction mine(callers);
                  std::string taken;
                  {
                    tableq::enlistment joined = tableq::enlist(player.db(), callers);
                    taken = player.claim("limited_jobs").in(joined).take(1).at(0).payload;
                  }
                  mine.commit();
                  return taken;
                });
  limited.prepare = [](actor& player, notes& left) {
    fill(player, left);
    player.claim("limited_jobs").enqueue("j1");
    player.claim("limited_jobs").set_limits({.concurrency = 5});
  };
  out.push_back(limited);
  return out;
}

}  // namespace tableq_test
