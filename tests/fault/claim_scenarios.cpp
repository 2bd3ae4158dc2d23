#include <functional>

#include "fault/stage.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;
using tableq::claim_queue;
using tableq::on_duplicate;

using receipts = std::vector<tableq::receipt>;

std::string told(const std::vector<tableq::settle_result>& results) {
  std::string out;
  for (const auto each : results) out += each == tableq::settle_result::applied ? "done " : "lost ";
  return out;
}

std::string told(const tableq::enqueued& result) {
  return std::to_string(static_cast<int>(result.result));
}

std::string told(const std::vector<tableq::delivery>& taken) {
  std::string out;
  for (const auto& each : taken) out.append(each.payload).append(" ");
  return out;
}

/// The queues of the scenarios.
enum class sort { usual, keeps, window, keeps_window, limited, grouped, buried };

claim_queue& queue_of(actor& player, sort which) {
  switch (which) {
    case sort::keeps:
      return player.claim("keeps", {.keep_completed = true});
    case sort::window:
      return player.claim("window", {.key_window = 1h});
    case sort::keeps_window:
      return player.claim("keeps_window", {.keep_completed = true, .key_window = 1h});
    case sort::limited:
      return player.claim("limited_jobs");
    case sort::grouped:
      return player.claim("grouped", {.max_attempts = 1, .groups = tableq::group_options{}});
    case sort::buried:
      player.claim("letters");
      return player.claim("buried", {.max_attempts = 1, .dead_letters = "letters"});
    case sort::usual:
      break;
  }
  return player.claim("jobs");
}

tableq::claim_enqueue_options keyed(const std::string& key, bool grouped) {
  tableq::claim_enqueue_options out{.key = key};
  if (grouped) out.group = "g";
  return out;
}

void three(actor& player, sort which) {
  claim_queue& jobs = queue_of(player, which);
  for (const auto& each : numbered(3)) jobs.enqueue(each, keyed(each, which == sort::grouped));
}

using claim_act = std::function<std::string(claim_queue& jobs, notes& left)>;
using preparation = std::function<void(claim_queue& jobs, notes& left)>;

/// In a queue of three messages, after a preparation.
scenario after(const preparation& before, const std::string& name, sort which,
               const claim_act& what) {
  return {.name = name,
          .prepare =
              [=](actor& player, notes& left) {
                three(player, which);
                before(queue_of(player, which), left);
              },
          .act = [=](actor& player, notes& left) { return what(queue_of(player, which), left); }};
}

void nothing(claim_queue& /*jobs*/, notes& /*left*/) {}

/// Two of three messages are leased; of a group, one.
void lease(claim_queue& jobs, notes& left) {
  for (const auto& each : jobs.take(2, {.lease = 1h})) {
    left.receipts.push_back(each.receipt);
  }
}

void die(claim_queue& jobs, notes& left) {
  for (const auto& each : jobs.take(2)) {
    static_cast<void>(jobs.fail(each.receipt, "broke", {.give_up = true}));
    left.ids.push_back(each.receipt.id);
  }
}

/// Notes which message is the last of those that are ready.
void look(claim_queue& jobs, notes& left) {
  left.ids.push_back(jobs.peek(3).back().id);
}

scenario on_three(const std::string& name, sort which, const claim_act& what) {
  return after(nothing, name, which, what);
}
scenario on_leased(const std::string& name, sort which, const claim_act& what) {
  return after(lease, name, which, what);
}
scenario on_dead(const std::string& name, sort which, const claim_act& what) {
  return after(die, name, which, what);
}
scenario taking(const std::string& name, sort which, const preparation& before,
                std::size_t max = 2) {
  return after(before, name, which,
               [=](auto& jobs, auto& /*left*/) { return told(jobs.take(max, {.lease = 1h})); });
}

