#include "jobs.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "http.hpp"
#include "output.hpp"

namespace tool::web {

namespace {

constexpr std::ptrdiff_t most_running = 4;
constexpr std::size_t most_kept = 50;

}  // namespace

bool jobs::start(const std::string& place, const std::string& what, action run_it) {
  const std::lock_guard lock(mutex_);
  const auto running =
      std::count_if(all_.begin(), all_.end(), [](const job& each) { return each.view.running; });
  if (running >= most_running) return false;
  // Those that have ended have no use for the mutex: their threads are joined at once.
  while (all_.size() >= most_kept) {
    const auto oldest = std::find_if(all_.rbegin(), all_.rend(),
                                     [](const job& each) { return !each.view.running; });
    if (oldest == all_.rend()) break;
    all_.erase(std::next(oldest).base());
  }
  job& one =
      all_.emplace_front(job{.place = place, .view = {.name = random_text(8), .what = what}});
  one.thread = std::jthread([this, &one, run_it = std::move(run_it)](const std::stop_token& stop) {
    run(one, run_it, stop);
  });
  return true;
}

void jobs::run(job& one, const action& run_it, const std::stop_token& stop) {
  const auto note = [&](const tableq::bulk_result& so_far) {
    const std::lock_guard lock(mutex_);
    one.view.done = so_far;
  };
  std::string trouble;
  tableq::bulk_result result;
  bool ended = false;
  try {
    result = run_it({.progress = note, .stop = stop});
    ended = true;
  } catch (const tableq::error& failure) {
    trouble = sentence_of(failure);
  } catch (const std::exception& failure) {
    trouble = failure.what();
  }
  const std::lock_guard lock(mutex_);
  if (ended) one.view.done = result;
  one.view.stopped = stop.stop_requested() && one.view.done.stopped_at.has_value();
  one.view.trouble = std::move(trouble);
  one.view.running = false;
}

std::vector<job_view> jobs::of(const std::string& place) {
  const std::lock_guard lock(mutex_);
  std::vector<job_view> out;
  for (const job& each : all_) {
    if (each.place == place) out.push_back(each.view);
  }
  return out;
}

void jobs::stop(const std::string& place, const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (job& each : all_) {
    if (each.place == place && each.view.name == name) each.thread.request_stop();
  }
}

}  // namespace tool::web
