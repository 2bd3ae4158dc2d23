#include "filter.hpp"

#include <utility>

#include "format.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "status_line.hpp"

namespace tool {

const char* const filter_details =
    "Either messages by ID; or all that meet every given condition, in steps of 1,000, and it\n"
    "prints how many. --dry-run counts them first, up to 10,000, and changes nothing.\n"
    "Exit status 1 when there was none.";

tableq::message_filter filter_arguments::read() const {
  tableq::message_filter out;
  state.store(out.state, parse_state);
  older_than.store(out.older_than, duration_from({}));
  header.store(out.header, [](const std::string& option, const std::string& text) {
    auto [name, value] = parse_assignment(option, text);
    return tableq::header_value{std::move(name), std::move(value)};
  });
  group.store(out.group);
  key_prefix.store(out.key_prefix);
  error.store(out.error);
  return out;
}

bool bulk_arguments::by_filter(bool ids) const {
  const bool filter = given() || all;
  if (ids && (filter || dry_run)) throw usage_error("give either ID or conditions");
  if (!ids && !filter) throw usage_error("give ID, a condition such as --older-than, or --all");
  return !ids;
}

tableq::message_filter bulk_arguments::read() const {
  tableq::message_filter out = filter_arguments::read();
  out.all = all;
  return out;
}

void bulk_arguments::print(const tableq::bulk_result& result, bool more) const {
  if (as_json) {
    print_line(line_of({{"count", result.count},
                        {"at_least", more ? json::array({"count"}) : json::array()},
                        {"running", result.running},
                        {"changed", result.changed},
                        {"key_held", result.key_held}}));
    return;
  }
  print_line(std::to_string(result.count) + (more ? "+" : ""));
  status_line status;
  if (more) status.note("counted up to 10000 messages, among up to 1000000: there may be more");
  const auto skipped = [&](std::size_t count, const char* why) {
    if (count > 0) status.note("skipped: " + std::to_string(count) + ", " + why);
  };
  skipped(result.running, "which are leased, or no longer in their state");
  skipped(result.changed, "which changed or went meanwhile");
  skipped(result.key_held, "whose keys other messages hold");
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
  print(result, dry_run && result.stopped_at);
  return result.count > 0 ? exit_status::done : exit_status::nothing;
}

}  // namespace tool
