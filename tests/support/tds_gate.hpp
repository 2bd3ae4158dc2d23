#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace tableq_test {

/// Stops an answer until the test lets it continue. Copies are the same gate.
/// @par Thread safety Everything may be called from any thread.
class tds_gate {
 public:
  /// The longest wait for an event that should come at once.
  static constexpr std::chrono::seconds patience{20};

  tds_gate();

  /// Permanently.
  void open();
  [[nodiscard]] bool is_open() const;
  /// Waits until an answer has reached it. @return false when none came.
  [[nodiscard]] bool reached(std::chrono::milliseconds limit = patience) const;

  /// For the server: waits at the gate while the result lives; the gate calls `wake` when it opens.
  [[nodiscard]] std::shared_ptr<void> stand(std::function<void()> wake);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tableq_test
