#include "worker.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "child.hpp"
#include "exit_status.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds slice{1000};

std::string message_of(const tableq::delivery& delivery) {
  return "message " + std::to_string(delivery.receipt.id.value) + ", attempt " +
         std::to_string(delivery.attempt);
}

/// The system lacks something that others will give back.
bool short_of_resources(const std::error_code& code) {
  return code.value() == EAGAIN || code.value() == ENOMEM || code.value() == EMFILE ||
         code.value() == ENFILE || code.value() == ETXTBSY;
}

}  // namespace

worker::worker(tableq::claim_queue queue, work_settings settings, status_line& status)
    : queue_(std::move(queue)), settings_(std::move(settings)), status_(status) {}

worker::~worker() {
  stop();
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
}

void worker::start() {
  keeper_.emplace(queue_, settings_.lease, held_, status_);
  alive_ = settings_.concurrency;
  for (std::size_t i = 0; i < settings_.concurrency; ++i) {
    threads_.emplace_back([this] { loop(); });
  }
}

void worker::abandon(int signal) {
  stop();
  abandon_.request_stop();
  held_.signal_all(signal);
}

void worker::join() {
  for (std::thread& one : threads_) one.join();
  threads_.clear();
  keeper_.reset();
  if (failure_) std::rethrow_exception(failure_);
}

void worker::loop() {
  try {
    take_and_process();
  } catch (...) {
    // Of any kind: it is thrown again where the threads are joined.
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    stop();
  }
  if (--alive_ == 0) finished_.set();
}

void worker::take_and_process() {
  backoff pauses(milliseconds{100}, milliseconds{5000});
  bool was_empty = false;
  while (!stop_.stop_requested()) {
    // Before it waits, a worker that shall end looks whether anything is left to wait for.
    const bool wait = !settings_.until_empty || was_empty;
    const auto delivery = take(wait ? slice : milliseconds{0}, pauses);
    was_empty = !delivery;
    if (delivery) {
      process(*delivery, pauses);
    } else if (settings_.until_empty && nothing_left(pauses)) {
      stop();
    }
  }
}

std::optional<tableq::delivery> worker::take(milliseconds wait, backoff& pauses) {
  try {
    auto taken = queue_.take({.wait = wait, .lease = settings_.lease, .stop = stop_.get_token()});
    pauses.reset();
    if (taken.empty()) return {};
    return std::move(taken.front());
  } catch (const tableq::error& failure) {
    const bool unknown = failure.code() == tableq::errc::outcome_unknown;
    if (!unknown && !transient(failure.code())) throw;
    status_.trouble("cannot take messages, trying again: " + std::string(failure.what()));
    pauses.wait(stop_.get_token());
    return {};
  }
}

bool worker::nothing_left(backoff& pauses) {
  // What is held here is leased, so the answer is known without asking.
  const std::unique_lock lock(look_mutex_, std::try_to_lock);
  if (!lock || held_.count() > 0) return false;
  const auto begin = steady_clock::now();
  if (begin < next_look_ && !settled_since_look_.exchange(false)) return false;
  try {
    const tableq::claim_stats stats = queue_.stats();
    const auto end = steady_clock::now();
    // Counting a long queue takes a tenth of the time at most.
    next_look_ = end + std::max<steady_clock::duration>(slice, 10 * (end - begin));
    return stats.ready + stats.delayed + stats.leased == 0;
  } catch (const tableq::error& failure) {
    if (!transient(failure.code())) throw;
    status_.trouble("cannot look for messages, trying again: " + std::string(failure.what()));
    pauses.wait(stop_.get_token());
    return false;
  }
}

void worker::process(const tableq::delivery& delivery, backoff& pauses) {
  held_messages::holding holding(held_, delivery.receipt);
  if (stop_.stop_requested()) {
    settle(delivery, outcome::release);
    return;
  }
  pid_t child = 0;
  try {
    child =
        start_child(settings_.command, environment_for(queue_.name(), delivery), delivery.payload);
  } catch (const std::system_error& failure) {
    not_started(delivery, failure.code(), pauses);
    return;
  }
  holding.started(child);
  const child_end end = holding.wait();
  if (end.success()) {
    settle(delivery, outcome::complete);
  } else if (abandon_.stop_requested()) {
    settle(delivery, outcome::release);
  } else {
    settle(delivery, outcome::fail, describe(end));
  }
}

void worker::not_started(const tableq::delivery& delivery, const std::error_code& reason,
                         backoff& pauses) {
  const std::string why = "cannot start " + settings_.command.front() + ": " + reason.message();
  if (reason.value() == E2BIG) {
    // The fault of this message's headers, not of the command.
    settle(delivery, outcome::fail, why);
    return;
  }
  settle(delivery, outcome::release);
  if (!short_of_resources(reason)) throw usage_error(why);
  status_.trouble(why + ", trying again");
  pauses.wait(stop_.get_token());
}

void worker::settle(const tableq::delivery& delivery, outcome how, const std::string& why) {
  backoff pauses(milliseconds{100}, milliseconds{5000});
  const auto first_try = steady_clock::now();
  for (;;) {
    try {
      count(delivery, how, why, settle_once(delivery, how, why));
      return;
    } catch (const tableq::error& failure) {
      if (failure.code() == tableq::errc::outcome_unknown) {
        ++counts_.unknown;
        status_.note(message_of(delivery) +
                     ": settled or to be taken again, the database did not say: " + failure.what());
        return;
      }
      if (!transient(failure.code())) throw;
      const bool too_late =
          stop_.stop_requested() && steady_clock::now() > first_try + settings_.lease;
      if (too_late || abandon_.stop_requested()) {
        ++counts_.unknown;
        status_.note(message_of(delivery) +
                     ": given up, it will be taken again: " + failure.what());
        return;
      }
      status_.trouble("cannot settle messages, trying again: " + std::string(failure.what()));
      pauses.wait(abandon_.get_token());
    }
  }
}

tableq::settled worker::settle_once(const tableq::delivery& delivery, outcome how,
                                    const std::string& why) {
  switch (how) {
    case outcome::complete:
      return queue_.complete(delivery.receipt);
    case outcome::fail:
      return queue_.fail(delivery.receipt, why, {.delay = settings_.retry_delay});
    case outcome::release:
      break;
  }
  return queue_.release(delivery.receipt);
}

void worker::count(const tableq::delivery& delivery, outcome how, const std::string& why,
                   tableq::settled result) {
  settled_since_look_ = true;
  std::string said;
  if (result == tableq::settled::lease_lost) {
    ++counts_.lease_lost;
    said = "lease lost, others work on it";
  } else if (how == outcome::complete) {
    ++counts_.completed;
    said = "completed";
  } else if (how == outcome::fail) {
    ++counts_.failed;
    said = "failed: " + why;
  } else {
    ++counts_.released;
    said = "given back";
  }
  if (settings_.verbose) status_.note(message_of(delivery) + ": " + said);
}

}  // namespace tool
