#include "held_messages.hpp"

#include <algorithm>

namespace tool {

held_messages::holding::holding(held_messages& all, const tableq::receipt& receipt) : all_(all) {
  const std::lock_guard lock(all_.mutex_);
  entry_ = all_.entries_.insert(all_.entries_.end(), entry{receipt});
}

held_messages::holding::~holding() {
  const std::lock_guard lock(all_.mutex_);
  all_.entries_.erase(entry_);
}

void held_messages::holding::started(pid_t child) {
  const std::lock_guard lock(all_.mutex_);
  entry_->child = child;
  if (all_.pending_signal_ != 0) signal_child(child, all_.pending_signal_);
}

child_end held_messages::holding::wait() {
  // Only this thread writes entry_->child.
  await_child(entry_->child);
  const std::lock_guard lock(all_.mutex_);
  const child_end end = reap_child(entry_->child);
  entry_->child = 0;
  return end;
}

std::size_t held_messages::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::vector<tableq::receipt> held_messages::receipts() const {
  const std::lock_guard lock(mutex_);
  std::vector<tableq::receipt> result;
  for (const entry& one : entries_) result.push_back(one.receipt);
  return result;
}

void held_messages::signal(std::span<const tableq::receipt> receipts, int number) {
  const std::lock_guard lock(mutex_);
  for (const entry& one : entries_) {
    const bool meant = std::find(receipts.begin(), receipts.end(), one.receipt) != receipts.end();
    if (meant && one.child != 0) signal_child(one.child, number);
  }
}

void held_messages::signal_all(int number) {
  const std::lock_guard lock(mutex_);
  pending_signal_ = number;
  for (const entry& one : entries_) {
    if (one.child != 0) signal_child(one.child, number);
  }
}

}  // namespace tool
