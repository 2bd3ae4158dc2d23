#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <tableq/tableq.hpp>

#include "call.hpp"

struct tq_database : tableq_c::handle<tq_database> {
  static constexpr const char* name_of_type = "tq_database";
  tq_database(tableq::database opened, std::shared_ptr<tableq::metrics> counted)
      : db(std::move(opened)), figures(std::move(counted)) {}

  tableq::database db;
  std::shared_ptr<tableq::metrics> figures;  ///< Null: opened without.
};

struct tq_transaction : tableq_c::handle<tq_transaction> {
  static constexpr const char* name_of_type = "tq_transaction";
  explicit tq_transaction(tableq::transaction begun) : work(std::move(begun)) {}
  explicit tq_transaction(tableq::enlistment joined) : work(std::move(joined)) {}

  [[nodiscard]] tableq::transaction& tx() noexcept {
    auto* const joined = std::get_if<tableq::enlistment>(&work);
    return joined != nullptr ? static_cast<tableq::transaction&>(*joined)
                             : std::get<tableq::transaction>(work);
  }

  std::variant<tableq::transaction, tableq::enlistment> work;
};

struct tq_queue : tableq_c::handle<tq_queue> {
  static constexpr const char* name_of_type = "tq_queue";
  using any = std::variant<tableq::heap_queue, tableq::fifo_queue, tableq::lifo_queue,
                           tableq::pending_queue, tableq::claim_queue, tableq::table_queue>;
  explicit tq_queue(any opened) : queue(std::move(opened)) {}

  [[nodiscard]] tableq::queue& base() noexcept {
    return std::visit([](auto& one) -> tableq::queue& { return one; }, queue);
  }

  any queue;
};

namespace tableq_c {

template <class Queue>
inline constexpr bool is_claim = std::is_same_v<Queue, tableq::claim_queue>;
template <class Queue>
inline constexpr bool is_table = std::is_same_v<Queue, tableq::table_queue>;
/// A queue whose reads lease.
template <class Queue>
inline constexpr bool leases = is_claim<Queue> || is_table<Queue>;

/// Runs `work` on the queue, in the transaction if there is one.
template <class Work>
auto on(tq_queue* queue, tq_transaction* tx, Work work) {
  return std::visit(
      [&](auto& plain) {
        if (tx == nullptr) return work(plain);
        auto bound = plain.in(checked(tx).tx());
        return work(bound);
      },
      checked(queue).queue);
}

/// @param call its name. @param kinds those that have it.
[[noreturn]] inline void refuse_kind(const tableq::queue& queue, const char* call,
                                     const char* kinds) {
  refuse(std::string(call) + " is for " + kinds + "; " + queue.name() + " is of the kind " +
         std::string(to_string(queue.kind())));
}

/// Runs `work` on a claim queue, in the transaction if there is one.
/// @param call its name.
template <class Work>
auto on_claim(tq_queue* queue, tq_transaction* tx, const char* call, Work work) {
  tq_queue& known = checked(queue);
  auto* const claim = std::get_if<tableq::claim_queue>(&known.queue);
  if (claim == nullptr) refuse_kind(known.base(), call, "claim queues");
  if (tx == nullptr) return work(*claim);
  tableq::claim_queue bound = claim->in(checked(tx).tx());
  return work(bound);
}
/// The same for a call that returns what `work` makes.
template <class Out, class Work>
int on_claim(Out* out, tq_error** error, tq_queue* queue, tq_transaction* tx, const char* call,
             Work work) noexcept {
  return making(out, error, [&] { return on_claim(queue, tx, call, work); });
}

}  // namespace tableq_c
