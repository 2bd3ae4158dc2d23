#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/own_sessions.hpp"
#include "drivers/postgresql/floor/contracts.hpp"
#include "drivers/postgresql/floor/table_places.hpp"
#include "drivers/session.hpp"

namespace tableq::inline v0::drivers::postgresql {

/// The knowledge of a queue's table that the sessions of one `database` object share.
///
/// @par Thread safety
/// Shared objects: safe.
struct known_table {
  explicit known_table(core::table_names of) : names(std::move(of)) {}

  const core::table_names names;
  table_places where;
  std::atomic<bool> readable = false;  ///< The user may read the places of other processes,
  std::atomic<bool> writable = false;  ///< and may store those of this one.
  /// The text like claim.take_first that the limits of the last take allow. Null: none.
  std::atomic<const core::contract*> first_within_limits = nullptr;

  /// Whether a test sets the clock, and may set it back.
  [[nodiscard]] bool set_clock() const noexcept { return names.clock != nullptr; }
  /// Whether claim.take_first, or a text like it, is worth a try.
  [[nodiscard]] bool tries_first() noexcept { return skips_ <= 0 || skips_-- <= 0; }
  /// It took nothing where claim.take did. The next takes do without.
  void take_first_in_vain() noexcept { skips_ = 16; }

 private:
  std::atomic<int> skips_ = 0;
};

/// The tables of one `database` object, by queue.
///
/// @par Thread safety
/// Shared objects: safe.
class known_tables {
 public:
  static constexpr std::size_t most = 10'000;  ///< Then it forgets all of them.

  std::shared_ptr<known_table> of(const core::table_names& names);

 private:
  std::mutex guard_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::shared_ptr<known_table>> tables_;
};

/// A session with a database whose deleted rows linger in its indexes. Reads begin behind them:
/// see table_places.
///
/// A look sees committed rows only, so it runs outside transactions: before a read, or after a
/// transaction with reads. Its failure is ignored.
///
/// Shares the tables with other sessions.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class floor_session final : public dialect_session {
 public:
  floor_session(std::shared_ptr<known_tables> tables, const session_source& from)
      : dialect_session(from), tables_(std::move(tables)), looks_(from.address.shortcuts.floors) {}

  void run(std::string_view operation, const core::table_names& names,
           std::span<core::statement_call> all) override;
  void end(core::transaction_end how) override;

 private:
  struct touched_table {
    std::shared_ptr<known_table> table;
    order by;
  };

  /// Runs a statement as it is.
  core::row_set plain(const core::contract& what, const core::table_names& names,
                      std::span<const core::value> shared);
  /// Runs several in one round trip. @return false: it cannot, and nothing was run.
  bool run_placed(std::string_view operation, const core::table_names& names,
                  std::span<core::statement_call> all);
  core::row_set read(const std::shared_ptr<known_table>& of, const core::contract& what,
                     std::span<const core::value> shared);
  core::row_set read_from(known_table& of, const core::contract& what,
                          std::span<const core::value> shared, const places& where, order by);
  core::row_set glance(known_table& of, const core::contract& what,
                       std::span<const core::value> shared);
  core::row_set among(const std::shared_ptr<known_table>& of, const core::contract& what,
                      std::span<const core::value> shared, std::span<const core::value> items);
  core::row_set search(known_table& of, const core::contract& what,
                       std::span<const core::value> shared);
  /// Runs a statement with the places.
  core::row_set from(const core::contract& what, const core::table_names& names,
                     std::span<const core::value> shared, const places& where,
                     const range_lists& lists, std::span<const core::value> items = {});
  [[nodiscard]] bool begins_behind(const core::contract& what,
                                   const core::table_names& names) const noexcept;
  static places usable_places(const known_table& of, places where);
  /// The running transaction reads the table.
  void touch(const std::shared_ptr<known_table>& table, order by);
  /// Runs `work` outside a transaction.
  /// @return whether it succeeded.
  template <class Work>
  bool aside(Work work) noexcept;
  /// The same before a statement outside of transactions, which is not sent if the session is lost.
  /// @throws error errc::connection_lost, then.
  template <class Work>
  void before(const core::contract& what, Work work);
  /// @param first only if this process knows nothing.
  void learn(known_table& of, bool first);
  void look(known_table& of, order by);
  [[nodiscard]] table_places::sight see(known_table& of, const table_places::question& asked);
  void tell(known_table& of);
  void remove_from_floors(const core::table_names& names, std::span<const core::value> shared);

  const std::shared_ptr<known_tables> tables_;
  const bool looks_;                    // false: reads begin at the front (shortcuts::floors)
  std::vector<touched_table> touched_;  // by the reads of tableq's own transaction
};

extern const own_sessions floor_sessions;

}  // namespace tableq::inline v0::drivers::postgresql
