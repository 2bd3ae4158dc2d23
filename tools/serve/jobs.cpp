#include "jobs.hpp"

#include <algorithm>

#include "http.hpp"
#include "output.hpp"

namespace tool::web {

bool jobs::start(const std::string& place, const std::string& what, action run_it) {
  constexpr std::ptrdiff_t most_running = 4;
  constexpr std::size_t most_kept = 50;
  const std::lock_guard lock(mutex_);
  const auto runs = [](const job& each) { return each.running; };
  if (std::ranges::count_if(all_, runs) >= most_running) return false;
  // Those that have ended have no use for the mutex: their threads are joined at once.
  while (all_.size() >= most_kept) {
    all_.erase(std::prev(std::find_if_not(all_.rbegin(), all_.rend(), runs).base()));
  }
  std::list<job> made;  // without a thread it is no job
  job& one = made.emplace_front(job{{.place = place, .name = random_text(), .what = what}, {}});
  one.thread = std::jthread([this, &one, run_it = std::move(run_it)](const std::stop_token& stop) {
    run(one, run_it, stop);
  });
  all_.splice(all_.begin(), made);
  return true;
}

void jobs::run(job_view& one, const action& run_it, const std::stop_token& stop) {
  const auto note = [&](const tableq::bulk_result& so_far) {
    const std::lock_guard lock(mutex_);
    one.done = so_far;
  };
  std::string trouble;
  try {
    note(run_it({.progress = note, .stop = stop}));
  } catch (const tableq::error& failure) {
    trouble = sentence_of(failure);
  } catch (const std::exception& failure) {
    trouble = failure.what();
  }
  const std::lock_guard lock(mutex_);
  one.stopped = stop.stop_requested() && one.done.stopped_at.has_value();
  one.trouble = std::move(trouble);
  one.running = false;
}

std::vector<job_view> jobs::of(const std::string& place) {
  const std::lock_guard lock(mutex_);
  std::vector<job_view> out(all_.begin(), all_.end());
  std::erase_if(out, [&](const job_view& each) { return each.place != place; });
  return out;
}

void jobs::stop(const std::string& place, const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (job& each : all_) {
    if (each.place == place && each.name == name) each.thread.request_stop();
  }
}

}  // namespace tool::web
