#include <limits>

#include "parse.hpp"
#include "selection.hpp"
#include "site.hpp"

namespace tool::web {

namespace {

using tableq::change_result;

/// To the page, which says what was done; to that of the queue if none is given.
response done(const call& asked, const std::string& sentence, const std::string& page = "") {
  try {
    asked.watched().look_again(asked.queue);
  } catch (const tableq::error&) {  // It is done. The figures come when the database answers again.
  }
  return see_other(asked.here(page) + "?said=" + asked.site.guard.notices.keep(sentence));
}

/// The same for a change of one message.
response changed_one(const call& asked, change_result result, const std::string& applied,
                     bool gone = false) {
  const bool is_gone = gone && result == change_result::applied;
  return done(asked,
              result == change_result::applied   ? applied
              : result == change_result::running ? "Nothing was changed: the message is leased."
              : result == change_result::finished
                  ? "Nothing was changed: the message is done or dead."
                  : "Nothing was changed: the message is not in the queue any more.",
              is_gone ? "/messages" : "/messages/" + asked.item);
}

/// Acts on the queue, whatever its kind.
void on_queue(const call& asked, const std::function<void(tableq::queue&)>& act) {
  any_source opened = source_of(asked);
  std::visit([&](tableq::queue& queue) { act(queue); }, opened);
}

response set_priority(const call& asked) {
  using all = std::numeric_limits<std::int32_t>;
  tableq::claim_queue queue = claim_of(asked);
  const auto priority =
      parse_number("The priority", asked.from.form["priority"], all::min(), all::max());
  return changed_one(asked, queue.set_priority(id_of(asked), static_cast<std::int32_t>(priority)),
                     "The priority is " + std::to_string(priority) + " now.");
}

/// Begins an action on the dead messages that a filter selects, in a thread of its own.
template <class Act>
response change_dead(const call& asked, const std::string& what, const Act& act) {
  const bool begun = asked.site.actions.start(
      asked.here(), what,
      [queue = claim_of(asked), filter = dead_filter(asked, asked.from.form),
       act](const tableq::bulk_options& how) mutable { return act(queue, filter, how); });
  if (!begun) throw page_error(503, "Too many actions are running. Wait until one has ended.");
  return see_other(asked.here("/actions"));
}

}  // namespace

void add_actions(std::vector<route>& to) {
  const std::vector<std::pair<const char*, response (*)(const call&)>> all{
      {"pause",
       [](const call& asked) {
         on_queue(asked, [](tableq::queue& queue) { queue.pause(); });
         return done(asked, "The queue is paused: reads return nothing, in every process.");
       }},
      {"resume",
       [](const call& asked) {
         on_queue(asked, [](tableq::queue& queue) { queue.resume(); });
         return done(asked, "The queue is resumed: reads return messages again.");
       }},
      {"messages/*/cancel",
       [](const call& asked) {
         return changed_one(asked, claim_of(asked).cancel(id_of(asked)),
                            "Message " + asked.item + " is deleted.", true);
       }},
      {"messages/*/priority", set_priority},
      {"messages/*/ready",
       [](const call& asked) {
         return changed_one(asked, claim_of(asked).make_ready(id_of(asked)),
                            "The message is ready now.");
       }},
      {"messages/*/redrive",
       [](const call& asked) {
         const bool was_dead = claim_of(asked).redrive(std::vector{id_of(asked)}) == 1;
         return done(
             asked,
             was_dead ? "The message is ready again." : "Nothing was changed: it was not dead.",
             "/messages/" + asked.item);
       }},
      {"dead/redrive",
       [](const call& asked) {
         return change_dead(asked, "Redrive of dead messages",
                            [](auto& queue, const auto&... how) { return queue.redrive(how...); });
       }},
      {"dead/purge",
       [](const call& asked) {
         return change_dead(asked, "Deletion of dead messages",
                            [](auto& queue, const auto&... how) { return queue.purge(how...); });
       }},
      {"actions/stop", [](const call& asked) {
         asked.site.actions.stop(asked.here(), asked.from.form["job"]);
         return see_other(asked.here("/actions"));
       }}};
  for (const auto& [path, act] : all) {
    to.push_back({.path = std::string("db/*/queues/*/") + path, .answer = act, .posts = true});
  }
}

}  // namespace tool::web
