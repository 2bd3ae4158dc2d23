#include <map>
#include <string>
#include <vector>

#include "model/claim_history.hpp"

namespace tableq_test {

namespace {

/// When one message of a group was put, first taken, and completed.
struct grouped {
  tableq::message_id id;
  span put;
  std::optional<span> first_taken;
  std::optional<span> completed;
};

}  // namespace

complaint check_groups(const claim_history& all) {
  std::map<tableq::message_id, grouped> messages;
  std::map<int, std::vector<const grouped*>> groups;
  for (const claim_event& each : all) {
    if (each.what != claim_deed::put || each.group == 0) continue;
    grouped& added = messages[each.id];
    added = {.id = each.id, .put = each.when, .first_taken = {}, .completed = {}};
    groups[each.group].push_back(&added);
  }
  for (const claim_event& each : all) {
    const auto found = messages.find(each.id);
    if (found == messages.end()) continue;
    grouped& of = found->second;
    if (each.what == claim_deed::take &&
        (!of.first_taken || each.when.back < of.first_taken->back)) {
      of.first_taken = each.when;
    }
    if (each.what == claim_deed::complete && each.result == tableq::settle_result::applied) {
      of.completed = each.when;
    }
  }
  for (const auto& [group, members] : groups) {
    for (const grouped* a : members) {
      for (const grouped* b : members) {
        if (a->id >= b->id || !b->first_taken) continue;
        // In one batch, or one after the other. Otherwise the lower id may have come later.
        const bool earlier =
            a->put.before(b->put) || (a->put.call == b->put.call && a->put.back == b->put.back);
        if (!earlier || (a->completed && !b->first_taken->before(*a->completed))) continue;
        return "message " + std::to_string(b->id.value) + " was handed out before message " +
               std::to_string(a->id.value) + " of its group was completed";
      }
    }
  }
  return {};
}

}  // namespace tableq_test
