#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "asio/tokens.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
namespace net = tableq::net;
using tableq::asio_error;
using tableq::errc;
using deliveries = std::vector<tableq::delivery>;
using one_delivery = std::optional<tableq::delivery>;

/// Calls a function when a step of this name begins, in the thread that runs it.
class at_step : public tableq::observer {
 public:
  explicit at_step(std::string name) : name_(std::move(name)) {}
  void before(const tableq::observed_operation& operation) override {
    if (operation.name == name_ && !done_.exchange(true)) then();
  }
  std::function<void()> then = [] {};

 private:
  std::string name_;
  std::atomic<bool> done_{false};
};

/// Runs a coroutine to its end; what it throws fails the test.
template <class Coroutine>
void run(Coroutine body) {
  net::io_context io;
  std::exception_ptr thrown;
  net::co_spawn(io, std::move(body), [&](std::exception_ptr failure) { thrown = failure; });
  io.run();
  if (thrown) std::rethrow_exception(thrown);
}

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class asynchronous : public on_each_backend {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs", {.lease = 60s}); }
  /// A database that tells `seen` its steps.
  tableq::claim_queue jobs_seen_by(const std::shared_ptr<at_step>& seen) {
    seen_ = open({.observer = seen});
    return seen_->claim("jobs", {.lease = 60s});
  }
  [[nodiscard]] const tableq::database& seen() const { return *seen_; }

 private:
  std::optional<tableq::database> seen_;
};
TABLEQ_ON_BACKENDS(asynchronous, shared_backends);

TEST_P(asynchronous, a_coroutine_enqueues_takes_and_settles) {
  tableq::async_calls calls(db(), 2);
  tableq::async_queue queue(calls, jobs());
  run([&]() -> net::awaitable<void> {
    const tableq::enqueued added = co_await queue.async_enqueue("work", net::use_awaitable);
    const one_delivery got = co_await queue.async_take(net::use_awaitable);
    EXPECT_EQ(got->receipt.id, added.id);
    EXPECT_EQ(got->payload, "work");
    EXPECT_EQ(co_await queue.async_settle(*got, tableq::handled::completed(), net::use_awaitable),
              tableq::settle_result::applied);
  });
  EXPECT_FALSE(jobs().take_one());
}

TEST_P(asynchronous, each_verdict_settles_as_its_blocking_call) {
  tableq::async_calls calls(db(), 2);
  tableq::async_queue queue(calls, jobs());
  jobs().enqueue("back", {.priority = 3});
  jobs().enqueue("later", {.priority = 2});
  jobs().enqueue("dead", {.priority = 1});
  run([&]() -> net::awaitable<void> {
    const deliveries got = co_await queue.async_take(3, {}, net::use_awaitable);
    EXPECT_EQ(got.size(), 3U);
    co_await queue.async_settle(got[0], tableq::handled::give_back(), net::use_awaitable);
    co_await queue.async_settle(got[1], tableq::handled::retry_after("busy", 1h),
                                net::use_awaitable);
    co_await queue.async_settle(got[2], tableq::handled::give_up("no"), net::use_awaitable);
  });
  const tableq::claim_stats stats = jobs().stats();
  EXPECT_EQ(stats.ready, 1U);
  EXPECT_EQ(stats.delayed, 1U);
  EXPECT_EQ(stats.dead, 1U);
  EXPECT_EQ(jobs().take_one()->attempt, 1);
}

TEST_P(asynchronous, a_completion_keeps_its_result_or_changes_nothing) {
  tableq::async_calls calls(db(), 2);
  tableq::async_queue keeps(calls, db().claim("keeps", {.keep_completed = true}));
  tableq::async_queue forgets(calls, jobs());
  const tableq::message_id kept = db().claim("keeps").enqueue("work").id;
  const tableq::message_id stays = jobs().enqueue("work").id;
  run([&]() -> net::awaitable<void> {
    const one_delivery got = co_await keeps.async_take(net::use_awaitable);
    co_await keeps.async_settle(*got, tableq::handled::completed("42"), net::use_awaitable);
    const one_delivery other = co_await forgets.async_take(net::use_awaitable);
    const auto [failure, result] = co_await forgets.async_settle(
        *other, tableq::handled::completed("42"), tokens::as_tuple(net::use_awaitable));
    EXPECT_EQ(failure, tableq::make_asio_error(errc::invalid_argument));
  });
  EXPECT_EQ(db().claim("keeps").get(kept, {.result = true})->result, "42");
  EXPECT_EQ(jobs().get(stays).value().state, tableq::message_state::leased);
}

