#include <tableq/worker.hpp>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/base/process.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/input/validate.hpp"
#include "core/queue/queue_state.hpp"
#include "core/worker/engine.hpp"
#include "core/worker/handle.hpp"

namespace tableq::inline v0 {
namespace {

void check(const claim_queue& queue) {
  if (core::access::is_bound(queue)) {
    core::refuse("workers have transactions of their own: give the queue, not queue.in(tx)");
  }
}

/// For a drain, or for a worker with these options.
claim_queue settling(const table_queue& table, const worker_options& options = {}) {
  if (options.retry_delay.value_or(std::chrono::milliseconds(0)).count() > 0 &&
      table.mapping().due_at.empty()) {
    core::refuse(errc::unsupported,
                 "the mapping of the table " + table.name() +
                     " has no due_at, which a retry_delay needs; name the column, or leave the "
                     "delay out");
  }
  if (!table.guarantee().settles) {
    throw error(
        errc::unsupported, advice::never,
        "a take from the table " + table.name() +
            " deletes the row, so a worker could not record the result; name in the mapping a "
            "column that holds the state of the row");
  }
  return core::access::claims_of(table);
}

void check(const handler& work) {
  if (!work) core::refuse("a worker needs a handler");
}

void check(const worker_options& options) {
  constexpr std::size_t most_threads = 1000;
  constexpr std::size_t most_prefetched = 10'000;
  if (options.threads < 1 || options.threads > most_threads) core::refuse("threads is 1 to 1000");
  if (options.prefetch.value_or(0) > most_prefetched) core::refuse("prefetch is 0 to 10000");
  constexpr std::chrono::milliseconds longest_linger{60'000};
  if (options.linger.count() < 0 || options.linger > longest_linger) {
    core::refuse("linger is 0 to 60 seconds");
  }
  if (options.max_kept && (*options.max_kept < 1 || *options.max_kept > most_prefetched)) {
    core::refuse("max_kept is 1 to 10000");
  }
  if (options.retry_delay) core::check_delay(*options.retry_delay);
}

void check(const worker_source& source, const claim_queue& queue, const worker_options& options) {
  constexpr std::size_t largest_weight = 1000;
  check(queue);
  core::check_beside(core::access::state_of(queue).database(), core::beside::change,
                     core::access::is_outside(queue));
  check(source.work);
  if (source.weight < 1 || source.weight > largest_weight) core::refuse("weight is 1 to 1000");
  core::check_lease(options.lease.value_or(queue.lease()));
}

/// The sources as claim queues.
std::vector<worker_source> checked_sources(std::vector<worker_source> sources,
                                           const worker_options& options) {
  constexpr std::size_t most_sources = 100;
  if (sources.empty() || sources.size() > most_sources) {
    core::named({}, "work", [] { core::refuse("a worker has 1 to 100 sources"); });
  }
  for (worker_source& one : sources) {
    if (const auto* table = std::get_if<table_queue>(&one.queue)) {
      one.queue = settling(*table, options);
    }
    const claim_queue& queue = std::get<claim_queue>(one.queue);
    core::named(core::access::state_of(queue).database().name(), "work", [&] {
      check(options);
      check(one, queue, options);
    });
  }
  return sources;
}

std::vector<worker_source> alone(std::variant<claim_queue, table_queue> queue, handler work) {
  std::vector<worker_source> one;
  one.push_back({.queue = std::move(queue), .work = std::move(work)});
  return one;
}

void fail(claim_queue& queue, const delivery& mine, const handled& result) {
  static_cast<void>(queue.fail(mine, result.why(),
                               {.delay = core::rest_of(result, queue, mine),
                                .give_up = result.what() == handled::how::given_up}));
}

void complete(claim_queue& queue, const delivery& mine, const handled& result) {
  try {
    static_cast<void>(core::complete_with(queue, mine, result));
  } catch (const error& refused) {
    if (!core::may_concern_one_message(refused)) throw;
    fail(queue, mine, core::refused_completion(refused));
  }
}

void check_usable(const core::worker_engine* engine) {
  if (engine == nullptr) {
    core::named({}, "work",
                [] { core::refuse("the worker was moved to another object; use that"); });
  }
  engine->check_here();
}

}  // namespace

worker::worker(std::vector<worker_source> sources, worker_options options)
    : engine_(std::make_unique<core::worker_engine>(checked_sources(std::move(sources), options),
                                                    std::move(options))) {}
worker::worker(claim_queue queue, handler work, worker_options options)
    : worker(alone(std::move(queue), std::move(work)), std::move(options)) {}
worker::worker(const table_queue& table, handler work, worker_options options)
    : worker(alone(table, std::move(work)), std::move(options)) {}
worker::worker(worker&&) noexcept = default;
worker::~worker() {
  if (engine_) core::end_at_home()(engine_.release());
}
void worker::stop() noexcept {
  if (engine_ && engine_->here()) engine_->stop();
}
void worker::abandon() noexcept {
  if (engine_ && engine_->here()) engine_->abandon();
}
bool worker::stop_within(std::chrono::milliseconds longest) {
  check_usable(engine_.get());
  return engine_->stop_within(longest);
}
bool worker::wait_for(std::chrono::milliseconds longest) {
  check_usable(engine_.get());
  return engine_->wait_for(longest);
}
void worker::join() {
  check_usable(engine_.get());
  engine_->join();
}
worker_counts worker::counts() const {
  check_usable(engine_.get());
  return engine_->counts();
}
worker_counts worker::counts(std::size_t source) const {
  check_usable(engine_.get());
  return engine_->counts(source);
}

std::size_t drain(claim_queue queue, const handler& work) {
  core::named(core::access::state_of(queue).database().name(), "work", [&] {
    check(queue);
    core::check_beside(core::access::state_of(queue).database(), core::beside::operation,
                       core::access::is_outside(queue));
    check(work);
  });
  // A handler may leave a transaction open, and settle there.
  queue = queue.outside();
  std::size_t count = 0;
  for (;;) {
    const std::optional<delivery> taken = queue.take_one();
    if (!taken) return count;
    const delivery& mine = *taken;
    ++count;
    const core::handler_result result = core::handle(work, queue, mine, std::stop_token(), {});
    if (result.ended) continue;
    switch (result.verdict.what()) {
      case handled::how::completed:
        complete(queue, mine, result.verdict);
        break;
      case handled::how::given_back:
        static_cast<void>(queue.release(mine));
        return count;  // Otherwise the next take would return it again.
      default:
        fail(queue, mine, result.verdict);
    }
  }
}
std::size_t drain(const table_queue& table, const handler& work) {
  return drain(settling(table), work);
}

}  // namespace tableq::inline v0
