#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
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
      std::to_string(message.priority),
      std::to_string(message.attempts),
      iso(message.created_at),
      time ? iso(*time) : "-",
      message.key ? printable(*message.key) : "-",
      message.errors.empty() ? "-" : printable(message.errors.back().error)};
  if (progress) out.push_back(progress_text(message));
  return out;
}

tableq::message_id parse_id(const std::string& text) {
  return {parse_number("ID", text, 1, std::numeric_limits<std::int64_t>::max())};
}

std::string_view in_words(change_result result, std::string_view done) {
  switch (result) {
    case change_result::applied:
      return done;
    case change_result::running:
      return "running";
    case change_result::finished:
      return "finished";
    case change_result::not_found:
      return "not found";
  }
  return "not found";
}

/// A line for each; exit status 1 unless one was changed.
exit_status report(const std::vector<tableq::message_id>& ids,
                   const std::vector<change_result>& results, std::string_view done) {
  output out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.line(std::to_string(ids[i].value) + " " + std::string(in_words(results[i], done)));
  }
  out.flush();
  return std::find(results.begin(), results.end(), change_result::applied) == results.end()
             ? exit_status::nothing
             : exit_status::done;
}

/// Shared by get and the actions.
struct id_arguments {
  explicit id_arguments(CLI::App& command)
      : queue(command, "QUEUE", "", "A claim queue"),
        ids(command, "ID", "", "Messages, as `list` and `enqueue` print them") {
    queue.required();
    ids.many();
  }
  argument queue;
  argument ids;
};

exit_status get(const connection_options& connection, const id_arguments& given,
                const argument& key) {
  if (given.ids.given() == key.given()) throw usage_error("give either ID or --key");
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  const tableq::claim_queue& queue = as_claim(opened, not_of_claim);
  constexpr tableq::look_options all{.progress = true, .result = true};
  auto found = key.given() ? std::vector{queue.find(key.text(), all)} : queue.get_batch(ids, all);
  output out;
  bool any = false;
  for (const auto& one : found) {
    if (!one) continue;
    any = true;
    out.line(message_json(*one));
  }
  out.flush();
  return any ? exit_status::done : exit_status::nothing;
}

/// The arguments of an action: ids, or a filter.
struct action_arguments : id_arguments {
  explicit action_arguments(CLI::App& command) : id_arguments(command), filter(command) {}
  bulk_arguments filter;
};

/// Runs one of the actions.
/// @param by_id(queue, ids) returns the result of each. @param by_filter(queue, filter, options).
/// @param done what became of the messages.
template <class ById, class ByFilter>
exit_status act(const connection_options& connection, const action_arguments& given,
                const std::string& done, ById by_id, ByFilter by_filter) {
  const std::vector<tableq::message_id> ids = parse_ids(given.ids);
  const bool filtered = given.filter.by_filter(!ids.empty());
  if (filtered) static_cast<void>(given.filter.read());
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, given.queue.text());
  tableq::claim_queue& queue = as_claim(opened, not_of_claim);
  if (!filtered) return report(ids, by_id(queue, ids), done);
  return given.filter.run(done, [&](const auto& filter, const auto& options) {
    return by_filter(queue, filter, options);
  });
}

using ids_of_call = std::vector<tableq::message_id>;
using tableq::bulk_options;
using tableq::claim_queue;
using tableq::message_filter;

exit_status cancel(const connection_options& connection, const action_arguments& given) {
  return act(
      connection, given, "cancelled",
      [](claim_queue& queue, const ids_of_call& ids) { return queue.cancel_batch(ids); },
      [](claim_queue& queue, const message_filter& filter, const bulk_options& options) {
        return queue.cancel(filter, options);
      });
}

exit_status make_ready(const connection_options& connection, const action_arguments& given) {
  return act(
      connection, given, "ready",
      [](claim_queue& queue, const ids_of_call& ids) { return queue.make_ready_batch(ids); },
      [](claim_queue& queue, const message_filter& filter, const bulk_options& options) {
        return queue.make_ready(filter, options);
      });
}

exit_status set_priority(const connection_options& connection, const action_arguments& given,
                         const argument& priority) {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto to = static_cast<std::int32_t>(parse_number("PRIORITY", priority.text(), least, most));
  return act(
      connection, given, "changed",
      [to](claim_queue& queue, const ids_of_call& ids) {
        std::vector<tableq::new_priority> changes;
        changes.reserve(ids.size());
        for (const tableq::message_id id : ids) changes.push_back({id, to});
        return queue.set_priority_batch(changes);
      },
      [to](claim_queue& queue, const message_filter& filter, const bulk_options& options) {
        return queue.set_priority(filter, to, options);
      });
}

/// Prints messages page by page.
/// @param next_page(most) returns the next ones; empty: there are no others.
template <class NextPage>
exit_status print_pages(std::size_t count, bool as_json, bool progress, NextPage next_page) {
  output out;
  std::size_t shown = 0;
  while (shown < count) {
    const auto messages = next_page(count - shown);
    if (!messages) break;
    std::vector<std::vector<std::string>> rows;
    if (shown == 0 && !messages->empty()) {
      rows.push_back({"ID", "PRIORITY", "ATTEMPTS", "CREATED", "TIME", "KEY", "LAST ERROR"});
      if (progress) rows.back().emplace_back("PROGRESS");
    }
    for (const auto& one : *messages) {
      if (as_json) out.line(message_json(one));
      rows.push_back(message_row(one, progress));
    }
    if (!as_json) {
      for (const std::string& line : aligned(rows)) out.line(line);
    }
    shown += messages->size();
  }
  out.flush();
  return shown > 0 ? exit_status::done : exit_status::nothing;
}

