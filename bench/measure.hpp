#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <vector>

namespace bench {

/// One measured call.
/// @return how many messages it moved; zero if there were none.
using operation = std::function<std::size_t()>;

/// Makes the operation of thread number `index`. Called in that thread, before the measured time.
using operation_maker = std::function<operation(std::size_t index)>;

/// A measurement ends at the first of these limits.
struct bounds {
  double seconds = 1;
  std::size_t messages = 0;  ///< For all threads together; zero: no bound.
};

/// The result of a measurement.
struct outcome {
  std::size_t messages = 0;
  double seconds = 0;                ///< From the common start to the end of the last call.
  std::vector<double> latency = {};  ///< Microseconds, one for each call that moved something.

  [[nodiscard]] double rate() const;
};

/// A signal has ended the measurement.
struct interruption : std::runtime_error {
  interruption() : std::runtime_error("interrupted") {}
};

/// From now on SIGINT, SIGTERM and SIGHUP end measurements, but for a SIGHUP that was ignored
/// (nohup).
void end_on_signals();
[[nodiscard]] bool interrupted();

/// Repeats the operations in this number of threads.
/// @throws interruption, or the first exception of an operation; the other threads are stopped.
outcome measure(std::size_t threads, const bounds& until, const operation_maker& make);

}  // namespace bench
