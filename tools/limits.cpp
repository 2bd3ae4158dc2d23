#include "limits.hpp"

#include <charconv>
#include <cmath>

#include "exit_status.hpp"
#include "parse.hpp"

namespace tool {

namespace {

/// Reads texts of limits into them.
struct limit_reader {
  const std::string& prefix;
  const given_limits& given;

  template <class Number, class Parse>
  void read(std::optional<Number>& into, const std::string& name, Parse parse) const {
    const auto text = given(name);
    if (!text) return;
    into.reset();
    if (*text != "none") into = static_cast<Number>(parse(prefix + name, *text));
  }
};

double parse_rate(const std::string& option, const std::string& text) {
  double out = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (wrong != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) {
    throw usage_error(option + " must be a number of messages per second, such as 0.5, or none");
  }
  return out;
}

auto count_to(std::int64_t most) {
  return [most](const std::string& option, const std::string& text) {
    return parse_number(option, text, 1, most);
  };
}

template <class Number>
json or_null(const std::optional<Number>& of) {
  return of ? json(*of) : json();
}

}  // namespace

tableq::queue_limits changed(tableq::queue_limits limits, const std::string& prefix,
                             const given_limits& given) {
  const limit_reader from{prefix, given};
  from.read(limits.capacity, "capacity", count_to(1'000'000'000'000));
  from.read(limits.rate, "rate", parse_rate);
  if (!limits.rate) limits.burst.reset();
  from.read(limits.burst, "burst", count_to(1'000'000));
  from.read(limits.concurrency, "concurrency", count_to(1'000'000));
  return limits;
}

tableq::group_limits changed(tableq::group_limits limits, const std::string& prefix,
                             const given_limits& given) {
  const limit_reader from{prefix, given};
  from.read(limits.running, "running", count_to(1000));
  from.read(limits.rate, "rate", parse_rate);
  if (!limits.rate) limits.burst.reset();
  from.read(limits.burst, "burst", count_to(1000));
  from.read(limits.weight, "weight", count_to(1000));
  return limits;
}

tableq::group_limits limits_of(const tableq::claim_queue& queue, const std::string& group) {
  const auto found = queue.group_limits({.max = 1, .first = group}).groups;
  return !found.empty() && found[0].group == group ? found[0].limits : tableq::group_limits();
}

json limits_json(const tableq::queue_limits& limits) {
  return {{"capacity", or_null(limits.capacity)},
          {"rate", or_null(limits.rate)},
          {"burst", or_null(limits.burst)},
          {"concurrency", or_null(limits.concurrency)}};
}

json limits_json(const tableq::group_limits& limits) {
  return {{"running", or_null(limits.running)},
          {"rate", or_null(limits.rate)},
          {"burst", or_null(limits.burst)},
          {"weight", or_null(limits.weight)}};
}

}  // namespace tool
