#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace tableq_test {

/// Where an answer stands still until the test lets it go on. Copies are the same gate.
/// @par Thread safety Everything may be called from any thread.
class tds_gate {
 public:
  /// How long anything waits for what should come at once.
  static constexpr std::chrono::seconds patience{20};

  tds_gate();

  /// For good.
  void open();
  [[nodiscard]] bool is_open() const;
  /// Waits until an answer stands before it. @return false when none came.
  [[nodiscard]] bool reached(std::chrono::milliseconds limit = patience) const;

  /// For the server: stands before the gate for as long as the result lives, and has `wake` called
  /// when it opens.
  [[nodiscard]] std::shared_ptr<void> stand(std::function<void()> wake);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tableq_test
