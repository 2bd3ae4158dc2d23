#pragma once

/// @file
/// Reads that wait: any number of them by one watch. For `tableq/asio.hpp`.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <fcntl.h>

#include <tableq/asio/reader.hpp>
#include <tableq/watch.hpp>

namespace tableq::inline v0::async_detail {

/// The reads that wait for one queue, the first one first. The mutex of `news` guards it.
struct line {
  std::function<void(watch&, std::int64_t)> add;  ///< Adds the queue to a watch.
  std::int64_t number = 0;
  bool watched = false;
  std::deque<std::shared_ptr<reader>> waiting = {};
};

/// The watch of all queues with waiting reads, and its descriptor in the pool's event loop.
///
/// Owns the watch and a duplicate of its descriptor; borrows the pool.
///
/// @par Thread safety
/// Safe.
template <class Executor>
class news : public std::enable_shared_from_this<news<Executor>> {
 public:
  explicit news(const Executor& executor) : executor_(executor), descriptor_(executor) {}

  /// The line of a queue.
  std::shared_ptr<line> line_for(std::function<void(watch&, std::int64_t)> add) {
    const std::lock_guard guard(mutex_);
    auto made = std::make_shared<line>(line{.add = std::move(add), .number = ++last_number_});
    lines_[made->number] = made;
    return made;
  }

  /// Reads on this thread of the pool, and lets the read wait if there is nothing.
  void read(const std::shared_ptr<line>& of, const std::shared_ptr<reader>& next) {
    if (!next->begin()) return;
    next->read();
    if (next->waits()) join(of, next, false);
  }

  /// Ends all reads that wait, and takes no more.
  void close() {
    std::vector<std::shared_ptr<reader>> left;
    {
      const std::lock_guard guard(mutex_);
      closed_ = true;
      for (auto& [number, each] : lines_) {
        if (const auto live = each.lock()) {
          left.insert(left.end(), live->waiting.begin(), live->waiting.end());
          live->waiting.clear();
        }
        watch_.remove(number);
      }
      asio_error ignored;
      descriptor_.close(ignored);
    }
    for (const auto& each : left) each->abort(net::error::operation_aborted);
  }

 private:
  /// @param first before all others: it was the first one.
  void join(const std::shared_ptr<line>& of, const std::shared_ptr<reader>& next, bool first) {
    asio_error refused;
    {
      const std::lock_guard guard(mutex_);
      if (closed_) {
        refused = net::error::operation_aborted;
      } else if (!watched(*of)) {
        refused = make_asio_error(errc::busy);
      } else if (first) {
        of->waiting.push_front(next);
      } else {
        of->waiting.push_back(next);
      }
    }
    if (refused) next->abort(refused);
  }

  /// The queue is in the watch, which is waited for. False if the system has no means for it.
  bool watched(line& of) {
    if (of.watched) return true;
    try {
      if (!descriptor_.is_open()) {
        const int copy = ::fcntl(watch_.descriptor(), F_DUPFD_CLOEXEC, 0);
        if (copy < 0) return false;
        descriptor_.assign(copy);
      }
      of.add(watch_, of.number);  // names it at once
      of.watched = true;
    } catch (...) {  // the read is aborted
      return false;
    }
    if (!armed_) arm();
    return true;
  }

  void arm() {
    armed_ = true;
    descriptor_.async_wait(net::posix::stream_descriptor::wait_read,
                           [self = this->shared_from_this()](const asio_error& failure) {
                             if (!failure) self->hear();
                           });
  }

  void hear() {
    const std::lock_guard guard(mutex_);
    armed_ = false;
    if (closed_) return;
    while (const auto number = watch_.next()) {
      const auto of = lines_[*number].lock();
      if (!of) {
        watch_.remove(*number);
        lines_.erase(*number);
      } else if (of->waiting.empty()) {
        watch_.remove(*number);
        of->watched = false;
      } else {
        net::post(executor_, [self = this->shared_from_this(), of] { self->serve(of); });
      }
    }
    arm();
  }

  /// One read for one piece of news.
  void serve(const std::shared_ptr<line>& of) {
    std::shared_ptr<reader> next;
    {
      const std::lock_guard guard(mutex_);
      while (!of->waiting.empty() && !next) {
        next = of->waiting.front();
        of->waiting.pop_front();
        if (!next->begin()) next = nullptr;
      }
      if (!next) {
        watch_.remove(of->number);
        of->watched = false;
        return;
      }
    }
    const std::size_t found = next->read();
    // Also one that has ended: the next piece of news steps over it.
    if (found == 0) join(of, next, true);
    try {
      watch_.done(of->number, found);
    } catch (...) {  // the watch also names the queue from time to time
    }
  }

  Executor executor_;
  std::mutex mutex_;  // guards all below
  watch watch_;
  net::posix::basic_stream_descriptor<Executor> descriptor_;
  std::map<std::int64_t, std::weak_ptr<line>> lines_;
  std::int64_t last_number_ = 0;
  bool armed_ = false;
  bool closed_ = false;
};

}  // namespace tableq::inline v0::async_detail
