#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// The messages of a `claim` queue in one state; the iteration reads them page by page. Made by
/// `claim_queue::list_all`.
///
/// An input range. Shares the sessions of the database: it and its iterators keep them open. Each
/// `begin` reads the first page. The range is no snapshot: see claim_queue::list. `begin` and `++`
/// throw as `list` does; after an error the iterator keeps its position, and `++` may be repeated.
///
/// @par Thread safety
/// Distinct objects: safe, except copies of one iterator. Shared objects: safe for the range,
/// unsafe for an iterator.
class TABLEQ_EXPORT message_range {
  struct walk;

 public:
  /// Shares its position and its page with its copies; keeps the database open.
  ///
  /// @par Thread safety
  /// See message_range: copies belong to one thread.
  class TABLEQ_EXPORT iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = stored_message;
    using difference_type = std::ptrdiff_t;

    /// The end of every range.
    iterator() noexcept = default;
    /// The message. Valid until the next `++`.
    [[nodiscard]] const stored_message& operator*() const noexcept;
    /// The same.
    [[nodiscard]] const stored_message* operator->() const noexcept { return &**this; }
    /// Moves to the next message; reads the next page when needed.
    iterator& operator++();
    /// The same, without a result.
    void operator++(int) { ++*this; }
    /// True at the end.
    friend bool operator==(const iterator& position, std::default_sentinel_t /*end*/) noexcept {
      return position.over();
    }

   private:
    friend class message_range;
    explicit iterator(std::shared_ptr<walk> position) noexcept;
    [[nodiscard]] bool over() const noexcept;

    std::shared_ptr<walk> walk_;
  };

  /// The first message in the queue now.
  /// @throws error as claim_queue::list.
  [[nodiscard]] iterator begin() const;
  /// The end of the range.
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend class claim_queue;
  message_range(const claim_queue& queue, message_state state, std::size_t page_size);

  std::shared_ptr<const walk> first_;  ///< Nothing is read yet.
};

}  // namespace tableq::inline v0
