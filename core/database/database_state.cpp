#include "core/database/database_state.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "core/base/errors.hpp"
#include "core/input/identifier.hpp"
#include "core/input/trace.hpp"
#include "core/input/validate.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

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

void notify(connection& session, const watched_queue& queue, std::string_view payload) {
  const std::string channel = channel_of(queue.names);
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

std::optional<trace_context> database_state::current_trace() const {
  return options_.trace ? good_trace(options_.trace()) : std::nullopt;
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

bool database_state::notifies() const noexcept {
  return capabilities().notifies && !sharded() &&
         options_.notifications != tableq::notifications::off;
}

void database_state::announce(watched_queue& queue, std::size_t count, connection* on) noexcept {
  watcher_.added(queue, count);
  if (!notifies()) return;
  const auto found = queue.pace.ask(std::chrono::steady_clock::now());
  if (found == notify_pace::answer::none) return;
  try {
    notify_others(queue, on, found == notify_pace::answer::last);
  } catch (...) {  // noexcept: the messages are stored, and the notification was only a hint. The
                   // next addition notifies.
    queue.pace.failed();
  }
}

void database_state::notify_others(watched_queue& queue, connection* on, bool last) {
  const std::string payload = payload_of(queue.names, watcher_.token(), last);
  if (on != nullptr) return notify(*on, queue, payload);
  // Under load a session is soon free, but the caller's transactions may hold sessions for a long
  // time.
  constexpr std::chrono::milliseconds patience{100};
  const leased_session session = pool_.lease(patience);
  notify(*session, queue, payload);
}

void database_state::announce_within(connection& session, const watched_queue& queue) const {
  // The token is 0, so that this process's readers are notified too: the library does not see the
  // commit.
  if (notifies()) notify(session, queue, payload_of(queue.names, "0", false));
}

row_set database_state::add_and_announce(connection& session, const watched_queue& queue,
                                         statement_call addition) const {
  const std::string channel = channel_of(queue.names);
  const std::string payload = payload_of(queue.names, "0", false);
  const kept_call news =
      call_of(statements::notify_send,
              {.channel = channel, .payload = payload, .identity = queue.names.identity});
  std::array both{std::move(addition), news.call()};
  session.run(both.front().what->name, queue.names, both);
  return std::move(both.front().rows);
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