constexpr std::size_t page_size = 100;

}  // namespace

std::vector<tableq::message_id> parse_ids(const argument& given) {
  std::vector<tableq::message_id> ids;
  ids.reserve(given.all().size());
  for (const std::string& each : given.all()) ids.push_back(parse_id(each));
  return ids;
}

message_state parse_state(const std::string& text) {
  for (const message_state each :
       {message_state::ready, message_state::leased, message_state::delayed, message_state::done,
        message_state::dead, message_state::held}) {
    if (text == to_string(each)) return each;
  }
  throw usage_error("a state is ready, delayed, leased, held, done or dead");
}

exit_status list_messages(const connection_options& connection, const std::string& name,
                          const filter_arguments& given, std::size_t count, bool as_json) {
  const tableq::message_filter filter = given.read();
  tableq::database db = connect(connection);
  any_queue opened = open_queue(db, name);
  const tableq::claim_queue& queue = as_claim(opened, "see what is next with: tableq peek");
  const bool leased = filter.state == message_state::leased;
  const auto ended = [&](exit_status status) {
    const bool of_the_dead = filter.state == message_state::dead || filter.error.has_value();
    if (status == exit_status::nothing && of_the_dead) {
      const std::string words = words_on_dead_letters(db, queue);
      if (!words.empty()) status_line().note(words);
    }
    return status;
  };
  using page = std::optional<std::vector<tableq::stored_message>>;
  if (given.only_state()) {
    std::optional<tableq::stored_message> last;
    return ended(print_pages(count, as_json, leased, [&](std::size_t most) -> page {
      auto messages =
          queue.list(filter.state.value_or(message_state::ready),
                     {.max = std::min(page_size, most), .after = last, .with = {.progress = true}});
      if (messages.empty()) return std::nullopt;
      last = messages.back();
      last->payload.clear();
      return messages;
    }));
  }
  std::optional<tableq::filter_place> after = tableq::filter_place();
  return ended(print_pages(count, as_json, leased, [&](std::size_t most) -> page {
    if (!after) return std::nullopt;
    auto found = queue.list(filter, {.max = std::min(page_size, most), .after = after});
    after = found.next;
    return std::move(found.messages);
  }));
}

void add_get(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "get",
      {.description = "Print messages of a claim queue by id or key, as JSON, in any state",
       .details = "Exit status 1 when there is none.",
       .usage = "QUEUE ID... | QUEUE --key KEY",
       .examples = "  tableq get jobs 17\n"
                   "  tableq get jobs --key invoice-42 | jq .state"});
  const auto given = std::make_shared<id_arguments>(command);
  const auto key =
      std::make_shared<argument>(command, "--key", "KEY", "The message that holds this key");
  command.callback([&call, given, key] {
    call.run = [&call, given, key] { return get(call.connection, *given, *key); };
  });
}

void add_cancel(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "cancel",
      {.description = "Remove messages of a claim queue that are not leased",
       .details = std::string("A line for an ID has cancelled, running, finished (done and kept: "
                              "see purge) or not found.\n") +
                  filter_details,
       .usage = "QUEUE ID... | CONDITIONS [--dry-run]",
       .examples = "  tableq cancel jobs 17 23\n"
                   "  tableq cancel jobs --header tenant=acme --state ready --dry-run\n"
                   "  tableq cancel jobs --key-prefix import-7/"});
  const auto given = std::make_shared<action_arguments>(command);
  command.callback(
      [&call, given] { call.run = [&call, given] { return cancel(call.connection, *given); }; });
}

void add_ready(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "ready",
      {.description = "Make delayed messages of a claim queue ready now, also those that rest",
       .details = std::string("A line for an ID has ready, running (leased, or held behind its "
                              "group), finished or not found.\n") +
                  filter_details,
       .usage = "QUEUE ID... | CONDITIONS [--dry-run]",
       .examples = "  tableq ready jobs 17\n"
                   "  tableq ready mail --error 'time-out'\n"
                   "  tableq ready mail --all"});
  const auto given = std::make_shared<action_arguments>(command);
  command.callback([&call, given] {
    call.run = [&call, given] { return make_ready(call.connection, *given); };
  });
}

void add_priority(CLI::App& app, invocation& call) {
  CLI::App& command = add_database_command(
      app, call, "priority",
      {.description = "Change the priority of waiting messages of a claim queue",
       .details = std::string("A line for an ID has changed, running, finished or not found.\n") +
                  filter_details,
       .usage = "QUEUE ID... | CONDITIONS --to PRIORITY [--dry-run]",
       .examples = "  tableq priority jobs 17 --to 10\n"
                   "  tableq priority jobs 17 23 --to=-1\n"
                   "  tableq priority jobs --header tenant=acme --to 5"});
  const auto given = std::make_shared<action_arguments>(command);
  const auto priority =
      std::make_shared<argument>(command, "--to", "PRIORITY", "Higher comes first");
  priority->required();
  command.callback([&call, given, priority] {
    call.run = [&call, given, priority] {
      return set_priority(call.connection, *given, *priority);
    };
  });
}

}  // namespace tool