void add_enqueues(std::vector<scenario>& scenarios) {
  scenarios.push_back(on_three("enqueue a job", sort::usual, [](auto& jobs, auto& /*left*/) {
    jobs.enqueue("x");
    return std::string("stored");
  }));
  scenarios.push_back(on_three("enqueue with a key", sort::usual, [](auto& jobs, auto& /*left*/) {
    return told(jobs.enqueue("x", {.key = "new"}));
  }));
  for (const auto policy :
       {on_duplicate::keep_first, on_duplicate::replace, on_duplicate::postpone}) {
    scenarios.push_back(on_three(
        "enqueue with a held key, as policy " + std::to_string(static_cast<int>(policy)) + " says",
        sort::usual, [=](auto& jobs, auto& /*left*/) {
          return told(jobs.enqueue("x", {.delay = 1s, .key = "p1", .on_duplicate = policy}));
        }));
  }
  scenarios.push_back(
      on_three("enqueue a batch with keys", sort::usual, [](auto& jobs, auto& /*left*/) {
        const std::vector<tableq::new_claim_message> batch{
            {.payload = "x", .options = {.key = "new"}},
            {.payload = "y", .options = {.key = "p0"}},
            {.payload = "z", .options = {.delay = 1s}}};
        std::string out;
        for (const auto& each : jobs.enqueue_batch(batch)) out += told(each);
        return out;
      }));
  for (const sort which : {sort::window, sort::keeps_window}) {
    const auto forget = [](claim_queue& jobs, notes& left) {
      static_cast<void>(jobs.complete(jobs.take_one().value()));
      left.clock->advance(2h);
    };
    scenarios.push_back(
        after(forget, "enqueue with a key that is free again", which,
              [](auto& jobs, auto& /*left*/) { return told(jobs.enqueue("x", {.key = "p0"})); }));
  }
  scenarios.push_back(after([](auto& jobs, auto& /*left*/) { jobs.set_limits({.capacity = 10}); },
                            "enqueue a job into a bounded queue", sort::limited,
                            [](auto& jobs, auto& /*left*/) {
                              jobs.enqueue("x");
                              return std::string("stored");
                            }));
  scenarios.push_back(
      on_three("enqueue into a group", sort::grouped,
               [](auto& jobs, auto& /*left*/) { return told(jobs.enqueue("x", {.group = "g"})); }));
  scenarios.push_back(
      on_three("enqueue a job without waiting", sort::usual, [](auto& jobs, auto& /*left*/) {
        return told(jobs.enqueue_async("x", {.priority = 1}).get());
      }));
}

void add_takes(std::vector<scenario>& scenarios) {
  scenarios.push_back(taking("take", sort::usual, nothing));
  scenarios.push_back(taking("take from a group", sort::grouped, nothing));
  scenarios.push_back(
      after([](auto& jobs,
               auto& /*left*/) { jobs.enqueue(std::string(1'500'000, 'x'), {.priority = 1}); },
            "take a long job", sort::usual,
            [](auto& jobs, auto& /*left*/) {
              std::string out;
              for (const auto& each : jobs.take(1, {.lease = 1h}))
                out += each.payload.substr(0, 2) + " ";
              return out;
            }));
  scenarios.push_back(
      taking("take from a queue with a limit of concurrency", sort::limited,
             [](auto& jobs, auto& /*left*/) { jobs.set_limits({.concurrency = 5}); }));
  scenarios.push_back(taking("take what expired", sort::usual, [](auto& jobs, auto& left) {
    static_cast<void>(jobs.take(2, {.lease = 1s}));
    left.clock->advance(2s);
  }));
  scenarios.push_back(
      taking("take where the last attempt expired", sort::buried, [](auto& jobs, auto& left) {
        static_cast<void>(jobs.take(1, {.lease = 1s}));
        left.clock->advance(2s);
      }));
  scenarios.push_back(taking("take what fell due", sort::usual, [](auto& jobs, auto& left) {
    jobs.enqueue("due", {.priority = 1, .delay = 1s});
    left.clock->advance(2s);
  }));
  const auto late = [](claim_queue& jobs, notes& left) {
    jobs.enqueue("late", {.priority = 1, .time_to_live = 1s});
    left.clock->advance(2s);
  };
  scenarios.push_back(taking("take where one came too late", sort::usual, late));
  scenarios.back().in_steps = true;
  scenarios.back().first_counts = true;
  scenarios.push_back(taking("take where the first came too late", sort::usual, late, 1));
  scenarios.back().in_steps = true;
}

