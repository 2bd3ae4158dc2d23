#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/observer.hpp>

#include "core/base/process.hpp"
#include "core/seam/driver.hpp"

namespace tableq::inline v0::core {

class session_pool;

/// All sessions stayed in use: the call has already waited for one, and does not wait again.
class no_free_session : public error {
 public:
  using error::error;
};

/// Gives a session back to its pool, or closes it if it is not usable.
struct session_returner {
  session_pool* pool = nullptr;
  void operator()(connection* session) const noexcept;
};
/// A session on loan.
using leased_session = std::unique_ptr<connection, session_returner>;

/// The sessions of one database: opened when needed, kept for later calls, limited in number.
///
/// Owns the idle ones. Must outlive every loan.
///
/// @par Thread safety
/// Shared objects: safe.
class session_pool {
 public:
  /// @param sink notified of sessions that are opened and closed; may be null.
  session_pool(driver& source, std::size_t most, std::chrono::milliseconds patience,
               observer* sink = nullptr);
  session_pool(const session_pool&) = delete;
  session_pool& operator=(const session_pool&) = delete;
  ~session_pool();

  /// @throws error errc::busy when no session was free in time; errc::invalid_argument in a child
  ///   of the process that made the pool; the errors of connecting.
  leased_session lease() { return lease(patience_); }
  leased_session lease(std::chrono::milliseconds patience);

 private:
  friend session_returner;
  void give_back(std::unique_ptr<connection> session) noexcept;
  /// An idle session, or null: then the place for another is reserved.
  std::unique_ptr<connection> idle_or_place(std::chrono::milliseconds patience);
  std::unique_ptr<connection> connect();
  void report_closed(std::size_t count, bool broken) const noexcept;

  const birthplace born_;
  driver& driver_;
  std::size_t most_;
  std::chrono::milliseconds patience_;
  observer* sink_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<connection>> idle_;  // guarded by mutex_
  std::size_t open_ = 0;                           // idle and on loan; guarded by mutex_
};

}  // namespace tableq::inline v0::core
