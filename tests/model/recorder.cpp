#include "model/recorder.hpp"

#include <algorithm>

namespace tableq_test {

namespace {

std::vector<std::int64_t> values_of(const std::vector<item>& items) {
  std::vector<std::int64_t> out;
  for (const item& each : items) out.push_back(std::stoll(each.payload));
  return out;
}

}  // namespace

void queue_actor::put(const std::vector<std::int64_t>& values) {
  std::vector<std::string> payloads;
  for (const std::int64_t value : values) payloads.push_back(std::to_string(value));
  const span when = timed([&] {
    if (payloads.size() == 1) {
      queue_.put(payloads.front());
    } else {
      queue_.put_all(payloads);
    }
  });
  into_.add({.what = deed::put, .values = values, .when = when, .actor = actor_});
}

void queue_actor::get(std::size_t max) {
  std::vector<item> items;
  const span when = timed([&] {
    if (max > 1) {
      items = queue_.take_up_to(max);
    } else if (auto one = queue_.take()) {
      items.push_back(*std::move(one));
    }
  });
  into_.add({.what = deed::got, .values = values_of(items), .when = when, .actor = actor_});
}

void queue_actor::get_and_undo(std::size_t max) {
  std::vector<item> items;
  const span when = timed([&] {
    tableq::transaction tx = db_.begin();
    items = queue_.in(tx).take_up_to(max);
    tx.rollback();
  });
  into_.add({.what = deed::undone, .values = values_of(items), .when = when, .actor = actor_});
}

void queue_actor::get_and_put(std::size_t max, std::int64_t value) {
  std::vector<item> items;
  const span when = timed([&] {
    db_.transact([&](tableq::transaction& tx) {
      items = queue_.in(tx).take_up_to(max);
      queue_.in(tx).put(std::to_string(value));
    });
  });
  into_.add({.what = deed::got, .values = values_of(items), .when = when, .actor = actor_});
  into_.add({.what = deed::put, .values = {value}, .when = when, .actor = actor_});
}

void queue_actor::drain() {
  for (std::size_t before = into_.all().size();; before = into_.all().size()) {
    get(1000);
    if (into_.all()[before].values.empty()) return;
  }
}

void claim_actor::put(std::size_t count, int group) {
  tableq::claim_enqueue_options options;
  if (group != 0) options.group = "group " + std::to_string(group);
  const std::vector<tableq::new_claim_message> batch(count, {.payload = "x", .options = options});
  std::vector<tableq::enqueued> added;
  const span when = timed([&] { added = queue_.enqueue_batch(batch); });
  for (const auto& each : added) {
    into_.add({.what = claim_deed::put, .id = each.id, .group = group, .when = when});
  }
}

void claim_actor::take(std::size_t max, std::chrono::milliseconds lease,
                       std::chrono::milliseconds wait) {
  std::vector<tableq::delivery> got;
  const span when = timed([&] { got = queue_.take(max, {.wait = wait, .lease = lease}); });
  for (const tableq::delivery& each : got) {
    into_.add({.what = claim_deed::take,
               .id = each.receipt.id,
               .fence = each.receipt.fence,
               .attempt = each.attempt,
               .lease = lease,
               .when = when});
    receipts_.push_back(each.receipt);
  }
}

void claim_actor::take_and_undo(tableq::database& db, std::size_t max) {
  tableq::transaction tx = db.begin();
  for (const auto& each : queue_.in(tx).take(max)) receipts_.push_back(each.receipt);
  tx.rollback();
}

void claim_actor::ask(claim_deed what, std::uint64_t which, std::chrono::milliseconds lease) {
  if (receipts_.empty()) return;
  const std::uint64_t recent = std::min<std::uint64_t>(receipts_.size(), 6);
  settle(what, receipts_[receipts_.size() - 1 - which % recent], lease);
}

void claim_actor::settle(claim_deed what, const tableq::receipt& by,
                         std::chrono::milliseconds lease) {
  tableq::settle_result result = tableq::settle_result::applied;
  const span when = timed([&] {
    switch (what) {
      case claim_deed::complete:
        result = queue_.complete(by);
        break;
      case claim_deed::fail:
        result = queue_.fail(by, "it did not work");
        break;
      case claim_deed::release:
        result = queue_.release(by);
        break;
      default:
        result = queue_.extend(by, lease);
        break;
    }
  });
  into_.add({.what = what,
             .id = by.id,
             .fence = by.fence,
             .lease = lease,
             .result = result,
             .when = when});
}

void claim_actor::drain() {
  using namespace std::chrono_literals;
  for (auto left = queue_.stats(); left.ready + left.leased + left.delayed + left.held > 0;
       left = queue_.stats()) {
    receipts_.clear();
    take(100, 60s, 50ms);
    for (const tableq::receipt& each : receipts_) settle(claim_deed::complete, each, 0ms);
  }
}

}  // namespace tableq_test
