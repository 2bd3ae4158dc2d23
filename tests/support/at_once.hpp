#pragma once

#include <tableq/claim_options.hpp>

namespace tableq_test {

/// Options of a queue whose failed messages are ready again at once, where a new queue would let
/// them rest.
inline tableq::claim_options at_once(tableq::claim_options given = {}) {
  if (!given.retry) given.retry = tableq::retry_delays::none();
  return given;
}

}  // namespace tableq_test
