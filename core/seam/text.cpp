#include <tableq/text.hpp>

#include <string>
#include <string_view>

namespace tableq::inline v0 {

std::string to_string(message_id id) {
  return std::to_string(id.value);
}

std::string_view to_string(ordering value) noexcept {
  switch (value) {
    case ordering::relaxed:
      return "relaxed";
    case ordering::strict:
      return "strict";
  }
  return "unknown";
}

std::string_view to_string(schema_policy value) noexcept {
  switch (value) {
    case schema_policy::create_if_missing:
      return "create_if_missing";
    case schema_policy::verify_only:
      return "verify_only";
  }
  return "unknown";
}

std::string_view to_string(notifications value) noexcept {
  switch (value) {
    case notifications::automatic:
      return "automatic";
    case notifications::send_only:
      return "send_only";
    case notifications::off:
      return "off";
  }
  return "unknown";
}

std::string_view to_string(key_scope value) noexcept {
  switch (value) {
    case key_scope::active:
      return "active";
    case key_scope::waiting:
      return "waiting";
  }
  return "unknown";
}

std::string_view to_string(on_duplicate value) noexcept {
  switch (value) {
    case on_duplicate::keep_first:
      return "keep_first";
    case on_duplicate::reject:
      return "reject";
    case on_duplicate::replace:
      return "replace";
    case on_duplicate::postpone:
      return "postpone";
  }
  return "unknown";
}

std::string_view to_string(group_policy value) noexcept {
  switch (value) {
    case group_policy::hold:
      return "hold";
    case group_policy::pass:
      return "pass";
  }
  return "unknown";
}

std::string_view to_string(message_state value) noexcept {
  switch (value) {
    case message_state::ready:
      return "ready";
    case message_state::leased:
      return "leased";
    case message_state::delayed:
      return "delayed";
    case message_state::done:
      return "done";
    case message_state::dead:
      return "dead";
    case message_state::held:
      return "held";
  }
  return "unknown";
}

std::string_view to_string(settle_result value) noexcept {
  switch (value) {
    case settle_result::applied:
      return "applied";
    case settle_result::lease_lost:
      return "lease_lost";
  }
  return "unknown";
}

std::string_view to_string(change_result value) noexcept {
  switch (value) {
    case change_result::applied:
      return "applied";
    case change_result::running:
      return "running";
    case change_result::finished:
      return "finished";
    case change_result::not_found:
      return "not_found";
  }
  return "unknown";
}

std::string_view to_string(enqueue_result value) noexcept {
  switch (value) {
    case enqueue_result::added:
      return "added";
    case enqueue_result::kept_first:
      return "kept_first";
    case enqueue_result::replaced:
      return "replaced";
    case enqueue_result::postponed:
      return "postponed";
  }
  return "unknown";
}

std::string_view to_string(handled::how value) noexcept {
  switch (value) {
    case handled::how::completed:
      return "completed";
    case handled::how::failed:
      return "failed";
    case handled::how::given_up:
      return "given_up";
    case handled::how::given_back:
      return "given_back";
    case handled::how::settled:
      return "settled";
    case handled::how::kept:
      return "kept";
  }
  return "unknown";
}

std::string_view to_string(worker_event::kind value) noexcept {
  switch (value) {
    case worker_event::kind::completed:
      return "completed";
    case worker_event::kind::failed:
      return "failed";
    case worker_event::kind::given_up:
      return "given_up";
    case worker_event::kind::given_back:
      return "given_back";
    case worker_event::kind::settled_by_handler:
      return "settled_by_handler";
    case worker_event::kind::lease_lost:
      return "lease_lost";
    case worker_event::kind::unknown:
      return "unknown";
    case worker_event::kind::trouble:
      return "trouble";
  }
  return "unknown";
}

std::string_view to_string(finding::level value) noexcept {
  switch (value) {
    case finding::level::ok:
      return "ok";
    case finding::level::warning:
      return "warning";
    case finding::level::problem:
      return "problem";
  }
  return "unknown";
}

namespace testing {

std::string_view to_string(trouble value) noexcept {
  switch (value) {
    case trouble::lost_connection:
      return "lost_connection";
    case trouble::unknown_commit:
      return "unknown_commit";
    case trouble::busy:
      return "busy";
    case trouble::deadlock:
      return "deadlock";
    case trouble::time_out:
      return "time_out";
  }
  return "unknown";
}

std::string_view to_string(moment value) noexcept {
  switch (value) {
    case moment::before:
      return "before";
    case moment::after:
      return "after";
  }
  return "unknown";
}

}  // namespace testing

}  // namespace tableq::inline v0
