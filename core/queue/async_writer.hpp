#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/outcome.hpp>

#include "core/combining/combiner.hpp"
#include "core/seam/process.hpp"

namespace tableq::inline v0::core {

/// How much may be on its way.
struct in_flight_limit {
  std::size_t messages;
  std::size_t bytes;
};

/// Ends when its queue does.
class writer {
 public:
  writer() = default;
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  virtual ~writer() = default;
};

/// A thread that stores what others give it: as much at once as has come while the last was stored.
///
/// The thread is started by the first message. The destructor returns when all are stored, or have
/// failed, and their callers know.
///
/// @par Thread safety
/// Shared objects: safe.
template <class Options, class Result>
class async_writer final : public writer {
 public:
  struct item {
    std::string payload;
    Options options;
    std::function<void(outcome<Result>)> done;
  };
  /// Stores all or none, in order.
  using store = std::function<std::vector<Result>(std::span<const item>)>;

  /// @param as where errors of its own say that they come from.
  async_writer(in_flight_limit most, store how, error_origin as)
      : shared_(std::make_shared<shared>(most, std::move(how), std::move(as))) {}
  ~async_writer() override {
    {
      const std::scoped_lock hold(shared_->mutex);
      shared_->ended = true;
      shared_->changed.notify_all();
    }
    if (thread_.get_id() == std::this_thread::get_id()) {
      // A callback has dropped the last handle of the queue.
      shared_->run();
      shared_->closed = true;
      thread_.detach();
    } else if (thread_.joinable()) {
      thread_.join();
    }
  }

  /// Waits while too much is on its way, but for callers that are callbacks.
  /// @throws error errc::invalid_argument without a function for the outcome.
  void add(item one) {
    if (!one.done) {
      throw error(errc::invalid_argument, advice::never,
                  "enqueue_async: the callback is empty; it is what tells the outcome",
                  shared_->as);
    }
    shared& of = *shared_;
    std::unique_lock lock(of.mutex);
    if (!thread_.joinable()) thread_ = std::jthread([mine = shared_] { mine->run(); });
    const std::size_t bytes = one.payload.size();
    if (thread_.get_id() != std::this_thread::get_id()) {
      of.room.wait(lock, [&] {
        return of.messages == 0 ||
               (of.messages < of.most.messages && of.bytes + bytes <= of.most.bytes);
      });
    }
    ++of.messages;
    of.bytes += bytes;
    of.waiting.push_back(std::move(one));
    if (of.idle) of.changed.notify_one();
  }

 private:
  /// What the thread needs; it may outlive the writer by the end of a callback.
  struct shared {
    shared(in_flight_limit limit, store how, error_origin from)
        : most(limit), keep(std::move(how)), as(std::move(from)) {}

    void run() {
      std::unique_lock lock(mutex);
      for (;;) {
        idle = true;
        changed.wait(lock, [this] { return ended || !waiting.empty(); });
        idle = false;
        if (waiting.empty()) return;
        std::vector<item> batch;
        std::size_t size = 0;
        while (!waiting.empty() && batch.size() < most_at_once && size < most_bytes_at_once) {
          size += waiting.front().payload.size();
          batch.push_back(std::move(waiting.front()));
          waiting.pop_front();
        }
        const std::size_t count = batch.size();
        lock.unlock();
        write(batch);
        // A callback has forked and come back in the child, which has this thread and no other.
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
      std::optional<error> failure;
      try {
        if (closed)
          throw error(errc::cancelled, advice::never, "a callback has closed the queue", as);
        results = keep(batch);
      } catch (const error& failed) {
        failure.emplace(failed);
      } catch (const std::exception&) {  // Memory, as a rule.
        failure.emplace(errc::internal, advice::never, "the message could not be handed over", as);
      }
      if (failure && batch.size() > 1 && may_concern_one_call(*failure)) {
        for (item& each : batch) write({&each, 1});
        return;
      }
      for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i].done(failure ? outcome<Result>(*failure) : outcome<Result>(std::move(results[i])));
      }
    }

    static constexpr std::size_t most_at_once = 1000;
    static constexpr std::size_t most_bytes_at_once = std::size_t{4} * 1024 * 1024;

    const birthplace born;
    const in_flight_limit most;
    const store keep;
    const error_origin as;
    std::mutex mutex;
    std::condition_variable changed;
    std::condition_variable room;
    std::deque<item> waiting;  // guarded by mutex, as all below
    std::size_t messages = 0;  // waiting, or being stored
    std::size_t bytes = 0;     // of these
    bool idle = false;
    bool ended = false;
    bool closed = false;  // the thread's own
  };

  std::shared_ptr<shared> shared_;
  std::jthread thread_;  // guarded by the mutex
};

/// Gives the message to the writer, and its outcome to a future.
template <class Options, class Result>
std::future<Result> add_with_future(async_writer<Options, Result>& to, std::string payload,
                                    const Options& options) {
  auto promise = std::make_shared<std::promise<Result>>();
  std::future<Result> out = promise->get_future();
  to.add({.payload = std::move(payload),
          .options = options,
          .done = [promise = std::move(promise)](outcome<Result> of) {
            if (const error* const failure = of.failure()) {
              promise->set_exception(std::make_exception_ptr(*failure));
            } else {
              promise->set_value(of.result());
            }
          }});
  return out;
}

}  // namespace tableq::inline v0::core
