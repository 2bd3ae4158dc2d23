#include "child_errors.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "system.hpp"

namespace tool {

namespace {

/// Of a message's history.
constexpr std::size_t longest_entry = 2000;

void pass_on(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(STDERR_FILENO, bytes, size);
    if (written == -1 && errno == EINTR) continue;
    if (written == -1 && errno == EAGAIN) {  // Another program has set that for the terminal.
      pollfd room{STDERR_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
      continue;
    }
    if (written <= 0) return;  // Nobody reads it.
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace

child_errors::child_errors() : thread_([this] { copy(); }) {}

child_errors::~child_errors() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.set();
  thread_.join();
  for (stream& each : streams_) copy_some(each);
}

descriptor child_errors::open(std::size_t place) {
  auto [in, out] = open_pipe();
  ::fcntl(in.value(), F_SETFL, O_NONBLOCK);
  {
    const std::lock_guard lock(mutex_);
    if (stream* const before = last_of(place)) before->last = false;
    streams_.push_back({std::move(in), place});
  }
  changed_.set();
  return std::move(out);
}

void child_errors::forget(std::size_t place) {
  const std::lock_guard lock(mutex_);
  stream* const found = last_of(place);
  if (found == nullptr) return;
  copy_some(*found);
  found->end.clear();
}

std::string child_errors::end_of(std::size_t place) {
  const std::lock_guard lock(mutex_);
  stream* const found = last_of(place);
  if (found == nullptr) return {};
  copy_some(*found);
  return found->end;
}

child_errors::stream* child_errors::last_of(std::size_t place) {
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const stream& each) {
    return each.last && each.place == place;
  });
  return found == streams_.end() ? nullptr : &*found;
}

void child_errors::copy_some(stream& from) {
  std::array<char, 16384> bytes{};
  constexpr int reads_of_a_pipe = 8;  // Not more: the command may write without end.
  for (int i = 0; i < reads_of_a_pipe && from.in.value() != -1; ++i) {
    const ssize_t got = ::read(from.in.value(), bytes.data(), bytes.size());
    if (got == -1 && errno == EINTR) continue;
    if (got == -1 && errno == EAGAIN) return;
    if (got <= 0) {
      from.in = descriptor();
      return;
    }
    const auto size = static_cast<std::size_t>(got);
    pass_on(bytes.data(), size);
    from.end.append(bytes.data(), size);
    if (from.end.size() > longest_entry) from.end.erase(0, from.end.size() - longest_entry);
  }
}

void child_errors::copy() noexcept {
  std::vector<pollfd> events;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      // The end of the last command there is still asked for.
      std::erase_if(streams_,
                    [](const stream& each) { return each.in.value() == -1 && !each.last; });
      events.assign(1, {changed_.handle(), POLLIN, 0});
      for (const stream& each : streams_) {
        if (each.in.value() != -1) events.push_back({each.in.value(), POLLIN, 0});
      }
    }
    ::poll(events.data(), events.size(), -1);
    if (events[0].revents != 0) changed_.clear();
    const std::lock_guard lock(mutex_);
    for (stream& each : streams_) copy_some(each);
  }
}

std::string with_words(std::string reason, const std::string& written) {
  constexpr std::string_view blanks = " \t\r\n";
  std::string_view words = written;
  words.remove_suffix(words.size() - (words.find_last_not_of(blanks) + 1));
  words.remove_prefix(std::min(words.find_first_not_of(blanks), words.size()));
  if (words.empty()) return reason;
  reason += ": ";
  const std::size_t room = longest_entry - std::min(longest_entry, reason.size());
  if (words.size() > room) {
    words.remove_prefix(words.size() - room);
    // Not in the midst of a character.
    const auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    while (!words.empty() && inside(words.front())) words.remove_prefix(1);
  }
  return reason.append(words);
}

}  // namespace tool
