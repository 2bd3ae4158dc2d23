#include "fault/stage.hpp"

namespace tableq_test {
namespace {

std::string yes(bool is) {
  return is ? "yes" : "no";
}

void open_mail(actor& by) {
  by.fifo("mail");
}

void drop_new(actor& by) {
  by.look_at_schema();
  open_mail(by);
  by.db().drop("new");
  by.db().drop("new_letters");
}

void add_schema(std::vector<scenario>& to) {
  to.push_back(
      playing("create a queue", drop_new, [](actor& by) { return by.db().fifo("new").name(); }));
  to.push_back(playing("create a queue with dead letters", drop_new, [](actor& by) {
    return by.db().claim("new", {.dead_letters = "new_letters"}).name();
  }));
  to.push_back(
      playing("open a queue", open_mail, [](actor& by) { return by.db().fifo("mail").name(); }));
  to.push_back(playing(
      "drop a queue",
      [](actor& by) {
        by.look_at_schema();
        by.db().lifo("dropped").enqueue("gone");
      },
      [](actor& by) -> std::string {
        by.db().drop("dropped");
        return "dropped";
      }));
  to.push_back(playing("look at the catalogue", open_mail, [](actor& by) {
    static_cast<void>(by.db().inspect());
    return yes(by.db().find("mail").has_value()) + std::to_string(by.db().queues().empty() ? 0 : 1);
  }));
}

/// Pauses, or resumes a paused queue.
scenario pausing(const std::string& name, void (tableq::queue::*before)(),
                 void (tableq::queue::*change)()) {
  return playing(
      name,
      [=](actor& by) {
        by.look_at_limits(by.fifo("held"));
        (by.fifo("held").*before)();
      },
      [=](actor& by) {
        (by.fifo("held").*change)();
        return yes(by.fifo("held").paused());
      });
}

void add_limits(std::vector<scenario>& to) {
  to.push_back(pausing("pause", &tableq::queue::resume, &tableq::queue::pause));
  to.push_back(pausing("resume", &tableq::queue::pause, &tableq::queue::resume));
  to.push_back(playing(
      "set limits",
      [](actor& by) {
        by.look_at_limits(by.claim("bounded"));
        by.claim("bounded").set_limits({});
      },
      [](actor& by) {
        const tableq::queue_limits wanted{.capacity = 9, .rate = 2.0, .concurrency = 3};
        by.claim("bounded").set_limits(wanted);
        return yes(by.claim("bounded").limits() == wanted);
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
