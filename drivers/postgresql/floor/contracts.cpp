#include "drivers/postgresql/floor/contracts.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "core/seam/statements.hpp"

namespace tableq::inline v0::drivers::postgresql {
namespace {

using core::contract;
using core::statement;

constexpr std::size_t own_count =
    static_cast<std::size_t>(own_statement::floors_remove) + 1 - core::statement_count;

constexpr std::size_t number_of(own_statement id) {
  return static_cast<std::size_t>(id) - core::statement_count;
}

template <class Request, class Row>
contract own(own_statement id, std::string_view name, bool writes = false) {
  return {.id = static_cast<statement>(id),
          .name = name,
          .writes = writes,
          .shared = core::described<Request>,
          .items = {},
          .columns = core::described<Row>};
}

/// Contracts are borrowed until the last session ends.
class all_contracts {
 public:
  all_contracts() {
    for (const contract& each : core::contracts()) {
      const auto at = static_cast<std::size_t>(each.id);
      with_places_[at] = each;
      if (beginning_of(each.id) == beginning::front) continue;
      fields_[at].assign(each.shared.begin(), each.shared.end());
      fields_[at].insert(fields_[at].end(), core::described<place_request>.begin(),
                         core::described<place_request>.end());
      with_places_[at].shared = fields_[at];
    }
    using enum own_statement;
    using core::nothing;
    add(own<look_request, look_row>(queue_floor, "queue.floor"));
    add(own<look_request, look_row>(claim_floor, "claim.floor"));
    add(own<look_request, look_row>(pending_floor, "pending.floor"));
    add(like(statement::pending_dequeue, pending_dequeue_from, "pending.dequeue_from"));
    add(like(statement::pending_next_due, pending_next_due_from, "pending.next_due_from"));
    add(like(statement::claim_take, claim_take_first, "claim.take_first"));
    add(like(statement::claim_take_limited, claim_take_first_limited, "claim.take_first_limited"));
    add(like(statement::claim_take_limited, claim_take_first_metered, "claim.take_first_metered"));
    add(own<core::limits_request, nothing>(limits_hold, "limits.hold"));
    add(like(statement::claim_stats, claim_stats_from, "claim.stats_from"));
    add(like(statement::claim_count, claim_count_from, "claim.count_from"));
    add(own<floors_request, floors_row>(floors_read, "floors.read"));
    add(own<floors_request, nothing>(floors_write, "floors.write", true));
    add(own<nothing, core::present_row>(floors_exist, "floors.exist"));
    add(own<core::name_request, nothing>(floors_remove, "floors.remove", true));
  }

  [[nodiscard]] const std::array<contract, own_count>& own_ones() const noexcept { return own_; }
  [[nodiscard]] const contract& with_places(statement id) const noexcept {
    return with_places_[static_cast<std::size_t>(id)];
  }

 private:
  void add(const contract& one) { own_[number_of(static_cast<own_statement>(one.id))] = one; }
  [[nodiscard]] contract like(statement of, own_statement id, std::string_view name) const {
    contract out = with_places(of);
    out.id = static_cast<statement>(id);
    out.name = name;
    return out;
  }

  std::array<std::vector<core::field>, core::statement_count> fields_;
  std::array<contract, core::statement_count> with_places_ = {};
  std::array<contract, own_count> own_ = {};
};

const all_contracts& all() {
  static const all_contracts made;
  return made;
}

}  // namespace

beginning beginning_of(statement id) noexcept {
  if (static_cast<std::size_t>(id) >= core::statement_count) return beginning::front;
  using enum statement;
  switch (id) {
    case lifo_dequeue:
    case lifo_dequeue_strict:
      return beginning::front;  // Its messages stand before those that are deleted.
    case pending_next_due:
    case claim_due:
    case claim_promote:
    case claim_next_due:
      return beginning::search;
    case heap_peek:
    case heap_stats:
    case fifo_peek:
    case fifo_stats:
    case lifo_stats:
    case queue_count:
    case claim_peek:
    case claim_stats:
    case claim_count:
    case claim_leased:
    case claim_letters:
    case claim_groups:
      return beginning::glance;
    case claim_advance:
    case claim_advance_limited:
      return beginning::among;
    default:
      if (core::contract_of(id).lane == core::lane::read) return beginning::read;
      return core::contract_of(id).operation == "claim.list" ? beginning::glance : beginning::front;
  }
}

std::span<const contract> own_contracts() noexcept {
  return all().own_ones();
}

const contract& contract_of(own_statement id) noexcept {
  return all().own_ones()[number_of(id)];
}

const contract& with_places(const contract& of) noexcept {
  if (static_cast<std::size_t>(of.id) >= core::statement_count) return of;
  return of.texts == nullptr ? all().with_places(of.id) : of;
}

}  // namespace tableq::inline v0::drivers::postgresql
