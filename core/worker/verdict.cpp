#include "core/worker/verdict.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <random>
#include <string>
#include <utility>

#include <tableq/message_rules.hpp>

#include "core/claim/lease_table.hpp"
#include "core/database/access.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"

namespace tableq::inline v0::core {
namespace {

/// One character more than the table stores: the settlement cuts at the end of a character.
constexpr std::size_t long_enough = longest_error + 4;

/// Cuts the text, because the rest would only use memory until the settlement.
std::string shortened(std::string why) {
  if (why.size() > long_enough) {
    why.resize(long_enough);
    why.shrink_to_fit();
  }
  return why;
}

std::string message_of(const std::exception& failure) {
  const char* const text = failure.what();
  if (text == nullptr) return "the handler threw an exception without words";
  return {text, ::strnlen(text, long_enough)};
}

handled failed(std::string why, std::optional<std::chrono::milliseconds> delay) {
  return delay ? handled::retry_after(std::move(why), *delay) : handled::failed(std::move(why));
}

handled settleable(handled result, std::optional<std::chrono::milliseconds> retry_delay) {
  std::string why = shortened(result.why());
  switch (result.what()) {
    case handled::how::completed:
    case handled::how::given_back:
    case handled::how::settled:
    case handled::how::kept:
      return result;
    case handled::how::given_up:
      return handled::give_up(std::move(why));
    case handled::how::failed:
      break;
  }
  if (!result.delay() || good_delay(*result.delay())) return failed(std::move(why), result.delay());
  const std::string note = "retry_after takes 0 to 3,650 days, and the handler asked for " +
                           std::to_string(result.delay()->count()) + " ms: ";
  return failed(shortened(note + why), retry_delay);
}

}  // namespace

handled verdict_of(const std::function<handled()>& call,
                   std::optional<std::chrono::milliseconds> retry_delay) {
  try {
    try {
      return settleable(call(), retry_delay);
    } catch (const std::exception& failure) {
      return failed(message_of(failure), retry_delay);
    } catch (...) {  // A handler may throw anything; its message fails, and the other messages
                     // continue.
      return failed("the handler threw an object that is no std::exception", retry_delay);
    }
  } catch (const std::bad_alloc&) {  // No memory for the text.
    return failed({}, retry_delay);
  }
}

std::optional<std::chrono::milliseconds> rest_of(const handled& verdict, const claim_queue& queue,
                                                 const delivery& message) {
  const kept_outcomes kept = leases_of(access::state_of(queue)).keeps();
  if (verdict.delay() || kept.rule || !kept.delays) return verdict.delay();
  if (verdict.what() != handled::how::failed) return {};
  const retry_delays usual = retry_delays::usual();
  const auto place = static_cast<std::size_t>(std::max(message.attempt, 1)) - 1;
  const std::chrono::milliseconds rest = usual.after[std::min(place, usual.after.size() - 1)];
  thread_local std::minstd_rand random{std::random_device{}()};
  return rest * std::uniform_int_distribution(100 - usual.jitter, 100 + usual.jitter)(random) / 100;
}

settle_result complete_with(claim_queue queue, const delivery& message, const handled& verdict) {
  return verdict.result() ? queue.complete(message, *verdict.result()) : queue.complete(message);
}

handled refused_completion(const error& refused) {
  return handled::failed(
      shortened(std::string("the handler was done, but the database refused the completion: ") +
                refused.what()));
}

}  // namespace tableq::inline v0::core
