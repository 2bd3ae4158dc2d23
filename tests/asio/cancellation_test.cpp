#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <tuple>
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

/// The time of a cancellation.
enum class point { before_it_runs, while_it_waits, while_it_runs, before_its_handler };
constexpr std::array points{point::before_it_runs, point::while_it_runs, point::before_its_handler};
constexpr std::array points_of_reads{point::before_it_runs, point::while_it_waits,
                                     point::while_it_runs, point::before_its_handler};

/// How a call ended, by whatever token.
struct ending {
  asio_error failure;
  bool found = false;  ///< It brought a message.
};

template <class... Results>
ending ending_of(asio_error failure, const Results&... results) {
  const auto brings = [](const auto& result) {
    if constexpr (requires { result.has_value(); }) return result.has_value();
    return false;
  };
  return {failure, (brings(results) || ...)};
}
ending ending_of(const std::exception_ptr& thrown) {
  if (!thrown) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const tableq::asio_failure& failure) {
    return {failure.code()};
  }
}
/// The end of what throws the code: a future, a coroutine.
template <class Get>
ending ending_of_throwing(Get get) {
  try {
    return get();
  } catch (const tableq::asio_failure& failure) {
    return {failure.code()};
  }
}

/// The handler of a call, on the executor, with the slot.
auto handler(net::io_context& io, net::cancellation_slot slot, std::optional<ending>& end) {
  return net::bind_cancellation_slot(
      slot, net::bind_executor(io, [&end](const auto&... told) { end = ending_of(told...); }));
}

/// Each starts the call `op(token)`, and returns how to learn its end after io.run().
template <class Op>
using start = std::function<std::function<ending()>(net::io_context&, net::cancellation_slot, Op&)>;

template <class Op>
std::function<ending()> by_handler(net::io_context& io, net::cancellation_slot slot, Op& op) {
  const auto end = std::make_shared<std::optional<ending>>();
  op(handler(io, slot, *end));
  return [end] { return end->value(); };
}

template <class Op>
std::function<ending()> by_future(net::io_context& io, net::cancellation_slot slot, Op& op) {
  auto future = op(net::bind_cancellation_slot(slot, net::bind_executor(io, net::use_future)));
  return [got = std::make_shared<decltype(future)>(std::move(future))] {
    return ending_of_throwing([&]() -> ending {
      if constexpr (std::is_void_v<decltype(got->get())>) {
        got->get();
        return {};
      } else {
        return ending_of(asio_error(), got->get());
      }
    });
  };
}

template <class Op>
std::function<ending()> by_deferred(net::io_context& io, net::cancellation_slot slot, Op& op) {
  const auto end = std::make_shared<std::optional<ending>>();
  auto later = op(tokens::deferred);
  std::move(later)(handler(io, slot, *end));
  return [end] { return end->value(); };
}

template <class Op>
net::awaitable<void> await(Op& op, std::shared_ptr<std::optional<ending>> end) {
  try {
    if constexpr (std::is_same_v<decltype(op(net::use_awaitable)), net::awaitable<void>>) {
      co_await op(net::use_awaitable);
      *end = ending();
    } else {
      const auto got = co_await op(net::use_awaitable);
      *end = ending_of(asio_error(), got);
    }
  } catch (const tableq::asio_failure& failure) {
    *end = ending{failure.code()};
  }
}
template <class Op>
std::function<ending()> by_coroutine(net::io_context& io, net::cancellation_slot slot, Op& op) {
  const auto end = std::make_shared<std::optional<ending>>();
  net::co_spawn(io, await(op, end), net::bind_cancellation_slot(slot, net::detached));
  return [end] { return end->value(); };
}

template <class Op>
net::awaitable<void> await_tuple(Op& op, std::shared_ptr<std::optional<ending>> end) {
  const auto got = co_await op(tokens::as_tuple(net::use_awaitable));
  *end = std::apply([](const auto&... told) { return ending_of(told...); }, got);
}
template <class Op>
std::function<ending()> by_tuple(net::io_context& io, net::cancellation_slot slot, Op& op) {
  const auto end = std::make_shared<std::optional<ending>>();
  net::co_spawn(io, await_tuple(op, end), net::bind_cancellation_slot(slot, net::detached));
  return [end] { return end->value(); };
}

