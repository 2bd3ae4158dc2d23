#include "fault/stage.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;
using tableq::kind;

template <class Messages>
std::string joined(const Messages& messages) {
  std::string out;
  for (const auto& each : messages) out.append(each.payload).append(" ");
  return out;
}

void add_for(kind of, std::vector<scenario>& to) {
  const std::string name = "mail_" + std::string(tableq::to_string(of));
  const auto three = [=](actor& by, notes& /*left*/) { by.plain(of, name).put_all(numbered(3)); };
  to.push_back({.name = "enqueue into " + name,
                .prepare = three,
                .act = [=](actor& by, notes& /*left*/) -> std::string {
                  by.plain(of, name).put("new");
                  return "stored";
                }});
  to.push_back({.name = "dequeue from " + name,
                .prepare =
                    [=](actor& by, notes& left) {
                      // Of a heap any message may come.
                      if (of != kind::heap) return three(by, left);
                      by.plain(of, name).put("p0");
                    },
                .act =
                    [=](actor& by, notes& /*left*/) {
                      const auto got = by.plain(of, name).take();
                      return got ? got->payload : std::string("nothing");
                    }});
}

void add_batches(std::vector<scenario>& to) {
  const auto some = [](actor& by, notes& /*left*/) {
    for (const auto& each : numbered(3)) by.fifo("mail").enqueue(each);
  };
  to.push_back({.name = "enqueue a batch", .prepare = some, .act = [](actor& by, notes& /*left*/) {
                  const std::vector<tableq::new_message> batch{{.payload = "x"}, {.payload = "y"}};
                  return std::to_string(by.fifo("mail").enqueue_batch(batch).size());
                }});
  to.push_back({.name = "enqueue a batch of pending messages",
                .prepare = [](actor& by, notes& /*left*/) { by.pending("later").enqueue("p0"); },
                .act =
                    [](actor& by, notes& /*left*/) {
                      const std::vector<tableq::new_pending_message> batch{
                          {.payload = "x"}, {.payload = "y", .options = {.delay = 1s}}};
                      return std::to_string(by.pending("later").enqueue_batch(batch).size());
                    }});
  to.push_back({.name = "enqueue a batch of several statements",
                .prepare = [](actor& by, notes& /*left*/) { by.fifo("many").enqueue("p0"); },
                .act =
                    [](actor& by, notes& /*left*/) {
                      const std::string payload = "x";
                      const std::vector<tableq::new_message> batch(1001, {.payload = payload});
                      return std::to_string(by.fifo("many").enqueue_batch(batch).size());
                    }});
  to.push_back({.name = "enqueue without waiting",
                .prepare = some,
                .act = [](actor& by, notes& /*left*/) -> std::string {
                  by.fifo("mail").enqueue_async("x").get();
                  return "stored";
                }});
  to.push_back({.name = "dequeue a batch", .prepare = some, .act = [](actor& by, notes& /*left*/) {
                  return joined(by.fifo("mail").dequeue_batch({.max = 2}));
                }});
  to.push_back({.name = "purge", .prepare = some, .act = [](actor& by, notes& /*left*/) {
                  return std::to_string(by.fifo("mail").purge());
                }});
}

void add_strict(std::vector<scenario>& to) {
  constexpr tableq::order_options strict{.ordering = tableq::ordering::strict};
  const auto two = [=](actor& by, notes& /*left*/) {
    by.fifo("strict", strict).enqueue("p0");
    by.fifo("strict").enqueue("p1");
  };
  to.push_back({.name = "enqueue in strict order",
                .prepare = two,
                .act = [=](actor& by, notes& /*left*/) -> std::string {
                  by.fifo("strict", strict).enqueue("x");
                  return "stored";
                }});
  to.push_back(
      {.name = "dequeue in strict order", .prepare = two, .act = [=](actor& by, notes& /*left*/) {
         return by.fifo("strict", strict).dequeue().value().payload;
       }});
}

void add_limited(std::vector<scenario>& to) {
  const auto limited = [](actor& by, notes& /*left*/) {
    by.fifo("limited").enqueue("p0");
    by.fifo("limited").enqueue("p1");
    by.fifo("limited").set_limits({.capacity = 10, .rate = 1000.0});
  };
  to.push_back({.name = "enqueue into a bounded queue",
                .prepare = limited,
                .act = [](actor& by, notes& /*left*/) -> std::string {
                  by.fifo("limited").enqueue("x");
                  return "stored";
                }});
  to.push_back(
      {.name = "dequeue at a rate", .prepare = limited, .act = [](actor& by, notes& /*left*/) {
         return by.fifo("limited").dequeue().value().payload;
       }});
}

}  // namespace

std::vector<scenario> destructive_scenarios() {
  std::vector<scenario> out;
  for (const kind of : {kind::heap, kind::fifo, kind::lifo, kind::pending}) add_for(of, out);
  add_batches(out);
  add_strict(out);
  add_limited(out);
  return out;
}

}  // namespace tableq_test
