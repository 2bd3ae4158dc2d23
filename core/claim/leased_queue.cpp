#include <tableq/leased_queue.hpp>

#include <utility>

#include "core/claim/operations.hpp"
#include "core/claim/retention.hpp"
#include "core/queue/operation.hpp"

namespace tableq::inline v0 {
namespace {

using core::queue_state;
using core::statement;
using core::transaction_state;

/// Runs `work(const queue_state&, transaction_state*)`.
/// @param id of a claim queue.
template <class Work>
auto lease_operation(const queue& handle, statement id, Work work) {
  auto done = core::operation(handle, core::of_kind(handle.kind(), id), work);
  if (!core::access::is_bound(handle)) core::apply_retention(core::access::state_of(handle));
  return done;
}

/// @param work one of the functions of operations.hpp.
template <class Work>
std::vector<settle_result> settle(const queue& handle, statement id, const receipts_view& taken,
                                  Work work) {
  return lease_operation(handle, id, [&](const queue_state& state, transaction_state* tx) {
    return work(state, tx, taken);
  });
}

receipts_view just(const receipt& one) {
  return std::span(&one, 1);
}

}  // namespace

std::vector<delivery> leased_queue::take(std::size_t max, const take_options& options) {
  return lease_operation(*this, statement::claim_take,
                         [&](const queue_state& state, transaction_state* tx) {
                           return core::take(state, tx, max, options);
                         });
}
std::optional<delivery> leased_queue::take_one(const take_options& options) {
  std::vector<delivery> taken = take(1, options);
  return taken.empty() ? std::nullopt : std::optional(std::move(taken.front()));
}

settle_result leased_queue::complete(const receipt& taken) {
  return complete_batch(just(taken)).front();
}
std::vector<settle_result> leased_queue::complete_batch(const receipts_view& taken) {
  return settle(*this, statement::claim_complete, taken,
                [](const auto&... given) { return core::complete(given...); });
}

settle_result leased_queue::fail(const receipt& taken, text_view error,
                                 const fail_options& options) {
  return lease_operation(*this, statement::claim_fail,
                         [&](const queue_state& state, transaction_state* tx) {
                           const core::failed_attempt one{taken, error.view(), options};
                           return core::fail(state, tx, std::span(&one, 1)).front();
                         });
}
std::vector<settle_result> leased_queue::fail_batch(const batch_view<failure>& failures) {
  return lease_operation(*this, statement::claim_fail,
                         [&](const queue_state& state, transaction_state* tx) {
                           std::vector<core::failed_attempt> attempts;
                           attempts.reserve(failures.items().size());
                           for (const failure& one : failures.items()) {
                             attempts.push_back({one.receipt, one.error, one.options});
                           }
                           return core::fail(state, tx, attempts);
                         });
}

settle_result leased_queue::release(const receipt& taken) {
  return release_batch(just(taken)).front();
}
std::vector<settle_result> leased_queue::release_batch(const receipts_view& taken) {
  return settle(*this, statement::claim_release, taken, core::release);
}

settle_result leased_queue::extend(const receipt& taken, std::chrono::milliseconds lease) {
  return extend_batch(just(taken), lease).front();
}
std::vector<settle_result> leased_queue::extend_batch(const receipts_view& taken,
                                                      std::chrono::milliseconds lease) {
  return lease_operation(*this, statement::claim_extend,
                         [&](const queue_state& state, transaction_state* tx) {
                           return core::extend(state, tx, taken, lease);
                         });
}

}  // namespace tableq::inline v0
