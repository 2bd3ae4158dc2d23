#include <array>
#include <span>

#include "format.hpp"
#include "selection.hpp"
#include "site.hpp"

namespace tool::web {

namespace {

json text_or_null(const std::string& text) {
  return text.empty() ? json() : json(text);
}

/// The rows of a member, each made by a function.
template <class Rows, class Make>
json list_of(const char* name, const Rows& rows, const Make& make) {
  json out = json::array();
  for (const auto& each : rows) out.push_back(make(each));
  return {{name, std::move(out)}};
}

json queue_json(const queue_view& queue) {
  json out{{"queue", queue.name()}, {"kind", to_string(queue.info.kind)}};
  if (queue.figures) out.update(figures_json(*queue.figures));
  out["enqueued_per_second"] = or_null(queue.rates.enqueued);
  out["left_per_second"] = or_null(queue.rates.left);
  out["paused"] = queue.paused;
  out["limits"] = queue.limits ? limits_json(*queue.limits) : json();
  out["trouble"] = text_or_null(queue.trouble);
  return out;
}

json database_json(const call& asked, std::size_t which, const database_view& all) {
  return {{"database", which + 1},
          {"label", asked.site.databases[which]->label()},
          {"up", all.up()},
          {"trouble", text_or_null(all.trouble)},
          {"age_ms", all.looked_at ? json(all.age().count()) : json()}};
}

/// A message without what is hidden, or was not read.
json message_data(const call& asked, const tableq::stored_message& one, bool few) {
  json out = json::parse(message_json(one));
  if (few) out["no_right"] = true;
  constexpr std::array hidden{"payload",  "headers",    "result", "key",       "group",
                              "attempts", "claimed_at", "errors", "expires_at"};
  const std::size_t count = few ? hidden.size() : asked.rules().shows_payloads ? 0 : 3;
  for (const char* const each : std::span(hidden).first(count)) out.erase(each);
  return out;
}

json databases(const call& asked) {
  json out = json::array();
  for (const auto& each : asked.site.databases) {
    out.push_back(database_json(asked, out.size(), *each->view()));
  }
  return {{"databases", std::move(out)}};
}

json queues(const call& asked) {
  json out = database_json(asked, asked.database, *asked.view);
  out.update(list_of("queues", asked.view->queues, queue_json));
  return out;
}

json queue(const call& asked) {
  return queue_json(view_of(asked));
}

json messages(const call& asked) {
  const selection found =
      select(asked, wanted_state(asked), 100, {.detail = detail_for(asked), .progress = true});
  json out = list_of("messages", found.messages,
                     [&](const auto& each) { return message_data(asked, each, found.few); });
  out["next"] = text_or_null(found.next);
  return out;
}

json message(const call& asked) {
  const selection found = found_message(asked);
  return message_data(asked, found.messages.front(), found.few);
}

json schedules(const call& asked) {
  static_cast<void>(view_of(asked));  // 404 for a queue that is not there
  return list_of("schedules", schedules_of(asked.watched().open(), asked.queue), schedule_json);
}

json groups(const call& asked) {
  return list_of("groups", claim_of(asked).groups(most_groups), [](const auto& each) {
    return json{{"group", each.group}, {"waiting", each.waiting}, {"oldest", iso(each.oldest)}};
  });
}

json batches(const call& asked) {
  return list_of("batches", batches_of(asked.watched().open()), batch_json);
}

json doctor(const call& asked) {
  return list_of("findings", asked.watched().open().inspect(), finding_json);
}

}  // namespace

void add_data(std::vector<route>& to) {
  const std::string first = "api/v1/databases";
  const std::string below = first + "/*/queues/*";
  to.insert(to.end(), {{first, databases, true},
                       {first + "/*/doctor", doctor},
                       {first + "/*/batches", batches},
                       {first + "/*/queues", queues},
                       {below, queue, true},
                       {below + "/messages", messages},
                       {below + "/messages/*", message},
                       {below + "/groups", groups},
                       {below + "/schedules", schedules}});
}

}  // namespace tool::web
