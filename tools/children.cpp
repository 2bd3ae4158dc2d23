#include "children.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace tool {

children::children(guard& watch)
    : guard_(watch), places_(watch.groups().size()), reaper_([this] { reap(); }) {}

children::~children() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  guard_.end();
  reaper_.join();
}

std::size_t children::reserve() {
  const std::lock_guard lock(mutex_);
  std::size_t found = places_.size();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].used) continue;
    found = i;
    if (guard_.groups()[i] != 0) break;
  }
  places_[found].used = true;
  return found;
}

void children::release(std::size_t place) {
  const std::lock_guard lock(mutex_);
  places_[place].used = false;
}

void children::start(std::size_t place, const std::vector<std::string>& command,
                     const std::vector<std::string>& environment, const child_streams& streams) {
  try {
    start_child(command, environment, streams, guard_.groups()[place]);
  } catch (...) {  // A child that could not become the command is reaped before the place is free.
    std::unique_lock lock(mutex_);
    changed_.notify_all();  // Under the lock: the reaper may be about to wait.
    changed_.wait(lock, [&] { return guard_.groups()[place] == 0; });
    if (places_[place].end) taken_end(place);
    throw;
  }
  {
    const std::lock_guard lock(mutex_);
    if (pending_signal_ != 0) signal(place, pending_signal_);
  }
  changed_.notify_all();
}

bool children::lives(std::size_t place) const {
  const std::lock_guard lock(mutex_);
  return guard_.groups()[place] != 0;
}

void children::terminate(std::size_t place) {
  const std::lock_guard lock(mutex_);
  signal(place, SIGTERM);
}

child_end children::await(std::size_t place) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return places_[place].end.has_value(); });
  return taken_end(place);
}

child_end children::end(std::size_t place, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds until_killed{3000};
  std::unique_lock lock(mutex_);
  const auto ended = [&] { return places_[place].end.has_value(); };
  if (!changed_.wait_for(lock, patience, ended)) {
    signal(place, SIGTERM);
    if (!changed_.wait_for(lock, until_killed, ended)) signal(place, SIGKILL);
    changed_.wait(lock, ended);
  }
  return taken_end(place);
}

child_end children::taken_end(std::size_t place) {
  running& it = places_[place];
  it.over.clear();
  it.asked = false;
  return *std::exchange(it.end, std::nullopt);
}

void children::signal(std::size_t place, int number) {
  const pid_t group = guard_.groups()[place];
  if (group == 0) return;
  places_[place].asked = true;
  signal_group(group, number);
}

void children::signal_all(int number) {
  const std::lock_guard lock(mutex_);
  pending_signal_ = number;
  for (std::size_t i = 0; i < places_.size(); ++i) signal(i, number);
}

void children::reap() {
  for (;;) {
    const pid_t child = await_any_child();
    std::unique_lock lock(mutex_);
    if (child == 0) {  // Only if something has killed the guard.
      const auto groups = guard_.groups();
      changed_.wait(lock, [&] {
        return ending_ || std::any_of(groups.begin(), groups.end(),
                                      [](const auto& each) { return each != 0; });
      });
      if (ending_) return;
      continue;
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      // Its own children must not work beside the next attempt. Until it is reaped, the number
      // of its group is not used again.
      if (guard_.groups()[i] == child && places_[i].asked) signal_group(child, SIGKILL);
    }
    const std::optional<child_end> end = reap_child(child);
    if (child == guard_.id() && ending_) return;
    if (end) reaped(child, *end);
  }
}

void children::reaped(pid_t child, const child_end& end) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (guard_.groups()[i] != child) continue;
    guard_.groups()[i] = 0;
    places_[i].end = end;
    places_[i].over.set();
    changed_.notify_all();
    return;
  }
}

}  // namespace tool
