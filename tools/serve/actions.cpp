#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exit_status.hpp"
#include "filter.hpp"
#include "limits.hpp"
#include "parse.hpp"
#include "site.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

using segments = std::vector<std::string>;

page_error no_action() {
  return {404, "There is no such action."};
}

given_limits texts_of(const call& asked) {
  return [&asked](const std::string& name) -> std::optional<std::string> {
    const std::string& text = asked.from.given(name);
    return text.empty() ? std::nullopt : std::optional(text);
  };
}

/// To the page, which says what was done.
response done(const call& asked, const std::string& page, const std::string& sentence) {
  try {
    asked.watched().look_again(asked.queue);
  } catch (const tableq::error&) {  // It is done. The figures come when the database answers again.
  }
  return see_other(page + (page.find('?') == std::string::npos ? "?said=" : "&said=") +
                   asked.site.guard->leave_notice(sentence));
}

response set_paused(const call& asked, bool paused) {
  const any_source opened = source_of(asked);
  std::visit(
      [&](auto queue) {
        if (paused) {
          queue.pause();
        } else {
          queue.resume();
        }
      },
      opened);
  return done(asked, asked.here(),
              paused ? "The queue is paused: reads return nothing, in every process."
                     : "The queue is not paused any more.");
}

/// As `tableq limit` does: empty fields change nothing.
response set_limits(const call& asked) {
  any_source opened = source_of(asked);
  return std::visit(
      [&]<class Queue>(Queue& queue) -> response {
        if constexpr (std::is_base_of_v<tableq::queue, Queue>) {
          queue.set_limits(changed(queue.limits(), "The limit ", texts_of(asked)));
          return done(asked, asked.here(), "The limits are set.");
        } else {
          throw no_action();
        }
      },
      opened);
}

response set_group_limits(const call& asked) {
  tableq::claim_queue queue = claim_of(asked);
  const std::string& group = asked.from.given("group");
  queue.set_group_limits(changed(limits_of(queue, group), "The limit ", texts_of(asked)), group);
  return done(asked, asked.here(),
              group.empty() ? "The limits of each group without its own are set."
                            : "The limits of the group are set.");
}

response change_schedule(const call& asked, const std::string& action) {
  tableq::schedules all = asked.watched().open().schedules();
  const std::string& name = asked.from.given("name");
  const auto found = all.find(name);
  if (!found || found->rule.queue != asked.queue) {
    throw page_error(404, "There is no such schedule of this queue.");
  }
  if (action == "pause" && all.pause(name)) {
    return done(asked, asked.here(), "The schedule is paused.");
  }
  if (action == "resume" && all.resume(name)) {
    return done(asked, asked.here(), "The schedule goes on with its next time.");
  }
  if (action == "run" && all.run_now(name)) {
    return done(asked, asked.here(), "The message of the schedule is added.");
  }
  throw no_action();
}

/// Begins an action on many messages, in a thread of its own.
response begun(const call& asked, const std::string& what, jobs::action run) {
  if (!asked.site.actions.start(asked.here(), what, std::move(run))) {
    throw page_error(503, "Too many actions are running. Wait until one has ended.");
  }
  return see_other(asked.here("/actions"));
}

/// Every message of a queue whose reads delete; completed ones of a claim queue.
response purge(const call& asked) {
  return std::visit(
      [&]<class Queue>(Queue queue) -> response {
        if constexpr (std::is_base_of_v<tableq::destructive_queue, Queue>) {
          if (asked.from.given("name") != asked.queue) {
            throw page_error(400, "Nothing was deleted: this is not the name of the queue.");
          }
          return begun(asked, "Deletion of every message",
                       [queue](const tableq::bulk_options& /*to_the_end*/) mutable {
                         return tableq::bulk_result{.count = queue.purge()};
                       });
        } else if constexpr (std::is_same_v<Queue, tableq::claim_queue>) {
          const tableq::message_filter filter{
              .state = tableq::message_state::done,
              .older_than = parse_duration("The time", asked.from.given("older"))};
          return begun(asked, "Deletion of done messages",
                       [queue, filter](const tableq::bulk_options& options) mutable {
                         return queue.purge(filter, options);
                       });
        } else {
          throw no_action();
        }
      },
      source_of(asked));
}

std::string words_of(tableq::change_result result, const std::string& applied) {
  switch (result) {
    case tableq::change_result::applied:
      return applied;
    case tableq::change_result::running:
      return "Nothing was changed: the message is leased.";
    case tableq::change_result::finished:
      return "Nothing was changed: the message is done or dead.";
    case tableq::change_result::not_found:
      return "Nothing was changed: the message is not in the queue any more.";
  }
  return "Nothing was changed.";
}

response change_message(const call& asked, const std::string& id_text, const std::string& action) {
  tableq::claim_queue queue = claim_of(asked);
  const tableq::message_id id = id_of(id_text);
  const std::string here = asked.here("/messages/" + id_text);
  if (action == "cancel") {
    const auto result = queue.cancel(id);
    const bool gone = result == tableq::change_result::applied;
    return done(asked, gone ? asked.here("/messages") : here,
                words_of(result, "Message " + id_text + " is deleted."));
  }
  if (action == "priority") {
    const auto priority = parse_number("The priority", asked.from.given("priority"),
                                       std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::int32_t>::max());
    return done(asked, here,
                words_of(queue.set_priority(id, static_cast<std::int32_t>(priority)),
                         "The priority is " + std::to_string(priority) + " now."));
  }
  if (action == "ready") {
    return done(asked, here, words_of(queue.make_ready(id), "The message is ready now."));
  }
  if (action == "redrive") {
    const std::size_t count = queue.redrive(std::vector{id});
    return done(
        asked, here,
        count == 1 ? "The message is ready again." : "Nothing was changed: it was not dead.");
  }
  throw no_action();
}

/// An action on the dead messages that a filter selects, in a thread of its own.
response change_dead(const call& asked, const std::string& action) {
  tableq::claim_queue queue = claim_of(asked);
  auto filter = read_filter(asked.from.form, asked.site.shows_payloads)
                    .value_or(tableq::message_filter{.all = true});
  filter.state = tableq::message_state::dead;
  const bool redrives = action == "redrive";
  if (!redrives && action != "purge") throw no_action();
  return begun(asked, redrives ? "Redrive of dead messages" : "Deletion of dead messages",
               [queue, filter, redrives](const tableq::bulk_options& options) mutable {
                 return redrives ? queue.redrive(filter, options) : queue.purge(filter, options);
               });
}

response stop_action(const call& asked) {
  asked.site.actions.stop(asked.here(), asked.from.given("job"));
  return see_other(asked.here("/actions"));
}

}  // namespace

response act(const call& asked, const segments& rest) {
  if (rest.size() == 1 && rest[0] == "pause") return set_paused(asked, true);
  if (rest.size() == 1 && rest[0] == "resume") return set_paused(asked, false);
  if (rest.size() == 1 && rest[0] == "purge") return purge(asked);
  if (rest.size() == 1 && rest[0] == "limits") return set_limits(asked);
  if (rest.size() == 1 && rest[0] == "group-limits") return set_group_limits(asked);
  if (rest.size() == 3 && rest[0] == "messages") return change_message(asked, rest[1], rest[2]);
  if (rest.size() == 2 && rest[0] == "schedules") return change_schedule(asked, rest[1]);
  if (rest.size() == 2 && rest[0] == "dead") return change_dead(asked, rest[1]);
  if (rest.size() == 2 && rest[0] == "actions" && rest[1] == "stop") return stop_action(asked);
  throw no_action();
}

}  // namespace tool::web
