#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/claim_history.hpp"

namespace tableq_test {

namespace {

/// When a message became ready for the first time, and when it was first taken.
struct lined_up {
  tableq::message_id id;
  std::optional<span> ready;
  std::optional<span> taken;
};

/// The database's clock has milliseconds, and those of one come by their ids.
constexpr std::int64_t margin = 2'000'000;

std::vector<lined_up> in_line(const claim_history& all) {
  std::map<tableq::message_id, lined_up> messages;
  std::map<int, tableq::message_id> last_of_group;
  std::map<tableq::message_id, tableq::message_id> next_of;
  for (const claim_event& each : all) {
    if (each.what != claim_deed::put) continue;
    lined_up& added = messages[each.id];
    added.id = each.id;
    const auto last = last_of_group.find(each.group);
    if (each.group == 0 || last == last_of_group.end()) added.ready = each.when;
    if (each.group != 0 && last != last_of_group.end()) next_of[last->second] = each.id;
    if (each.group != 0) last_of_group[each.group] = each.id;
  }
  for (const claim_event& each : all) {
    if (each.what == claim_deed::complete && each.result == tableq::settle_result::applied) {
      const auto next = next_of.find(each.id);
      if (next != next_of.end()) messages.at(next->second).ready = each.when;
    }
    std::optional<span>& taken = messages[each.id].taken;
    if (each.what == claim_deed::take && (!taken || each.when.back < taken->back))
      taken = each.when;
  }
  std::vector<lined_up> out;
  for (const auto& [id, each] : messages) out.push_back(each);
  return out;
}

}  // namespace

complaint check_turns(const claim_history& all) {
  const std::vector<lined_up> messages = in_line(all);
  for (const lined_up& first : messages) {
    for (const lined_up& second : messages) {
      if (!first.ready || !second.ready || !second.taken) continue;
      const bool earlier = first.ready->back + margin < second.ready->call;
      if (!earlier || (first.taken && !second.taken->before(*first.taken))) continue;
      return "message " + std::to_string(first.id.value) + " was ready before message " +
             std::to_string(second.id.value) + " and handed out after it";
    }
  }
  return {};
}

}  // namespace tableq_test
