#pragma once

#include <optional>
#include <span>
#include <string>

#include <tableq/schema.hpp>

#include "core/database/database_state.hpp"
#include "core/database/shared_queue.hpp"
#include "core/seam/driver.hpp"

namespace tableq::inline v0::core {

/// Reads of one queue that begin after its deleted rows, on a database whose deleted rows linger.
///
/// Borrows the database and the names, which outlive it.
///
/// @par Thread safety
/// Shared objects: safe; it does not change.
class floor_reads {
 public:
  floor_reads(database_state& database, const queue_info& info, const table_names& names,
              shared_queue& shared);

  /// Runs one statement on the session. A read begins at its floor.
  row_set run(connection& session, const contract& what, std::span<const value> shared,
              std::span<const value> items) const;

  enum class patience { waits, gives_up };
  /// Looks for better floors, if that is due and the database can have them. The look has its own
  /// session, so it sees committed rows only: call it while the thread holds none, because several
  /// threads that each hold one and wait for a second would wait for each other. Its failure is
  /// ignored.
  /// @param for_session whether it waits for a session, or is left out if all are in use.
  void look(patience for_session) const noexcept;
  /// Learns the floors of other processes, at the beginning and when this process has not looked
  /// for a while. As `look`, while the thread holds no session.
  void learn_from_others() const noexcept;
  /// If a read began at the very start and was slow, other processes need not do that too: tells
  /// them. As `look`, while the thread holds no session.
  void tell_of_start() const noexcept;

 private:
  [[nodiscard]] row_set from_floor(connection& session, const contract& what,
                                   std::span<const value> shared) const;
  [[nodiscard]] row_set from_levels(connection& session, const contract& what,
                                    std::span<const value> shared) const;
  [[nodiscard]] row_set from_places(connection& session, const contract& what,
                                    std::span<const value> shared,
                                    const read_floor::start& where) const;
  [[nodiscard]] row_set from_glance(connection& session, const contract& what,
                                    std::span<const value> shared) const;
  [[nodiscard]] row_set from_level(connection& session, const read_floor::start& where,
                                   std::span<const value> shared) const;
  [[nodiscard]] row_set from_passed(connection& session, const contract& what,
                                    std::span<const value> shared) const;
  [[nodiscard]] row_set from_due(connection& session, const contract& what,
                                 std::span<const value> shared) const;
  [[nodiscard]] row_set around_gaps(connection& session, const contract& what,
                                    std::span<const value> shared) const;
  [[nodiscard]] std::int64_t passed(std::int64_t until) const;
  [[nodiscard]] bool tells_late() const noexcept;

  // floor_looks.cpp
  template <class Work>
  auto on_session(patience for_session, Work work) const;
  void learn(patience for_session) const;
  /// The next `learn` asks anew, if this process has not looked for a while.
  void learn_again() const noexcept;
  void tell(patience for_session, const std::optional<floor_state>& news) const;
  /// After a read.
  void note_start(bool everything, look_schedule::time began) const noexcept;
  void look_for_floors(patience for_session) const noexcept;
  void look_for_gaps(patience for_session) const noexcept;
  [[nodiscard]] read_floor::sight see(connection& session, const read_floor::question& asked) const;
  [[nodiscard]] read_floor::sight see_levels(connection& session,
                                             const read_floor::question& asked) const;
  [[nodiscard]] read_floor::sight see_due(connection& session,
                                          const read_floor::question& asked) const;

  database_state& database_;
  const kind kind_;
  const int layout_;
  const std::string queue_;
  const std::int64_t identity_;
  const table_names& names_;
  shared_queue& shared_;
};

}  // namespace tableq::inline v0::core
