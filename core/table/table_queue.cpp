#include <tableq/table_queue.hpp>

#include "core/database/transaction_state.hpp"
#include "core/queue/operation.hpp"
#include "core/table/index_report.hpp"
#include "core/table/mapped_table.hpp"

namespace tableq::inline v0 {

using core::queue_state;
using core::transaction_state;

table_guarantee table_queue::guarantee() const {
  return core::mapped_of(core::access::state_of(*this)).layout().guarantee();
}
const table_mapping& table_queue::mapping() const noexcept {
  return core::mapped_of(core::access::state_of(*this)).mapping();
}

row table_queue::enqueue(const row& values) {
  return core::operation(*this, core::statement::table_insert,
                         [&](const queue_state& state, transaction_state* tx) {
                           return core::mapped_of(state).insert(state, tx, values);
                         });
}
std::vector<row> table_queue::enqueue_batch(const batch_view<row>& rows) {
  return core::operation(
      *this, core::statement::table_insert, [&](const queue_state& state, transaction_state* tx) {
        std::vector<row> out;
        if (rows.items().empty()) return out;
        core::in_one_transaction(state.database(), tx, [&](transaction_state& step_tx) {
          out.clear();
          for (const row& each : rows.items()) {
            out.push_back(core::mapped_of(state).insert(state, &step_tx, each));
          }
          return out.size();
        });
        return out;
      });
}

void table_queue::give_back(const std::vector<delivery>& taken, std::size_t bad,
                            const char* why) noexcept {
  try {
    static_cast<void>(fail(taken.at(bad), std::string_view(why)));
    std::vector<receipt> others;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (i != bad) others.push_back(taken[i].receipt);
    }
    static_cast<void>(release_batch(others));
  } catch (...) {  // The caller gets the exception of its row_traits; leases end by themselves.
  }
}

std::size_t table_queue::requeue_older_than(std::chrono::milliseconds age) {
  return core::operation_outside(
      *this, core::statement::table_requeue,
      [&](const queue_state& state) { return core::mapped_of(state).requeue(state, age); });
}
std::vector<row> table_queue::peek(std::size_t max) const {
  return core::operation_outside(*this, core::statement::table_peek, [&](const queue_state& state) {
    return core::mapped_of(state).peek(state, max);
  });
}
claim_stats table_queue::stats(const stats_options& options) const {
  return core::operation_outside(
      *this, core::statement::table_count,
      [&](const queue_state& state) { return core::mapped_of(state).stats(state, options); });
}

std::string table_queue::ddl() const {
  return core::operation_outside(
      *this, core::statement::table_indexes, [](const queue_state& state) {
        return core::missing_indexes(state.database(), core::mapped_of(state));
      });
}
std::vector<finding> table_queue::inspect() const {
  return core::operation_outside(*this, core::statement::table_indexes,
                                 [](const queue_state& state) {
                                   return core::inspect(state.database(), core::mapped_of(state));
                                 });
}

}  // namespace tableq::inline v0
