#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fault/stage.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::advice;
using tableq::errc;
using tableq::testing::call;
using tableq::testing::fault;
using tableq::testing::moment;
using tableq::testing::trouble;

/// The options of a database object.
struct mode {
  bool repeats = false;
  bool combines = false;
};

/// In an order that the seed decides, so that a time limit does not omit the same scenarios with
/// every seed.
template <class All>
All shuffled(All all, random_source& lots) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[lots.below(i)]);
  return all;
}

constexpr fault lost_before{trouble::lost_connection, moment::before};
constexpr fault lost_after{trouble::lost_connection, moment::after};

bool loses(const fault& planned) {
  return planned.what == trouble::lost_connection || planned.what == trouble::unknown_commit;
}

std::string in_words(const fault& planned) {
  constexpr std::array names{"lost_connection", "unknown_commit", "busy", "deadlock", "time_out"};
  return std::string(names.at(static_cast<std::size_t>(planned.what))) +
         (planned.when == moment::before ? " before" : " after");
}

/// Whether it changes messages. An enlisted session sometimes reads its limits with a lock.
bool changes(const call& made) {
  return made.lasting && !made.name.starts_with("limits.ask") && !made.name.starts_with("floors.");
}

/// The number of lasting changes before a call.
std::size_t lasting_before(const call& made, const std::vector<call>& history) {
  return static_cast<std::size_t>(std::count_if(
      history.begin(), history.begin() + static_cast<std::ptrdiff_t>(made.number - 1), changes));
}

/// A look for the place where reads begin. Only if it loses the session of a read, before it, that
/// one fails.
bool looks_where_to_begin(const call& made) {
  return made.name.find(".floor") != std::string::npos || made.name.starts_with("floors.read") ||
         made.name.starts_with("floors.write");
}

/// Failures without effect on the caller: its work is done, or rolled back, in any case.
bool swallowed(const scenario& play, const call& made, const std::vector<call>& history) {
  if (made.name == "rollback" || looks_where_to_begin(made)) return true;
  if (made.name.starts_with("claim.progress")) return true;
  // Batches whose ends may wait for a new queue are looked for when it is made.
  if (made.name.starts_with("batch.open")) return true;
  // The session of that, which comes first but in an extension.
  if (made.name == "connect" && play.name.ends_with("with progress") &&
      !play.name.starts_with("extend"))
    return true;
  return (play.first_counts || made.name.starts_with("notify.send") ||
          made.name.starts_with("claim.find_key")) &&
         lasting_before(made, history) > 0;
}

/// The messages in any state.
std::string payloads_in(const std::string& state) {
  std::istringstream words(state);
  std::vector<std::string> found;
  for (std::string each; words >> each;) {
    if (each.find('[') != std::string::npos) found.push_back(each.substr(0, each.find('[')));
  }
  std::sort(found.begin(), found.end());
  std::string out;
  for (const std::string& each : found) out += each + " ";
  return out;
}

struct expected_error {
  std::string_view code;
  std::vector<advice> safe;
};

expected_error expected_of(const call& made, const fault& planned) {
  if (loses(planned)) {
    if (made.lasting) return {"outcome_unknown", {advice::never}};
    return {made.name == "connect" ? "connection_failed" : "connection_lost", {advice::session}};
  }
  const std::vector passing{advice::statement, advice::transaction};
  if (planned.what == trouble::busy) return {"busy", passing};
  return {planned.what == trouble::deadlock ? "conflict" : "cancelled", passing};
}

/// Whether the call had its effect in spite of the error.
bool happened(const call& made, const fault& planned) {
  return changes(made) && loses(planned) && planned.when == moment::after;
}

/// Whether tableq repairs it by itself.
bool repaired(const scenario& play, const call& made, const fault& planned) {
  if (made.lasting && loses(planned)) return false;
  if (planned.what == trouble::time_out) return false;
  return !play.by_hand || made.name == "connect" || made.name == "begin";
}

/// A database object whose calls can fail. It has at most one session, so that the next call
/// detects a leaked one.
class victim {
 public:
  victim(const place& on, const manual_clock& clock, const mode& how)
      : sessions_(std::make_shared<session_counter>()),
        player_(trouble_.open(on.quick_url(), {.max_sessions = 1,
                                               .session_timeout = 10s,
                                               .retry_for = how.repeats ? 60s : 0s,
                                               .shortcuts = {.combining = how.combines},
                                               .clock = clock.source(),
                                               .observer = sessions_})) {}

  actor& player() { return player_; }
  tableq::testing::faults& trouble() { return trouble_; }
  [[nodiscard]] int sessions() const { return sessions_->open(); }

  /// Closes its session, so that the next call has to connect and to prepare.
  void disconnect() {
    if (sessions() == 0) return;
    trouble_.fail("rollback", lost_before);
    static_cast<void>(player_.db().begin());
    trouble_.heal();
  }

 private:
  tableq::testing::faults trouble_;
  std::shared_ptr<session_counter> sessions_;
  actor player_;
};

