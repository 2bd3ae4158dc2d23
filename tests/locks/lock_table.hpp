#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tableq_test::locks {

/// What a lock says of the gap before an entry of an index.
enum class gap_part { none, shared, insert, exclusive };
/// And of the entry itself.
enum class entry_part { none, shared, update, exclusive };

/// A lock mode of SQL Server: RangeS-U is {shared, update}, X is {none, exclusive}.
struct lock_mode {
  gap_part gap = gap_part::none;
  entry_part entry = entry_part::none;
};

inline constexpr lock_mode shared_lock{gap_part::none, entry_part::shared};
inline constexpr lock_mode update_lock{gap_part::none, entry_part::update};
inline constexpr lock_mode exclusive_lock{gap_part::none, entry_part::exclusive};
inline constexpr lock_mode insert_test{gap_part::insert, entry_part::none};

/// By the matrix of the documentation ("Lock compatibility", "Key-range locking").
bool compatible(const lock_mode& one, const lock_mode& other);
/// The weakest mode that is both.
lock_mode both(const lock_mode& one, const lock_mode& other);

/// Who holds which locks. A request never waits behind other waiting requests: the server's order
/// of arrival could only make more requests wait.
class lock_table {
 public:
  /// The others that hold what excludes the mode.
  [[nodiscard]] std::set<int> holders_against(const std::string& resource, int who,
                                              const lock_mode& mode) const;
  [[nodiscard]] bool free_for(const std::string& resource, int who, const lock_mode& mode) const {
    return holders_against(resource, who, mode).empty();
  }
  /// @return what was held before.
  lock_mode hold(const std::string& resource, int who, const lock_mode& mode);
  /// Back to a mode that was held before.
  void lower(const std::string& resource, int who, const lock_mode& mode);
  void release_all(int who);
  /// Whether something below the prefix is locked for more than reading.
  [[nodiscard]] bool holds_below(std::string_view prefix, int who) const;

 private:
  std::map<std::string, std::map<int, lock_mode>> held_;
};

}  // namespace tableq_test::locks