void add_completions(std::vector<scenario>& scenarios) {
  const auto complete = [](claim_queue& jobs, notes& left) {
    return told(jobs.complete_batch(left.receipts));
  };
  scenarios.push_back(on_leased("complete", sort::usual, complete));
  scenarios.push_back(on_leased("complete and keep", sort::keeps, complete));
  scenarios.push_back(on_leased("complete and keep the key", sort::window, complete));
  scenarios.push_back(on_leased("complete with a result", sort::keeps, [](auto& jobs, auto& left) {
    return told(std::vector{jobs.complete(left.receipts.at(0), "42")});
  }));
  scenarios.push_back(on_leased("complete in a group", sort::grouped, complete));
  scenarios.push_back(on_leased("complete one", sort::usual, [](auto& jobs, auto& left) {
    return told(std::vector{jobs.complete(left.receipts.at(0))});
  }));
}

void add_failures(std::vector<scenario>& scenarios) {
  const auto fail = [](claim_queue& jobs, notes& left) {
    return told(std::vector{jobs.fail(left.receipts.at(0), "broke", {.delay = 1s})});
  };
  scenarios.push_back(on_leased("fail", sort::usual, fail));
  scenarios.push_back(on_leased("fail the last attempt", sort::buried, fail));
  scenarios.push_back(on_leased("fail in a group", sort::grouped, fail));
  scenarios.push_back(on_leased("release", sort::usual, [](auto& jobs, auto& left) {
    return told(jobs.release_batch(left.receipts));
  }));
  scenarios.push_back(on_leased("extend", sort::usual, [](auto& jobs, auto& left) {
    return told(jobs.extend_batch(left.receipts, 2h));
  }));
  scenarios.push_back(on_leased("extend with progress", sort::usual, [](auto& jobs, auto& left) {
    jobs.progress(left.receipts.at(1), 0.5, "half");
    return told(jobs.extend_batch(left.receipts, 2h));
  }));
  scenarios.push_back(on_leased("fail with progress", sort::usual, [](auto& jobs, auto& left) {
    jobs.progress(left.receipts.at(0), 0.5, "half");
    return told(std::vector{jobs.fail(left.receipts.at(0), "broke", {.delay = 1s})});
  }));
}

void add_care(std::vector<scenario>& scenarios) {
  scenarios.push_back(on_dead("redrive", sort::usual, [](auto& jobs, auto& left) {
    return std::to_string(jobs.redrive(left.ids));
  }));
  const auto all = [](claim_queue& jobs, notes& /*left*/) {
    return std::to_string(jobs.redrive_all().count);
  };
  scenarios.push_back(on_dead("redrive all", sort::usual, all));
  scenarios.push_back(on_dead("redrive all from the dead letters", sort::buried, all));
  scenarios.push_back(on_dead("purge the dead", sort::usual, [](auto& jobs, auto& /*left*/) {
    return std::to_string(jobs.purge(tableq::message_state::dead, {.batch = 1}));
  }));
  const auto cancel = [](claim_queue& jobs, notes& left) {
    return std::to_string(static_cast<int>(jobs.cancel(left.ids.at(0))));
  };
  scenarios.push_back(on_dead("cancel", sort::usual, cancel));
  scenarios.push_back(on_leased("cancel a leased message", sort::usual, [](auto& jobs, auto& left) {
    return std::to_string(static_cast<int>(jobs.cancel(left.receipts.at(0).id)));
  }));
  scenarios.push_back(after(look, "cancel in a group", sort::grouped, cancel));
  const tableq::message_filter all_of_them{.all = true};
  scenarios.push_back(on_dead("cancel by filter", sort::usual, [=](auto& jobs, auto& /*left*/) {
    return std::to_string(jobs.cancel(all_of_them, {.batch = 1}).count);
  }));
  scenarios.push_back(on_dead("purge by filter", sort::usual, [=](auto& jobs, auto& /*left*/) {
    return std::to_string(jobs.purge(all_of_them).count);
  }));
  scenarios.push_back(on_dead(
      "redrive by filter from the dead letters", sort::buried,
      [=](auto& jobs, auto& /*left*/) { return std::to_string(jobs.redrive(all_of_them).count); }));
  scenarios.push_back(after(look, "make ready", sort::usual, [](auto& jobs, auto& left) {
    return std::to_string(static_cast<int>(jobs.make_ready(left.ids.at(0))));
  }));
  scenarios.push_back(after(look, "set the priority", sort::usual, [](auto& jobs, auto& left) {
    return std::to_string(static_cast<int>(jobs.set_priority(left.ids.at(0), 7)));
  }));
}

}  // namespace

