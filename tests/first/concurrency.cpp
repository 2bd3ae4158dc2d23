#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "first/place.hpp"
#include "support/in_threads.hpp"

namespace tableq_test::first {
namespace {

/// Everything that happened in one run. @par Thread safety Everything may be called from any
/// thread.
class ledger : public tableq::observer {
 public:
  /// Nothing else shows a repeat.
  void retrying(const tableq::observed_operation& /*operation*/,
                const tableq::operation_retry& retry) override {
    const std::lock_guard lock(guard_);
    ++now_.repeated[std::string(to_string(retry.failed))];
  }
  void added(const std::string& payload) {
    const std::lock_guard lock(guard_);
    now_.added.insert(payload);
  }
  /// @param id rises in a strict queue with one reader, and is 0 in others
  void read(const std::string& payload, std::int64_t id = 0) {
    const std::lock_guard lock(guard_);
    if (!now_.read.insert(payload).second) ++now_.wrong["read twice"];
    if (id < std::exchange(now_.last, id)) ++now_.wrong["times another order"];
  }
  void failed(const std::string& what) {
    const std::lock_guard lock(guard_);
    ++now_.wrong["times " + what];
    ++now_.failures;
  }
  /// A server that refuses everything is not asked a million times.
  [[nodiscard]] bool hopeless() const {
    const std::lock_guard lock(guard_);
    return now_.failures > 1000;
  }
  /// And begins anew.
  void tell(report& to, const std::string& queue) {
    const std::lock_guard lock(guard_);
    account of = std::exchange(now_, {});
    to.note(queue + ": " + std::to_string(of.added.size()) + " messages added, " +
            std::to_string(of.read.size()) + " read");
    for (const std::string& each : of.added) {
      if (!of.read.contains(each)) ++of.wrong["messages lost"];
    }
    for (const auto& [what, times] : of.wrong) {
      to.finding(queue + ": " + std::to_string(times) + " " + what);
    }
    for (const auto& [what, times] : of.repeated) {
      to.note("repeated after " + what + ": " + std::to_string(times));
    }
  }

 private:
  struct account {
    std::set<std::string> added = {};
    std::set<std::string> read = {};
    std::map<std::string, int> wrong = {};
    std::map<std::string, int> repeated = {};
    int failures = 0;
    std::int64_t last = 0;
  };
  mutable std::mutex guard_;
  account now_;  // under guard_
};

template <class Write, class Read>
void work(report& to, ledger& all, const std::string& queue, std::chrono::milliseconds time,
          int readers, const Write& write, const Read& read) {
  const auto guarded = [&](auto part) {
    try {
      part();
    } catch (const tableq::error& failure) {
      all.failed(with_number(failure));
    }
  };
  constexpr int writers = 4;
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + time;
  in_threads(writers + readers, [&](int i) {
    for (int n = 0; clock::now() < until && !interrupted && !all.hopeless(); ++n) {
      const std::string payload = std::to_string(i) + "." + std::to_string(n);
      guarded([&] {
        if (i < writers) {
          write(payload, n);
          all.added(payload);
        } else {
          read();
        }
      });
    }
  });
  for (int empty = 0; empty < 3;) {
    bool some = false;
    guarded([&] { some = read(); });
    empty = some ? 0 : empty + 1;
  }
  all.tell(to, queue);
}

}  // namespace

void run_concurrently(report& to, const place& on) {
  using namespace std::chrono_literals;
  const auto all = std::make_shared<ledger>();
  tableq::database db = on.open(5s, all);
  for (const bool in_order : {false, true}) {
    const std::string name = in_order ? "strict_fifo" : "fifo";
    auto fifo = db.fifo(name);
    // Messages that earlier steps left would count as read.
    to.attempt("empty " + name, [&] { fifo.purge(); });
    work(
        to, *all, name, on.time / 4, in_order ? 1 : 4,
        [&](const std::string& p, int) { fifo.enqueue(p); },
        [&] {
          const auto got = fifo.dequeue_batch(3);
          for (const auto& each : got) all->read(each.payload, in_order ? each.id.value : 0);
          return !got.empty();
        });
  }
  auto claim = db.claim("claim");
  work(
      to, *all, "claim", on.time / 2, 4,
      [&](const std::string& p, int n) {
        tableq::claim_enqueue_options options{.priority = n % 3};
        if (n % 2 == 0) options.key = "k" + p;
        claim.enqueue(p, options);
      },
      [&] {
        const auto got = claim.take(3, {.lease = 60s});
        for (const auto& each : got) {
          if (claim.complete(each) == tableq::settle_result::applied) all->read(each.payload);
        }
        return !got.empty();
      });
}

}  // namespace tableq_test::first
