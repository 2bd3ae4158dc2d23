#include <map>
#include <mutex>
#include <set>

#include "first/place.hpp"
#include "support/in_threads.hpp"

namespace tableq_test::first {
namespace {

using clock = std::chrono::steady_clock;

constexpr int writers = 4;

/// Counts what was repeated, which nothing else shows.
class repeats : public tableq::observer {
 public:
  void retrying(const tableq::observed_operation& /*operation*/,
                const tableq::operation_retry& retry) override {
    const std::lock_guard lock(guard_);
    ++counted_[std::string(to_string(retry.failed))];
  }
  std::map<std::string, int> counted() {
    const std::lock_guard lock(guard_);
    return counted_;
  }

 private:
  std::mutex guard_;
  std::map<std::string, int> counted_;  // under guard_
};

/// The messages of one run. @par Thread safety Everything may be called from any thread.
class ledger {
 public:
  void added(const std::string& payload) {
    const std::lock_guard lock(guard_);
    open_.insert(payload);
    ++number_;
  }
  void read(const std::string& payload) {
    const std::lock_guard lock(guard_);
    if (!read_.insert(payload).second) ++twice_;
  }
  /// By the only reader of a strict queue.
  void read_in_order(std::int64_t id) {
    const std::lock_guard lock(guard_);
    if (id < last_) ++turned_;
    last_ = id;
  }
  void failed(const std::string& what) {
    const std::lock_guard lock(guard_);
    ++failures_[what];
    ++failed_;
  }
  /// A server that refuses everything is not asked a million times.
  [[nodiscard]] bool hopeless() const {
    const std::lock_guard lock(guard_);
    return failed_ > 1000;
  }
  void tell(report& to, const std::string& queue) const {
    to.note(queue + ": " + std::to_string(number_) + " messages added, " +
            std::to_string(read_.size()) + " read");
    std::size_t lost = 0;
    for (const std::string& each : open_) lost += read_.contains(each) ? 0 : 1;
    const auto finding = [&](std::size_t times, const std::string& what) {
      if (times != 0) to.finding(queue + ": " + std::to_string(times) + " " + what);
    };
    finding(lost, "messages lost");
    finding(twice_, "read twice");
    finding(turned_, "times another order");
    for (const auto& [what, times] : failures_) finding(times, "times " + what);
  }

 private:
  mutable std::mutex guard_;
  std::set<std::string> open_;  // all under guard_
  std::set<std::string> read_;
  std::map<std::string, std::size_t> failures_;
  std::size_t number_ = 0;
  std::size_t failed_ = 0;
  std::size_t twice_ = 0;
  std::size_t turned_ = 0;
  std::int64_t last_ = 0;
};

void guarded(ledger& of, const std::function<void()>& part) {
  try {
    part();
  } catch (const tableq::error& failure) {
    of.failed(with_number(failure));
  }
}

template <class Write, class Read>
void work(report& to, const std::string& queue, std::chrono::milliseconds time, int readers,
          const Write& write, const Read& read) {
  ledger all;
  const auto until = clock::now() + time;
  in_threads(writers + readers, [&](int i) {
    for (int n = 0; clock::now() < until && !interrupted && !all.hopeless(); ++n) {
      const std::string payload = std::to_string(i) + "." + std::to_string(n);
      guarded(all, [&] {
        if (i < writers) {
          write(payload, n);
          all.added(payload);
        } else {
          read(all);
        }
      });
    }
  });
  for (int empty = 0; empty < 3;) {
    bool some = false;
    guarded(all, [&] { some = read(all); });
    empty = some ? 0 : empty + 1;
  }
  all.tell(to, queue);
}

}  // namespace

void run_concurrently(report& to, const place& on) {
  using namespace std::chrono_literals;
  const auto watching = std::make_shared<repeats>();
  tableq::database db = on.open(5s, watching);
  auto fifo = db.fifo("fifo");
  auto strict = db.fifo("strict_fifo");
  auto claim = db.claim("claim");
  const auto destructive = [](auto queue, ledger& all, bool in_order) {
    const auto got = queue.dequeue_batch(3);
    for (const auto& each : got) {
      all.read(each.payload);
      if (in_order) all.read_in_order(each.id.value);
    }
    return !got.empty();
  };
  // What earlier steps have left would count as read.
  to.attempt("empty fifo", [&] { fifo.purge(); });
  to.attempt("empty strict fifo", [&] { strict.purge(); });
  work(
      to, "fifo", on.time / 4, 4, [&](const std::string& p, int) { fifo.enqueue(p); },
      [&](ledger& all) { return destructive(fifo, all, false); });
  work(
      to, "strict fifo", on.time / 4, 1, [&](const std::string& p, int) { strict.enqueue(p); },
      [&](ledger& all) { return destructive(strict, all, true); });
  work(
      to, "claim", on.time / 2, 4,
      [&](const std::string& p, int n) {
        tableq::claim_enqueue_options options{.priority = n % 3};
        if (n % 2 == 0) options.key = "k" + p;
        claim.enqueue(p, options);
      },
      [&](ledger& all) {
        const auto got = claim.take(3, {.lease = 60s});
        for (const auto& each : got) {
          if (claim.complete(each) == tableq::settle_result::applied) all.read(each.payload);
        }
        return !got.empty();
      });
  for (const auto& [what, times] : watching->counted()) {
    to.note("repeated after " + what + ": " + std::to_string(times));
  }
}

}  // namespace tableq_test::first
