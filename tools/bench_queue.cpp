#include "bench_queue.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <random>
#include <type_traits>
#include <vector>

#include "exit_status.hpp"
#include "output.hpp"

namespace tool {

namespace {

template <class Queue>
constexpr bool claims = std::is_same_v<Queue, tableq::claim_queue>;

template <class Queue>
auto batch_of(const Queue& /*queue*/, std::string_view payload, std::size_t count) {
  if constexpr (claims<Queue>) {
    return std::vector<tableq::new_claim_message>(count, {std::string(payload)});
  } else if constexpr (std::is_same_v<Queue, tableq::pending_queue>) {
    return std::vector<tableq::new_pending_message>(count, {std::string(payload)});
  } else {
    return std::vector<tableq::new_message>(count, {std::string(payload)});
  }
}

std::size_t settle(tableq::claim_queue& queue, const std::vector<tableq::delivery>& taken) {
  if (taken.empty()) return 0;
  if (taken.size() == 1) {
    return queue.complete(taken.front().receipt) == tableq::settle_result::applied ? 1 : 0;
  }
  return queue.complete_batch(taken).size();
}

/// Messages of any state.
std::size_t held(const any_queue& queue) {
  return std::visit(
      [](const auto& opened) -> std::size_t {
        const auto found = opened.stats();
        if constexpr (claims<std::decay_t<decltype(opened)>>) {
          return found.ready + found.delayed + found.leased + found.held + found.done + found.dead;
        } else {
          return found.waiting + found.delayed;
        }
      },
      queue);
}

void remove_all(any_queue& queue) {
  if (auto* const claim = std::get_if<tableq::claim_queue>(&queue)) {
    constexpr std::size_t many = 1000;
    for (auto taken = claim->take(many); !taken.empty(); taken = claim->take(many)) {
      static_cast<void>(claim->complete_batch(taken));
    }
    claim->purge(tableq::message_state::done);
    claim->purge(tableq::message_state::dead);
  } else {
    as_destructive(queue, "").purge();
  }
}

std::string fresh_name(tableq::kind kind) {
  std::random_device random;
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", random());
  return "bench-" + std::to_string(::getpid()) + '-' + text.data() + '-' +
         std::string(tableq::to_string(kind));
}

}  // namespace

bench_queue::bench_queue(tableq::database& db, tableq::kind kind, std::size_t payload_bytes)
    : db_(db),
      created_(true),
      name_(fresh_name(kind)),
      payload_(payload_bytes, 'x'),
      queue_(open_as(db, name_, {.kind = kind})) {}

bench_queue::bench_queue(tableq::database& db, const std::string& name, std::size_t payload_bytes)
    : db_(db),
      created_(false),
      name_(name),
      payload_(payload_bytes, 'x'),
      queue_(open_queue(db, name)) {
  if (std::visit([](const auto& queue) { return queue.paused() || queue.limits().rate; }, queue_)) {
    throw refused_error("queue " + in_quotes(name_) +
                        " is paused or has a rate, so that it could not be emptied at the end; use "
                        "`tableq resume`, or `tableq limit --rate none`");
  }
  if (held(queue_) > 0) {
    throw refused_error("queue " + in_quotes(name_) +
                        " holds messages; name an empty queue, which no other program uses");
  }
}

bench_queue::~bench_queue() {
  try {
    if (created_) {
      db_.drop(name_);
    } else {
      remove_all(queue_);
      if (held(queue_) > 0) {
        complain("queue " + in_quotes(name_) +
                 " still holds messages: it was paused or limited meanwhile, or another program "
                 "uses it");
      }
    }
  } catch (const std::exception& failure) {
    // A destructor must not throw; the remaining queue is reported.
    complain("queue " + in_quotes(name_) + (created_ ? " stays behind: " : " is not empty: ") +
             failure.what());
  }
}

std::string bench_queue::read_name() const {
  return std::holds_alternative<tableq::claim_queue>(queue_) ? "take + complete" : "dequeue";
}

bench::operation bench_queue::adding(std::size_t batch) {
  return std::visit(
      [this, batch](const auto& queue) -> bench::operation {
        if (batch == 1) {
          return [this, own = queue]() mutable {
            own.enqueue(payload_);
            return std::size_t{1};
          };
        }
        return [own = queue, all = batch_of(queue, payload_, batch)]() mutable {
          own.enqueue_batch(all);
          return all.size();
        };
      },
      queue_);
}

bench::operation bench_queue::reading(std::size_t batch) {
  return std::visit(
      [batch](const auto& queue) -> bench::operation {
        using type = std::decay_t<decltype(queue)>;
        return [own = queue, batch]() mutable -> std::size_t {
          if constexpr (claims<type>) {
            return settle(own, own.take(batch));
          } else {
            return batch == 1 ? (own.dequeue() ? 1U : 0U) : own.dequeue_batch(batch).size();
          }
        };
      },
      queue_);
}

bool bench_queue::receive(std::chrono::milliseconds wait) {
  return std::visit(
      [wait](auto& queue) {
        if constexpr (claims<std::decay_t<decltype(queue)>>) {
          return settle(queue, queue.take(1, {.wait = wait})) > 0;
        } else {
          return queue.dequeue({.wait = wait}).has_value();
        }
      },
      queue_);
}

}  // namespace tool
