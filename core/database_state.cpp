#include "core/database_state.hpp"

#include <algorithm>
#include <utility>

#include "core/identifier.hpp"
#include "core/validate.hpp"

namespace tableq::core {
namespace {

open_options checked(open_options options) {
  check_open_options(options);
  return options;
}

}  // namespace

database_state::database_state(std::string_view url, open_options options)
    : options_(checked(std::move(options))),
      driver_(make_driver(url)),
      pool_(*driver_,
            std::min(options_.max_sessions, able().max_sessions.value_or(options_.max_sessions)),
            options_.session_timeout, watching()) {
  check_places(options_, able().schemas);
}

void database_state::connect() {
  observed({.name = "connect", .backend = name()}, [this](const observation& told) {
    repeating(
        options_.retry_for, contact::first, [this] { (void)pool_.lease(); }, &told);
  });
}

value database_state::now() const {
  if (!options_.clock) return {};
  return value(options_.clock().time_since_epoch().count());
}

waker& database_state::waker_for(const table_names& names) {
  const std::scoped_lock hold(mutex_);
  return wakers_[names.slot];
}

limits_watch& database_state::limits_of(const table_names& names) {
  const std::scoped_lock hold(mutex_);
  return limits_[names.slot];
}

}  // namespace tableq::core
