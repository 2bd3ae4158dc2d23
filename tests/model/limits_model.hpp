#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// The effect of a queue's limits, for one thread: docs/limits.md as code.
class limits_model {
 public:
  void set(const tableq::queue_limits& to, tableq::timestamp now);
  void pause(bool is) { paused_ = is; }
  [[nodiscard]] bool paused() const { return paused_; }
  /// All limits as text. With a rate also its tokens, and the time at which they were counted.
  [[nodiscard]] std::string described() const;

  /// How many messages a read may take. The read then reports how many it took.
  /// @param leased the number of messages under a lease that has not ended.
  [[nodiscard]] std::size_t allowed(std::size_t leased, tableq::timestamp now);
  void took(std::size_t count);

  /// Whether this number may be added to the waiting and leased ones.
  [[nodiscard]] bool has_room(std::size_t there, std::size_t wanted) const {
    return !limits_.capacity || there + wanted <= *limits_.capacity;
  }

 private:
  /// The tokens of a rate; a message costs 10^9.
  struct bucket {
    std::int64_t tokens = 0;
    tableq::timestamp refilled_at = {};
  };

  [[nodiscard]] std::int64_t full() const;

  tableq::queue_limits limits_;
  bool paused_ = false;
  bucket left_;
  bucket now_;
  bool set_back_ = false;
};

}  // namespace tableq_test