class a_fault_at_every_call : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    const char* const wanted = std::getenv("TABLEQ_TEST_FAULTS");
    all_ = wanted != nullptr && std::string_view(wanted) == "all";
    if (!can().cheap_sessions) scenarios_ = 4;
    if (can().second_way) scenarios_ = 8;
    seed_ = told_seed();
  }
  void TearDown() override {
    victim_.reset();
    clean_.reset();
    on_each_backend::TearDown();
  }

  /// @param group of the scenarios, as text.
  void play_all(const std::string& group, const std::vector<scenario>& all) {
    random_source lots(seed_);
    const time_budget time;
    std::size_t played = 0;
    std::vector<mode> modes{{false, lots.one_in(2)}, {true, lots.one_in(2)}};
    if (all_) modes = {{false, false}, {false, true}, {true, false}, {true, true}};
    for (const mode& how : shuffled(modes, lots)) {
      start(how);
      for (const scenario& each : shuffled(all, lots)) {
        if (time.is_over() || !(all_ || lots.one_in(scenarios_))) continue;
        play(each, lots);
        ++played;
      }
    }
    report_injected("calls failed, " + group, GetParam()->name(), failed_,
                    "all or nothing, and told rightly; scenarios: " + std::to_string(played));
  }

 private:
  /// The result of a run without faults.
  struct course {
    std::string before = {};
    std::string result = {};
    std::string after = {};
    std::size_t lasting = 0;
    std::size_t calls = 0;
  };

  void start(const mode& how) {
    mode_ = how;
    if (!can().shared) return;
    victim_.emplace(here(), clock, how);
    if (!clean_)
      clean_.emplace(tableq::database::open(here().quick_url(), {.clock = clock.source()}));
  }

  /// The observer of the real result.
  actor& clean() { return can().shared ? *clean_ : victim_->player(); }

  /// Everything as it was before the scenario.
  void set_the_stage(const scenario& played) {
    if (can().shared) {
      std::string sql;
      for (const std::string& each : clean().used()) sql += "DELETE FROM \"" + each + "\";";
      if (!sql.empty()) here().sql(sql);
      clean_->forget();
    } else {
      victim_.emplace(here(), clock, mode_);
    }
    left_ = {.here = &here(), .clock = &clock};
    clock.set(began_);
    played.prepare(clean(), left_);
  }

  course undisturbed(const scenario& played) {
    if (can().shared) victim_->disconnect();
    set_the_stage(played);
    course out{.before = clean().state()};
    victim_->trouble().start_over();
    out.result = played.act(victim_->player(), left_);
    for (const call& each : victim_->trouble().history()) out.lasting += changes(each) ? 1 : 0;
    out.calls = victim_->trouble().calls();
    out.after = clean().state();
    return out;
  }

  void play(const scenario& played, random_source& lots) {
    if (played.shared && !can().shared) return;
    SCOPED_TRACE(played.name + (mode_.repeats ? ", repeating" : ", not repeating") +
                 (mode_.combines ? ", combining" : ", each alone"));
    set_the_stage(played);
    static_cast<void>(played.act(victim_->player(), left_));  // opens what it needs
    const course plain = undisturbed(played);
    const course again = undisturbed(played);
    ASSERT_EQ(plain.result + plain.after, again.result + again.after) << "no scenario for this";
    // Of very many calls only the first and the last ones, which differ from those between.
    constexpr std::size_t most = 100;
    constexpr std::size_t some = 12;
    for (std::size_t n = 1; n <= plain.calls; ++n) {
      if (plain.calls > most && n == some) n = plain.calls - some;
      if (!all_ && scenarios_ > 1 && !lots.one_in(3)) continue;
      if (!disturb(played, plain, n, lots)) break;
    }
  }

  /// @return false when there is no such call.
  bool disturb(const scenario& played, const course& plain, std::size_t n, random_source& lots) {
    constexpr std::array whens{moment::before, moment::after};
    constexpr std::array others{trouble::busy, trouble::deadlock, trouble::time_out};
    const bool can_lose = can().shared;  // otherwise the messages would be lost with the session
    std::vector<fault> faults;
    if (all_) {
      faults = all_faults();
      if (!can_lose) std::erase_if(faults, loses);
    } else {
      const moment when = whens.at(lots.below(2));
      const fault other{others.at(lots.below(3)), whens.at(lots.below(2))};
      if (!mode_.repeats && can_lose) faults = {lost_before, lost_after, other};
      if (mode_.repeats && can_lose) faults = {{trouble::lost_connection, when}};
      if (mode_.repeats || !can_lose) faults.push_back(other);
    }
    bool there = false;
    for (const fault& planned : faults) there = disturb(played, plain, n, planned) || there;
    return there;
  }

  bool disturb(const scenario& played, const course& plain, std::size_t n, const fault& planned) {
    SCOPED_TRACE(in_words(planned) + " call " + std::to_string(n));
    if (can().shared && loses(planned)) victim_->disconnect();
    set_the_stage(played);
    tableq::testing::faults& trouble = victim_->trouble();
    trouble.start_over();
    trouble.fail(n, planned);
    std::string result;
    std::optional<tableq::error> failure;
    try {
      result = played.act(victim_->player(), left_);
    } catch (const tableq::error& caught) {
      failure = caught;
    }
    const std::vector<call> history = trouble.history();
    trouble.heal();
    EXPECT_LE(victim_->sessions(), 1);
    if (history.size() < n) return false;
    const call& hit = history[n - 1];
    if (hit.failed) ++failed_;
    SCOPED_TRACE("at " + hit.name);
    const bool repairs = !hit.failed || (mode_.repeats && repaired(played, hit, planned));
    // After a second the session is that of a look at the limits, which comes before the progress.
    const bool lost_before_read =
        failure && loses(planned) && (looks_where_to_begin(hit) || hit.name == "connect");
    if (repairs || (swallowed(played, hit, history) && !lost_before_read)) {
      EXPECT_FALSE(failure) << failure->what();
      EXPECT_EQ(result, plain.result);
      check_done(played, plain, repairs || happened(hit, planned));
      return true;
    }
    if (!failure) {
      ADD_FAILURE() << "nothing was thrown";
      return true;
    }
    check_error(*failure, hit, planned, history);
    check_effect(played, plain, hit, planned, history);
    return true;
  }

  void check_error(const tableq::error& failure, const call& hit, const fault& planned,
                   const std::vector<call>& history) {
    const expected_error expected = expected_of(hit, planned);
    EXPECT_EQ(tableq::to_string(failure.code()), expected.code) << failure.what();
    EXPECT_NE(std::find(expected.safe.begin(), expected.safe.end(), failure.advice()),
              expected.safe.end())
        << tableq::to_string(failure.advice());
    if (failure.code() != errc::outcome_unknown) return;
    // A call that may have had its effect must not be repeated.
    EXPECT_FALSE(std::any_of(history.begin() + static_cast<std::ptrdiff_t>(hit.number),
                             history.end(), [](const call& each) { return each.lasting; }))
        << "something was repeated after an unknown outcome";
  }

  void check_effect(const scenario& played, const course& plain, const call& hit,
                    const fault& planned, const std::vector<call>& history) {
    const std::size_t earlier = lasting_before(hit, history);
    const bool done = happened(hit, planned);
    // Statements of one round trip happen together, and the fault is that of the first.
    if (done && (earlier + 1 == plain.lasting || clean().state() == plain.after)) {
      EXPECT_EQ(clean().state(), plain.after) << "it had happened";
      static_cast<void>(victim_->player().db().queues());
      return;
    }
    const bool nothing = !done && earlier == 0;
    if (nothing) {
      EXPECT_EQ(clean().state(), plain.before) << "it had not happened";
    }
    // A repetition of everything is then safe, and gives the same result.
    const std::string result = played.act(victim_->player(), left_);
    if (nothing) {
      EXPECT_EQ(result, plain.result);
    }
    check_done(played, plain, nothing);
  }

  /// @param wholly false: a part of several steps may be missing.
  void check_done(const scenario& played, const course& plain, bool wholly) {
    const std::string after = clean().state();
    if (wholly || !played.in_steps) {
      EXPECT_EQ(after, plain.after);
    } else {
      EXPECT_EQ(payloads_in(after), payloads_in(plain.after));
    }
  }

  bool all_ = false;
  std::uint64_t scenarios_ = 1;  // One in this number runs, with a third of its calls.
  std::uint64_t seed_ = 0;
  std::size_t failed_ = 0;  // calls
  mode mode_;
  const tableq::timestamp began_ = clock.now();
  notes left_;
  std::optional<victim> victim_;
  std::optional<actor> clean_;
};
TABLEQ_ON_BACKENDS(a_fault_at_every_call, all_backends);

TEST_P(a_fault_at_every_call, of_a_destructive_queue_loses_nothing_and_doubles_nothing) {
  play_all("destructive reads", destructive_scenarios());
}

TEST_P(a_fault_at_every_call, of_an_enqueue_or_a_take_loses_nothing_and_leases_nothing_twice) {
  play_all("enqueues and takes", claim_scenarios());
}

TEST_P(a_fault_at_every_call, of_a_settlement_settles_once_or_not_at_all) {
  play_all("settlements", settling_scenarios());
}

TEST_P(a_fault_at_every_call, of_a_look_changes_nothing) {
  play_all("looks", looking_scenarios());
}

TEST_P(a_fault_at_every_call, of_the_schema_or_of_limits_leaves_all_or_nothing) {
  play_all("schema and limits", database_scenarios());
}

TEST_P(a_fault_at_every_call, of_a_transaction_leaves_all_of_it_or_nothing) {
  play_all("transactions", transaction_scenarios());
}

TEST_P(a_fault_at_every_call, of_a_table_of_the_application_loses_nothing_and_doubles_nothing) {
  play_all("tables of applications", table_scenarios());
}

}  // namespace
