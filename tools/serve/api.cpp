#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cursor.hpp"
#include "filter.hpp"
#include "format.hpp"
#include "limits.hpp"
#include "messages.hpp"
#include "parse.hpp"
#include "site.hpp"

namespace tool::web {

namespace {

using segments = std::vector<std::string>;

template <class Number>
json or_null(const std::optional<Number>& value) {
  return value ? json(*value) : json();
}

response as_json(const json& value) {
  return {.type = "application/json",
          .body = value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"};
}

json queue_json(const queue_view& queue) {
  json out{{"queue", queue.name()}, {"kind", to_string(queue.info.kind)}};
  if (queue.figures) out.update(figures_json(*queue.figures));
  out["enqueued_per_second"] = or_null(queue.rates.enqueued);
  out["left_per_second"] = or_null(queue.rates.left);
  out["paused"] = queue.paused;
  out["limits"] = queue.limits ? limits_json(*queue.limits) : json();
  out["trouble"] = queue.trouble.empty() ? json() : json(queue.trouble);
  return out;
}

json database_json(const call& asked, std::size_t which, const database_view& all) {
  json out{{"database", which + 1}, {"label", asked.site.databases[which]->label()}};
  out["up"] = all.trouble.empty() && all.looked_at.has_value();
  out["trouble"] = all.trouble.empty() ? json() : json(all.trouble);
  out["age_ms"] = all.looked_at ? json(all.age().count()) : json();
  return out;
}

/// A message without what is hidden, or was not read.
json message_data(const call& asked, const tableq::stored_message& one,
                  tableq::message_detail detail) {
  json out = json::parse(message_json(one));
  if (!asked.site.shows_payloads) {
    for (const char* const hidden : {"payload", "headers", "result"}) out.erase(hidden);
  }
  if (detail == tableq::message_detail::seen) {
    for (const char* const unread :
         {"payload", "headers", "key", "attempts", "claimed_at", "errors"}) {
      out.erase(unread);
    }
    out["no_right"] = true;
  }
  return out;
}

tableq::message_detail detail_for(const call& asked) {
  return asked.site.shows_payloads ? tableq::message_detail::all : tableq::message_detail::outline;
}

response messages_data(const call& asked) {
  const tableq::claim_queue queue = claim_of(asked);
  const std::string& wanted = asked.from.asked("state");
  const auto state = wanted.empty() ? tableq::message_state::ready : parse_state(wanted);
  const auto after = read_cursor(asked.from.asked("after"), state);
  constexpr std::size_t most = 100;
  std::vector<tableq::stored_message> found;
  const auto read = read_as_allowed(detail_for(asked), [&](tableq::message_detail detail) {
    found = queue.list(
        state, {.max = most + 1, .after = after, .with = {.detail = detail, .progress = true}});
  });
  json out{{"messages", json::array()}, {"next", json()}};
  if (found.size() > most) {
    found.pop_back();
    out["next"] = cursor_of(found.back());
  }
  for (const auto& each : found) out["messages"].push_back(message_data(asked, each, read));
  return as_json(out);
}

response message_data_of(const call& asked, const std::string& id_text) {
  const tableq::claim_queue queue = claim_of(asked);
  const tableq::message_id id = id_of(id_text);
  std::optional<tableq::stored_message> found;
  const auto read = read_as_allowed(detail_for(asked), [&](tableq::message_detail detail) {
    found = queue.get(
        id, {.detail = detail, .progress = true, .result = detail == tableq::message_detail::all});
  });
  if (!found) throw page_error(404, "The message is not in the queue.");
  return as_json(message_data(asked, *found, read));
}

response schedules_data(const call& asked) {
  json out = json::array();
  for (const tableq::schedule_info& each : schedules_of(asked.watched().open())) {
    if (each.rule.queue == asked.queue) out.push_back(schedule_json(each));
  }
  return as_json({{"schedules", std::move(out)}});
}

response groups_data(const call& asked) {
  json out = json::array();
  const auto found = claim_of(asked);
  for (const group_view& each : groups_of(found)) {
    out.push_back({{"group", each.name},
                   {"waiting", each.waiting ? json(each.waiting->waiting) : json()},
                   {"oldest", each.waiting ? json(iso(each.waiting->oldest)) : json()},
                   {"leased", each.leased},
                   {"limits", each.limits ? limits_json(*each.limits) : json()}});
  }
  return as_json({{"groups", std::move(out)}});
}

response batches_data(const call& asked) {
  json out = json::array();
  for (const tableq::batch_info& each : batches_of(asked.watched().open())) {
    out.push_back(batch_json(each));
  }
  return as_json({{"batches", std::move(out)}});
}

response doctor_data(const call& asked) {
  json out = json::array();
  for (const tableq::finding& each : asked.watched().open().inspect()) {
    out.push_back({{"level", to_string(each.severity)},
                   {"subject", each.subject},
                   {"what", each.what},
                   {"fix", each.fix}});
  }
  return as_json({{"findings", std::move(out)}});
}

response queues_data(const call& asked) {
  const auto all = asked.watched().view();
  json out = database_json(asked, asked.database, *all);
  out["queues"] = json::array();
  for (const queue_view& each : all->queues) out["queues"].push_back(queue_json(each));
  return as_json(out);
}

}  // namespace

response data(const call& as_asked, const segments& rest) {
  call asked = as_asked;
  if (rest.size() == 1 && rest[0] == "databases") {
    json out = json::array();
    for (std::size_t i = 0; i < asked.site.databases.size(); ++i) {
      out.push_back(database_json(asked, i, *asked.site.databases[i]->view()));
    }
    return as_json({{"databases", std::move(out)}});
  }
  if (rest.size() < 3 || rest[0] != "databases") throw page_error(404, "There is no such data.");
  asked.database = database_number(asked, rest[1]);
  if (rest.size() == 3 && rest[2] == "doctor") return doctor_data(asked);
  if (rest.size() == 3 && rest[2] == "queues") return queues_data(asked);
  if (rest.size() == 3 && rest[2] == "batches") return batches_data(asked);
  if (rest.size() < 4 || rest[2] != "queues") throw page_error(404, "There is no such data.");
  asked.queue = rest[3];
  if (rest.size() == 4) {
    const auto all = asked.watched().view();
    return as_json(queue_json(view_of(asked, *all)));
  }
  if (rest.size() == 5 && rest[4] == "messages") return messages_data(asked);
  if (rest.size() == 5 && rest[4] == "schedules") return schedules_data(asked);
  if (rest.size() == 5 && rest[4] == "groups") return groups_data(asked);
  if (rest.size() == 6 && rest[4] == "messages") return message_data_of(asked, rest[5]);
  throw page_error(404, "There is no such data.");
}

}  // namespace tool::web
