#include "core/combining/open_transaction.hpp"

namespace tableq::inline v0::core {
namespace {

using counter = std::shared_ptr<std::atomic<int>>;

const counter& open_on_this_thread() {
  thread_local const counter count = std::make_shared<std::atomic<int>>(0);
  return count;
}

}  // namespace

open_transaction::open_transaction() : count_(open_on_this_thread()) {
  count_->fetch_add(1);
}
open_transaction::~open_transaction() {
  count_->fetch_sub(1);
}
bool open_transaction::on_this_thread() noexcept {
  return open_on_this_thread()->load() > 0;
}

}  // namespace tableq::inline v0::core
