// Functions that C does not have, for the conformance suite's objects: it throws. See facade.cpp.

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "facade.hpp"

namespace tableq::inline v0 {

using tableq_facade::refuse;

std::optional<scoped_delivery> claim_queue::take_scoped(const take_options& /*options*/) {
  refuse("C has no destructors");
}

std::future<message_id> plain_queue::enqueue_async(std::string /*payload*/,
                                                   const enqueue_options& /*options*/) {
  refuse("C has no asynchronous enqueue");
}
void plain_queue::enqueue_async(std::string /*payload*/, const enqueue_options& /*options*/,
                                std::function<void(outcome<message_id>)> /*done*/) {
  refuse("C has no asynchronous enqueue");
}
std::future<message_id> pending_queue::enqueue_async(std::string /*payload*/,
                                                     const pending_options& /*options*/) {
  refuse("C has no asynchronous enqueue");
}
void pending_queue::enqueue_async(std::string /*payload*/, const pending_options& /*options*/,
                                  std::function<void(outcome<message_id>)> /*done*/) {
  refuse("C has no asynchronous enqueue");
}
std::future<enqueued> claim_queue::enqueue_async(std::string /*payload*/,
                                                 const claim_enqueue_options& /*options*/) {
  refuse("C has no asynchronous enqueue");
}
void claim_queue::enqueue_async(std::string /*payload*/, const claim_enqueue_options& /*options*/,
                                std::function<void(outcome<enqueued>)> /*done*/) {
  refuse("C has no asynchronous enqueue");
}
namespace core {
class worker_engine {};  // Never made.
}  // namespace core
worker::worker(std::vector<worker_source> /*sources*/, worker_options /*options*/) {
  refuse("C has no workers");
}
worker::worker(claim_queue /*queue*/, handler /*handle*/, worker_options /*options*/) {
  refuse("C has no workers");
}
worker::worker(const table_queue& /*queue*/, handler /*handle*/, worker_options /*options*/) {
  refuse("C has no workers");
}
std::size_t drain(claim_queue /*queue*/, const handler& /*handle*/) {
  refuse("C has no workers");
}
std::size_t drain(const table_queue& /*queue*/, const handler& /*handle*/) {
  refuse("C has no workers");
}

}  // namespace tableq::inline v0
