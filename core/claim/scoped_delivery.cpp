#include <tableq/scoped_delivery.hpp>

#include <memory>
#include <optional>
#include <utility>

#include <tableq/claim_queue.hpp>

#include "core/base/errors.hpp"
#include "core/base/process.hpp"
#include "core/database/access.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq::inline v0 {

struct scoped_delivery::content {
  claim_queue queue;
  delivery taken;
  bool settled = false;

  [[nodiscard]] bool here() const noexcept {
    return core::access::state_of(queue).database().here();
  }
  settle_result settle(settle_result result) noexcept {
    settled = true;
    return result;
  }
};

scoped_delivery::scoped_delivery(std::unique_ptr<content> held) noexcept
    : content_(std::move(held)) {}
scoped_delivery::scoped_delivery(scoped_delivery&&) noexcept = default;
scoped_delivery& scoped_delivery::operator=(scoped_delivery&& other) noexcept {
  if (this != &other) {
    let_go();
    content_ = std::move(other.content_);
  }
  return *this;
}
scoped_delivery::~scoped_delivery() {
  let_go();
}

void scoped_delivery::let_go() noexcept {
  const std::unique_ptr<content, core::end_at_home> mine(content_.release());
  if (mine == nullptr || mine->settled || !mine->here()) return;
  try {
    static_cast<void>(mine->queue.release(mine->taken));
  } catch (...) {  // A destructor must not throw. The message is ready again when its lease ends.
  }
}

scoped_delivery::content& scoped_delivery::held() const {
  if (!content_) core::refuse("the delivery was moved to another object; use that");
  return *content_;
}

const delivery& scoped_delivery::operator*() const {
  return held().taken;
}
const delivery* scoped_delivery::operator->() const {
  return &held().taken;
}
settle_result scoped_delivery::complete() {
  content& mine = held();
  return mine.settle(mine.queue.complete(mine.taken));
}
settle_result scoped_delivery::complete(transaction& tx) {
  content& mine = held();
  return mine.settle(mine.queue.in(tx).complete(mine.taken));
}
settle_result scoped_delivery::complete(payload_view result) {
  content& mine = held();
  return mine.settle(mine.queue.complete(mine.taken, result));
}
settle_result scoped_delivery::complete(transaction& tx, payload_view result) {
  content& mine = held();
  return mine.settle(mine.queue.in(tx).complete(mine.taken, result));
}
settle_result scoped_delivery::fail(std::string_view error, const fail_options& options) {
  content& mine = held();
  return mine.settle(mine.queue.fail(mine.taken, error, options));
}
settle_result scoped_delivery::release() {
  content& mine = held();
  return mine.settle(mine.queue.release(mine.taken));
}
settle_result scoped_delivery::extend(std::chrono::milliseconds lease) {
  content& mine = held();
  return mine.queue.extend(mine.taken, lease);
}
void scoped_delivery::progress(double done, text_view note) {
  content& mine = held();
  mine.queue.progress(mine.taken, done, note);
}

std::optional<scoped_delivery> claim_queue::take_scoped(const take_options& options) {
  // Made before the take, so that a lack of memory does not block a message for the time of a
  // lease.
  auto made = std::make_unique<scoped_delivery::content>(scoped_delivery::content{*this, {}});
  std::optional<delivery> taken = take_one(options);
  if (!taken) return std::nullopt;
  made->taken = std::move(*taken);
  return scoped_delivery(std::move(made));
}

}  // namespace tableq::inline v0
