#include "command_runner.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "row_json.hpp"

namespace tool {

namespace {

/// The system lacks a resource that other processes will free.
bool short_of_resources(const std::error_code& code) {
  return code.value() == EAGAIN || code.value() == ENOMEM || code.value() == EMFILE ||
         code.value() == ENFILE || code.value() == ETXTBSY || code.value() == ENOSPC;
}

/// Shells, env and others say with these that they found no program, or may not run it.
bool found_no_program(const child_end& end) {
  return end.signal == 0 && (end.exit_code == 126 || end.exit_code == 127);
}

/// The command's standard input. From then on the file has the only copy of the payload.
descriptor input_of(const tableq::delivery& delivery) {
  descriptor out =
      delivery.row.empty() ? file_of(delivery.payload) : file_of(row_json(delivery.row) + "\n");
  // The worker calls this handler once for a delivery, and then reads the receipt and the attempt.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the worker's own object is not const
  auto& mine = const_cast<tableq::delivery&>(delivery);
  std::string().swap(mine.payload);  // an assignment would keep its memory
  mine.row = tableq::row();
  return out;
}

}  // namespace

command_runner::command_runner(std::vector<std::string> command,
                               std::optional<std::chrono::milliseconds> retry_delay, guard& watch,
                               std::function<void(const std::string&)> say)
    : command_(std::move(command)),
      retry_delay_(retry_delay),
      guard_(watch),
      brake_(std::move(say)),
      places_(watch.groups().size()),
      reaper_([this] { reap(); }) {}

command_runner::~command_runner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  guard_.end();
  reaper_.join();
}

tableq::handled command_runner::run(const message_origin& from, const tableq::delivery& delivery,
                                    const std::stop_token& stop) {
  if (hopeless()) return tableq::handled::give_back();
  const std::size_t place = reserve();
  try {
    start_child(command_, environment_for(from, delivery), input_of(delivery),
                guard_.groups()[place]);
  } catch (const std::system_error& failure) {
    leave(place);
    return not_started(failure.code(), stop);
  } catch (...) {  // No memory, for instance: the place is free again.
    leave(place);
    throw;
  }
  const child_end end = await(place, stop);
  if (end.success()) {
    brake_.release();
    const std::lock_guard lock(mutex_);
    unable_ = 0;
    return tableq::handled::completed();
  }
  if (stop.stop_requested()) return tableq::handled::give_back();
  if (found_no_program(end)) return unable(end, stop);
  {
    const std::lock_guard lock(mutex_);
    unable_ = 0;
  }
  brake_.failed(describe(end), stop);
  return failed(describe(end));
}

tableq::handled command_runner::failed(std::string why) const {
  return retry_delay_ ? tableq::handled::retry_after(std::move(why), *retry_delay_)
                      : tableq::handled::failed(std::move(why));
}

tableq::handled command_runner::unable(const child_end& end, const std::stop_token& stop) {
  // Where a program is missing, no message is to blame. But a message may name the program: if the
  // last command could start its own, this message fails. Each fourth in a row fails too, so that
  // one message does not hold up all others for ever.
  constexpr std::size_t every = 4;
  const bool blamed = [&] {
    const std::lock_guard lock(mutex_);
    return unable_++ % every == 0;
  }();
  brake_.not_started(command_.front() + " cannot start its program: " + describe(end), stop);
  return blamed ? failed(describe(end)) : tableq::handled::give_back();
}

tableq::handled command_runner::not_started(const std::error_code& reason,
                                            const std::stop_token& stop) {
  const std::string why = "cannot start " + command_.front() + ": " + reason.message();
  // The fault of this message's headers, not of the command.
  if (reason.value() == E2BIG) return failed(why);
  if (short_of_resources(reason)) {
    brake_.not_started(why, stop);
  } else {
    brake_.open();
    const std::lock_guard lock(mutex_);
    hopeless_ = why;
  }
  return tableq::handled::give_back();
}

std::size_t command_runner::reserve() {
  const std::lock_guard lock(mutex_);
  const auto free =
      std::find_if(places_.begin(), places_.end(), [](const running& each) { return !each.used; });
  // The worker has no more threads than there are places.
  *free = {.used = true};
  return static_cast<std::size_t>(free - places_.begin());
}

child_end command_runner::await(std::size_t place, const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_signal_ != 0) signal(place, pending_signal_);
  }
  changed_.notify_all();
  {
    const std::stop_callback ask(stop, [&] {
      const std::lock_guard lock(mutex_);
      signal(place, SIGTERM);
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return places_[place].end.has_value(); });
    // Unlocked before the callback goes, which may wait for the lock.
  }
  const std::lock_guard lock(mutex_);
  return *std::exchange(places_[place], {}).end;
}

void command_runner::leave(std::size_t place) {
  std::unique_lock lock(mutex_);
  changed_.notify_all();  // Under the lock: the reaper may be about to wait.
  changed_.wait(lock, [&] { return guard_.groups()[place] == 0; });
  places_[place] = {};
}

void command_runner::signal(std::size_t place, int number) {
  const pid_t group = guard_.groups()[place];
  if (group == 0) return;
  places_[place].asked = true;
  signal_group(group, number);
}

void command_runner::signal_all(int number) {
  const std::lock_guard lock(mutex_);
  pending_signal_ = number;
  for (std::size_t i = 0; i < places_.size(); ++i) signal(i, number);
}

std::optional<std::string> command_runner::hopeless() const {
  const std::lock_guard lock(mutex_);
  return hopeless_;
}

void command_runner::reap() {
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

void command_runner::reaped(pid_t child, const child_end& end) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (guard_.groups()[i] != child) continue;
    guard_.groups()[i] = 0;
    places_[i].end = end;
    changed_.notify_all();
    return;
  }
}

}  // namespace tool
