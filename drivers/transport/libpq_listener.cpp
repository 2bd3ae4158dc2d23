#include "drivers/transport/libpq_listener.hpp"

#include <libpq-fe.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>

#include <cstdint>
#include <set>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/wake_pipe.hpp"

namespace tableq::inline v0::drivers {
namespace {

struct free_notice {
  void operator()(PGnotify* notice) const noexcept { PQfreemem(notice); }
};

class libpq_listener final : public core::listener {
 public:
  explicit libpq_listener(std::unique_ptr<core::connection> session)
      : session_(std::move(session)), handle_(static_cast<PGconn*>(session_->session().handle)) {}

  bool follow(const core::table_names& names, bool begins) override {
    using enum core::statement;
    const core::value id(names.identity);
    const auto of_queue = [&](core::statement what) {
      return session_->execute(core::contract_of(what), names, {&id, 1}, {});
    };
    const auto granted = [&](core::statement what) { return of_queue(what).integer(0, 0) == 1; };
    if (!begins) {
      if (held_.erase(names.identity) != 0) of_queue(listen_drop);
      session_->execute(core::contract_of(listen_end), names, {}, {});
      return true;
    }
    if (!held_.contains(names.identity)) {
      session_->execute(core::contract_of(listen_begin), names, {}, {});
      if (!granted(listen_hold)) return false;
      held_.insert(names.identity);
    }
    return granted(listen_quiet);
  }

  core::received_notices wait(std::chrono::milliseconds longest) override {
    // Notifications may have arrived with the result of a statement.
    core::received_notices out = take_notices();
    if (!out.notices.empty()) return out;
    if (wakes().wait(PQsocket(handle_), longest) == core::wake_pipe::woken_by::other) {
      PQconsumeInput(handle_);
      out = take_notices();
    }
    // Another session may have found that the server takes no writes any more: then it sends no
    // notifications either.
    if (session_->usable()) return out;
    throw error(errc::connection_lost, advice::session, "the listening session was lost");
  }

 private:
  core::received_notices take_notices() {
    core::received_notices out;
    for (;;) {
      const std::unique_ptr<PGnotify, free_notice> one(PQnotifies(handle_));
      if (!one) return out;
      out.notices.push_back({.channel = one->relname, .payload = one->extra});
    }
  }

  std::set<std::int64_t> held_;  // identities of the queues whose senders see this listener
  std::unique_ptr<core::connection> session_;
  PGconn* handle_;
};

}  // namespace

std::unique_ptr<core::listener> listen_through_libpq(std::unique_ptr<core::connection> session,
                                                     const endpoint& address) {
  if (!address.capabilities.notifies || address.pooled) return nullptr;
  return std::make_unique<libpq_listener>(std::move(session));
}

}  // namespace tableq::inline v0::drivers
