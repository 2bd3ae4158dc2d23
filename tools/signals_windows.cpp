#include <windows.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "signals.hpp"

namespace tool {

namespace {

std::atomic<int> waiting{0};

BOOL WINAPI note(DWORD what) {
  if (what != CTRL_C_EVENT && what != CTRL_BREAK_EVENT) return FALSE;
  waiting.fetch_add(1);
  return TRUE;
}

}  // namespace

descriptor::~descriptor() = default;

signal_queue::signal_queue() {
  ::SetConsoleCtrlHandler(note, TRUE);
}

int signal_queue::take() const {
  int some = waiting.load();
  while (some > 0 && !waiting.compare_exchange_weak(some, some - 1)) {
  }
  return some > 0 ? SIGINT : 0;
}

int signal_queue::take_within(std::chrono::milliseconds longest) const {
  const auto until = std::chrono::steady_clock::now() + longest;
  for (;;) {
    if (const int one = take()) return one;
    if (std::chrono::steady_clock::now() >= until) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

}  // namespace tool
