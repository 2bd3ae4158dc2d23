#include <tableq/database.hpp>

#include <utility>

#include <tableq/testing.hpp>

#include "core/database/access.hpp"
#include "core/database/database_state.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/queue_options.hpp"
#include "core/queue/queue_state.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/named.hpp"

namespace tableq::inline v0 {
namespace {

using shared_state = std::shared_ptr<core::database_state>;

const shared_state& usable(const shared_state& state) {
  state->check_here();
  return state;
}

std::shared_ptr<core::queue_state> shared(std::unique_ptr<core::queue_state> made) {
  return {made.release(), core::end_at_home()};
}

template <class Work>
auto observed(const core::database_state& in, observed_operation as, Work work) {
  as.backend = in.name();
  return core::named(in.name(), as.name, [&] {
    return in.observed(as, [&](const core::observation& /*told*/) { return work(); });
  });
}

std::shared_ptr<core::queue_state> opened(const shared_state& in, std::string_view name,
                                          const queue_settings& settings) {
  return observed(*in, {.name = "open", .queue = name, .kind = settings.kind}, [&] {
    return shared(std::make_unique<core::queue_state>(in, core::open_queue(*in, name, settings)));
  });
}

/// The dead-letter queue is opened first, when all else is known to fit: nothing is made by a call
/// that fails.
std::shared_ptr<core::queue_state> opened_claim(const shared_state& in, std::string_view name,
                                                const queue_settings& settings) {
  core::named(in->name(), "open", [&] { core::settle_options(name, settings); });
  std::string wanted = settings.claim.dead_letters.value_or(std::string());
  std::shared_ptr<core::queue_state> letters;
  if (!wanted.empty()) {
    core::named(in->name(), "open", [&] {
      if (const auto stored = core::find_queue(*in, name)) core::merge_options(*stored, settings);
    });
    letters = opened(in, wanted, {.kind = kind::claim});
  }
  queue_info info = observed(*in, {.name = "open", .queue = name, .kind = settings.kind},
                             [&] { return core::open_queue(*in, name, settings); });
  if (wanted.empty() && !info.dead_letters.empty()) {
    letters = opened(in, info.dead_letters, {.kind = kind::claim});
  }
  return shared(std::make_unique<core::queue_state>(in, std::move(info), std::move(letters)));
}

/// @param faults as make_driver's.
database connected(std::string_view url, const open_options& options,
                   std::shared_ptr<core::fault_plan> faults) {
  return core::named({}, "connect", [&] {
    shared_state state(new core::database_state(url, options, std::move(faults)),
                       core::end_at_home());
    core::named(state->name(), "connect", [&] {
      state->connect();
      core::check_catalog(*state);
    });
    return core::access::make(std::move(state));
  });
}

}  // namespace

database::database(std::shared_ptr<core::database_state> state) noexcept
    : state_(std::move(state)) {}

database database::open(std::string_view url, const open_options& options) {
  return connected(url, options, nullptr);
}
database testing::faults::open(std::string_view url, const open_options& options) const {
  return connected(url, options, plan_);
}

heap_queue database::heap(std::string_view name) {
  return heap_queue(opened(usable(state_), name, {.kind = kind::heap}));
}
fifo_queue database::fifo(std::string_view name, const order_options& options) {
  return fifo_queue(opened(usable(state_), name, {.kind = kind::fifo, .order = options}));
}
lifo_queue database::lifo(std::string_view name, const order_options& options) {
  return lifo_queue(opened(usable(state_), name, {.kind = kind::lifo, .order = options}));
}
pending_queue database::pending(std::string_view name) {
  return pending_queue(opened(usable(state_), name, {.kind = kind::pending}));
}
claim_queue database::claim(std::string_view name, const claim_options& options) {
  return claim_queue(opened_claim(usable(state_), name, {.kind = kind::claim, .claim = options}));
}

transaction database::begin() {
  return core::access::make(core::begin_transaction(usable(state_)));
}

void database::run_transaction(const std::function<void(transaction&)>& body) {
  usable(state_)->observed({.name = "transact", .backend = state_->name()},
                           [&](const core::observation& told) {
                             core::repeating(
                                 state_->options().retry_for, core::contact::known,
                                 [&] {
                                   transaction tx = begin();
                                   body(tx);
                                   tx.commit();
                                 },
                                 &told);
                           });
}

std::vector<queue_info> database::queues() const {
  return observed(*usable(state_), {.name = "queues"}, [&] { return core::list_queues(*state_); });
}
std::optional<queue_info> database::find(std::string_view name) const {
  return observed(*usable(state_), {.name = "find", .queue = name},
                  [&] { return core::find_queue(*state_, name); });
}
bool database::drop(std::string_view name) {
  return observed(*usable(state_), {.name = "drop", .queue = name},
                  [&] { return core::drop_queue(*state_, name); });
}
std::vector<finding> database::inspect() const {
  return observed(*usable(state_), {.name = "inspect"}, [&] { return core::inspect(*state_); });
}
const std::string& database::backend() const noexcept {
  return state_->name();
}

}  // namespace tableq::inline v0
