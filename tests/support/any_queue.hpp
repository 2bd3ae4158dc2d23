#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// A message of any kind.
struct item {
  tableq::message_id id;
  std::string payload;
};

/// A queue of any kind, for common promises. A read of a claim queue is a take and a complete.
class any_queue {
 public:
  any_queue(tableq::database& db, tableq::kind of, std::string_view name);

  /// The same queue inside the transaction.
  [[nodiscard]] any_queue in(tableq::transaction& tx) const;
  [[nodiscard]] any_queue in(const tableq::enlistment& joined) const;
  /// The same queue, beside a transaction of this thread.
  [[nodiscard]] any_queue outside() const;

  tableq::message_id put(std::string_view payload, const tableq::when_full& full = {});
  std::vector<tableq::message_id> put_all(const std::vector<std::string>& payloads,
                                          const tableq::when_full& full = {});
  [[nodiscard]] std::optional<item> take();
  /// Up to `max`, waiting up to `wait` for the first.
  [[nodiscard]] std::vector<item> take_up_to(std::size_t max, std::chrono::milliseconds wait = {},
                                             std::stop_token stop = {});
  /// Payloads in the order of reads, without taking them.
  [[nodiscard]] std::vector<std::string> peek(std::size_t max) const;
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] tableq::kind kind() const;
  /// The base of all kinds, with the limits.
  [[nodiscard]] tableq::queue& base();

 private:
  using variant = std::variant<tableq::heap_queue, tableq::fifo_queue, tableq::lifo_queue,
                               tableq::pending_queue, tableq::claim_queue>;
  explicit any_queue(variant queue) : queue_(std::move(queue)) {}
  template <class Where>
  [[nodiscard]] any_queue bound(Where& where) const;

  variant queue_;
};

/// Opens a queue of a kind that is only known at run time.
void open_queue(tableq::database& db, tableq::kind of, std::string_view name);

/// The payloads of the messages, in order.
template <class Messages>
std::vector<std::string> payloads_of(const Messages& messages) {
  std::vector<std::string> out;
  for (const auto& each : messages) out.push_back(each.payload);
  return out;
}

/// `count` short payloads with their index: `p0`, `p1`, ...
std::vector<std::string> numbered(std::size_t count, std::string_view prefix = "p");

}  // namespace tableq_test
