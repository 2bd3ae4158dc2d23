#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/combiner.hpp"
#include "core/observation.hpp"
#include "core/statement.hpp"
#include "core/value.hpp"

namespace tableq::core {

class queue_state;

/// What calls share their units of work with each other.
enum class lane : std::uint8_t {
  add,
  add_keyed,  ///< May wait for whoever holds the same key in an open transaction.
  read,
  promote,
  complete,
  fail,
  release,
  extend,
  none,  ///< Never run together.
};
constexpr std::size_t lane_count = static_cast<std::size_t>(lane::none);

/// By the statement, and for claim.enqueue by whether an item has a key.
lane lane_of(statement id, std::span<const value> items) noexcept;

/// The combiners of one queue, or of one database whose writers wait for each other in any case.
///
/// @par Thread safety
/// Shared objects: safe.
class combiners {
 public:
  [[nodiscard]] combiner& of(lane which) noexcept { return all_[static_cast<std::size_t>(which)]; }

 private:
  std::array<combiner, lane_count> all_;
};

/// Runs a statement outside a transaction, as queue_state::execute does, but in one unit of work
/// with the same statement of other threads; where writers of the database wait for each other
/// anyway, with whatever else they do. Each caller gets the rows of his own items, and of a read as
/// many as he asked for, those who came first the first ones.
row_set run_fused(const queue_state& of, statement id, lane in, std::span<const value> shared,
                  std::span<const value> items, const observation* watched);

/// Notes, as long as it lives, that the thread that made it has a transaction open. What such a
/// thread does outside of the transaction is not run together with others: they would wait for
/// locks that only this thread can give back.
class open_transaction {
 public:
  open_transaction();
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  ~open_transaction();

  /// Whether the calling thread has one.
  [[nodiscard]] static bool here() noexcept;

 private:
  std::shared_ptr<std::atomic<int>> count_;  // of the thread that made it; it may end elsewhere
};

}  // namespace tableq::core