/// Holds a thread of the pool at a step.
class gate : public tableq::observer {
 public:
  void arm(std::string step) {
    step_ = std::move(step);
    armed_ = true;
  }
  void wait_for_the_step() { reached_.acquire(); }
  void open() { go_.release(); }
  void pass(std::string_view step) {
    if (!armed_ || step != step_) return;
    armed_ = false;
    reached_.release();
    go_.acquire();
  }
  void hold() { go_.acquire(); }
  void before(const tableq::observed_operation& operation) override { pass(operation.name); }

 private:
  std::string step_;
  std::atomic<bool> armed_{false};
  std::binary_semaphore reached_{0};
  std::binary_semaphore go_{0};
};

class cancelled_call : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    seen_ = open({.observer = gate_});
  }
  void TearDown() override {
    seen_.reset();
    on_each_backend::TearDown();
  }

  [[nodiscard]] tableq::database& seen() { return *seen_; }
  tableq::claim_queue make_jobs() { return seen().claim("jobs", {.lease = 60s}); }
  [[nodiscard]] gate& at() { return *gate_; }
  void clear_pool() {
    std::promise<void> done;
    net::post(pool_, [&] { done.set_value(); });
    done.get_future().get();
  }

  /// Cancels the call at the point, with each token. `op(token)` starts it; `before` and `after`
  /// run around it.
  template <class Op>
  void with_each_token(point when, const std::string& step, Op op,
                       const std::function<void()>& before,
                       const std::function<void(const ending&)>& after) {
    const std::vector<std::pair<std::string, start<Op>>> tokens{
        {"a handler", by_handler<Op>},
        {"use_future", by_future<Op>},
        {"deferred", by_deferred<Op>},
        {"use_awaitable", by_coroutine<Op>},
        {"as_tuple(use_awaitable)", by_tuple<Op>},
    };
    for (const auto& [name, start_it] : tokens) {
      SCOPED_TRACE(name + " at point " + std::to_string(static_cast<int>(when)));
      before();
      after(cancelled(when, step, op, start_it));
    }
  }

  net::io_context io_;  ///< Outlives the calls.
  net::thread_pool pool_{1};

 private:
  template <class Op>
  ending cancelled(point when, const std::string& step, Op& op, const start<Op>& start_it) {
    net::cancellation_signal signal;
    const auto cancel = [&] { signal.emit(net::cancellation_type::terminal); };
    net::post(pool_, [this] { at().hold(); });
    const auto end = start_it(io_, signal.slot(), op);
    io_.restart();
    io_.poll();
    if (when == point::before_it_runs) cancel();
    if (when == point::while_it_runs) at().arm(step);
    at().open();
    if (when == point::while_it_runs) {
      at().wait_for_the_step();
      cancel();
      at().open();
    } else {
      clear_pool();
      if (when != point::before_it_runs) cancel();
    }
    io_.restart();
    io_.run();
    clear_pool();
    return end();
  }

  std::shared_ptr<gate> gate_ = std::make_shared<gate>();
  std::optional<tableq::database> seen_;
};
TABLEQ_ON_BACKENDS(cancelled_call, shared_backends);

const asio_error aborted = net::error::operation_aborted;

/// It has not begun, its outcome is unknown, or it has ended.
asio_error failure_of_write(point when) {
  if (when == point::before_it_runs) return aborted;
  if (when == point::while_it_runs) return tableq::make_asio_error(errc::outcome_unknown);
  return {};
}

