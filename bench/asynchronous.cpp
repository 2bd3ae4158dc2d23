// One thread that keeps many messages in flight.
#include "cases.hpp"

namespace bench {

std::vector<bench_case> asynchronous_cases() {
  return {};
}

}  // namespace bench
