#include "model/described.hpp"

#include <sstream>

namespace tableq_test {
namespace {

void tell(std::ostream& to, const char* name, const std::optional<tableq::timestamp>& at) {
  if (at) to << ", " << name << ' ' << at->time_since_epoch().count();
}
void tell(std::ostream& to, const char* name, const std::optional<std::string>& text) {
  if (text) to << ", " << name << ' ' << *text;
}
template <class Number>
void tell_number(std::ostream& to, const char* name, const std::optional<Number>& number) {
  if (number) to << ' ' << name << ' ' << *number;
}

}  // namespace

std::string described(const tableq::stored_message& message) {
  std::ostringstream out;
  out << message.id.value << ": state " << static_cast<int>(message.state) << ", "
      << message.payload << ", priority " << message.priority << ", attempts " << message.attempts;
  for (const auto& [name, text] : message.headers) out << ", " << name << '=' << text;
  tell(out, "key", message.key);
  tell(out, "group", message.group);
  tell(out, "created", message.created_at);
  tell(out, "due", message.due_at);
  tell(out, "expires", message.expires_at);
  tell(out, "claimed", message.claimed_at);
  tell(out, "finished", message.finished_at);
  for (const tableq::failure_record& each : message.errors) {
    out << ", " << each.error << " at " << each.at.time_since_epoch().count();
  }
  return out.str() + '\n';
}

std::string described(const std::vector<tableq::stored_message>& messages) {
  std::string out;
  for (const auto& each : messages) out += described(each);
  return out;
}

std::string described(const tableq::queue_limits& limits, bool paused, const std::string& left) {
  std::ostringstream out;
  out << (paused ? "paused" : "open");
  tell_number(out, "capacity", limits.capacity);
  tell_number(out, "rate", limits.rate);
  tell_number(out, "burst", limits.burst);
  tell_number(out, "concurrency", limits.concurrency);
  return out.str() + ' ' + left + '\n';
}

}  // namespace tableq_test
