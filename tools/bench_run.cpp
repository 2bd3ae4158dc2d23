#include "bench_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <utility>

#include "format.hpp"
#include "statistics.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* latency = "enqueue to receipt";

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

double in_seconds(milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

void rest(milliseconds time) {
  std::this_thread::sleep_for(time);
  if (bench::interrupted()) throw bench::interruption();
}

double rounded(double value) {
  return std::round(value * 100) / 100;
}

/// Lines are printed one by one, so the widths are fixed.
std::string columns(const std::vector<std::string>& cells) {
  constexpr std::array<std::size_t, 8> widths = {9, 20, 9, 8, 12, 10, 10, 0};
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string cell = cells[i];
    cell.resize(std::max(cell.size(), widths.at(i)), ' ');
    out += cell;
  }
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

/// A thread that waits for messages and reports the time of each.
class receiver {
 public:
  explicit receiver(bench_queue& queue)
      : thread_([this, &queue](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            try {
              if (!queue.receive(milliseconds{500})) continue;
            } catch (const tableq::error&) {
              return;  // The adding thread has the same error, and reports it.
            }
            at_ = steady_clock::now();
            come_.release();
          }
        }) {}

  /// @return false when none came in this time.
  bool wait(milliseconds most) { return come_.try_acquire_for(most); }
  [[nodiscard]] steady_clock::time_point at() const { return at_; }

 private:
  steady_clock::time_point at_;  ///< Handed over by the semaphore.
  std::counting_semaphore<> come_{0};
  std::jthread thread_;
};

}  // namespace

bench_run::bench_run(tableq::database& db, const bench_settings& settings, output& out,
                     status_line& status)
    : db_(db), settings_(settings), out_(out), status_(status) {}

void bench_run::heading() {
  if (settings_.as_json) return;
  print(columns(
      {"KIND", "WHAT", "THREADS", "A CALL", "MESSAGES/S", "P50 MS", "P99 MS", "TO SINGLE"}));
}

void bench_run::measure(tableq::kind kind) {
  kind_ = tableq::to_string(kind);
  stored_ = 0;
  const std::size_t threads = settings_.threads;
  const std::size_t batch = settings_.batch;
  {
    bench_queue queue = queue_of(kind);
    // The first call opens the session.
    bench::measure(1, {.seconds = 0.05}, [&](std::size_t) { return queue.adding(1); });
    const double added = add(queue, 1, 1, 0);
    const double added_batch = add(queue, 1, batch, added);
    const double added_threads = add(queue, threads, 1, added);
    const double read = take(queue, 1, 1, 0, added);
    take(queue, 1, batch, read, added_batch);
    take(queue, threads, 1, read, added_threads);
  }
  hand_over(kind);
}

bench_queue bench_run::queue_of(tableq::kind kind) const {
  if (settings_.queue.empty()) return {db_, kind, settings_.payload};
  return {db_, settings_.queue, settings_.payload};
}

double bench_run::add(bench_queue& queue, std::size_t threads, std::size_t batch, double single) {
  show("enqueue", threads, batch);
  bench::outcome did = bench::measure(threads, {.seconds = in_seconds(settings_.time)},
                                      [&](std::size_t) { return queue.adding(batch); });
  stored_ += did.messages;
  return print_row({"enqueue", threads, batch, std::move(did), single});
}

double bench_run::take(bench_queue& queue, std::size_t threads, std::size_t batch, double single,
                       double expected) {
  // Enough for the reads, but not more than any database has room for.
  constexpr double most_bytes = 256.0 * 1024 * 1024;
  const double most = most_bytes / static_cast<double>(settings_.payload + 100);
  const auto wanted = static_cast<std::size_t>(
      std::clamp(expected * in_seconds(settings_.time) * 1.5, static_cast<double>(batch), most));
  show("filling", 1, settings_.batch);
  if (stored_ < wanted) {
    const bench::operation more = queue.adding(settings_.batch);
    for (; stored_ < wanted; rest(milliseconds{0})) stored_ += more();
  }
  show(queue.read_name(), threads, batch);
  bench::outcome did = bench::measure(threads, {.seconds = in_seconds(settings_.time)},
                                      [&](std::size_t) { return queue.reading(batch); });
  stored_ -= std::min(stored_, did.messages);
  return print_row({queue.read_name(), threads, batch, std::move(did), single});
}

void bench_run::hand_over(tableq::kind kind) {
  show(latency, 1, 1);
  constexpr int samples = 20;
  bench_queue queue = queue_of(kind);
  const bench::operation add = queue.adding(1);
  add();
  receiver reader(queue);
  if (!reader.wait(std::chrono::seconds{30})) return;
  bench::outcome did;
  for (int i = 0; i < samples; ++i) {
    rest(std::min<milliseconds>(settings_.time / samples, milliseconds{100}));
    const auto begin = steady_clock::now();
    did.messages += add();
    if (!reader.wait(std::chrono::seconds{30})) break;
    did.latency.push_back(std::chrono::duration<double, std::micro>(reader.at() - begin).count());
  }
  print_row({latency, 1, 1, std::move(did), 0});
}

void bench_run::show(const std::string& what, std::size_t threads, std::size_t batch) {
  status_.show(kind_ + ": " + what + ", " + std::to_string(threads) + " threads, " +
               std::to_string(batch) + " in each call");
}

double bench_run::print_row(const row& one) {
  const double rate = one.did.rate();
  const double p50 = bench::percentile(one.did.latency, 0.5);
  const double p99 = bench::percentile(one.did.latency, 0.99);
  if (settings_.as_json) {
    json line{{"backend", db_.backend()},
              {"kind", kind_},
              {"what", one.what},
              {"threads", one.threads},
              {"batch", one.batch},
              {"payload", settings_.payload},
              {"messages", one.did.messages},
              {"rate", rate > 0 ? json(rounded(rate)) : json(nullptr)},
              {"p50_us", rounded(p50)},
              {"p99_us", rounded(p99)}};
    line["to_single"] = one.single > 0 ? json(rounded(rate / one.single)) : json(nullptr);
    print(line.dump());
  } else {
    print(columns({kind_, one.what, std::to_string(one.threads), std::to_string(one.batch),
                   rate > 0 ? fixed(rate, 0) : "-", fixed(p50 / 1000, 3), fixed(p99 / 1000, 3),
                   one.single > 0 ? fixed(rate / one.single, 1) : "-"}));
  }
  return rate;
}

void bench_run::print(const std::string& line) {
  status_.clear();
  out_.line(line);
  out_.flush();
}

}  // namespace tool
