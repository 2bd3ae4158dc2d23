#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "filter.hpp"
#include "format.hpp"
#include "messages.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"

namespace tool {

namespace {

using tableq::change_result;
using tableq::message_state;

const char* const not_of_claim = "only messages of claim queues can be looked up";

/// `40% page 12 of 30`
std::string progress_text(const tableq::stored_message& message) {
  if (!message.progress) return "-";
  const std::string part = std::to_string(std::lround(message.progress->done * 100)) + "%";
  return message.progress->note.empty() ? part : part + " " + printable(message.progress->note);
}

/// @param progress whether it is shown.
std::vector<std::string> message_row(const tableq::stored_message& message, bool progress) {
  const auto time = message.finished_at ? message.finished_at : message.due_at;
  std::vector<std::string> out{
      std::to_string(message.id.value),
      std::string(to_string(message.state)),
      std::to_string(message.priority),
      std::to_string(message.attempts),
      iso(message.created_at),
      time ? iso(*time) : "-",
      message.key ? printable(*message.key) : "-",
      message.group ? printable(*message.group) : "-",
      message.errors.empty() ? "-" : printable(message.errors.back().error)};
  if (progress) out.push_back(progress_text(message));
  return out;
}

/// A line for each; exit status 1 unless one was changed.
exit_status report(const std::vector<tableq::message_id>& ids,
                   const std::vector<change_result>& results, const std::string& done,
                   bool as_json) {
  output out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t id = ids[i].value;
    const std::string outcome(results[i] == change_result::applied ? done : to_string(results[i]));
    out.line(as_json ? line_of({{"id", id}, {"outcome", outcome}})
                     : std::to_string(id) + " " + (outcome == "not_found" ? "not found" : outcome));
  }
  out.flush();
  return std::find(results.begin(), results.end(), change_result::applied) == results.end()
             ? exit_status::nothing
             : exit_status::done;
}

struct get_arguments : id_arguments {
  using id_arguments::id_arguments;
  argument key{command, "--key", "KEY", "The message that holds this key"};
};

exit_status get(const connection_options& connection, const get_arguments& given) {
  if (given.ids.given() == given.key.given()) throw usage_error("give either ID or --key");
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  const tableq::claim_queue& queue = as_claim(opened, not_of_claim);
  constexpr tableq::look_options all{.progress = true, .result = true};
  auto found = given.key.given() ? std::vector{queue.find(given.key.text(), all)}
                                 : queue.get_batch(ids, all);
  output out;
  bool any = false;
  for (const auto& one : found) {
    if (!one) continue;
    any = true;
    out.line(message_json(*one));
  }
  out.flush();
  if (any) return exit_status::done;
  complain("there is no such message in queue " + in_quotes(queue.name()));
  return exit_status::nothing;
}

using tableq::claim_queue;
using by_filter = tableq::bulk_result(const tableq::message_filter&, const tableq::bulk_options&);

/// Runs one of the actions.
/// @param by_id(queue, ids) returns the result of each. @param fitting(queue, filter, options).
/// @param done what became of the messages.
template <class ById, class Fitting>
exit_status act(const connection_options& connection, const action_arguments& given,
                const std::string& done, ById by_id, Fitting fitting) {
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  const bool filtered = given.filter.by_filter(!ids.empty());
  if (filtered) static_cast<void>(given.filter.read());
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  claim_queue& queue = as_claim(opened, not_of_claim);
  if (!filtered) return report(ids, std::invoke(by_id, queue, ids), done, given.filter.as_json);
  return given.filter.run(done, std::bind_front(fitting, std::ref(queue)));
}

exit_status cancel(const connection_options& connection, const action_arguments& given) {
  by_filter claim_queue::*const fitting = &claim_queue::cancel;
  return act(connection, given, "cancelled", &claim_queue::cancel_batch, fitting);
}

exit_status make_ready(const connection_options& connection, const action_arguments& given) {
  by_filter claim_queue::*const fitting = &claim_queue::make_ready;
  return act(connection, given, "ready", &claim_queue::make_ready_batch, fitting);
}

struct priority_arguments : action_arguments {
  using action_arguments::action_arguments;
  argument to = argument(command, "--to", "PRIORITY", "Higher comes first").required();
};

exit_status set_priority(const connection_options& connection, const priority_arguments& given) {
  const auto to = static_cast<std::int32_t>(given.to.number(INT32_MIN, INT32_MAX));
  return act(
      connection, given, "changed",
      [to](claim_queue& queue, const std::vector<tableq::message_id>& ids) {
        std::vector<tableq::new_priority> changes;
        changes.reserve(ids.size());
        for (const tableq::message_id id : ids) changes.push_back({id, to});
        return queue.set_priority_batch(changes);
      },
      [to](claim_queue& queue, const auto& filter, const auto& options) {
        return queue.set_priority(filter, to, options);
      });
}

/// Prints messages page by page.
/// @param next_page(most) returns the next ones; empty: there are no others.
template <class NextPage>
exit_status print_pages(std::size_t count, bool as_json, bool progress, NextPage next_page) {
  std::vector<std::string> heading{"ID",   "STATE", "PRIORITY", "ATTEMPTS",  "CREATED",
                                   "TIME", "KEY",   "GROUP",    "LAST ERROR"};
  if (progress) heading.emplace_back("PROGRESS");
  listing shown(as_json, std::move(heading));
  while (count > 0) {
    const auto messages = next_page(std::min<std::size_t>(count, 100));
    if (!messages) break;
    for (const auto& one : *messages) shown.add(message_json(one), message_row(one, progress));
    shown.print();
    count -= messages->size();
  }
  return shown.status();
}

}  // namespace

