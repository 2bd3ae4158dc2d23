#include "drivers/transport/sqlite_turn.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace tableq::inline v0::drivers {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// After this time and number of writes, or after the longest turn, a session checks whether others
/// wait. The turn is long enough to outweigh the next session's cold cache and the idle disk. It is
/// short enough for many sessions to get a turn within a few dozen milliseconds.
constexpr steady_clock::duration turn = 1ms;
constexpr int writes_of_turn = 8;
constexpr steady_clock::duration longest_turn = 10ms;

/// The sleep of the head of the line between two attempts. It is long at first, since another
/// session has just got the lock; then short; then long again if a session holds the lock for a
/// long time.
steady_clock::duration pause_of_head(steady_clock::duration waited) {
  constexpr steady_clock::duration during_a_turn = 200us;
  constexpr steady_clock::duration shortest = 100us;
  constexpr steady_clock::duration longest = 2ms;
  if (waited < turn) return during_a_turn;
  return std::clamp(waited / 20, shortest, longest);
}

/// The sleep of the other sessions before they try to become the head. It becomes shorter with the
/// waiting time, so that the longest waiting session mostly writes first.
steady_clock::duration pause_in_line(steady_clock::duration waited) {
  constexpr double scale = 3000;  // microseconds
  constexpr double shortest = 100;
  constexpr double longest = 4000;
  using microseconds = std::chrono::duration<double, std::micro>;
  const double so_far = std::max(microseconds(waited).count(), 1.0);
  const double pause = std::clamp(scale * scale * scale / so_far / so_far, shortest, longest);
  return std::chrono::duration_cast<steady_clock::duration>(microseconds(pause));
}

/// A session that has waited this long leaves the line for a while and tries directly: the process
/// of the head may be stopped.
constexpr steady_clock::duration patience = 1s;
constexpr steady_clock::duration distrust = 5s;
constexpr steady_clock::duration pause_beside_line = 500us;

}  // namespace

sqlite_turn::sqlite_turn(std::string log, std::chrono::milliseconds longest)
    : log_(std::move(log)), longest_(longest) {}

void sqlite_turn::lock() {
  asking_ = true;
  waited_ = false;
  began_ = clock::now();
  if (longest_ == clock::duration::zero() || !turn_is_over()) return;
  turn_began_ = began_;
  writes_ = 0;
  if (!open_log()) return;
  if (become_head()) {
    leave_head();
  } else {
    waited_ = true;
    line_up();
  }
}

void sqlite_turn::unlock() noexcept {
  leave_head();
  ++writes_;
  if (waited_) {
    turn_began_ = clock::now();
    writes_ = 0;
  }
  asking_ = false;
}

bool sqlite_turn::turn_is_over() const noexcept {
  const auto since = began_ - turn_began_;
  return since >= longest_turn || (since >= turn && writes_ >= writes_of_turn);
}

bool sqlite_turn::wait(int tries) {
  if (!asking_ && tries == 0) began_ = clock::now();
  const auto waited = clock::now() - began_;
  if (waited >= longest_) return false;
  if (!asking_ || !open_log()) {
    sleep(pause_of_head(waited));
    return true;
  }
  waited_ = true;
  // The first refusal may only mean that another session wrote between the two locks of this
  // statement.
  if (tries == 0) return true;
  if (head_) {
    sleep(pause_of_head(clock::now() - headed_));
  } else {
    line_up();
    if (!head_) sleep(pause_beside_line);
  }
  return true;
}

void sqlite_turn::line_up() {
  for (;;) {
    if (become_head()) return;
    const auto now = clock::now();
    if (now < without_line_until_) return;
    if (now - began_ >= patience) without_line_until_ = now + distrust;
    // The rest of the time is left for SQLite's own lock.
    if (now - began_ >= std::min(longest_ / 2, patience)) return;
    sleep(pause_in_line(now - began_));
  }
}

bool sqlite_turn::become_head() noexcept {
  if (!line_.try_lock()) return false;
  head_ = true;
  headed_ = clock::now();
  return true;
}

void sqlite_turn::leave_head() noexcept {
  if (head_) line_.unlock();
  head_ = false;
}

bool sqlite_turn::open_log() noexcept {
  // SQLite has no lock on the log, so closing it releases none of SQLite's locks.
  return line_.is_open() || (!log_.empty() && line_.open(log_));
}

void sqlite_turn::sleep(clock::duration about) {
  const auto left = longest_ - (clock::now() - began_);
  // On average the sleep has this length.
  std::this_thread::sleep_for(std::min(jitter_.below(about * 4 / 3), left));
}

}  // namespace tableq::inline v0::drivers
