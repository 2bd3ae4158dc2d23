// The steps of a walk with dead messages, and in their queue.
#include <string>

#include "model/claim_walk.hpp"
#include "model/described.hpp"

namespace tableq_test {

void claim_walk::read_letter(tableq::transaction* tx) {
  if (!letters_) return;
  if (tx == nullptr) may_.heal();
  const auto got = in(tx, *letters_).take(1);
  const auto& expected = model_.letters();
  ASSERT_EQ(got.empty(), expected.empty());
  if (got.empty()) return;
  const auto found = expected.find(got[0].payload);
  ASSERT_NE(found, expected.end());
  for (const auto& [payload, each] : expected) ASSERT_LE(each.priority, got[0].priority);
  ASSERT_EQ(got[0].headers, found->second.headers);
  ASSERT_EQ(got[0].key, found->second.key);
  ASSERT_EQ(got[0].attempt, 1);
  const auto done = in(tx, *letters_).complete(got[0].receipt);
  ASSERT_EQ(done, tableq::settle_result::applied);
  model_.remove_letter(got[0].payload);
}

void claim_walk::write_letter(tableq::transaction* tx) {
  if (!letters_) return;
  if (tx == nullptr) may_.heal();
  const std::string payload = any_payload();
  const auto put = [&] { return in(tx, *letters_).enqueue(payload, {.created_at = clock.now()}); };
  if (refused(model_.limits_of_letters(), 1, model_.letters().size(), put)) return;
  ASSERT_TRUE(put().created());
  model_.add_letter(payload, clock.now());
}

void claim_walk::limit_letters() {
  may_.heal();
  tableq::queue_limits to;
  if (!random_.one_in(4)) to.capacity = 1 + random_.below(6);
  letters_->set_limits(to);
  model_.limits_of_letters().set(to, clock.now());
}

void claim_walk::redrive() {
  if (!random_.one_in(4)) {
    std::vector<tableq::message_id> ids = {{1}, model_.last()};
    const auto dead = model_.list(tableq::message_state::dead);
    if (!dead.empty()) ids.push_back(dead[random_.below(dead.size())].id);
    std::size_t got = 0;
    if (!told([&] { got = queue_->redrive(ids); })) {
      return either([&] { model_.redrive(ids, clock.now()); });
    }
    ASSERT_EQ(got, model_.redrive(ids, clock.now()));
    return;
  }
  tableq::redriven got;
  const bool known = told([&] { got = queue_->redrive_all(); });
  if (!known) may_.may_be(model_);
  const std::size_t own = model_.own_letters();
  const std::size_t letters = model_.letters_that_come_back(clock.now());
  const std::size_t woken = model_.redrive_all(clock.now());
  if (known) {
    ASSERT_EQ(got.count, woken + letters);
    ASSERT_EQ(got.key_held, own - letters);
  } else {
    may_.may_be(model_);
  }
  // The payloads identify their new ids.
  const auto back = unknown_messages();
  ASSERT_TRUE(!known || back.size() == letters);
  for (const tableq::stored_message& each : back) {
    ASSERT_EQ(model_.letters().count(each.payload), 1U);
    model_.adopt(each.id, each.payload);
  }
}

void claim_walk::compare_letters() {
  const auto got = letters_->list(tableq::message_state::ready, {.max = 10'000});
  std::vector<tableq::stored_message> expected;
  for (const auto& each : got) {
    const auto found = model_.letters().find(each.payload);
    ASSERT_NE(found, model_.letters().end());
    expected.push_back(found->second);
    expected.back().id = each.id;
  }
  ASSERT_EQ(got.size(), model_.letters().size());
  ASSERT_EQ(described(got), described(expected));
}

}  // namespace tableq_test