std::vector<scenario> claim_scenarios() {
  std::vector<scenario> out;
  add_enqueues(out);
  add_takes(out);
  return out;
}

std::vector<scenario> settling_scenarios() {
  std::vector<scenario> out;
  add_completions(out);
  add_failures(out);
  add_care(out);
  return out;
}

std::vector<scenario> looking_scenarios() {
  std::vector<scenario> out;
  out.push_back(on_leased("look at jobs", sort::usual, [](auto& jobs, auto& left) {
    const auto stats = jobs.stats();
    std::string text = std::to_string(stats.ready) + std::to_string(stats.leased);
    for (const auto& each : jobs.peek(3)) text += each.payload;
    text += std::to_string(jobs.groups().size());
    using enum tableq::message_state;
    for (const tableq::message_state state : {ready, leased, dead}) {
      for (const auto& each : jobs.list(state)) text += each.payload;
    }
    text += jobs.get(left.receipts.at(0).id).value().payload;
    return text + jobs.find("p2").value().payload;
  }));
  out.push_back(on_leased("look at progress and a result", sort::keeps, [](auto& jobs, auto& left) {
    const tableq::look_options all{.progress = true, .result = true};
    const auto leased = jobs.get(left.receipts.at(0).id, all);
    const auto done = jobs.get(left.ids.at(0), all);
    const auto found = jobs.wait_for(left.ids.at(0), {.wait = 0ms});
    return leased->payload + done->result.value_or("none") + found.result.value_or("none");
  }));
  out.back().prepare = [lease = out.back().prepare](actor& player, notes& left) {
    lease(player, left);
    auto& jobs = queue_of(player, sort::keeps);
    static_cast<void>(jobs.complete(left.receipts.at(1), "42"));
    left.ids.push_back(left.receipts.at(1).id);
  };
  out.push_back(on_leased("look at what is buried", sort::buried, [](auto& jobs, auto& left) {
    static_cast<void>(jobs.fail(left.receipts.at(0), "no"));
    const auto stats = jobs.stats();
    return std::to_string(stats.dead) + std::to_string(stats.dead_letters.value());
  }));
  out.push_back(on_three("look at held jobs", sort::grouped, [](auto& jobs, auto& /*left*/) {
    return jobs.list(tableq::message_state::held).at(0).payload;
  }));
  for (const tableq::kind of :
       {tableq::kind::heap, tableq::kind::fifo, tableq::kind::lifo, tableq::kind::pending}) {
    const std::string name = "look_" + std::string(tableq::to_string(of));
    out.push_back(playing(
        "look at a queue: " + name, [=](actor& player) { player.plain(of, name).put("p0"); },
        [=](actor& player) {
          return std::to_string(player.plain(of, name).waiting()) +
                 player.plain(of, name).peek(1).at(0);
        }));
  }
  return out;
}

}  // namespace tableq_test
