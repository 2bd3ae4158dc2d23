#include "filter.hpp"

#include <utility>

#include "messages.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"

namespace tool {

const char* const filter_details =
    "Either messages by ID, with a line for each; or all that meet every given condition, in\n"
    "steps of 1,000, and it prints how many. --dry-run counts them first, up to 10,000, and\n"
    "changes nothing. Exit status 1 when there was none.";

filter_arguments::filter_arguments(CLI::App& command)
    : state(command, "--state", "STATE", "ready, delayed, leased, held, done or dead"),
      older_than(command, "--older-than", "TIME",
                 "Finished, or if not finished enqueued, at least TIME ago"),
      header(command, "--header", "NAME=VALUE", "With this header"),
      group(command, "--group", "GROUP", "Of this group"),
      key_prefix(command, "--key-prefix", "TEXT", "Whose key begins with TEXT"),
      error(command, "--error", "TEXT", "Whose last error contains TEXT") {}

bool filter_arguments::given() const {
  return state.given() || !only_state();
}

bool filter_arguments::only_state() const {
  return !older_than.given() && !header.given() && !group.given() && !key_prefix.given() &&
         !error.given();
}

tableq::message_filter filter_arguments::read() const {
  tableq::message_filter out;
  if (state.given()) out.state = parse_state(state.text());
  if (older_than.given()) out.older_than = parse_duration("--older-than", older_than.text());
  if (header.given()) {
    auto [name, value] = parse_assignment("--header", header.text());
    out.header = tableq::header_value{std::move(name), std::move(value)};
  }
  if (group.given()) out.group = group.text();
  if (key_prefix.given()) out.key_prefix = key_prefix.text();
  if (error.given()) out.error = error.text();
  return out;
}

bulk_arguments::bulk_arguments(CLI::App& command) : filter_arguments(command) {
  command.add_flag("--all", all, "All messages");
  command.add_flag("--dry-run", dry_run, "Only count them");
}

bool bulk_arguments::by_filter(bool ids) const {
  const bool filter = given() || all;
  if (ids && (filter || dry_run)) throw usage_error("give either ID or conditions");
  if (!ids && !filter) throw usage_error("give ID, a condition such as --state, or --all");
  return !ids;
}

tableq::message_filter bulk_arguments::read() const {
  tableq::message_filter out = filter_arguments::read();
  out.all = all;
  return out;
}

exit_status bulk_arguments::run(
    const std::string& done,
    const std::function<tableq::bulk_result(const tableq::message_filter&,
                                            const tableq::bulk_options&)>& action) const {
  status_line status;
  tableq::bulk_options options{.dry_run = dry_run};
  if (status.shown()) {
    options.progress = [&](const tableq::bulk_result& so_far) {
      status.show(std::to_string(so_far.count) + (dry_run ? " found" : " " + done));
    };
  }
  const tableq::bulk_result result = action(read(), options);
  status.clear();
  output out;
  out.line(std::to_string(result.count) + (dry_run && result.stopped_at ? "+" : ""));
  out.flush();
  if (dry_run && result.stopped_at) {
    status.note("counted up to 10000 messages, among up to 1000000: there may be more");
  }
  const auto skipped = [&](std::size_t count, const char* why) {
    if (count > 0) status.note("skipped: " + std::to_string(count) + ", " + why);
  };
  skipped(result.running, "which are leased");
  skipped(result.changed, "which changed or went meanwhile");
  skipped(result.key_held, "whose keys other messages hold");
  return result.count > 0 ? exit_status::done : exit_status::nothing;
}

}  // namespace tool
