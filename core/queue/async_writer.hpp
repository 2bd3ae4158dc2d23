#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/options.hpp>
#include <tableq/outcome.hpp>

#include "core/base/errors.hpp"
#include "core/base/process.hpp"
#include "core/session/combiner.hpp"

namespace tableq::inline v0::core {

/// Whether this thread runs the callbacks of asynchronous enqueues. It waits for no room in any
/// queue: the callbacks there may wait for room in its own.
inline bool& runs_callbacks() noexcept {
  thread_local bool here = false;
  return here;
}

/// A thread that stores messages of other threads. Each batch has the messages that arrived while
/// the last one was stored.
///
/// The first message starts the thread. The destructor returns when each message was stored or has
/// failed, and its callback has returned.
///
/// @par Thread safety
/// Shared objects: safe.
template <class Options, class Result>
class async_writer {
 public:
  struct item {
    std::string payload;
    Options options;
    std::function<void(outcome<Result>)> done;
  };
  /// Stores all or none, in order.
  using store = std::function<std::vector<Result>(std::span<const item>)>;

  /// @param limits its async_messages and async_bytes.
  /// @param origin the origin in errors that the writer itself throws.
  async_writer(const open_options& limits, store store_all, error_origin origin)
      : shared_(std::make_shared<shared>(limits, std::move(store_all), std::move(origin))) {}
  async_writer(const async_writer&) = delete;
  async_writer& operator=(const async_writer&) = delete;
  ~async_writer() {
    {
      const std::scoped_lock hold(shared_->mutex);
      shared_->ended = true;
      shared_->changed.notify_all();
    }
    if (thread_.get_id() == std::this_thread::get_id()) {
      // A callback has destroyed the last handle of the queue.
      shared_->run();
      shared_->closed = true;
      thread_.detach();
    } else if (thread_.joinable()) {
      thread_.join();
    }
  }

  /// Waits while the limit is reached, unless a callback calls it.
  /// @throws error errc::invalid_argument without a function for the outcome; errc::busy when the
  ///   system has no thread.
  void add(item one) {
    if (!one.done) {
      throw error(
          errc::invalid_argument, advice::never,
          "enqueue_async: the callback is empty; without it the caller never learns the outcome",
          shared_->origin);
    }
    shared& state = *shared_;
    std::unique_lock lock(state.mutex);
    if (!thread_.joinable()) start();
    const std::size_t bytes = one.payload.size();
    if (!runs_callbacks()) {
      state.room.wait(lock, [&] {
        return state.messages == 0 ||
               (state.messages < state.most_messages && state.bytes + bytes <= state.most_bytes);
      });
    }
    // Counted after it: where memory is short, push_back throws and nothing is there.
    state.waiting.push_back(std::move(one));
    ++state.messages;
    state.bytes += bytes;
    if (state.idle) state.changed.notify_one();
  }

 private:
  /// The state of the thread. If a callback destroys the writer, it outlives the writer.
  struct shared {
    shared(const open_options& limits, store store_function, error_origin source)
        : most_messages(limits.async_messages),
          most_bytes(limits.async_bytes),
          store_all(std::move(store_function)),
          origin(std::move(source)) {}

    void run() {
      runs_callbacks() = true;
      std::unique_lock lock(mutex);
      for (;;) {
        idle = true;
        changed.wait(lock, [this] { return ended || !waiting.empty(); });
        idle = false;
        if (waiting.empty()) return;
        std::vector<item> batch;
        std::size_t size = 0;
        while (!waiting.empty() && batch.size() < most_at_once && size < most_bytes_at_once) {
          const std::size_t length = waiting.front().payload.size();
          try {
            if (batch.size() == batch.capacity()) batch.reserve(2 * batch.size() + 1);
          } catch (const std::bad_alloc&) {  // Fewer at once.
            break;
          }
          batch.push_back(std::move(waiting.front()));
          size += length;
          waiting.pop_front();
        }
        if (batch.empty()) {
          changed.wait_for(lock, pause_without_memory, [] { return false; });
          continue;
        }
        const std::size_t count = batch.size();
        lock.unlock();
        write(batch);
        // A callback has forked, and this is the child, in which no other thread exists.
        if (!born.here()) return;
        batch.clear();
        lock.lock();
        messages -= count;
        bytes -= size;
        room.notify_all();
      }
    }

    void write(std::span<item> batch) {
      std::vector<Result> results;
      std::exception_ptr failed;
      bool apart = false;
      try {
        if (closed)
          throw error(errc::cancelled, advice::never, "a callback has closed the queue", origin);
        results = store_all(batch);
      } catch (const error& failure) {
        failed = std::current_exception();
        apart = batch.size() > 1 && may_concern_one_call(failure);
      } catch (...) {  // Usually a lack of memory; a test's clock may throw anything.
        failed = std::current_exception();
      }
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (apart) {
          write({&batch[i], 1});
        } else {
          batch[i].done(failed ? told(failed) : outcome<Result>(std::move(results[i])));
        }
      }
    }

    /// Waits while there is no memory to tell it.
    [[nodiscard]] outcome<Result> told(const std::exception_ptr& failed) const {
      for (;; std::this_thread::sleep_for(pause_without_memory)) {
        try {
          try {
            std::rethrow_exception(failed);
          } catch (const error& failure) {
            return outcome<Result>(failure);
          } catch (const std::bad_alloc&) {  // Perhaps for the answer of the database.
            return outcome<Result>(error(errc::outcome_unknown, advice::never,
                                         "memory was short; the message may be stored", origin));
          } catch (...) {  // A test's clock may throw anything.
            return outcome<Result>(error(errc::internal, advice::never,
                                         "the message could not be handed over", origin));
          }
        } catch (const std::bad_alloc&) {
        }
      }
    }

    static constexpr std::chrono::milliseconds pause_without_memory{100};
    static constexpr std::size_t most_at_once = 1000;
    static constexpr std::size_t most_bytes_at_once = std::size_t{4} * 1024 * 1024;

    const birthplace born;
    const std::size_t most_messages;
    const std::size_t most_bytes;
    const store store_all;
    const error_origin origin;
    std::mutex mutex;
    std::condition_variable changed;
    std::condition_variable room;
    std::deque<item> waiting;  // guarded by mutex, as all below
    std::size_t messages = 0;  // waiting, or being stored
    std::size_t bytes = 0;     // of these
    bool idle = false;
    bool ended = false;
    bool closed = false;  // only the thread uses it
  };

  void start() {
    try {
      thread_ = std::jthread([mine = shared_] { mine->run(); });
    } catch (const std::system_error&) {  // The system has no more threads.
      throw error(errc::busy, advice::statement, "the system has no thread for enqueue_async",
                  shared_->origin);
    }
  }

  std::shared_ptr<shared> shared_;
  std::jthread thread_;  // guarded by the mutex
};

/// A future, and the callback whose outcome it receives.
template <class Result>
std::pair<std::future<Result>, std::function<void(outcome<Result>)>> with_future() {
  auto promise = std::make_shared<std::promise<Result>>();
  std::future<Result> out = promise->get_future();
  return {std::move(out), [promise = std::move(promise)](outcome<Result> answer) {
            if (const error* const failure = answer.failure()) {
              promise->set_exception(std::make_exception_ptr(*failure));
            } else {
              promise->set_value(answer.result());
            }
          }};
}

}  // namespace tableq::inline v0::core