TEST_P(asynchronous, a_read_that_waits_gets_a_message_that_comes_later) {
  tableq::async_calls calls(db(), 2);
  tableq::async_queue queue(calls, jobs());
  auto got = queue.async_take(net::use_future);
  open().claim("jobs").enqueue("from another database object");
  ASSERT_EQ(got.wait_for(for_ever), std::future_status::ready);
  EXPECT_EQ(got.get()->payload, "from another database object");
}

TEST_P(asynchronous, a_read_that_finds_nothing_in_its_time_is_empty) {
  tableq::async_calls calls(db(), 1);
  tableq::async_queue queue(calls, jobs());
  tableq::async_queue mail(calls, db().fifo("mail"));
  EXPECT_TRUE(queue.async_take(5, {}, net::use_future).get().empty());
  EXPECT_TRUE(queue.async_take(5, {.wait = 5ms}, net::use_future).get().empty());
  EXPECT_TRUE(mail.async_dequeue(5, {.wait = 5ms}, net::use_future).get().empty());
}

TEST_P(asynchronous, reads_that_delete_get_each_message_once) {
  tableq::async_calls calls(db(), 2);
  tableq::async_queue mail(calls, db().fifo("mail"));
  auto first = mail.async_dequeue(net::use_future);
  auto second = mail.async_dequeue(net::use_future);
  mail.async_enqueue("a", net::use_future).get();
  mail.async_enqueue("b", tableq::enqueue_options{}, net::use_future).get();
  const std::set<std::string> got{first.get()->payload, second.get()->payload};
  EXPECT_EQ(got, (std::set<std::string>{"a", "b"}));
}

TEST_P(asynchronous, a_thousand_reads_wait_without_a_thread_or_session_each) {
  tableq::async_calls calls(db(), 2);
  tableq::async_queue queue(calls, jobs());
  net::io_context io;
  std::set<std::string> got;
  constexpr int count = 1000;
  for (int i = 0; i < count; ++i) {
    net::co_spawn(
        io,
        [&]() -> net::awaitable<void> {
          const one_delivery mine = co_await queue.async_take(net::use_awaitable);
          got.insert(mine->payload);
        },
        net::detached);
  }
  io.poll();  // all are started
  std::vector<tableq::new_claim_message> messages;
  for (int i = 0; i < count; ++i) messages.push_back({.payload = std::to_string(i)});
  jobs().enqueue_batch(messages);
  io.run();
  EXPECT_EQ(got.size(), static_cast<std::size_t>(count));
  EXPECT_LT(threads_of_this_process(), 50U);
}

TEST_P(asynchronous, a_take_that_is_cancelled_under_way_gives_its_messages_back) {
  const auto seen_step = std::make_shared<at_step>("claim.take");
  jobs().enqueue("stays");
  tableq::async_queue<tableq::claim_queue>* queue = nullptr;
  const tableq::claim_queue seen_jobs = jobs_seen_by(seen_step);
  tableq::async_calls calls(seen(), 1);
  tableq::async_queue made(calls, seen_jobs);
  queue = &made;
  net::io_context io;
  net::cancellation_signal signal;
  seen_step->then = [&] { signal.emit(net::cancellation_type::terminal); };
  std::optional<asio_error> failure;
  queue->async_take(
      5, {},
      net::bind_cancellation_slot(
          signal.slot(), net::bind_executor(io, [&](asio_error code, const deliveries& got) {
            failure = code;
            EXPECT_TRUE(got.empty());
          })));
  io.run();
  EXPECT_EQ(failure, asio_error(net::error::operation_aborted));
  const one_delivery again = jobs().take_one();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attempt, 1);
}

TEST_P(asynchronous, a_take_that_has_ended_is_told_after_the_end_of_its_calls) {
  jobs().enqueue("told");
  std::optional<tableq::async_calls> calls(std::in_place, db(), 1);
  std::optional<tableq::async_queue<tableq::claim_queue>> queue(std::in_place, *calls, jobs());
  net::io_context io;
  net::cancellation_signal signal;
  one_delivery told;
  queue->async_take(net::bind_cancellation_slot(
      signal.slot(),
      net::bind_executor(io, [&](asio_error, const one_delivery& got) { told = got; })));
  calls->async_transact([](tableq::transaction&) {}, net::use_future).get();
  calls.reset();
  queue.reset();
  signal.emit(net::cancellation_type::terminal);  // too late: nobody can give it back
  io.run();
  EXPECT_TRUE(told);
}

