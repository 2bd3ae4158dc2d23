#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
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

/// The tokens that end the waits of a thread while an object lives; the innermost one counts.
///
/// @par Thread safety
/// Objects end in the thread that made them, in reverse order.
class stop_scope {
 public:
  /// @param stop ends waits for a session, and repetitions.
  /// @param cut also ends calls that wait for a server: their sessions are lost.
  explicit stop_scope(std::stop_token stop, std::stop_token cut = {}) noexcept;
  stop_scope(const stop_scope&) = delete;
  stop_scope& operator=(const stop_scope&) = delete;
  ~stop_scope();

  [[nodiscard]] const std::stop_token& cut() const noexcept { return cut_; }
  /// Null: there is none.
  [[nodiscard]] static const stop_scope* innermost() noexcept;
  /// Of the innermost one.
  [[nodiscard]] static std::stop_token stop() noexcept;

 private:
  std::stop_token stop_;
  std::stop_token cut_;
  const stop_scope* outer_;
};

/// Ends what a session waits for.
struct session_cut {
  connection* session;
  void operator()() const noexcept { give_up(*session); }
};

/// Gives a session back to its pool, or closes it if it is not usable.
struct session_returner {
  session_pool* pool = nullptr;
  std::unique_ptr<std::stop_callback<session_cut>> cut = {};  ///< By stop_scope::cut.
  void operator()(connection* session) noexcept;
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

  /// @throws error errc::busy when no session was free in time, or a stop was requested before;
  ///   errc::invalid_argument in a child of the process that made the pool; the errors of
  ///   connecting.
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
  std::condition_variable_any returned_;
  std::vector<std::unique_ptr<connection>> idle_;  // guarded by mutex_
  std::size_t open_ = 0;                           // idle and on loan; guarded by mutex_
};

}  // namespace tableq::inline v0::core
