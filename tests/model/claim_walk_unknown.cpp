// The steps of a walk after a change with an unknown outcome.
#include <algorithm>
#include <string>

#include "model/claim_walk.hpp"
#include "model/described.hpp"

namespace tableq_test {

using namespace std::chrono_literals;

namespace {

constexpr int most_keys = 8;
/// Before the end of every key's window, so that a query shows each holder of a key, even a done
/// one.
constexpr std::chrono::hours long_ago{1};

std::string holder_of(const std::string& key, std::optional<tableq::message_id> id) {
  return id ? key + " is held by " + std::to_string(id->value) + '\n' : std::string();
}

}  // namespace

std::vector<tableq::stored_message> claim_walk::all_messages() {
  using enum tableq::message_state;
  std::vector<tableq::stored_message> out;
  for (const auto state : {ready, leased, delayed, done, dead, held}) {
    for (auto& each : queue_->list(state, {.max = 10'000})) out.push_back(std::move(each));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

std::vector<tableq::stored_message> claim_walk::unknown_messages() {
  std::vector<tableq::stored_message> out = all_messages();
  std::erase_if(out, [&](const auto& each) { return model_.get(each.id).has_value(); });
  return out;
}

void claim_walk::enqueued_perhaps(const std::vector<tableq::new_claim_message>& batch) {
  either([&] {
    const auto added = unknown_messages();
    std::size_t next = 0;
    // Ids follow the order of the batch. Without ids it has not happened.
    add(batch, [&](std::size_t) {
      return next < added.size() ? added[next++].id : tableq::message_id{model_.last().value + 1};
    });
  });
}

std::string claim_walk::shown() {
  std::string out = shown_limits() + described(all_messages());
  const tableq::timestamp now = clock.now();
  for (const tableq::timestamp at : {now - long_ago, now}) {
    clock.set(at);
    for (int i = 0; i < most_keys; ++i) {
      const std::string key = "key " + std::to_string(i);
      const auto found = queue_->find(key);
      out += holder_of(key, found ? std::optional(found->id) : std::nullopt);
    }
  }
  if (!letters_) return out;
  std::vector<std::string> letters;
  for (auto& each : letters_->list(tableq::message_state::ready, {.max = 10'000})) {
    each.id = {};
    letters.push_back(described(each));
  }
  std::sort(letters.begin(), letters.end());
  for (const std::string& each : letters) out += each;
  return out;
}

std::string claim_walk::shown_by(const claim_model& model) const {
  std::string out = model.limits().described() + described(model.all());
  for (const tableq::timestamp at : {clock.now() - long_ago, clock.now()}) {
    for (int i = 0; i < most_keys; ++i) {
      const std::string key = "key " + std::to_string(i);
      out += holder_of(key, model.holder(key, at));
    }
  }
  std::vector<std::string> letters;
  for (const auto& [payload, each] : model.letters()) letters.push_back(described(each));
  std::sort(letters.begin(), letters.end());
  for (const std::string& each : letters) out += each;
  return out;
}

}  // namespace tableq_test
