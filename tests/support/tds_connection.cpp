#include "support/tds_connection.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace tableq_test {
namespace {

constexpr std::size_t header_size = 8;
constexpr std::size_t first_packet_size = 4096;
constexpr std::int32_t script_error = 50000;
constexpr std::string_view space = " \t\r\n";

tds_answer ask(const tds_script::handler& handler, const tds_request& asked) {
  try {
    return handler ? handler(asked) : tds_answer();
  } catch (const std::exception& failed) {
    return tds_answer().error(script_error, failed.what());
  }
}

tds_answer usual_transaction(const tds_request& asked, bool open) {
  tds_answer out;
  if (asked.procedure == "save") return out;
  if (asked.procedure == "begin") return out.transaction(tds_change::begun);
  const bool commit = asked.procedure == "commit";
  if (!open) {
    return commit ? out.error(3902, "The COMMIT has no BEGIN TRANSACTION.")
                  : out.error(3903, "The ROLLBACK has no BEGIN TRANSACTION.");
  }
  out.transaction(commit ? tds_change::committed : tds_change::rolled_back);
  if (asked.begins_next) out.transaction(tds_change::begun);
  return out;
}

}  // namespace

tds_connection::tds_connection(std::size_t number, const tds_script& script, recorder record)
    : number_(number),
      script_(script),
      record_(std::move(record)),
      bodies_(first_packet_size - header_size) {}

void tds_connection::run() {
  wire_.start();
  if (greet()) {
    while (const auto message = wire_.next()) handle(*message);
  }
  wire_.close();
}

bool tds_connection::greet() {
  while (const auto message = wire_.next()) {
    if (message->type == tds_packet::prelogin) {
      tds_writer greeting;
      write_prelogin(greeting);
      if (!wire_.send(tds_packet::answer, true, greeting.all(), first_packet_size)) return false;
    } else if (message->type == tds_packet::login) {
      try {
        return let_in(parse(*message));
      } catch (const std::exception&) {
        return false;
      }
    } else {
      return false;
    }
  }
  return false;
}

bool tds_connection::let_in(const tds_request& asked) {
  tds_request recorded = asked;
  recorded.connection = number_;
  record_(recorded);
  const tds_answer said = ask(script_.login, recorded);
  tds_reply out = reply();
  out.play(said, tds_end::batch);
  if (said.has_error()) {
    out.end_with(tds_done::error);
    return false;
  }
  const auto wanted = asked.login.packet_size == 0 ? first_packet_size : asked.login.packet_size;
  const std::size_t size = std::clamp<std::size_t>(wanted, 512, 32767);
  write_welcome(out.out(), asked.login, static_cast<std::uint32_t>(size));
  out.end_with(0);
  bodies_ = size - header_size;
  return !out.over();
}

void tds_connection::handle(const tds_message& message) {
  try {
    tds_request asked = parse(message);
    remember(asked);
    record_(asked);
    answer(asked);
  } catch (const std::exception& failed) {
    tds_reply out = reply();
    out.play(tds_answer().error(script_error, failed.what()), tds_end::batch);
    out.end_batch();
  }
}

void tds_connection::answer(const tds_request& asked) {
  switch (asked.kind) {
    case tds_kind::batch:
      answer_batch(asked);
      return;
    case tds_kind::call:
      answer_calls(asked);
      return;
    case tds_kind::transaction:
      answer_transaction(asked);
      return;
    case tds_kind::attention:
      reply().end_with(tds_done::attention);
      return;
    case tds_kind::login:
      wire_.close();
      return;
  }
}

void tds_connection::answer_batch(const tds_request& asked) {
  tds_reply out = reply();
  out.play(ask(only_sets_up(asked.text) ? script_.set_up : script_.statement, asked),
           tds_end::batch);
  out.end_batch();
}

void tds_connection::answer_calls(const tds_request& asked) {
  tds_reply out = reply();
  answer_call(out, asked, asked.further.empty());
  for (const tds_request& each : asked.further) {
    answer_call(out, each, &each == &asked.further.back());
  }
}

void tds_connection::answer_call(tds_reply& reply, const tds_request& asked, bool last) {
  if (reply.over()) return;
  if (asked.procedure == "sp_unprepare") {
    reply.end_procedure({}, last);
    return;
  }
  const bool prepares = asked.procedure == "sp_prepare";
  const tds_answer said = ask(prepares ? script_.prepare : script_.statement, asked);
  reply.play(said, tds_end::in_procedure);
  const bool keeps = asked.procedure == "sp_prepexec" || (prepares && !said.has_error());
  reply.end_procedure(keeps ? std::optional(asked.handle) : std::nullopt, last);
}

void tds_connection::answer_transaction(const tds_request& asked) {
  tds_reply out = reply();
  out.play(script_.transaction ? ask(script_.transaction, asked)
                               : usual_transaction(asked, transactions_.open()),
           tds_end::batch);
  out.end_batch();
}

void tds_connection::remember(tds_request& asked) {
  asked.connection = number_;
  if (asked.procedure == "sp_prepare" || asked.procedure == "sp_prepexec") {
    asked.handle = ++last_handle_;
    prepared_[asked.handle] = {asked.text, asked.declaration};
  } else if (const auto known = prepared_.find(asked.handle); known != prepared_.end()) {
    asked.text = known->second.text;
    asked.declaration = known->second.declaration;
    if (asked.procedure == "sp_unprepare") prepared_.erase(known);
  }
  for (tds_request& each : asked.further) remember(each);
}

bool only_sets_up(std::string_view batch) {
  const auto begins_with = [](std::string_view text, std::string_view word) {
    return text.size() > word.size() && space.find(text[word.size()]) != std::string_view::npos &&
           std::equal(word.begin(), word.end(), text.begin(),
                      [](char a, char b) { return a == b || a + ('a' - 'A') == b; });
  };
  bool some = false;
  while (!batch.empty()) {
    const std::size_t end = std::min(batch.find_first_of(";\n"), batch.size());
    std::string_view each = batch.substr(0, end);
    batch.remove_prefix(std::min(end + 1, batch.size()));
    each.remove_prefix(std::min(each.find_first_not_of(space), each.size()));
    if (each.empty()) continue;
    if (!begins_with(each, "SET") && !begins_with(each, "USE")) return false;
    some = true;
  }
  return some;
}

}  // namespace tableq_test