TEST_P(asynchronous, an_enqueue_that_is_cancelled_under_way_is_unknown) {
  const auto seen_step = std::make_shared<at_step>("claim.enqueue");
  jobs();
  const tableq::claim_queue seen_jobs = jobs_seen_by(seen_step);
  net::io_context io;
  net::cancellation_signal signal;
  std::optional<asio_error> failure;
  {
    tableq::async_calls calls(seen(), 1);
    tableq::async_queue queue(calls, seen_jobs);
    // Only a terminal one may end what has side effects.
    seen_step->then = [&] {
      signal.emit(net::cancellation_type::total);
      signal.emit(net::cancellation_type::terminal);
    };
    queue.async_enqueue(
        "perhaps",
        net::bind_cancellation_slot(
            signal.slot(), net::bind_executor(io, [&](asio_error code, const tableq::enqueued&) {
              failure = code;
            })));
    io.run();
  }
  EXPECT_EQ(failure, tableq::make_asio_error(errc::outcome_unknown));
  EXPECT_EQ(failure->message(), "outcome_unknown");
}

TEST_P(asynchronous, a_transaction_commits_with_its_messages_or_tells_what_its_function_threw) {
  tableq::async_calls calls(db(), 1);
  tableq::claim_queue queue = jobs();
  run([&]() -> net::awaitable<void> {
    co_await calls.async_transact([&](tableq::transaction& tx) { queue.in(tx).enqueue("one"); },
                                  net::use_awaitable);
    bool told = false;
    try {
      co_await calls.async_transact(
          [&](tableq::transaction& tx) {
            queue.in(tx).enqueue("two");
            throw std::out_of_range("no");
          },
          net::use_awaitable);
    } catch (const std::out_of_range&) {
      told = true;
    }
    EXPECT_TRUE(told);
  });
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(asynchronous, an_error_is_a_code_of_tableq) {
  tableq::async_calls calls(db(), 1);
  tableq::async_queue queue(calls, jobs());
  asio_error failure;
  net::io_context io;
  queue.async_take(
      0, {}, net::bind_executor(io, [&](asio_error code, const deliveries&) { failure = code; }));
  io.run();
  EXPECT_EQ(failure, tableq::make_asio_error(errc::invalid_argument));
  EXPECT_EQ(std::string(failure.category().name()), "tableq");
}

TEST_P(asynchronous, no_threads_or_too_many_are_refused) {
  for (const std::size_t threads : {0UL, 1001UL}) {
    EXPECT_CODE(invalid_argument, tableq::async_calls(db(), threads));
  }
}

TEST_P(asynchronous, the_handler_runs_on_its_executor_and_never_before_the_call_returns) {
  tableq::async_calls calls(db(), 1);
  tableq::async_queue queue(calls, jobs());
  net::io_context io;
  int handlers = 0;
  queue.async_enqueue("x", net::bind_executor(io, [&](asio_error, const tableq::enqueued&) {
                        EXPECT_TRUE(io.get_executor().running_in_this_thread());
                        ++handlers;
                      }));
  EXPECT_EQ(handlers, 0);
  io.run();  // the call keeps it at work
  EXPECT_EQ(handlers, 1);
}

TEST_P(asynchronous, the_end_of_the_calls_aborts_reads_that_wait) {
  std::future<one_delivery> waiting;
  std::optional<tableq::async_queue<tableq::claim_queue>> queue;
  {
    tableq::async_calls calls(db(), 1);
    queue.emplace(calls, jobs());
    waiting = queue->async_take(net::use_future);
  }
  EXPECT_THROW(waiting.get(), tableq::asio_failure);
  net::io_context io;
  asio_error failure;
  queue->async_take(
      net::bind_executor(io, [&](asio_error code, const one_delivery&) { failure = code; }));
  io.run();
  EXPECT_EQ(failure, asio_error(net::error::operation_aborted));
}

TEST_P(asynchronous, the_tokens_as_tuple_and_deferred_fit) {
  tableq::async_calls calls(db(), 1);
  tableq::async_queue queue(calls, jobs());
  run([&]() -> net::awaitable<void> {
    const auto [failure, got] =
        co_await queue.async_take(5, {}, tokens::as_tuple(net::use_awaitable));
    EXPECT_FALSE(failure);
    EXPECT_TRUE(got.empty());
    auto later = queue.async_enqueue("deferred", tokens::deferred);
    co_await std::move(later)(net::use_awaitable);
  });
  EXPECT_EQ(jobs().take_one()->payload, "deferred");
}

}  // namespace