TEST_P(cancelled_call, takes_nothing_whatever_the_token_and_the_point) {
  tableq::claim_queue jobs = make_jobs();
  tableq::async_calls calls(seen(), pool_);
  tableq::async_queue queue(calls, jobs);
  for (const point when : points_of_reads) {
    const bool waits = when == point::while_it_waits;
    with_each_token(
        when, "claim.take",
        [&](auto&& token) { return queue.async_take(std::forward<decltype(token)>(token)); },
        [&] {
          if (!waits) jobs.enqueue("stays");
        },
        [&](const ending& end) {
          EXPECT_EQ(end.failure, aborted);
          EXPECT_FALSE(end.found);
          if (waits) jobs.enqueue("comes later");
          const auto again = jobs.take_one();
          ASSERT_TRUE(again);
          EXPECT_EQ(again->attempt, 1);
          EXPECT_EQ(jobs.complete(*again), tableq::settle_result::applied);
        });
  }
}

TEST_P(cancelled_call, loses_no_message_that_it_deleted_whatever_the_token_and_the_point) {
  tableq::fifo_queue mail = seen().fifo("mail");
  tableq::async_calls calls(seen(), pool_);
  tableq::async_queue queue(calls, mail);
  for (const point when : points_of_reads) {
    const bool runs = when == point::while_it_runs || when == point::before_its_handler;
    const bool waits = when == point::while_it_waits;
    with_each_token(
        when, "fifo.dequeue",
        [&](auto&& token) { return queue.async_dequeue(std::forward<decltype(token)>(token)); },
        [&] {
          if (!waits) mail.enqueue("kept");
        },
        [&](const ending& end) {
          EXPECT_EQ(end.failure, runs ? asio_error() : aborted);
          EXPECT_EQ(end.found, runs);
          EXPECT_EQ(mail.dequeue().has_value(), !runs && !waits);
        });
  }
}

TEST_P(cancelled_call, enqueues_nothing_or_is_unknown_whatever_the_token_and_the_point) {
  tableq::claim_queue jobs = make_jobs();
  tableq::async_calls calls(seen(), pool_);
  tableq::async_queue queue(calls, jobs);
  for (const point when : points) {
    with_each_token(
        when, "claim.enqueue",
        [&](auto&& token) {
          return queue.async_enqueue("message", std::forward<decltype(token)>(token));
        },
        [] {},
        [&](const ending& end) {
          EXPECT_EQ(end.failure, failure_of_write(when));
          const auto added = jobs.take_one();
          EXPECT_EQ(added && jobs.complete(*added) == tableq::settle_result::applied,
                    when != point::before_it_runs);
        });
  }
}

TEST_P(cancelled_call, settles_nothing_or_is_unknown_whatever_the_token_and_the_point) {
  tableq::claim_queue jobs = make_jobs();
  tableq::async_calls calls(seen(), pool_);
  tableq::async_queue queue(calls, jobs);
  std::optional<tableq::delivery> job;
  for (const point when : points) {
    with_each_token(
        when, "claim.complete",
        [&](auto&& token) {
          return queue.async_settle(job->receipt, tableq::handled::completed(),
                                    std::forward<decltype(token)>(token));
        },
        [&] {
          jobs.enqueue("job");
          job = jobs.take_one();
        },
        [&](const ending& end) {
          EXPECT_EQ(end.failure, failure_of_write(when));
          EXPECT_EQ(jobs.complete(*job), when == point::before_it_runs
                                             ? tableq::settle_result::applied
                                             : tableq::settle_result::lease_lost);
        });
  }
}

TEST_P(cancelled_call, begins_no_transaction_or_commits_it_whatever_the_token_and_the_point) {
  tableq::claim_queue jobs = make_jobs();
  tableq::async_calls calls(seen(), pool_);
  for (const point when : points) {
    const bool commits = when != point::before_it_runs;
    with_each_token(
        when, "the function",
        [&](auto&& token) {
          return calls.async_transact(
              [&](tableq::transaction& tx) {
                at().pass("the function");
                jobs.in(tx).enqueue("message");
              },
              std::forward<decltype(token)>(token));
        },
        [] {},
        [&](const ending& end) {
          EXPECT_EQ(end.failure, commits ? asio_error() : aborted);
          const auto added = jobs.take_one();
          EXPECT_EQ(added && jobs.complete(*added) == tableq::settle_result::applied, commits);
        });
  }
}

}  // namespace
