#include "core/database/database_state.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include <tableq/testing.hpp>

#include "core/input/identifier.hpp"
#include "core/input/validate.hpp"
#include "core/seam/catalog_statements.hpp"
#include "core/seam/named.hpp"
#include "core/seam/run.hpp"

namespace tableq::inline v0::core {
namespace {

/// The driver of the address. Checks the options for it.
std::unique_ptr<driver> checked_driver(std::string_view url, const open_options& options,
                                       std::shared_ptr<fault_plan> faults) {
  auto out = make_driver(url, options, std::move(faults));
  named(out->name(), "connect", [&] {
    check_open_options(options, out->capabilities().max_payload);
    check_places(options, out->capabilities().schemas);
  });
  return out;
}

void notify(connection& session, const watched_queue& queue, std::string_view token) {
  const std::string channel = channel_of(queue.names);
  const std::string payload = std::to_string(queue.names.identity).append(".").append(token);
  run(session, queue.names, statements::notify_send,
      {.channel = channel, .payload = payload, .identity = queue.names.identity});
}

}  // namespace

database_state::database_state(std::string_view url, open_options options,
                               std::shared_ptr<fault_plan> faults)
    : options_(std::move(options)),
      driver_(checked_driver(url, options_, std::move(faults))),
      pool_(*driver_, most_sessions(), options_.session_timeout, watching()),
      watcher_(*driver_, options_) {
  if (!options_.shortcuts.spinning) writing_.stop_spinning();
}

std::size_t database_state::most_sessions() const noexcept {
  return std::min(options_.max_sessions,
                  capabilities().max_sessions.value_or(options_.max_sessions));
}

payload_limit database_state::payloads() const noexcept {
  const std::size_t highest = capabilities().max_payload;
  const std::size_t usual = std::min(capabilities().usual_payload.value_or(highest), highest);
  return {.most = options_.max_payload.value_or(usual), .highest = highest};
}

void database_state::connect() {
  observed({.name = "connect", .backend = name()}, [this](const observation& observing) {
    repeating(
        options_.retry_for, contact::first,
        [this] {
          const leased_session session = pool_.lease();
          // Now, because an enlisted transaction may hold the pooler's only session of the server.
          if (driver_->pooled()) note_identity(identity_of(*session));
        },
        &observing);
  });
  for (const std::string_view what : {capabilities().caution, doubt_of(*driver_).what}) {
    if (what.empty()) continue;
    notify_observer(options_.observer.get(), [&](observer& sink) { sink.warned(name(), what); });
  }
}

std::string database_state::identity_of(connection& session) const {
  const auto told = run(session, names_for(options_, {}), statements::session_identity);
  return told.empty() ? std::string() : told.at(0).database;
}

bool database_state::note_identity(std::string mine, std::string_view theirs) {
  const std::scoped_lock hold(mutex_);
  identity_ = std::move(mine);
  return identity_ == theirs;
}

void database_state::settle_schema(std::string found) {
  if (found.empty() || !options_.schema_name.empty()) return;
  check_found_schema(found);
  options_.schema_name = std::move(found);
}

void database_state::settle_shards() noexcept {
  if (sharded_.exchange(true)) return;
  watcher_.poll_only();
}

bool database_state::reached_by(connection& callers) {
  if (const auto known = reaches(*driver_, callers)) return *known;
  const std::string theirs = identity_of(callers);
  if (theirs.empty()) return false;
  {
    const std::scoped_lock hold(mutex_);
    if (identity_ == theirs) return true;
  }
  // The server may have been restarted since the query.
  return note_identity(on_session([this](connection& session) { return identity_of(session); }),
                       theirs);
}

std::optional<timestamp> database_state::now() const {
  return options_.clock ? std::optional(options_.clock->now()) : std::nullopt;
}

bool database_state::notifies() const noexcept {
  return capabilities().notifies && !sharded() &&
         options_.notifications != tableq::notifications::off;
}

void database_state::announce(watched_queue& queue, std::size_t count, connection* on) noexcept {
  watcher_.added(queue, count);
  if (!notifies()) return;
  // At most once in `notify_every`: notified readers poll for that long.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  auto notified = queue.notified_at.load();
  if (notified != 0 && now - std::chrono::steady_clock::duration(notified) < notify_every) return;
  if (!queue.notified_at.compare_exchange_strong(notified, now.count())) return;
  try {
    notify_others(queue, on);
  } catch (...) {  // noexcept: the messages are stored, and the notification was only a hint. The
                   // next addition notifies.
    queue.notified_at = 0;
  }
}

void database_state::notify_others(watched_queue& queue, connection* on) {
  if (on != nullptr) return notify(*on, queue, watcher_.token());
  // Under load a session is soon free, but the caller's transactions may hold sessions for a long
  // time.
  constexpr std::chrono::milliseconds patience{100};
  const leased_session session = pool_.lease(patience);
  notify(*session, queue, watcher_.token());
}

void database_state::announce_within(connection& session, const watched_queue& queue) const {
  // The token is 0, so that this process's readers are notified too: the library does not see the
  // commit.
  if (notifies()) notify(session, queue, "0");
}

std::shared_ptr<shared_queue> database_state::shared(const table_names& names,
                                                     poll_plan::timing due_timing) {
  constexpr std::size_t fewest = 256;
  const queue_key key(names);
  const std::scoped_lock hold(mutex_);
  if (const auto found = queues_.find(key); found != queues_.end()) return found->second;
  if (queues_.size() >= std::max(sweep_at_, fewest)) {
    // Users get theirs here, so that an entry without one gets none meanwhile. Users are handles,
    // transactions and the watcher.
    std::erase_if(queues_, [](const auto& each) { return each.second.use_count() == 1; });
    sweep_at_ = 2 * queues_.size();
  }
  auto made = std::make_shared<shared_queue>(names, due_timing, options_.shortcuts.spinning);
  queues_.emplace(key, made);
  return made;
}

std::size_t database_state::known_queues() {
  const std::scoped_lock hold(mutex_);
  return queues_.size();
}

void database_state::changing(const table_names& names) {
  const queue_key key(names);
  const std::scoped_lock hold(mutex_);
  if (const auto found = queues_.find(key); found != queues_.end()) found->second->limits.forget();
}

void database_state::dropped(const table_names& names) {
  const queue_key key(names);
  const std::scoped_lock hold(mutex_);
  const auto found = queues_.find(key);
  if (found == queues_.end()) return;
  found->second->limits.forget();
  found->second->limits.changes().ring();
  // Each reader that fails wakes the next one.
  found->second->watched.readers.hint();
}

}  // namespace tableq::inline v0::core
