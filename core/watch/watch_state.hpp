#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/process.hpp"
#include "core/base/wake_pipe.hpp"
#include "core/queue/queue_state.hpp"
#include "core/session/backoff.hpp"
#include "core/waking/waker.hpp"
#include "core/waking/watcher.hpp"

namespace tableq::inline v0::core {

/// The queues of a watch: those with news, in turn, and the others.
///
/// @par Thread safety
/// Shared objects: safe.
class watch_state {
 public:
  watch_state() = default;
  watch_state(const watch_state&) = delete;
  watch_state& operator=(const watch_state&) = delete;
  ~watch_state();

  [[nodiscard]] bool here() const noexcept { return born_.here(); }
  [[nodiscard]] int descriptor() const noexcept { return ready_now_.get(); }
  void add(std::shared_ptr<queue_state> queue, std::int64_t number);
  void remove(std::int64_t number) noexcept;
  [[nodiscard]] std::optional<std::int64_t> next() noexcept;
  void done(std::int64_t number, std::size_t found);

 private:
  class entry;
  using entries = std::list<std::shared_ptr<entry>>;

  /// Its queue has news. Under no mutex of this object.
  void mark(entry& one) noexcept;

  const birthplace born_;
  std::mutex mutex_;  // taken after that of a waker
  // Guarded by mutex_, as all below.
  wake_pipe ready_now_;  // raised while `ready_` has some
  entries idle_;
  entries ready_;
  std::map<std::int64_t, entries::iterator> by_number_;
};

}  // namespace tableq::inline v0::core
