#include <tableq/message_range.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <tableq/claim_queue.hpp>

#include "core/input/validate.hpp"
#include "core/queue/operation.hpp"

namespace tableq::inline v0 {

struct message_range::walk {
  claim_queue queue;
  message_state state;
  page next;
  std::vector<stored_message> messages = {};
  std::size_t place = 0;

  [[nodiscard]] bool over() const noexcept { return place >= messages.size(); }

  /// To the next message; reads the next page if need be.
  void advance() {
    if (place + 1 < messages.size()) {
      ++place;
      return;
    }
    page after = next;
    if (!messages.empty()) {
      after.after = messages.back();
      after.after->payload.clear();
    }
    // A page that is not full is the last one.
    const bool last = !messages.empty() && messages.size() < after.max;
    messages = last ? std::vector<stored_message>() : queue.list(state, after);
    next = std::move(after);
    place = 0;
  }
};

message_range::message_range(const claim_queue& queue, message_state state, std::size_t page_size)
    : first_(std::make_shared<walk>(walk{queue, state, {.max = page_size}})) {}

message_range::iterator message_range::begin() const {
  auto begun = std::make_shared<walk>(*first_);
  begun->advance();
  return iterator(std::move(begun));
}

message_range::iterator::iterator(std::shared_ptr<walk> position) noexcept
    : walk_(std::move(position)) {}

const stored_message& message_range::iterator::operator*() const noexcept {
  return walk_->messages[walk_->place];
}
message_range::iterator& message_range::iterator::operator++() {
  walk_->advance();
  return *this;
}
bool message_range::iterator::over() const noexcept {
  return walk_ == nullptr || walk_->over();
}

message_range claim_queue::list_all(message_state state, std::size_t page_size) const {
  core::operation_outside(*this, core::statement::claim_list, [&](const core::queue_state& /*of*/) {
    core::check_batch_size(page_size);
  });
  message_range out(*this, state, page_size);
  return out;
}

}  // namespace tableq::inline v0
