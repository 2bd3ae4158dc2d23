#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace bench {

/// One call that is measured. @return how many messages it moved; zero when none was there.
using operation = std::function<std::size_t()>;

/// Makes what thread number `index` does; called in that thread, before the time runs.
using operation_maker = std::function<operation(std::size_t index)>;

/// When a measurement ends: whatever comes first.
struct bounds {
  double seconds = 1;
  std::size_t messages = 0;  ///< For all threads together; zero: no bound.
};

/// What was measured.
struct outcome {
  std::size_t messages = 0;
  double seconds = 0;                ///< From the common start to the end of the last call.
  std::vector<double> latency = {};  ///< Microseconds, one for each call that moved something.

  [[nodiscard]] double rate() const;
};

/// From now on SIGINT and SIGTERM end what is measured: each measurement throws then.
void end_on_signals();
[[nodiscard]] bool interrupted();

/// Runs the operations in so many threads, each again and again.
/// @throws what an operation threw first; the other threads are stopped.
outcome measure(std::size_t threads, const bounds& until, const operation_maker& make);

}  // namespace bench
