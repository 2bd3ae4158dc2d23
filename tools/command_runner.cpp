#include "command_runner.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include "row_json.hpp"

namespace tool {

namespace {

/// The system lacks a resource that other processes will free.
bool short_of_resources(const std::error_code& code) {
  return code.value() == EAGAIN || code.value() == ENOMEM || code.value() == EMFILE ||
         code.value() == ENFILE || code.value() == ETXTBSY;
}

}  // namespace

command_runner::command_runner(std::vector<std::string> command,
                               std::optional<std::chrono::milliseconds> retry_delay)
    : command_(std::move(command)), retry_delay_(retry_delay) {}

tableq::handled command_runner::run(const message_origin& from, const tableq::delivery& delivery,
                                    const std::stop_token& stop) {
  if (hopeless()) return tableq::handled::give_back();
  pid_t child = 0;
  try {
    const std::string row = delivery.row.empty() ? std::string() : row_json(delivery.row) + "\n";
    child = start_child(command_, environment_for(from, delivery),
                        row.empty() ? delivery.payload : row);
  } catch (const std::system_error& failure) {
    return not_started(failure.code());
  }
  const auto running = started(child);
  {
    // Removed before the child is reaped.
    const std::stop_callback ask(stop, [&] { signal_child(child, SIGTERM); });
    await_child(child);
  }
  const child_end end = ended(running);
  if (end.success()) return tableq::handled::completed();
  if (stop.stop_requested()) return tableq::handled::give_back();
  return failed(describe(end));
}

tableq::handled command_runner::failed(std::string why) const {
  return retry_delay_ ? tableq::handled::retry_after(std::move(why), *retry_delay_)
                      : tableq::handled::failed(std::move(why));
}

tableq::handled command_runner::not_started(const std::error_code& reason) {
  const std::string why = "cannot start " + command_.front() + ": " + reason.message();
  // The fault of this message's headers, not of the command.
  if (reason.value() == E2BIG) return failed(why);
  if (!short_of_resources(reason)) {
    const std::lock_guard lock(mutex_);
    hopeless_ = why;
  }
  return tableq::handled::give_back();
}

command_runner::place command_runner::started(pid_t child) {
  const std::lock_guard lock(mutex_);
  if (pending_signal_ != 0) signal_child(child, pending_signal_);
  return children_.insert(children_.end(), child);
}

child_end command_runner::ended(place child) {
  const std::lock_guard lock(mutex_);
  const child_end end = reap_child(*child);
  children_.erase(child);
  return end;
}

void command_runner::signal_all(int number) {
  const std::lock_guard lock(mutex_);
  pending_signal_ = number;
  for (const pid_t child : children_) signal_child(child, number);
}

std::optional<std::string> command_runner::hopeless() const {
  const std::lock_guard lock(mutex_);
  return hopeless_;
}

}  // namespace tool
