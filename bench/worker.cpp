// A worker under load: jobs a second, and the time from the call of enqueue to the handler.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "child_process.hpp"
#include "measure.hpp"
#include "statistics.hpp"
#include "subject.hpp"

namespace bench {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The number of waiting messages that the producer restores.
constexpr std::size_t depth = 1000;
/// The messages of one enqueue, at most.
constexpr std::size_t largest_call = 100;
/// A round without a message ends after this time.
constexpr std::int64_t patience_ns = 60'000'000'000;

struct load {
  std::size_t handlers = 1;
  milliseconds work{0};  ///< The handler sleeps this long.
  std::size_t rate = 0;  ///< Messages a second; zero: the depth is held.
  milliseconds linger{0};
};

/// The message begins with the time of its enqueue.
std::string stamped(std::int64_t now) {
  std::string out = std::to_string(now) + ' ';
  out.append(payload().substr(out.size()));
  return out;
}

std::int64_t stamp_of(std::string_view message) {
  std::int64_t out = 0;
  std::from_chars(message.data(), message.data() + message.size(), out);
  return out;
}

/// The handlers' notes of one round.
class notes {
 public:
  explicit notes(std::size_t most) : waited_(most) {}

  void handles(const tableq::delivery& message) {
    ++begun_;
    if (!measuring_) return;
    const std::int64_t now = now_ns();
    const std::size_t place = count_++;
    if (place < waited_.size()) {
      waited_[place] = static_cast<float>(now - stamp_of(message.payload)) / 1000;
    }
  }
  void measure(bool whether) { measuring_ = whether; }

  [[nodiscard]] std::size_t begun() const { return begun_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Microseconds. Once no handler runs any more.
  [[nodiscard]] std::vector<double> waited() const {
    const auto end = static_cast<std::ptrdiff_t>(std::min<std::size_t>(count_, waited_.size()));
    return {waited_.begin(), waited_.begin() + end};
  }

 private:
  std::vector<float> waited_;
  std::atomic<std::size_t> begun_{0};
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> measuring_{false};
};

/// Adds messages until the stop: those that are missing, or due.
void produce(tableq::claim_queue jobs, const load& what, const notes& all,
             const std::stop_token& stop) {
  const std::int64_t began = now_ns();
  for (std::size_t sent = 0; !stop.stop_requested();) {
    const auto since = static_cast<double>(now_ns() - began) / 1e9;
    const std::size_t wanted =
        what.rate == 0 ? all.begun() + depth
                       : static_cast<std::size_t>(since * static_cast<double>(what.rate));
    if (wanted <= sent) {
      const double next = static_cast<double>(sent + 1) / static_cast<double>(what.rate);
      std::this_thread::sleep_for(
          what.rate == 0 ? nanoseconds(milliseconds{1})
                         : nanoseconds(static_cast<std::int64_t>((next - since) * 1e9)));
      continue;
    }
    const std::size_t count = std::min(wanted - sent, largest_call);
    const std::string message = stamped(now_ns());
    jobs.enqueue_batch(std::vector<tableq::new_claim_message>(count, {message}));
    sent += count;
  }
}

struct round_result {
  double rate = 0;
  std::vector<double> waited = {};
  std::optional<double> log_bytes = {};  ///< Of the database's log, for each message.
};

round_result run_round(const bed& where, const tableq::claim_queue& jobs, const load& what) {
  constexpr std::size_t most_a_second = 200'000;
  notes all(static_cast<std::size_t>(std::ceil(where.how.seconds * most_a_second)));
  tableq::worker working(jobs,
                         [&all, work = what.work](const tableq::delivery& message) {
                           all.handles(message);
                           if (work.count() > 0) std::this_thread::sleep_for(work);
                         },
                         {.threads = what.handlers, .linger = what.linger});
  const std::jthread producer([&](const std::stop_token& stop) { produce(jobs, what, all, stop); });
  const std::chrono::duration<double> length(where.how.seconds);
  std::this_thread::sleep_for(length / 4);
  const std::optional<double> log_before = where.raw.log_bytes();
  const std::int64_t began = now_ns();
  all.measure(true);
  std::this_thread::sleep_for(length);
  // A loaded machine may handle nothing in a short round, and a rate of zero says nothing.
  while (all.count() == 0 && now_ns() - began < patience_ns && !interrupted()) {
    std::this_thread::sleep_for(milliseconds{1});
  }
  all.measure(false);
  const double seconds = static_cast<double>(now_ns() - began) / 1e9;
  const auto count = static_cast<double>(all.count());
  round_result out{.rate = count / seconds};
  if (log_before && count > 0)
    out.log_bytes = (where.raw.log_bytes().value() - *log_before) / count;
  working.stop();
  working.join();
  out.waited = all.waited();
  return out;
}

void run(const bed& where, recorder& out, const std::string& name, const load& what) {
  tableq::database db = open(where);
  const tableq::claim_queue jobs = db.claim(queue_of(action::take_complete));
  std::vector<double> rates;
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> log_bytes;
  for (std::size_t round = 0; round < where.how.rounds && !interrupted(); ++round) {
    where.raw.fill(owner::tableq, queue_of(action::take_complete), 0);
    const round_result one = run_round(where, jobs, what);
    rates.push_back(one.rate);
    p50.push_back(percentile(one.waited, 0.5));
    p99.push_back(percentile(one.waited, 0.99));
    if (one.log_bytes) log_bytes.push_back(*one.log_bytes);
  }
  json result{{"case", name},
              {"threads", what.handlers},
              {"batch", 1},
              {"rate", median(rates)},
              {"limit", "none"},
              {"spread", spread(rates)},
              {"p50_us", median(p50)},
              {"p99_us", median(p99)},
              {"worst_p99_us", percentile(p99, 1)},
              {"rounds", where.how.rounds},
              {"seconds", where.how.seconds},
              {"payload", payload().size()}};
  if (!log_bytes.empty()) result["log_bytes"] = median(log_bytes);
  out.record(where, std::move(result));
  where.raw.fill(owner::tableq, queue_of(action::take_complete), 0);
}

}  // namespace

std::vector<bench_case> worker_cases() {
  std::vector<bench_case> cases;
  const auto add = [&cases](const std::string& suffix, const std::string& description, load what) {
    const std::string name = "worker_" + std::to_string(what.handlers) + '_' +
                             std::to_string(what.work.count()) + "ms" + suffix;
    cases.push_back(
        {.name = name,
         .description = std::to_string(what.handlers) + " handlers of " +
                        std::to_string(what.work.count()) + " ms, " + description +
                        "; p50 and p99 from the call of enqueue to the handler; no limit",
         .fits = natively,
         .run = [=](const bed& where, recorder& out) { run(where, out, name, what); }});
  };
  for (const std::size_t handlers : std::array<std::size_t, 4>{1, 16, 64, 256}) {
    for (const milliseconds work : {milliseconds{0}, milliseconds{1}}) {
      add("", "1,000 messages kept waiting", {.handlers = handlers, .work = work});
    }
  }
  for (const std::size_t rate : std::array<std::size_t, 3>{800, 1000, 5000}) {
    load paced{.handlers = 64, .work = milliseconds{1}, .rate = rate};
    add("_" + std::to_string(rate), std::to_string(rate) + " messages a second", paced);
    if (rate != 1000) continue;
    paced.linger = milliseconds{10};
    add("_1000_linger", "1000 messages a second, which linger for 10 ms", paced);
  }
  return cases;
}

}  // namespace bench