std::vector<tableq::message_id> parse_ids(const argument& given) {
  std::vector<tableq::message_id> ids;
  ids.reserve(given.all().size());
  for (const std::string& each : given.all())
    ids.push_back({parse_number("ID", each, 1, INT64_MAX)});
  return ids;
}

exit_status list_messages(const connection_options& connection, const std::string& name,
                          const tableq::message_filter& filter, std::size_t count, bool as_json) {
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, name);
  const tableq::claim_queue& queue = as_claim(opened, "see what is next with: tableq peek");
  const bool leased = filter.state == message_state::leased;
  // Before the first line: a command that fails prints nothing.
  const bool of_the_dead = filter.state == message_state::dead || filter.error.has_value();
  const std::string letters = of_the_dead ? words_on_dead_letters(db, queue) : std::string();
  using page = std::optional<std::vector<tableq::stored_message>>;
  std::optional<tableq::stored_message> last;
  const auto in_order = [&](std::size_t most) -> page {
    auto messages = queue.list(filter.state.value_or(message_state::ready),
                               {.max = most, .after = last, .with = {.progress = true}});
    if (messages.empty()) return std::nullopt;
    last = messages.back();
    last->payload.clear();
    return messages;
  };
  std::optional<tableq::filter_place> after = tableq::filter_place();
  const auto by_filter = [&](std::size_t most) -> page {
    if (!after) return std::nullopt;
    auto found = queue.list(filter, {.max = most, .after = after});
    after = found.next;
    return std::move(found.messages);
  };
  const bool filtered = filter.older_than || filter.header || filter.group || filter.key_prefix ||
                        filter.error.has_value();
  const exit_status status = filtered ? print_pages(count, as_json, leased, by_filter)
                                      : print_pages(count, as_json, leased, in_order);
  if (!letters.empty()) status_line().note(letters);
  if (status == exit_status::nothing && !filtered && !filter.state)
    complain("no message is ready; --state shows others");
  return status;
}

void add_messages(CLI::App& app, invocation& call) {
  add_database_command<get_arguments>(
      app, call, "get",
      {.description = "Print messages of a claim queue by id or key, as JSON, in any state",
       .details = "Exit status 1 when there is none.",
       .usage = "QUEUE ID... | QUEUE --key KEY",
       .examples = "  tableq get jobs 17\n"
                   "  tableq get jobs --key invoice-42 | jq .state"},
      get);
  add_database_command<action_arguments>(
      app, call, "cancel",
      {.description = "Remove messages of a claim queue that are not leased",
       .details = std::string("A line for an ID has cancelled, running, finished (done and kept: "
                              "see purge) or not found.\n") +
                  filter_details,
       .usage = "QUEUE ID... | CONDITIONS [--dry-run] [--json]",
       .examples = "  tableq cancel jobs 17 23\n"
                   "  tableq cancel jobs --header tenant=acme --state ready --dry-run\n"
                   "  tableq cancel jobs --key-prefix import-7/"},
      cancel);
  add_database_command<action_arguments>(
      app, call, "ready",
      {.description = "Make delayed messages of a claim queue ready now, also those that rest",
       .details = std::string("A line for an ID has ready, running (leased, or held behind its "
                              "group), finished or not found.\n") +
                  filter_details,
       .usage = "QUEUE ID... | CONDITIONS [--dry-run] [--json]",
       .examples = "  tableq ready jobs 17\n"
                   "  tableq ready mail --error 'time-out'\n"
                   "  tableq ready mail --all"},
      make_ready);
  add_database_command<priority_arguments>(
      app, call, "priority",
      {.description = "Change the priority of waiting messages of a claim queue",
       .details = std::string("A line for an ID has changed, running, finished or not found.\n") +
                  filter_details,
       .usage = "QUEUE ID... | CONDITIONS --to PRIORITY [--dry-run] [--json]",
       .examples = "  tableq priority jobs 17 --to 10\n"
                   "  tableq priority jobs 17 23 --to=-1\n"
                   "  tableq priority jobs --header tenant=acme --to 5"},
      set_priority);
}

}  // namespace tool
