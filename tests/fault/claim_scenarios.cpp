#include "fault/stage.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;
using tableq::claim_queue;
using tableq::on_duplicate;

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

/// In a queue of three messages, after a preparation.
template <class Before, class Act>
scenario after(Before before, std::string name, sort which, Act act) {
  return playing(
      std::move(name),
      [=](actor& player, notes& left) {
        claim_queue& jobs = queue_of(player, which);
        for (const auto& each : numbered(3)) {
          tableq::claim_enqueue_options keyed{.key = each};
          if (which == sort::grouped) keyed.group = "g";
          jobs.enqueue(each, keyed);
        }
        result_of(before, jobs, left);
      },
      [=](actor& player, notes& left) { return result_of(act, queue_of(player, which), left); });
}

void nothing(claim_queue& /*jobs*/) {}

/// Two of three messages are leased; of a group, one.
void lease(claim_queue& jobs, notes& left) {
  for (const auto& each : jobs.take(2, {.lease = 1h})) left.receipts.push_back(each.receipt);
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

template <class Act>
scenario on_three(std::string name, sort which, Act act) {
  return after(nothing, std::move(name), which, act);
}
template <class Act>
scenario on_leased(std::string name, sort which, Act act) {
  return after(lease, std::move(name), which, act);
}
template <class Act>
scenario on_dead(std::string name, sort which, Act act) {
  return after(die, std::move(name), which, act);
}
template <class Before>
scenario taking(std::string name, sort which, Before before, std::size_t max = 2) {
  return after(before, std::move(name), which,
               [=](auto& jobs) { return jobs.take(max, {.lease = 1h}); });
}
scenario in_steps(scenario out, bool first_counts = false) {
  out.in_steps = true;
  out.first_counts = first_counts;
  return out;
}

scenario enqueuing_a_held_key(on_duplicate policy) {
  return on_three("enqueue with a held key, as policy " + told(policy) + " says", sort::usual,
                  [=](auto& jobs) {
                    return jobs.enqueue("x", {.delay = 1s, .key = "p1", .on_duplicate = policy});
                  });
}
scenario enqueuing_a_free_key(sort which) {
  return after(
      [](auto& jobs, auto& left) {
        static_cast<void>(jobs.complete(jobs.take_one().value()));
        left.clock->advance(2h);
      },
      "enqueue with a key that is free again", which,
      [](auto& jobs) { return jobs.enqueue("x", {.key = "p0"}); });
}

std::vector<tableq::settle_result> complete(claim_queue& jobs, notes& left) {
  return jobs.complete_batch(left.receipts);
}
tableq::settle_result fail(claim_queue& jobs, notes& left) {
  return jobs.fail(left.receipts.at(0), "broke", {.delay = 1s});
}
auto cancel(claim_queue& jobs, notes& left) {
  return jobs.cancel(left.ids.at(0));
}
std::size_t redrive(claim_queue& jobs) {
  return jobs.redrive_all().count;
}
void enqueue_late(claim_queue& jobs, notes& left) {
  jobs.enqueue("late", {.priority = 1, .time_to_live = 1s});
  left.clock->advance(2s);
}

}  // namespace

std::vector<scenario> claim_scenarios() {
  return {
      on_three("enqueue a job", sort::usual, [](auto& jobs) { jobs.enqueue("x"); }),
      on_three("enqueue with a key", sort::usual,
               [](auto& jobs) { return jobs.enqueue("x", {.key = "new"}); }),
      enqueuing_a_held_key(on_duplicate::keep_first),
      enqueuing_a_held_key(on_duplicate::replace),
      enqueuing_a_held_key(on_duplicate::postpone),
      on_three("enqueue a batch with keys", sort::usual,
               [](auto& jobs) {
                 return jobs.enqueue_batch({{.payload = "x", .options = {.key = "new"}},
                                            {.payload = "y", .options = {.key = "p0"}},
                                            {.payload = "z", .options = {.delay = 1s}}});
               }),
      enqueuing_a_free_key(sort::window),
      enqueuing_a_free_key(sort::keeps_window),
      after([](auto& jobs) { jobs.set_limits({.capacity = 10}); },
            "enqueue a job into a bounded queue", sort::limited,
            [](auto& jobs) { jobs.enqueue("x"); }),
      on_three("enqueue into a group", sort::grouped,
               [](auto& jobs) { return jobs.enqueue("x", {.group = "g"}); }),
      on_three("enqueue a job without waiting", sort::usual,
               [](auto& jobs) { return jobs.enqueue_async("x", {.priority = 1}).get(); }),
      taking("take", sort::usual, nothing),
      taking("take from a group", sort::grouped, nothing),
      after([](auto& jobs) { jobs.enqueue(std::string(1'500'000, 'x'), {.priority = 1}); },
            "take a long job", sort::usual,
            [](auto& jobs) { return jobs.take(1, {.lease = 1h}).at(0).payload.substr(0, 2); }),
      taking("take from a queue with a limit of concurrency", sort::limited,
             [](auto& jobs) { jobs.set_limits({.concurrency = 5}); }),
      taking("take what expired", sort::usual,
             [](auto& jobs, auto& left) {
               static_cast<void>(jobs.take(2, {.lease = 1s}));
               left.clock->advance(2s);
             }),
      taking("take where the last attempt expired", sort::buried,
             [](auto& jobs, auto& left) {
               static_cast<void>(jobs.take(1, {.lease = 1s}));
               left.clock->advance(2s);
             }),
      taking("take what fell due", sort::usual,
             [](auto& jobs, auto& left) {
               jobs.enqueue("due", {.priority = 1, .delay = 1s});
               left.clock->advance(2s);
             }),
      in_steps(taking("take where one came too late", sort::usual, enqueue_late), true),
      in_steps(taking("take where the first came too late", sort::usual, enqueue_late, 1)),
  };
}

