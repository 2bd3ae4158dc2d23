#include <tableq/leased_queue.hpp>

#include <utility>

#include "core/claim/operations.hpp"
#include "core/claim/retention.hpp"
#include "core/queue/operation.hpp"

namespace tableq::inline v0 {
namespace {

using core::ended_attempt;
using core::statement;

/// Runs `work(const queue_state&, transaction_state*, given...)`.
/// @param id of a claim queue.
template <class Work, class... Given>
auto lease_operation(const queue& handle, statement id, Work work, const Given&... given) {
  return core::operation(handle, core::of_kind(handle.kind(), id),
                         [&](const core::queue_state& queue, core::transaction_state* tx) {
                           auto done = work(queue, tx, given...);
                           if (tx == nullptr) core::apply_retention(queue);
                           return done;
                         });
}

ended_attempt to_attempt(const receipt& taken, std::string_view error,
                         const fail_options& options) {
  return {.receipt = taken,
          .error = error,
          .delay = options.delay,
          .how = options.give_up ? ended_attempt::kind::given_up : ended_attempt::kind::failed};
}

receipts_view just(const receipt& one) {
  return std::span(&one, 1);
}

}  // namespace

std::vector<delivery> leased_queue::take(std::size_t max, const take_options& options) {
  return core::until_stopped(options.stop, [&] {
    return lease_operation(*this, statement::claim_take, core::take, max, options, nullptr);
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
  return lease_operation(*this, statement::claim_complete, core::complete, taken,
                         core::given_results());
}

settle_result leased_queue::fail(const receipt& taken, text_view error,
                                 const fail_options& options) {
  return lease_operation(*this, statement::claim_fail,
                         [&](const core::queue_state& mine, core::transaction_state* tx) {
                           return core::fail(mine, tx, {to_attempt(taken, error.view(), options)});
                         })
      .front();
}
std::vector<settle_result> leased_queue::fail_batch(const batch_view<failure>& failures) {
  std::vector<ended_attempt> attempts;
  attempts.reserve(failures.items().size());
  for (const failure& one : failures.items())
    attempts.push_back(to_attempt(one.receipt, one.error, one.options));
  return lease_operation(*this, statement::claim_fail, core::fail, attempts);
}

settle_result leased_queue::release(const receipt& taken) {
  return release_batch(just(taken)).front();
}
std::vector<settle_result> leased_queue::release_batch(const receipts_view& taken) {
  return lease_operation(*this, statement::claim_release, core::release, taken);
}

settle_result leased_queue::extend(const receipt& taken, std::chrono::milliseconds lease) {
  return extend_batch(just(taken), lease).front();
}
std::vector<settle_result> leased_queue::extend_batch(const receipts_view& taken,
                                                      std::chrono::milliseconds lease) {
  return lease_operation(*this, statement::claim_extend, core::extend, taken, lease);
}

}  // namespace tableq::inline v0
