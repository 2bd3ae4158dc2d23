#include <tableq/table_queue.hpp>

#include <utility>

#include "core/claim/operations.hpp"
#include "core/database/in_transaction.hpp"
#include "core/queue/operation.hpp"
#include "core/table/index_report.hpp"
#include "core/table/mapped_table.hpp"

namespace tableq::inline v0 {
namespace {

using core::queue_state;
using core::transaction_state;

template <class Work>
std::vector<settle_result> settle_rows(const queue& handle, core::statement id,
                                       const receipts_view& taken, Work work) {
  return core::operation(handle, id, [&](const queue_state& state, transaction_state* tx) {
    return work(state, tx, taken);
  });
}

receipts_view only(const receipt& one) {
  return std::span(&one, 1);
}

}  // namespace

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

std::vector<delivery> table_queue::take(std::size_t max, const take_options& options) {
  return core::operation(*this, core::statement::table_take,
                         [&](const queue_state& state, transaction_state* tx) {
                           return core::take(state, tx, max, options);
                         });
}
std::optional<delivery> table_queue::take_one(const take_options& options) {
  std::vector<delivery> taken = take(1, options);
  return taken.empty() ? std::nullopt : std::optional(std::move(taken.front()));
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

settle_result table_queue::complete(const receipt& taken) {
  return complete_batch(only(taken)).front();
}
std::vector<settle_result> table_queue::complete_batch(const receipts_view& taken) {
  return settle_rows(*this, core::statement::table_complete, taken, core::complete);
}
settle_result table_queue::fail(const receipt& taken, text_view error,
                                const fail_options& options) {
  const failure one{.receipt = taken, .error = std::string(error.view()), .options = options};
  return fail_batch(std::span(&one, 1)).front();
}
std::vector<settle_result> table_queue::fail_batch(const batch_view<failure>& failures) {
  return core::operation(*this, core::statement::table_fail,
                         [&](const queue_state& state, transaction_state* tx) {
                           std::vector<core::failed_attempt> attempts;
                           attempts.reserve(failures.items().size());
                           for (const failure& one : failures.items()) {
                             attempts.push_back({one.receipt, one.error, one.options});
                           }
                           return core::fail(state, tx, attempts);
                         });
}
settle_result table_queue::release(const receipt& taken) {
  return release_batch(only(taken)).front();
}
std::vector<settle_result> table_queue::release_batch(const receipts_view& taken) {
  return settle_rows(*this, core::statement::table_release, taken, core::release);
}
settle_result table_queue::extend(const receipt& taken, std::chrono::milliseconds lease) {
  return extend_batch(only(taken), lease).front();
}
std::vector<settle_result> table_queue::extend_batch(const receipts_view& taken,
                                                     std::chrono::milliseconds lease) {
  return settle_rows(
      *this, core::statement::table_extend, taken,
      [lease](const queue_state& state, transaction_state* tx, const receipts_view& receipts) {
        return core::extend(state, tx, receipts, lease);
      });
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
