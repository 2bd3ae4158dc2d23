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

std::size_t purge(tableq::database& db, kind of, const std::string& name) {
  switch (of) {
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

void add_for(kind of, std::vector<scenario>& to) {
  const std::string name = "mail_" + std::string(tableq::to_string(of));
  const auto filled = [=](std::size_t count) {
    return [=](actor& by) { by.plain(of, name).put_all(numbered(count)); };
  };
  to.push_back(playing("enqueue into " + name, filled(3), [=](actor& by) -> std::string {
    by.plain(of, name).put("new");
    return "stored";
  }));
  // A heap may return any message.
  to.push_back(playing("dequeue from " + name, filled(of == kind::heap ? 1 : 3), [=](actor& by) {
    const auto got = by.plain(of, name).take();
    return got ? got->payload : std::string("nothing");
  }));
  to.push_back(playing("purge " + name, filled(3),
                       [=](actor& by) { return std::to_string(purge(by.db(), of, name)); }));
}

/// In a queue of three messages.
scenario in_mail(const std::string& name,
                 const std::function<std::string(tableq::fifo_queue& mail)>& what) {
  return playing(
      name,
      [](actor& by) {
        for (const auto& each : numbered(3)) by.fifo("mail").enqueue(each);
      },
      [=](actor& by) { return what(by.fifo("mail")); });
}

void add_batches(std::vector<scenario>& to) {
  to.push_back(in_mail("enqueue a batch", [](auto& mail) {
    const std::vector<tableq::new_message> batch{{.payload = "x"}, {.payload = "y"}};
    return std::to_string(mail.enqueue_batch(batch).size());
  }));
  to.push_back(playing(
      "enqueue a batch of pending messages", [](actor& by) { by.pending("later").enqueue("p0"); },
      [](actor& by) {
        const std::vector<tableq::new_pending_message> batch{
            {.payload = "x"}, {.payload = "y", .options = {.delay = 1s}}};
        return std::to_string(by.pending("later").enqueue_batch(batch).size());
      }));
  to.push_back(in_mail("enqueue a batch of several statements", [](auto& mail) {
    const std::vector<tableq::new_message> batch(1001, {.payload = "x"});
    return std::to_string(mail.enqueue_batch(batch).size());
  }));
  to.push_back(in_mail("enqueue without waiting", [](auto& mail) {
    mail.enqueue_async("x").get();
    return std::string("stored");
  }));
  to.push_back(
      in_mail("dequeue a batch", [](auto& mail) { return joined(mail.dequeue_batch(2)); }));
  to.push_back(in_mail("purge", [](auto& mail) { return std::to_string(mail.purge()); }));
}

/// Adds to a queue of two messages, and reads from it.
void add_both(const std::string& queue, const std::string& enqueue, const std::string& dequeue,
              const std::function<void(tableq::fifo_queue& mail)>& prepare,
              const tableq::order_options& options, std::vector<scenario>& to) {
  const auto two = [=](actor& by) {
    by.fifo(queue, options).enqueue("p0");
    by.fifo(queue).enqueue("p1");
    prepare(by.fifo(queue));
  };
  to.push_back(playing(enqueue, two, [=](actor& by) -> std::string {
    by.fifo(queue, options).enqueue("x");
    return "stored";
  }));
  to.push_back(playing(
      dequeue, two, [=](actor& by) { return by.fifo(queue, options).dequeue().value().payload; }));
}

}  // namespace

std::vector<scenario> destructive_scenarios() {
  std::vector<scenario> out;
  for (const kind of : {kind::heap, kind::fifo, kind::lifo, kind::pending}) add_for(of, out);
  add_batches(out);
  add_both(
      "strict", "enqueue in strict order", "dequeue in strict order", [](auto& /*mail*/) {},
      {.ordering = tableq::ordering::strict}, out);
  out.push_back(playing(
      "dequeue from a strict lifo",
      [](actor& by) {
        static_cast<void>(by.db().lifo("stack", {.ordering = tableq::ordering::strict}));
        by.plain(kind::lifo, "stack").put_all(numbered(3));
      },
      [](actor& by) { return by.plain(kind::lifo, "stack").take().value().payload; }));
  add_both(
      "limited", "enqueue into a bounded queue", "dequeue at a rate",
      [](auto& mail) { mail.set_limits({.capacity = 10, .rate = 1000.0}); }, {}, out);
  return out;
}

}  // namespace tableq_test
