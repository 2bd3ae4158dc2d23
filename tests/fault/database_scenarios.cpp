#include "fault/stage.hpp"

namespace tableq_test {
namespace {

void open_mail(actor& player) {
  player.fifo("mail");
}

void drop_new(actor& player) {
  player.look_at_schema();
  open_mail(player);
  player.db().drop("new");
  player.db().drop("new_letters");
}

/// Pauses, or resumes a paused queue.
scenario pausing(const std::string& name, void (tableq::queue::*before)(),
                 void (tableq::queue::*change)()) {
  return playing(
      name,
      [=](actor& player) {
        player.look_at_limits(player.fifo("held"));
        (player.fifo("held").*before)();
      },
      [=](actor& player) {
        (player.fifo("held").*change)();
        return player.fifo("held").paused();
      });
}

}  // namespace

std::vector<scenario> database_scenarios() {
  return {
      playing("create a queue", drop_new,
              [](actor& player) { return player.db().fifo("new").name(); }),
      playing("create a queue with a dead-letter queue", drop_new,
              [](actor& player) {
                return player.db().claim("new", {.dead_letters = "new_letters"}).name();
              }),
      playing("open a queue", open_mail,
              [](actor& player) { return player.db().fifo("mail").name(); }),
      playing(
          "alter a queue",
          [](actor& player) {
            static_cast<void>(player.db().claim("altered"));
            player.db().alter("altered", {.lease = std::chrono::seconds(30)});
          },
          [](actor& player) {
            player.db().alter("altered", {.lease = std::chrono::minutes(1)});
            return player.db().find("altered").value().lease.count();
          }),
      playing(
          "drop a queue",
          [](actor& player) {
            player.look_at_schema();
            player.db().lifo("dropped").enqueue("gone");
          },
          [](actor& player) { player.db().drop("dropped"); }),
      playing("look at the catalogue", open_mail,
              [](actor& player) {
                static_cast<void>(player.db().inspect());
                return told(player.db().find("mail").has_value()) +
                       told(player.db().queues().empty());
              }),
      pausing("pause", &tableq::queue::resume, &tableq::queue::pause),
      pausing("resume", &tableq::queue::pause, &tableq::queue::resume),
      playing(
          "set limits",
          [](actor& player) {
            player.look_at_limits(player.claim("bounded"));
            player.claim("bounded").set_limits({});
          },
          [](actor& player) {
            const tableq::queue_limits wanted{.capacity = 9, .rate = 2.0, .concurrency = 3};
            player.claim("bounded").set_limits(wanted);
            return player.claim("bounded").limits() == wanted;
          }),
  };
}

}  // namespace tableq_test
