#include "locks/search.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "locks/execution.hpp"

namespace tableq_test::locks {
namespace {

constexpr int most_repeats = 3;
constexpr std::size_t most_steps = 5000;

steps statements_of(world& in, participant& who) {
  for (const call& each : who.work->calls) {
    execution one(in, who, in.data_of(each.statement), each);
    for (auto part = one.run(); part.next();) co_yield part.request();
  }
}

class runner {
 public:
  runner(const all_statements& texts, const conditions_of_run& is,
         const std::vector<transaction>& work)
      : in_(texts, is), all_(work.size()) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      all_[i].who = {.number = static_cast<int>(i), .work = &work[i]};
      begin(i);
    }
  }

  outcome run(const schedule& by) {
    std::size_t current = by.turns.front();
    std::size_t step = 0;
    for (; step < most_steps; ++step) {
      const auto turn = by.switches.find(step);
      if (turn != by.switches.end() && ready(turn->second)) current = turn->second;
      if (!ready(current)) {
        const auto next =
            std::find_if(by.turns.begin(), by.turns.end(), [&](std::size_t i) { return ready(i); });
        if (next == by.turns.end()) break;
        current = *next;
      }
      advance(current);
      // Waiting begins when it asks, also if another goes on.
      for (std::size_t i = 0; i < all_.size(); ++i) break_circle(i);
    }
    if (std::any_of(all_.begin(), all_.end(), [](const at_work& each) { return !each.done; })) {
      in_.find("endless: " + all_[0].who.work->name);
    }
    for (const auto& [name, table] : in_.tables) {
      if (!table.sound()) in_.find("the model is wrong: an index of " + name);
    }
    return {.findings = in_.findings, .steps = step};
  }

 private:
  struct at_work {
    participant who = {};
    std::optional<steps> program = {};
    bool done = false;
    int repeats = 0;
  };

  void begin(std::size_t i) {
    all_[i].program.reset();
    all_[i].program.emplace(statements_of(in_, all_[i].who));
    go_on(i);
  }

  /// To the next request, or to the end.
  void go_on(std::size_t i) {
    try {
      if (all_[i].program->next()) return;
      in_.commit(all_[i].who);
      all_[i].done = true;
    } catch (const failed_transaction& failure) {
      in_.find(failure.what());
      begin_again(i);
    }
  }

  [[nodiscard]] std::set<int> waits_for(std::size_t i) const {
    if (all_[i].done) return {};
    const lock_request& asked = all_[i].program->request();
    if (asked.conditional || asked.resource.empty()) return {};
    return in_.locks.holders_against(asked.resource, static_cast<int>(i), asked.mode);
  }
  /// For messages that another transaction has changed, or is about to.
  [[nodiscard]] bool waits_for_writers(std::size_t i) const {
    if (waits_for(i).empty()) return false;
    const std::string& on = all_[i].program->request().resource;
    return on.starts_with("claim.") && !in_.locks.free_for(on, static_cast<int>(i), shared_lock);
  }
  [[nodiscard]] bool ready(std::size_t i) const { return !all_[i].done && waits_for(i).empty(); }

  void advance(std::size_t i) {
    lock_request& asked = all_[i].program->request();
    const int who = static_cast<int>(i);
    asked.granted = asked.resource.empty() || in_.locks.free_for(asked.resource, who, asked.mode);
    if (asked.granted && !asked.instant && !asked.resource.empty()) {
      asked.before = in_.locks.hold(asked.resource, who, asked.mode);
    }
    go_on(i);
    if (waits_for_writers(i) && in_.locks.holds_below("limits.", who)) {
      in_.find("waits with the limits: " + all_[i].who.statement);
    }
  }

  /// Whether `from` waits for `to`, also through others; `way` is filled with those.
  bool reaches(std::size_t from, std::size_t to, std::set<std::size_t>& way) const {
    for (const int each : waits_for(from)) {
      const auto next = static_cast<std::size_t>(each);
      if (next == to || (way.insert(next).second && reaches(next, to, way))) return true;
    }
    return false;
  }

  void break_circle(std::size_t i) {
    std::set<std::size_t> circle;
    if (!reaches(i, i, circle)) return;
    circle.insert(i);
    std::set<std::string> names;
    for (const std::size_t each : circle) {
      if (reaches_back(each, i)) names.insert(all_[each].who.statement);
    }
    std::string told;
    for (const std::string& name : names) told += (told.empty() ? "" : ", ") + name;
    in_.find("deadlock: " + told);
    begin_again(i);
  }
  void begin_again(std::size_t i) {
    in_.roll_back(all_[i].who);
    all_[i].done = ++all_[i].repeats > most_repeats;
    if (!all_[i].done) begin(i);
  }
  [[nodiscard]] bool reaches_back(std::size_t from, std::size_t to) const {
    std::set<std::size_t> way;
    return reaches(from, to, way);
  }

  world in_;
  std::vector<at_work> all_;
};

std::string told(const std::vector<transaction>& work, const conditions_of_run& is,
                 const schedule& by) {
  std::string out;
  for (const transaction& each : work) out += (out.empty() ? "" : " | ") + each.name;
  out += is.versions ? ", versions" : ", locks";
  out += is.row_by_row ? ", row by row" : ", in sets";
  out += ", turns";
  for (const std::size_t i : by.turns) out += " " + std::to_string(i);
  for (const auto& [step, to] : by.switches) {
    out += ", at " + std::to_string(step) + " to " + std::to_string(to);
  }
  return out;
}

}  // namespace

outcome run(const all_statements& texts, const conditions_of_run& is,
            const std::vector<transaction>& work, const schedule& by) {
  return runner(texts, is, work).run(by);
}

std::size_t search::follow(const std::vector<transaction>& work, const conditions_of_run& is,
                           const schedule& by) {
  const outcome got = run(texts_, is, work, by);
  ++runs_;
  for (const std::string& finding : got.findings) found_.emplace(finding, told(work, is, by));
  return got.steps;
}

void search::switch_more(const std::vector<transaction>& work, const conditions_of_run& is,
                         const schedule& by, std::size_t steps, std::size_t more) {
  if (more == 0) return;
  const std::size_t first = by.switches.empty() ? 0 : by.switches.rbegin()->first + 1;
  for (std::size_t step = first; step < steps; ++step) {
    for (std::size_t to = 0; to < work.size(); ++to) {
      schedule next = by;
      next.switches[step] = to;
      switch_more(work, is, next, follow(work, is, next), more - 1);
    }
  }
}

void search::all(const std::vector<transaction>& work, const conditions_of_run& is,
                 std::size_t most) {
  schedule by;
  by.turns.resize(work.size());
  std::iota(by.turns.begin(), by.turns.end(), 0U);
  do {
    switch_more(work, is, by, follow(work, is, by), most);
  } while (std::next_permutation(by.turns.begin(), by.turns.end()));
}

void search::one(const std::vector<transaction>& work, const conditions_of_run& is,
                 random_source& chance) {
  schedule by;
  by.turns.resize(work.size());
  std::iota(by.turns.begin(), by.turns.end(), 0U);
  for (std::size_t i = work.size(); i > 1; --i) {
    std::swap(by.turns[i - 1], by.turns[chance.below(i)]);
  }
  const std::uint64_t switches = 1 + chance.below(4);
  for (std::uint64_t i = 0; i < switches; ++i) {
    by.switches[chance.below(40)] = chance.below(work.size());
  }
  static_cast<void>(follow(work, is, by));
}

}  // namespace tableq_test::locks
