#include "ending.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <future>
#include <string>
#include <thread>

#include "exit_status.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds until_killed{3000};
constexpr milliseconds to_settle{2000};
constexpr milliseconds longest_poll{60'000};
constexpr int refresh = 250;

}  // namespace

ending::ending(const signal_queue& signals, guard& watch, command_runner& commands,
               status_line& status, std::optional<milliseconds> grace, bool verbose)
    : signals_(signals),
      guard_(watch),
      commands_(commands),
      status_(status),
      grace_(grace),
      verbose_(verbose) {}

void ending::serve(tableq::worker* pool) {
  pool_ = pool;
  served_ = true;
}

bool ending::wait_for(const completion& event, const std::function<void()>& turn) {
  for (bool waits = true; waits && !over_;) {
    pollfd events[] = {{signals_.handle(), POLLIN, 0},
                       {event.handle(), POLLIN, 0},
                       {stopped_ ? -1 : hopeless_.handle(), POLLIN, 0}};
    const int due = on_time();
    ::poll(events, 3, turn && status_.shown() ? refresh : due);
    waits = events[1].revents == 0;
    if (events[2].revents != 0) {
      stopped_ = true;
      if (pool_ != nullptr) pool_->stop();
    }
    while (signals_.take() != 0) step();
    if (turn) turn();
  }
  return !over_;
}

void ending::call(const std::function<void()>& what) {
  const completion done;
  std::packaged_task<void()> task(what);
  std::thread caller([&] {
    task();
    done.set();
  });
  if (!wait_for(done)) leave();
  caller.join();
  task.get_future().get();
}

int ending::on_time() {
  if (!next_) return over_ ? 0 : -1;
  const auto left = std::chrono::ceil<milliseconds>(*next_ - steady_clock::now());
  if (left.count() > 0) return static_cast<int>(std::min(left, longest_poll).count());
  step();
  return 0;
}

void ending::step() {
  const bool tell =
      (verbose_ || status_.shown()) && pool_ != nullptr && pool_->counts().running > 0;
  const auto say = [&](const char* sentence) {
    if (tell) status_.note(sentence);
  };
  next_.reset();
  ++steps_;
  if (!served_ || steps_ > 3) {
    over_ = true;
  } else if (steps_ == 1) {
    if (pool_ != nullptr) pool_->stop();
    commands_.hurry();
    if (grace_) next_ = steady_clock::now() + *grace_;
    say("finishing running commands; repeat to give their messages back");
  } else if (steps_ == 2) {
    if (pool_ != nullptr) pool_->abandon();
    if (grace_) next_ = steady_clock::now() + until_killed;
    say("ending running commands; repeat to kill them");
  } else {
    commands_.signal_all(SIGKILL);
    next_ = steady_clock::now() + to_settle;
    say("killing running commands");
  }
}

void ending::leave() {
  const std::size_t held = pool_ != nullptr ? pool_->counts().held : 0;
  guard_.end();
  guard_.wait();
  status_.clear();
  if (held > 0) {
    status_.note("ending before the database has answered: " + std::to_string(held) +
                 (held == 1 ? " message is" : " messages are") +
                 " neither settled nor given back, and can be taken again after the lease");
  }
  // Other threads wait for the database. Standard error is not buffered.
  ::_exit(static_cast<int>(held > 0 ? exit_status::refused : exit_status::done));
}

}  // namespace tool
