#include "line_handler.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>

#include "format.hpp"
#include "system.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void never_block(const descriptor& end) {
  ::fcntl(end.value(), F_SETFL, O_NONBLOCK);
}

int left_until(steady_clock::time_point until) {
  if (until == steady_clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace

line_handler::line_handler() {
  pipe_ends in = open_pipe();
  of_command_in_ = std::move(in.reader);
  input_ = std::move(in.writer);
  pipe_ends out = open_pipe();
  output_ = std::move(out.reader);
  of_command_out_ = std::move(out.writer);
  never_block(input_);
  never_block(output_);
}

child_streams line_handler::streams(int err) const {
  return {of_command_in_.value(), of_command_out_.value(), err};
}

void line_handler::started() {
  of_command_in_ = descriptor();
  of_command_out_ = descriptor();
}

line_handler::reply line_handler::ask(std::string line, int end,
                                      std::optional<milliseconds> within) {
  const auto until = within ? steady_clock::now() + *within : steady_clock::time_point::max();
  line += '\n';
  std::size_t sent = 0;
  for (;;) {
    // A command may answer before it has read all.
    std::array<pollfd, 3> events{{{output_.value(), POLLIN, 0},
                                  {end, POLLIN, 0},
                                  {sent < line.size() ? input_.value() : -1, POLLOUT, 0}}};
    if (::poll(events.data(), events.size(), left_until(until)) == 0) return {ending::late};
    if (events[2].revents != 0) {
      const ssize_t written = ::write(input_.value(), line.data() + sent, line.size() - sent);
      if (written > 0) sent += static_cast<std::size_t>(written);
      // A command that reads no more may have answered.
      if (written == -1 && errno == EPIPE) sent = line.size();
    }
    // First what the command has written: it may have ended since.
    if (const auto how = read_some()) {
      if (*how != ending::answered) return {*how};
      const std::size_t newline = unread_.find('\n');
      reply out{ending::answered, unread_.substr(0, newline)};
      unread_.erase(0, newline + 1);
      return out;
    }
    if (events[1].revents != 0) return {ending::closed};
  }
}

std::optional<line_handler::ending> line_handler::read_some() {
  constexpr std::size_t longest = 64UL * 1024;
  for (;;) {
    const std::size_t newline = unread_.find('\n');
    if (std::min(newline, unread_.size()) > longest) return ending::too_long;
    if (newline != std::string::npos) return ending::answered;
    std::array<char, 16384> bytes{};
    const ssize_t got = ::read(output_.value(), bytes.data(), bytes.size());
    if (got == 0) return ending::closed;
    if (got == -1) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? std::nullopt : std::optional(ending::closed);
    }
    unread_.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

bool line_handler::disturbed() const {
  pollfd event{output_.value(), POLLIN, 0};
  return !unread_.empty() || ::poll(&event, 1, 0) != 0;
}

namespace {

/// A wrong answer.
struct refusal {
  const char* why;
};

/// The members that an answer may have.
void check_members(const json& object) {
  for (const auto& [name, value] : object.items()) {
    const bool text = name == "receipt" || name == "settle" || name == "error" || name == "result";
    const bool flag = name == "final" || name == "last";
    if (!text && !flag && name != "delay_ms") {
      throw refusal{
          "an unknown member; it has receipt, settle, result, error, delay_ms, final and last "
          "only"};
    }
    if ((text && !value.is_string()) || (flag && !value.is_boolean()) ||
        (name == "delay_ms" && !value.is_number_unsigned())) {
      throw refusal{"a member of another type"};
    }
  }
}

tableq::handled verdict_of(const json& object) {
  const std::string settle = object.value("settle", "");
  const bool fails = settle == "fail";
  if (!fails &&
      (object.contains("error") || object.contains("delay_ms") || object.contains("final"))) {
    throw refusal{R"(error, delay_ms and final go with "settle": "fail")"};
  }
  const auto result = object.find("result");
  if (settle == "complete") {
    return result == object.end() ? tableq::handled::completed()
                                  : tableq::handled::completed(result->get<std::string>());
  }
  if (result != object.end()) throw refusal{R"(result goes with "settle": "complete")"};
  if (settle == "release") return tableq::handled::give_back();
  if (!fails) throw refusal{"settle is neither complete, fail nor release"};
  std::string error = object.value("error", "");
  const bool final = object.value("final", false);
  if (!object.contains("delay_ms")) {
    return final ? tableq::handled::give_up(std::move(error))
                 : tableq::handled::failed(std::move(error));
  }
  if (final) throw refusal{"delay_ms and final exclude each other"};
  constexpr milliseconds longest = std::chrono::days{3650};
  const auto delay = object.at("delay_ms").get<std::uint64_t>();
  if (delay > static_cast<std::uint64_t>(longest.count())) {
    throw refusal{"delay_ms is over 3,650 days"};
  }
  return tableq::handled::retry_after(std::move(error),
                                      milliseconds{static_cast<std::int64_t>(delay)});
}

}  // namespace

answer parse_answer(const std::string& line, const std::string& receipt) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return {{}, "the handler's answer is not a JSON object"};
  try {
    check_members(object);
    if (object.value("receipt", "") != receipt) throw refusal{"another message's receipt, or none"};
    return {verdict_of(object), {}, object.value("last", false)};
  } catch (const refusal& wrong) {
    return {{}, std::string("the handler's answer is wrong: ") + wrong.why};
  }
}

}  // namespace tool
