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
  scenarios.push_back(playing("enqueue into " + name, filled(3), [=](actor& player) -> std::string {
    player.plain(type, name).put("new");
    return "stored";
  }));
  // A heap may return any message.
  scenarios.push_back(
      playing("dequeue from " + name, filled(type == kind::heap ? 1 : 3), [=](actor& player) {
        const auto got = player.plain(type, name).take();
        return got ? got->payload : std::string("nothing");
      }));
  scenarios.push_back(playing("purge " + name, filled(3), [=](actor& player) {
    return std::to_string(purge(player.db(), type, name));
  }));
}

/// In a queue of three messages.
scenario in_mail(const std::string& name,
                 const std::function<std::string(tableq::fifo_queue& mail)>& what) {
  return playing(
      name,
      [](actor& player) {
        for (const auto& each : numbered(3)) player.fifo("mail").enqueue(each);
      },
      [=](actor& player) { return what(player.fifo("mail")); });
}

void add_batches(std::vector<scenario>& scenarios) {
  scenarios.push_back(in_mail("enqueue a batch", [](auto& mail) {
    const std::vector<tableq::new_message> batch{{.payload = "x"}, {.payload = "y"}};
    return std::to_string(mail.enqueue_batch(batch).size());
  }));
  scenarios.push_back(playing(
      "enqueue a batch of pending messages",
      [](actor& player) { player.pending("later").enqueue("p0"); },
      [](actor& player) {
        const std::vector<tableq::new_pending_message> batch{
            {.payload = "x"}, {.payload = "y", .options = {.delay = 1s}}};
        return std::to_string(player.pending("later").enqueue_batch(batch).size());
      }));
  scenarios.push_back(in_mail("enqueue a batch of several statements", [](auto& mail) {
    const std::vector<tableq::new_message> batch(1001, {.payload = "x"});
    return std::to_string(mail.enqueue_batch(batch).size());
  }));
  scenarios.push_back(in_mail("enqueue without waiting", [](auto& mail) {
    mail.enqueue_async("x").get();
    return std::string("stored");
  }));
  scenarios.push_back(
      in_mail("dequeue a batch", [](auto& mail) { return joined(mail.dequeue_batch(2)); }));
  scenarios.push_back(in_mail("purge", [](auto& mail) { return std::to_string(mail.purge()); }));
}

/// Adds to a queue of two messages, and reads from it.
void add_both(const std::string& queue, const std::string& enqueue, const std::string& dequeue,
              const std::function<void(tableq::fifo_queue& mail)>& prepare,
              const tableq::order_options& options, std::vector<scenario>& scenarios) {
  const auto two = [=](actor& player) {
    player.fifo(queue, options).enqueue("p0");
    player.fifo(queue).enqueue("p1");
    prepare(player.fifo(queue));
  };
  scenarios.push_back(playing(enqueue, two, [=](actor& player) -> std::string {
    player.fifo(queue, options).enqueue("x");
    return "stored";
  }));
  scenarios.push_back(playing(dequeue, two, [=](actor& player) {
    return player.fifo(queue, options).dequeue().value().payload;
  }));
}

}  // namespace

std::vector<scenario> destructive_scenarios() {
  std::vector<scenario> out;
  for (const kind type : {kind::heap, kind::fifo, kind::lifo, kind::pending}) add_for(type, out);
  add_batches(out);
  add_both(
      "strict", "enqueue in strict order", "dequeue in strict order", [](auto& /*mail*/) {},
      {.ordering = tableq::ordering::strict}, out);
  out.push_back(playing(
      "dequeue from a strict lifo",
      [](actor& player) {
        static_cast<void>(player.db().lifo("stack", {.ordering = tableq::ordering::strict}));
        player.plain(kind::lifo, "stack").put_all(numbered(3));
      },
      [](actor& player) { return player.plain(kind::lifo, "stack").take().value().payload; }));
  add_both(
      "limited", "enqueue into a bounded queue", "dequeue at a rate",
      [](auto& mail) { mail.set_limits({.capacity = 10, .rate = 1000.0}); }, {}, out);
  return out;
}

}  // namespace tableq_test
