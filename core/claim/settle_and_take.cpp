#include "core/claim/settle_and_take.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "core/claim/lease_table.hpp"
#include "core/claim/operations.hpp"
#include "core/observe/observation.hpp"
#include "core/queue/limit_gates.hpp"

namespace tableq::inline v0::core {
namespace {

observed_operation observed(const queue_state& queue, statement id, std::size_t given) {
  return {.name = contract_of(of_kind(queue.info().kind, id)).name,
          .backend = queue.database().name(),
          .queue = queue.name(),
          .kind = queue.info().kind,
          .given = given};
}

/// Runs both, and reports them.
template <class Both>
void observed(const queue_state& queue, const joint_settlement& settlement,
              const settled_and_taken& out, const Both& both) {
  observer* const watching = queue.database().watching();
  if (watching == nullptr) return both();
  const observed_operation settles = observed(queue, settlement.id, settlement.given);
  observation settling(watching, settles);
  std::size_t applied = 0;
  settling.run([&] {
    both();
    applied = static_cast<std::size_t>(std::ranges::count(out.settled, settle_result::applied));
    settling.count(applied);
  });
  if (applied < settlement.given) settling.leases_lost(settlement.given - applied);
  const observed_operation takes = observed(queue, statement::claim_take, 0);
  observation taking(watching, takes);
  taking.run([&] { taking.count(out.taken.size()); });
}

}  // namespace

std::optional<settled_and_taken> settle_and_take(const queue_state& queue,
                                                 const joint_settlement& settlement,
                                                 std::size_t max, std::chrono::milliseconds lease) {
  read_gate gate(queue, nullptr, std::chrono::milliseconds{0}, std::stop_token());
  if (!gate.unlimited()) return std::nullopt;
  settled_and_taken out;
  std::vector<ended_attempt> unfit;
  watched_queue& watched = queue.shared().watched;
  const auto began = std::chrono::steady_clock::now();
  const bool asks =
      queue.mapped() == nullptr && (queue.database().set_clock() || watched.due.asks(began, true));
  const std::uint64_t mark = watched.readers.mark();
  observed(queue, settlement, out, [&] {
    in_shared_unit(queue, [&](transaction_state& tx) {
      out.settled = settlement.run(tx);
      out.course.read_began = std::chrono::steady_clock::now();
      // A table of the application looks for expired leases from time to time; `take` does that.
      taken_messages got = leases_of(queue).take(
          queue, &tx,
          {.max = max, .lease = lease, .how = asks ? reading::guarded : reading::plain});
      out.taken = std::move(got.good);
      unfit = std::move(got.unfit);
    });
  });
  const bool all = out.taken.size() == max;
  watched.due.took(all);
  if (asks && !out.taken.empty()) watched.due.none_due(began);
  if (!out.taken.empty()) watched.due.expect(began, lease);
  if (!out.taken.empty() && !all && unfit.empty()) out.course.drained_at = mark;
  if (unfit.empty()) return out;
  try {
    end_unfit(queue, nullptr, unfit);
  } catch (const error& failure) {
    // The others are leased, so they are delivered. These return when their leases end.
    out.trouble.emplace(failure);
  }
  return out;
}

}  // namespace tableq::inline v0::core
