#include "fault/stage.hpp"

namespace tableq_test {
namespace {

std::string yes(bool is) {
  return is ? "yes" : "no";
}

void open_mail(actor& player) {
  player.fifo("mail");
}

void drop_new(actor& player) {
  player.look_at_schema();
  open_mail(player);
  player.db().drop("new");
  player.db().drop("new_letters");
}

void add_schema(std::vector<scenario>& scenarios) {
  scenarios.push_back(playing("create a queue", drop_new,
                              [](actor& player) { return player.db().fifo("new").name(); }));
  scenarios.push_back(playing("create a queue with dead letters", drop_new, [](actor& player) {
    return player.db().claim("new", {.dead_letters = "new_letters"}).name();
  }));
  scenarios.push_back(playing("open a queue", open_mail,
                              [](actor& player) { return player.db().fifo("mail").name(); }));
  scenarios.push_back(playing(
      "alter a queue",
      [](actor& player) {
        static_cast<void>(player.db().claim("altered"));
        player.db().alter("altered", {.lease = std::chrono::seconds(30)});
      },
      [](actor& player) {
        player.db().alter("altered", {.lease = std::chrono::minutes(1)});
        return std::to_string(player.db().find("altered").value().lease.count());
      }));
  scenarios.push_back(playing(
      "drop a queue",
      [](actor& player) {
        player.look_at_schema();
        player.db().lifo("dropped").enqueue("gone");
      },
      [](actor& player) -> std::string {
        player.db().drop("dropped");
        return "dropped";
      }));
  scenarios.push_back(playing("look at the catalogue", open_mail, [](actor& player) {
    static_cast<void>(player.db().inspect());
    return yes(player.db().find("mail").has_value()) +
           std::to_string(player.db().queues().empty() ? 0 : 1);
  }));
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
        return yes(player.fifo("held").paused());
      });
}

void add_limits(std::vector<scenario>& scenarios) {
  scenarios.push_back(pausing("pause", &tableq::queue::resume, &tableq::queue::pause));
  scenarios.push_back(pausing("resume", &tableq::queue::pause, &tableq::queue::resume));
  scenarios.push_back(playing(
      "set limits",
      [](actor& player) {
        player.look_at_limits(player.claim("bounded"));
        player.claim("bounded").set_limits({});
      },
      [](actor& player) {
        const tableq::queue_limits wanted{.capacity = 9, .rate = 2.0, .concurrency = 3};
        player.claim("bounded").set_limits(wanted);
        return yes(player.claim("bounded").limits() == wanted);
      }));
}

}  // namespace

std::vector<scenario> database_scenarios() {
  std::vector<scenario> out;
  add_schema(out);
  add_limits(out);
  return out;
}

}  // namespace tableq_test
