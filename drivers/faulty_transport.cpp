#include "drivers/faulty_transport.hpp"

#include <soci/soci.h>

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/text.hpp"

namespace tableq::inline v0::drivers {
namespace {

using testing::moment;
using testing::trouble;

/// Samples of a failure: a number for one database, an SQLSTATE for another.
struct sample {
  int number;
  std::string_view sqlstate;
};

constexpr std::array busy_samples{sample{5, "55P03"}, sample{1222, ""}};
constexpr std::array deadlock_samples{sample{517, "40P01"}, sample{1205, "40001"}};
constexpr std::array time_out_samples{sample{9, "57014"}, sample{20003, "HYT00"}};

std::span<const sample> samples_of(trouble what) noexcept {
  if (what == trouble::busy) return busy_samples;
  return what == trouble::deadlock ? std::span<const sample>(deadlock_samples) : time_out_samples;
}

errc code_of(trouble what) noexcept {
  if (what == trouble::busy) return errc::busy;
  return what == trouble::deadlock ? errc::conflict : errc::cancelled;
}

native_failure lost() {
  return native_failure({.link_lost = true, .sentence = "a test broke the connection"});
}

/// The error that the dialect's database would report: the sample that the dialect classifies as
/// this trouble.
native_failure failure_of(trouble what, const dialect& definition) {
  if (what == trouble::lost_connection || what == trouble::unknown_commit) return lost();
  native_error native{.sentence = "a test made the call fail"};
  for (const sample& each : samples_of(what)) {
    native.number = each.number;
    native.sqlstate = each.sqlstate;
    const errc code = definition.classify(native).code;
    // For some databases a statement's time-out ends the session.
    if (code == code_of(what) || code == errc::connection_lost) return native_failure(native);
  }
  native.number = 0;
  native.sqlstate.clear();
  native_failure out(native);
  out.judge({code_of(what), advice::transaction});
  return out;
}

/// Shared by a transport and its statements. Owns the real ones.
class faulty_link {
 public:
  using real_statements = std::list<std::unique_ptr<prepared>>;

  faulty_link(std::unique_ptr<transport> real, const core::any_session& session,
              const dialect& definition, std::shared_ptr<core::fault_plan> plan)
      : real_(std::move(real)),
        session_(session),
        definition_(definition),
        plan_(std::move(plan)) {}

  [[nodiscard]] transport& real() const noexcept { return *real_; }
  [[nodiscard]] bool dead() const noexcept { return real_ == nullptr; }
  [[nodiscard]] bool in_transaction() const noexcept { return !dead() && real_->in_transaction(); }
  [[nodiscard]] real_statements& statements() noexcept { return statements_; }

  /// Runs a call, or makes it fail.
  template <class Work>
  void make(std::string_view name, bool lasting, boundary what, Work work) {
    make_together({&name, 1}, lasting, what, work);
  }
  /// The same for calls of one round trip: the first fault is that of all.
  template <class Work>
  void make_together(std::span<const std::string_view> names, bool lasting, boundary what,
                     Work work) {
    using way = core::fault_plan::way;
    if (dead()) throw lost();
    std::optional<testing::fault> fault;
    for (const std::string_view name : names) {
      if (!fault)
        fault = plan_->next(name, lasting, what == boundary::rollback ? way::lost : way::any);
    }
    if (!fault) return work();
    const bool ends = loses(failure_of(fault->what, definition_));
    if (ends) {
      if (fault->when == moment::after) work();
      die();
    } else if (what == boundary::commit || what == boundary::savepoint ||
               (what == boundary::none && in_transaction())) {
      spoil();
    } else if (fault->when == moment::after) {
      undo(what, work);
    }
    throw failure_of(fault->what, definition_);
  }

 private:
  [[nodiscard]] bool loses(const native_failure& failure) const {
    if (failure.details().link_lost) return true;
    return !failure.judged() && ends_session(definition_.classify(failure.details()));
  }

  /// The effect of any error on a transaction of this database: none, or it can only be rolled
  /// back.
  void spoil() {
    constexpr int none = 0;  // no savepoint has this depth
    try {
      real_->script(fill_depth(definition_.undo, none), boundary::savepoint);
    } catch (const native_failure&) {  // Expected; on some databases it ends the transaction.
    }
  }

  template <class Work>
  void undo(boundary what, Work work) {
    if (what != boundary::begin) real_->script(definition_.begin, boundary::begin);
    work();
    real_->script(definition_.rollback, boundary::rollback);
  }

