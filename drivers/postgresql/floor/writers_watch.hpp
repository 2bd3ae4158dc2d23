#pragma once

#include <string>
#include <utility>

namespace tableq::inline v0::drivers::postgresql {

/// Finds out when the transactions have ended that a look at a table could not see into.
///
/// A look is one statement. It reads rows from its snapshot, and afterwards the transactions that
/// hold the lock of a writer on the table (`writers`, in a form that only the dialect reads). An
/// insert takes this lock before it draws an id or reads the clock, and keeps it until its
/// transaction ends. So an id that was drawn before the look belongs to a transaction that has
/// ended, or to one of these writers. A commit becomes visible before its lock is released.
///
/// Three looks settle the first one: it names the writers; a later one no longer finds them; the
/// snapshot of the next one shows everything that they have left. The second look cannot do the
/// work of the third: its snapshot is older than its view of the locks.
///
/// @par Thread safety
/// One thread.
class writers_watch {
 public:
  enum class progress {
    waiting,  ///< Writers of the first look still run, or have only just been found to have ended.
    begun,    ///< This is a first look.
    settled,  ///< The look shows all rows that the transactions before the first one have left.
              ///< It is a first look again.
  };

  /// The writers that the next look searches for.
  [[nodiscard]] const std::string& writers() const noexcept { return writers_; }

  /// Takes note of a look.
  /// @param writers that the look has found.
  /// @param ended whether it found none of those that it searched for.
  progress look(std::string writers, bool ended) {
    if (phase_ == phase::running) {
      if (ended) phase_ = phase::over;
      return progress::waiting;
    }
    const progress out = phase_ == phase::over ? progress::settled : progress::begun;
    writers_ = std::move(writers);
    phase_ = writers_.empty() ? phase::over : phase::running;
    return out;
  }

  /// The next look is a first one.
  void forget() noexcept {
    phase_ = phase::none;
    writers_.clear();
  }

 private:
  enum class phase { none, running, over };

  phase phase_ = phase::none;
  std::string writers_;
};

}  // namespace tableq::inline v0::drivers::postgresql
