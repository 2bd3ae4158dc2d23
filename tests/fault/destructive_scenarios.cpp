#include "fault/stage.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;
using tableq::fifo_queue;
using tableq::kind;

std::size_t purge(tableq::database& db, kind type, const std::string& name) {
  switch (type) {
    case kind::heap:
      return db.heap(name).purge();
    case kind::fifo:
      return db.fifo(name).purge();
    case kind::lifo:
      return db.lifo(name).purge();
    default:
      return db.pending(name).purge();
  }
}

void add_for(kind type, std::vector<scenario>& scenarios) {
  const std::string name = "mail_" + std::string(tableq::to_string(type));
  const auto filled = [=](std::size_t count) {
    return [=](actor& player) { player.plain(type, name).put_all(numbered(count)); };
  };
  scenarios.push_back(playing("enqueue into " + name, filled(3),
                              [=](actor& player) { player.plain(type, name).put("new"); }));
  // A heap may return any message.
  scenarios.push_back(playing("dequeue from " + name, filled(type == kind::heap ? 1 : 3),
                              [=](actor& player) { return player.plain(type, name).take(); }));
  scenarios.push_back(playing("purge " + name, filled(3),
                              [=](actor& player) { return purge(player.db(), type, name); }));
}

/// In a queue of three messages.
template <class Act>
scenario in_mail(const std::string& name, Act what) {
  return playing(
      name,
      [](actor& player) {
        for (const auto& each : numbered(3)) player.fifo("mail").enqueue(each);
      },
      [=](actor& player) { return what(player.fifo("mail")); });
}

/// Adds to a queue of two messages, and reads from it.
void add_both(const std::string& queue, const std::string& enqueue, const std::string& dequeue,
              const tableq::queue_limits& limits, const tableq::order_options& options,
              std::vector<scenario>& scenarios) {
  const auto two = [=](actor& player) {
    player.fifo(queue, options).enqueue("p0");
    player.fifo(queue).enqueue("p1");
    if (limits != tableq::queue_limits()) player.fifo(queue).set_limits(limits);
  };
  scenarios.push_back(
      playing(enqueue, two, [=](actor& player) { player.fifo(queue, options).enqueue("x"); }));
  scenarios.push_back(
      playing(dequeue, two, [=](actor& player) { return player.fifo(queue, options).dequeue(); }));
}

}  // namespace

std::vector<scenario> destructive_scenarios() {
  std::vector<scenario> out{
      in_mail("enqueue a batch",
              [](fifo_queue& mail) {
                return mail.enqueue_batch({{.payload = "x"}, {.payload = "y"}}).size();
              }),
      playing(
          "enqueue a batch of pending messages",
          [](actor& player) { player.pending("later").enqueue("p0"); },
          [](actor& player) {
            return player.pending("later")
                .enqueue_batch({{.payload = "x"}, {.payload = "y", .options = {.delay = 1s}}})
                .size();
          }),
      in_mail("enqueue a batch of several statements",
              [](fifo_queue& mail) {
                const std::vector<tableq::new_message> batch(1001, {.payload = "x"});
                return mail.enqueue_batch(batch).size();
              }),
      in_mail("enqueue without waiting", [](fifo_queue& mail) { mail.enqueue_async("x").get(); }),
      in_mail("dequeue a batch", [](fifo_queue& mail) { return mail.dequeue_batch(2); }),
      in_mail("purge", [](fifo_queue& mail) { return mail.purge(); }),
      playing(
          "dequeue from a strict lifo",
          [](actor& player) {
            static_cast<void>(player.db().lifo("stack", {.ordering = tableq::ordering::strict}));
            player.plain(kind::lifo, "stack").put_all(numbered(3));
          },
          [](actor& player) { return player.plain(kind::lifo, "stack").take(); })};
  for (const kind type : {kind::heap, kind::fifo, kind::lifo, kind::pending}) add_for(type, out);
  add_both("strict", "enqueue in strict order", "dequeue in strict order", {},
           {.ordering = tableq::ordering::strict}, out);
  add_both("limited", "enqueue into a bounded queue", "dequeue at a rate",
           {.capacity = 10, .rate = 1000.0}, {}, out);
  return out;
}

}  // namespace tableq_test
