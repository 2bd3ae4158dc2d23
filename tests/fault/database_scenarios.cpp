#include "fault/stage.hpp"

namespace tableq_test {
namespace {

std::string yes(bool is) {
  return is ? "yes" : "no";
}

void drop_new(actor& by, notes& /*left*/) {
  by.look_at_schema();
  by.fifo("mail");
  by.db().drop("new");
  by.db().drop("new_letters");
}

void add_schema(std::vector<scenario>& to) {
  to.push_back({.name = "create a queue",
                .prepare = drop_new,
                .act = [](actor& by, notes& /*left*/) { return by.db().fifo("new").name(); }});
  to.push_back({.name = "create a queue with dead letters",
                .prepare = drop_new,
                .act = [](actor& by, notes& /*left*/) {
                  return by.db().claim("new", {.dead_letters = "new_letters"}).name();
                }});
  to.push_back({.name = "open a queue",
                .prepare = [](actor& by, notes& /*left*/) { by.fifo("mail"); },
                .act = [](actor& by, notes& /*left*/) { return by.db().fifo("mail").name(); }});
  to.push_back({.name = "drop a queue",
                .prepare =
                    [](actor& by, notes& /*left*/) {
                      by.look_at_schema();
                      by.db().lifo("dropped").enqueue("gone");
                    },
                .act =
                    [](actor& by, notes& /*left*/) {
                      by.db().drop("dropped");
                      return std::string("dropped");
                    }});
  to.push_back({.name = "look at the catalogue",
                .prepare = [](actor& by, notes& /*left*/) { by.fifo("mail"); },
                .act =
                    [](actor& by, notes& /*left*/) {
                      static_cast<void>(by.db().inspect());
                      return yes(by.db().find("mail").has_value()) +
                             std::to_string(by.db().queues().empty() ? 0 : 1);
                    }});
}

void add_limits(std::vector<scenario>& to) {
  to.push_back({.name = "pause",
                .prepare =
                    [](actor& by, notes& /*left*/) {
                      by.look_at_limits(by.fifo("held"));
                      by.fifo("held").resume();
                    },
                .act =
                    [](actor& by, notes& /*left*/) {
                      by.fifo("held").pause();
                      return yes(by.fifo("held").paused());
                    }});
  to.push_back({.name = "resume",
                .prepare =
                    [](actor& by, notes& /*left*/) {
                      by.look_at_limits(by.fifo("held"));
                      by.fifo("held").pause();
                    },
                .act =
                    [](actor& by, notes& /*left*/) {
                      by.fifo("held").resume();
                      return yes(by.fifo("held").paused());
                    }});
  to.push_back({.name = "set limits",
                .prepare =
                    [](actor& by, notes& /*left*/) {
                      by.look_at_limits(by.claim("bounded"));
                      by.claim("bounded").set_limits({});
                    },
                .act =
                    [](actor& by, notes& /*left*/) {
                      const tableq::queue_limits wanted{
                          .capacity = 9, .rate = 2.0, .concurrency = 3};
                      by.claim("bounded").set_limits(wanted);
                      return yes(by.claim("bounded").limits() == wanted);
                    }});
}

}  // namespace

std::vector<scenario> database_scenarios() {
  std::vector<scenario> out;
  add_schema(out);
  add_limits(out);
  return out;
}

}  // namespace tableq_test
