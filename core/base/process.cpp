#include "core/base/process.hpp"

#if defined(_WIN32)
#include <process.h>
#else
#include <pthread.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <vector>

#include <tableq/error.hpp>

namespace tableq::inline v0::core {

#if defined(_WIN32)

int at_fork(void (* /*before*/)(), void (* /*in_parent*/)(), void (* /*in_child*/)()) {
  return 0;
}

void close_descriptor(int /*descriptor*/) noexcept {}

#else

int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  return ::pthread_atfork(before, in_parent, in_child);
}

void close_descriptor(int descriptor) noexcept {
  ::close(descriptor);
}

#endif

struct process_state {
  std::mutex mutex;
  std::vector<void (*)()> in_child;  // guarded by mutex, as all below
  std::vector<void*> left;           // reachable, for tools that look for leaks

  process_state() {
    birthplace::current = ::getpid();
    at_fork([] { only().mutex.lock(); }, [] { only().mutex.unlock(); },
            [] { only().begin_child(); });
  }

  void begin_child() {
    birthplace::current = ::getpid();
    for (const auto& each : in_child) each();
    mutex.unlock();
  }

  /// Never destroyed: objects may be left to the parent while the process exits.
  static process_state& only() {
    static auto* const made = new process_state;
    return *made;
  }
};

std::atomic<int> birthplace::current{0};

birthplace::birthplace() {
  process_state::only();
  process_ = current;
}

void birthplace::refuse(const std::string& backend) {
  throw error(errc::invalid_argument, advice::never,
              "this was opened before fork(), and belongs to the parent process; open a new "
              "database in the child",
              {.backend = backend, .operation = "fork"});
}

std::mutex& process_wide() {
  return process_state::only().mutex;
}

void in_each_child(void (*work)()) {
  const std::scoped_lock hold(process_wide());
  auto& all = process_state::only().in_child;
  if (std::find(all.begin(), all.end(), work) == all.end()) all.push_back(work);
}

void leave_to_parent(void* object) noexcept {
  try {
    const std::scoped_lock hold(process_wide());
    process_state::only().left.push_back(object);
  } catch (...) {  // noexcept: without memory the object is kept, too, but not recorded.
  }
}

}  // namespace tableq::inline v0::core