std::vector<scenario> settling_scenarios() {
  const tableq::message_filter all{.all = true};
  return {
      on_leased("complete", sort::usual, complete),
      on_leased("complete and keep", sort::keeps, complete),
      on_leased("complete and keep the key", sort::window, complete),
      on_leased("complete with a result", sort::keeps,
                [](auto& jobs, auto& left) { return jobs.complete(left.receipts.at(0), "42"); }),
      on_leased("complete in a group", sort::grouped, complete),
      on_leased("complete one", sort::usual,
                [](auto& jobs, auto& left) { return jobs.complete(left.receipts.at(0)); }),
      on_leased("fail", sort::usual, fail),
      on_leased("fail the last attempt", sort::buried, fail),
      on_leased("fail in a group", sort::grouped, fail),
      on_leased("release", sort::usual,
                [](auto& jobs, auto& left) { return jobs.release_batch(left.receipts); }),
      on_leased("extend", sort::usual,
                [](auto& jobs, auto& left) { return jobs.extend_batch(left.receipts, 2h); }),
      on_leased("extend with progress", sort::usual,
                [](auto& jobs, auto& left) {
                  jobs.progress(left.receipts.at(1), 0.5, "half");
                  return jobs.extend_batch(left.receipts, 2h);
                }),
      on_leased("fail with progress", sort::usual,
                [](auto& jobs, auto& left) {
                  jobs.progress(left.receipts.at(0), 0.5, "half");
                  return fail(jobs, left);
                }),
      on_dead("redrive", sort::usual,
              [](auto& jobs, auto& left) { return jobs.redrive(left.ids); }),
      on_dead("redrive all", sort::usual, redrive),
      on_dead("redrive all from the dead-letter queue", sort::buried, redrive),
      on_dead("purge the dead", sort::usual,
              [](auto& jobs) { return jobs.purge(tableq::message_state::dead, {.batch = 1}); }),
      on_dead("cancel", sort::usual, cancel),
      on_leased("cancel a leased message", sort::usual,
                [](auto& jobs, auto& left) { return jobs.cancel(left.receipts.at(0).id); }),
      after(look, "cancel in a group", sort::grouped, cancel),
      on_dead("cancel by filter", sort::usual,
              [=](auto& jobs) { return jobs.cancel(all, {.batch = 1}).count; }),
      on_dead("purge by filter", sort::usual, [=](auto& jobs) { return jobs.purge(all).count; }),
      on_dead("redrive by filter from the dead-letter queue", sort::buried,
              [=](auto& jobs) { return jobs.redrive(all).count; }),
      after(look, "make ready", sort::usual,
            [](auto& jobs, auto& left) { return jobs.make_ready(left.ids.at(0)); }),
      after(look, "set the priority", sort::usual,
            [](auto& jobs, auto& left) { return jobs.set_priority(left.ids.at(0), 7); }),
  };
}

std::vector<scenario> looking_scenarios() {
  using tableq::kind;
  std::vector<scenario> out{
      on_leased("look at jobs", sort::usual,
                [](auto& jobs, auto& left) {
                  using enum tableq::message_state;
                  const auto stats = jobs.stats();
                  return told(stats.ready) + told(stats.leased) + told(jobs.peek(3)) +
                         told(jobs.groups().size()) + told(jobs.list(ready)) +
                         told(jobs.list(leased)) + told(jobs.list(dead)) +
                         told(jobs.get(left.receipts.at(0).id)) + told(jobs.find("p2"));
                }),
      after(
          [](auto& jobs, auto& left) {
            lease(jobs, left);
            static_cast<void>(jobs.complete(left.receipts.at(1), "42"));
            left.ids.push_back(left.receipts.at(1).id);
          },
          "look at progress and a result", sort::keeps,
          [](auto& jobs, auto& left) {
            const tableq::look_options all{.progress = true, .result = true};
            return told(jobs.get(left.receipts.at(0).id, all)) +
                   told(jobs.get(left.ids.at(0), all)->result) +
                   told(jobs.wait_for(left.ids.at(0), {.wait = 0ms}).result);
          }),
      on_leased("look at what is buried", sort::buried,
                [](auto& jobs, auto& left) {
                  static_cast<void>(jobs.fail(left.receipts.at(0), "no"));
                  const auto stats = jobs.stats();
                  return told(stats.dead) + told(stats.dead_letters);
                }),
      on_three("look at held jobs", sort::grouped,
               [](auto& jobs) { return jobs.list(tableq::message_state::held); }),
  };
  for (const kind of : {kind::heap, kind::fifo, kind::lifo, kind::pending}) {
    const std::string name = "look_" + std::string(tableq::to_string(of));
    out.push_back(playing(
        "look at a queue: " + name, [=](actor& player) { player.plain(of, name).put("p0"); },
        [=](actor& player) {
          return told(player.plain(of, name).waiting()) + player.plain(of, name).peek(1).at(0);
        }));
  }
  return out;
}

}  // namespace tableq_test
