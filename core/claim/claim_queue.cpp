#include <tableq/claim_queue.hpp>

#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/redrive.hpp"
#include "core/input/validate.hpp"
#include "core/queue/operation.hpp"

namespace tableq {
namespace {

using core::operation;
using core::statement;

using claim_writer = core::async_writer<claim_enqueue_options, enqueued>;

claim_writer& checked_writer(const core::queue_state& to, std::string_view payload,
                             const claim_enqueue_options& options) {
  core::check_payload(payload, to.database().able().max_payload);
  core::check_message(options, to.info().groups.has_value());
  return to.writing<claim_writer>([&to](std::span<const claim_writer::item> items) {
    std::vector<new_claim_message> messages;
    messages.reserve(items.size());
    for (const auto& each : items) messages.push_back({each.payload, each.options});
    return operation(to, nullptr, statement::claim_enqueue,
                     [&] { return core::add_claims(to, nullptr, messages, {}); });
  });
}

}  // namespace

enqueued claim_queue::enqueue(std::string_view payload, const claim_enqueue_options& options,
                              const when_full& full) {
  const new_claim_message one{payload, options};
  return enqueue_batch(std::span(&one, 1), full).front();
}
message_id claim_queue::enqueue(std::string_view payload) {
  return enqueue(payload, claim_enqueue_options{}).id;
}
enqueued claim_queue::enqueue(transaction& tx, std::string_view payload,
                              const claim_enqueue_options& options) {
  const new_claim_message one{payload, options};
  return enqueue_batch(tx, std::span(&one, 1)).front();
}
message_id claim_queue::enqueue(transaction& tx, std::string_view payload) {
  return enqueue(tx, payload, claim_enqueue_options{}).id;
}
std::vector<enqueued> claim_queue::enqueue_batch(std::span<const new_claim_message> messages,
                                                 const when_full& full) {
  return operation(state(), nullptr, statement::claim_enqueue,
                   [&] { return core::add_claims(state(), nullptr, messages, full); });
}
std::vector<enqueued> claim_queue::enqueue_batch(transaction& tx,
                                                 std::span<const new_claim_message> messages) {
  return operation(state(), &tx, statement::claim_enqueue,
                   [&] { return core::add_claims(state(), &tx, messages); });
}

std::future<enqueued> claim_queue::enqueue_async(std::string payload,
                                                 const claim_enqueue_options& options) {
  return operation(state(), nullptr, statement::claim_enqueue, [&] {
    claim_writer& to = checked_writer(state(), payload, options);
    return core::add_with_future(to, std::move(payload), options);
  });
}
void claim_queue::enqueue_async(std::string payload, const claim_enqueue_options& options,
                                std::function<void(outcome<enqueued>)> done) {
  operation(state(), nullptr, statement::claim_enqueue, [&] {
    claim_writer& to = checked_writer(state(), payload, options);
    to.add({std::move(payload), options, std::move(done)});
  });
}

std::vector<delivery> claim_queue::take(const take_options& options) {
  return operation(state(), nullptr, statement::claim_take,
                   [&] { return core::take(state(), nullptr, options); });
}
std::vector<delivery> claim_queue::take(transaction& tx, const take_options& options) {
  return operation(state(), &tx, statement::claim_take,
                   [&] { return core::take(state(), &tx, options); });
}

settled claim_queue::complete(const receipt& r) {
  return complete(std::span(&r, 1)).front();
}
settled claim_queue::complete(transaction& tx, const receipt& r) {
  return complete(tx, std::span(&r, 1)).front();
}
std::vector<settled> claim_queue::complete(std::span<const receipt> receipts) {
  return operation(state(), nullptr, statement::claim_complete,
                   [&] { return core::complete(state(), nullptr, receipts); });
}
std::vector<settled> claim_queue::complete(transaction& tx, std::span<const receipt> receipts) {
  return operation(state(), &tx, statement::claim_complete,
                   [&] { return core::complete(state(), &tx, receipts); });
}

settled claim_queue::fail(const receipt& r, std::string_view error, const fail_options& options) {
  const failure one{r, error, options};
  return fail(std::span(&one, 1)).front();
}
settled claim_queue::fail(transaction& tx, const receipt& r, std::string_view error,
                          const fail_options& options) {
  const failure one{r, error, options};
  return fail(tx, std::span(&one, 1)).front();
}
std::vector<settled> claim_queue::fail(std::span<const failure> failures) {
  return operation(state(), nullptr, statement::claim_fail,
                   [&] { return core::fail(state(), nullptr, failures); });
}
std::vector<settled> claim_queue::fail(transaction& tx, std::span<const failure> failures) {
  return operation(state(), &tx, statement::claim_fail,
                   [&] { return core::fail(state(), &tx, failures); });
}

settled claim_queue::release(const receipt& r) {
  return release(std::span(&r, 1)).front();
}
settled claim_queue::release(transaction& tx, const receipt& r) {
  return release(tx, std::span(&r, 1)).front();
}
std::vector<settled> claim_queue::release(std::span<const receipt> receipts) {
  return operation(state(), nullptr, statement::claim_release,
                   [&] { return core::release(state(), nullptr, receipts); });
}
std::vector<settled> claim_queue::release(transaction& tx, std::span<const receipt> receipts) {
  return operation(state(), &tx, statement::claim_release,
                   [&] { return core::release(state(), &tx, receipts); });
}

settled claim_queue::extend(const receipt& r, std::chrono::milliseconds lease) {
  return extend(std::span(&r, 1), lease).front();
}
settled claim_queue::extend(transaction& tx, const receipt& r, std::chrono::milliseconds lease) {
  return extend(tx, std::span(&r, 1), lease).front();
}
std::vector<settled> claim_queue::extend(std::span<const receipt> receipts,
                                         std::chrono::milliseconds lease) {
  return operation(state(), nullptr, statement::claim_extend,
                   [&] { return core::extend(state(), nullptr, receipts, lease); });
}
std::vector<settled> claim_queue::extend(transaction& tx, std::span<const receipt> receipts,
                                         std::chrono::milliseconds lease) {
  return operation(state(), &tx, statement::claim_extend,
                   [&] { return core::extend(state(), &tx, receipts, lease); });
}

std::vector<stored_message> claim_queue::peek(std::size_t max) const {
  return operation(state(), nullptr, statement::claim_peek,
                   [&] { return core::peek_claims(state(), max); });
}

std::vector<stored_message> claim_queue::list(message_state which, const tableq::page& page) const {
  return operation(state(), nullptr, statement::claim_list,
                   [&] { return core::list(state(), which, page); });
}
std::size_t claim_queue::redrive(std::span<const message_id> ids) {
  return operation(state(), nullptr, statement::claim_redrive,
                   [&] { return core::redrive(state(), ids); });
}

std::size_t claim_queue::redrive_all(const redrive_options& options) {
  return operation(state(), nullptr, statement::claim_redrive_all,
                   [&] { return core::redrive_all(state(), options); });
}

std::size_t claim_queue::purge(retained which, const purge_options& options) {
  return operation(state(), nullptr, statement::claim_purge,
                   [&] { return core::purge_claims(state(), which, options); });
}

claim_stats claim_queue::stats(const stats_options& options) const {
  return operation(state(), nullptr, statement::claim_stats,
                   [&] { return core::stats(state(), options); });
}

std::chrono::milliseconds claim_queue::lease() const noexcept {
  return known().info().lease;
}
int claim_queue::max_attempts() const noexcept {
  return known().info().max_attempts;
}

}  // namespace tableq