  void die();

  std::unique_ptr<transport> real_;  // null: the session is lost
  core::any_session session_;
  const dialect& definition_;
  std::shared_ptr<core::fault_plan> plan_;
  real_statements statements_;  // null each: not prepared yet, or its session is lost
};

class faulty_prepared final : public prepared {
 public:
  faulty_prepared(std::shared_ptr<faulty_link> link, std::string_view name, bool writes)
      : link_(std::move(link)),
        real_(link_->statements().emplace(link_->statements().end())),
        name_(name),
        writes_(writes) {}
  ~faulty_prepared() override { link_->statements().erase(real_); }

  void run(const arguments& given, core::row_set& out) override {
    link_->make(name_, writes_ && !link_->in_transaction(), boundary::none, [&] {
      // If the call fails after this, its result is lost, and the caller sees none of it.
      (*real_)->run(given, out);
    });
  }

  void hold(std::unique_ptr<prepared> real) noexcept { *real_ = std::move(real); }
  [[nodiscard]] prepared* real() const noexcept { return real_->get(); }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] bool writes() const noexcept { return writes_; }

 private:
  std::shared_ptr<faulty_link> link_;
  faulty_link::real_statements::iterator real_;
  std::string_view name_;
  bool writes_;
};

void faulty_link::die() {
  // A server rolls back when the link is broken. Only ODBC's own functions end a transaction that a
  // caller began with them.
  try {
    if (session_.soci != nullptr && real_->in_transaction()) session_.soci->rollback();
  } catch (const soci::soci_error&) {  // The next block tries another way.
  }
  try {
    if (real_->in_transaction()) real_->script(definition_.rollback, boundary::rollback);
  } catch (const native_failure&) {  // Closing the session below rolls back as well.
  }
  for (std::unique_ptr<prepared>& each : statements_) each.reset();
  real_.reset();
  if (session_.soci != nullptr) session_.soci->close();
}

class faulty_transport final : public transport {
 public:
  explicit faulty_transport(std::shared_ptr<faulty_link> link) : link_(std::move(link)) {}

  std::unique_ptr<prepared> prepare(text statement, bool keep) override {
    auto out = std::make_unique<faulty_prepared>(link_, statement.name, statement.writes);
    link_->make(std::string(statement.name).append(".prepare"), false, boundary::none,
                [&] { out->hold(link_->real().prepare(std::move(statement), keep)); });
    return out;
  }

  void script(const std::string& sql, boundary what) override {
    constexpr std::array names{"create", "begin", "commit", "rollback", "savepoint"};
    link_->make(names.at(static_cast<std::size_t>(what)), what == boundary::commit, what,
                [&] { link_->real().script(sql, what); });
  }

  bool run_together(const std::string& begin, bool needed,
                    std::span<const bound_statement> all) override {
    std::vector<bound_statement> real(all.begin(), all.end());
    std::vector<std::string_view> names;
    bool writes = false;
    for (bound_statement& each : real) {
      // Its own; NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast)
      const auto& mine = static_cast<const faulty_prepared&>(*each.what);
      each.what = mine.real();
      names.push_back(mine.name());
      writes = writes || mine.writes();
    }
    bool done = false;
    link_->make_together(names, writes && !link_->in_transaction(), boundary::none,
                         [&] { done = link_->real().run_together(begin, needed, real); });
    return done;
  }

  bool alive() noexcept override { return !link_->dead() && link_->real().alive(); }
  core::transaction_status transaction() noexcept override {
    return link_->dead() ? core::transaction_status::unknown : link_->real().transaction();
  }
  const session_files* files() noexcept override {
    return link_->dead() ? nullptr : link_->real().files();
  }

 private:
  std::shared_ptr<faulty_link> link_;
};

}  // namespace

std::unique_ptr<transport> with_faults(std::unique_ptr<transport> real,
                                       const core::any_session& session, const dialect& definition,
                                       std::shared_ptr<core::fault_plan> plan) {
  return std::make_unique<faulty_transport>(
      std::make_shared<faulty_link>(std::move(real), session, definition, std::move(plan)));
}

std::unique_ptr<soci::session> open_with_faults(const transport_kind& transport,
                                                const endpoint& address, core::fault_plan& plan) {
  const auto fault = plan.next("connect", false, core::fault_plan::way::lost);
  if (!fault) return transport.open(address);
  if (fault->when == moment::after) transport.open(address);
  throw lost();
}

}  // namespace tableq::inline v0::drivers
