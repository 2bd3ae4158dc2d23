#include <tableq/claim_queue.hpp>

#include <array>

#include "core/claim_operations.hpp"
#include "core/validate.hpp"

namespace tableq {
namespace {

using core::statement;
using core::to_value;
using core::value;

}  // namespace

enqueued claim_queue::enqueue(std::string_view payload, const claim_enqueue_options& options) {
  const new_claim_message one{payload, options};
  return core::add_claims(state(), nullptr, {&one, 1}).front();
}
message_id claim_queue::enqueue(std::string_view payload) {
  return enqueue(payload, claim_enqueue_options{}).id;
}
enqueued claim_queue::enqueue(transaction& tx, std::string_view payload,
                              const claim_enqueue_options& options) {
  const new_claim_message one{payload, options};
  return core::add_claims(state(), &tx, {&one, 1}).front();
}
message_id claim_queue::enqueue(transaction& tx, std::string_view payload) {
  return enqueue(tx, payload, claim_enqueue_options{}).id;
}
std::vector<enqueued> claim_queue::enqueue_batch(std::span<const new_claim_message> messages) {
  return core::add_claims(state(), nullptr, messages);
}
std::vector<enqueued> claim_queue::enqueue_batch(transaction& tx,
                                                 std::span<const new_claim_message> messages) {
  return core::add_claims(state(), &tx, messages);
}

std::vector<delivery> claim_queue::take(const take_options& options) {
  return core::take(state(), nullptr, options);
}
std::vector<delivery> claim_queue::take(transaction& tx, const take_options& options) {
  return core::take(state(), &tx, options);
}

settled claim_queue::complete(const receipt& r) {
  return core::complete(state(), nullptr, {&r, 1}).front();
}
settled claim_queue::complete(transaction& tx, const receipt& r) {
  return core::complete(state(), &tx, {&r, 1}).front();
}
std::vector<settled> claim_queue::complete(std::span<const receipt> receipts) {
  return core::complete(state(), nullptr, receipts);
}
std::vector<settled> claim_queue::complete(transaction& tx, std::span<const receipt> receipts) {
  return core::complete(state(), &tx, receipts);
}

settled claim_queue::fail(const receipt& r, std::string_view error, const fail_options& options) {
  const failure one{r, error, options};
  return core::fail(state(), nullptr, {&one, 1}).front();
}
settled claim_queue::fail(transaction& tx, const receipt& r, std::string_view error,
                          const fail_options& options) {
  const failure one{r, error, options};
  return core::fail(state(), &tx, {&one, 1}).front();
}
std::vector<settled> claim_queue::fail(std::span<const failure> failures) {
  return core::fail(state(), nullptr, failures);
}
std::vector<settled> claim_queue::fail(transaction& tx, std::span<const failure> failures) {
  return core::fail(state(), &tx, failures);
}

settled claim_queue::release(const receipt& r) {
  return core::release(state(), nullptr, {&r, 1}).front();
}
settled claim_queue::release(transaction& tx, const receipt& r) {
  return core::release(state(), &tx, {&r, 1}).front();
}
std::vector<settled> claim_queue::release(std::span<const receipt> receipts) {
  return core::release(state(), nullptr, receipts);
}
std::vector<settled> claim_queue::release(transaction& tx, std::span<const receipt> receipts) {
  return core::release(state(), &tx, receipts);
}

settled claim_queue::extend(const receipt& r, std::chrono::milliseconds lease) {
  return core::extend(state(), nullptr, {&r, 1}, lease).front();
}
settled claim_queue::extend(transaction& tx, const receipt& r, std::chrono::milliseconds lease) {
  return core::extend(state(), &tx, {&r, 1}, lease).front();
}
std::vector<settled> claim_queue::extend(std::span<const receipt> receipts,
                                         std::chrono::milliseconds lease) {
  return core::extend(state(), nullptr, receipts, lease);
}
std::vector<settled> claim_queue::extend(transaction& tx, std::span<const receipt> receipts,
                                         std::chrono::milliseconds lease) {
  return core::extend(state(), &tx, receipts, lease);
}

std::vector<stored_message> claim_queue::peek(std::size_t max) const {
  core::check_batch_size(max);
  const std::array shared{to_value(max), state().database().now()};
  return core::to_stored(state().execute(nullptr, statement::claim_peek, shared));
}

std::vector<stored_message> claim_queue::list(retained which, const tableq::page& page) const {
  core::check_batch_size(page.max);
  std::int64_t after_at = -1;
  std::int64_t after_id = 0;
  if (page.after) {
    after_at = page.after->finished_at.value_or(timestamp()).time_since_epoch().count();
    after_id = page.after->id.value;
  }
  const std::array shared{value(static_cast<std::int64_t>(which)), to_value(page.max),
                          value(after_at), value(after_id)};
  return core::to_stored(state().execute(nullptr, statement::claim_list, shared));
}

std::size_t claim_queue::redrive(std::span<const message_id> ids) {
  return core::redrive(state(), ids);
}

std::size_t claim_queue::redrive_all() {
  return core::redrive_all(state());
}

std::size_t claim_queue::purge(retained which, const purge_options& options) {
  core::check_delay(options.older_than, "older_than");
  core::check_batch_size(options.batch, 4000);
  const std::array shared{value(static_cast<std::int64_t>(which)), to_value(options.older_than),
                          to_value(options.batch), state().database().now()};
  std::size_t total = 0;
  for (;;) {
    const std::size_t gone = state().execute(nullptr, statement::claim_purge, shared).size();
    total += gone;
    if (gone < options.batch) return total;
  }
}

claim_stats claim_queue::stats() const {
  const value now = state().database().now();
  const core::row_set rows = state().execute(nullptr, statement::claim_stats, {&now, 1});
  const auto count = [&](std::size_t i) { return static_cast<std::size_t>(rows.integer(0, i)); };
  return {.ready = count(0),
          .delayed = count(1),
          .leased = count(2),
          .done = count(3),
          .dead = count(4),
          .oldest = core::to_timestamp(rows.maybe_integer(0, 5))};
}

std::chrono::milliseconds claim_queue::lease() const noexcept {
  return state().info().lease;
}
int claim_queue::max_attempts() const noexcept {
  return state().info().max_attempts;
}

}  // namespace tableq
