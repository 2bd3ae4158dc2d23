#include "model/history.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace tableq_test {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// The put and the read of a value: the calls and its index in them.
struct passage {
  const operation* put = nullptr;
  const operation* got = nullptr;
  std::size_t put_place = 0;
  std::size_t got_place = 0;
  std::int64_t value = 0;

  [[nodiscard]] std::int64_t got_call() const { return got == nullptr ? never : got->when.call; }
  [[nodiscard]] std::int64_t got_back() const { return got == nullptr ? never : got->when.back; }
  [[nodiscard]] bool put_before(const passage& other) const {
    return put->when.before(other.put->when) || (put == other.put && put_place < other.put_place);
  }
  [[nodiscard]] bool got_before(const passage& other) const {
    if (got == nullptr) return false;
    return got_back() < other.got_call() || (got == other.got && got_place < other.got_place);
  }
};
using passages = std::map<std::int64_t, passage>;

std::string named(const passage& of) {
  return "message " + std::to_string(of.value);
}

/// Finds the put and the read of each value; reports what no queue may do.
complaint follow(const history& all, passages& into) {
  for (const operation& each : all) {
    if (each.what != deed::put) continue;
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      passage& to = into[each.values[i]];
      if (to.put != nullptr) return named(to) + " was put twice: the history is of no use";
      to = {.put = &each, .put_place = i, .value = each.values[i]};
    }
  }
  for (const operation& each : all) {
    if (each.what == deed::put) continue;
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      const auto found = into.find(each.values[i]);
      const std::string name = "message " + std::to_string(each.values[i]);
      if (found == into.end()) return name + " was read and never put";
      if (each.when.before(found->second.put->when)) return name + " was read before it was put";
      if (each.what == deed::undone) continue;
      if (found->second.got != nullptr) return name + " was read twice";
      found->second.got = &each;
      found->second.got_place = i;
    }
  }
  return {};
}

/// Of two values that were put one after the other, the later one left first: for pairs of one call
/// each is looked at, for the others the latest reading of all that were put before.
complaint check_order(const passages& all) {
  std::vector<const passage*> by_call;
  std::map<std::pair<const operation*, bool>, std::vector<const passage*>> together;
  for (const auto& [value, each] : all) {
    by_call.push_back(&each);
    together[{each.put, true}].push_back(&each);
    if (each.got != nullptr) together[{each.got, false}].push_back(&each);
  }
  const auto inverted = [](const passage& a, const passage& b) -> complaint {
    if (!a.put_before(b) || !b.got_before(a)) return {};
    return named(b) + " was put after " + named(a) + " and read before it";
  };
  for (const auto& [call, members] : together) {
    for (const passage* a : members) {
      for (const passage* b : members) {
        if (auto wrong = inverted(*a, *b)) return wrong;
      }
    }
  }
  std::vector<const passage*> by_back = by_call;
  std::sort(by_call.begin(), by_call.end(), [](const passage* a, const passage* b) {
    return a->put->when.call < b->put->when.call;
  });
  std::sort(by_back.begin(), by_back.end(), [](const passage* a, const passage* b) {
    return a->put->when.back < b->put->when.back;
  });
  const passage* last = nullptr;
  std::size_t done = 0;
  for (const passage* b : by_call) {
    for (; by_back[done]->put->when.before(b->put->when); ++done) {
      if (last == nullptr || by_back[done]->got_call() > last->got_call()) last = by_back[done];
    }
    if (last == nullptr) continue;
    if (auto wrong = inverted(*last, *b)) return wrong;
  }
  return {};
}

/// A read returned "empty" although at each moment of the call some message certainly existed.
complaint check_empties(const history& all, const passages& of) {
  std::vector<std::pair<std::int64_t, std::int64_t>> there;
  for (const auto& [value, each] : of) {
    if (each.put->when.back < each.got_call())
      there.emplace_back(each.put->when.back, each.got_call());
  }
  std::sort(there.begin(), there.end());
  std::vector<std::pair<std::int64_t, std::int64_t>> merged;
  for (const auto& each : there) {
    if (!merged.empty() && each.first < merged.back().second) {
      merged.back().second = std::max(merged.back().second, each.second);
    } else {
      merged.push_back(each);
    }
  }
  for (const operation& each : all) {
    if (each.what != deed::got || !each.values.empty()) continue;
    auto next =
        std::lower_bound(merged.begin(), merged.end(), std::pair(each.when.call, std::int64_t{0}));
    if (next == merged.begin()) continue;
    --next;
    if (next->first < each.when.call && each.when.back < next->second) {
      return "the queue was said to be empty, from " + std::to_string(each.when.call) + " to " +
             std::to_string(each.when.back) + ", and never was";
    }
  }
  return {};
}

}  // namespace

complaint check_conservation(const history& all, bool complete) {
  passages of;
  if (auto wrong = follow(all, of)) return wrong;
  if (!complete) return {};
  for (const auto& [value, each] : of) {
    if (each.got == nullptr) return named(each) + " was put and never read";
  }
  return {};
}

// The four conditions of Henzinger, Sezgin and Vafeiadis, "Aspect-Oriented Linearizability Proofs"
// (CONCUR 2013): a queue with distinct values is linearizable if no value is read that was not put,
// none twice, no two in the inverse order, and no read returns empty while the queue is never
// empty.
complaint check_fifo(const history& all) {
  passages of;
  if (auto wrong = follow(all, of)) return wrong;
  if (auto wrong = check_order(of)) return wrong;
  return check_empties(all, of);
}

overtaking measure_overtaking(const history& all, sequence as) {
  overtaking out;
  passages of;
  if (follow(all, of)) return out;
  std::map<std::int64_t, std::vector<span>> held;
  for (const operation& each : all) {
    if (each.what != deed::undone) continue;
    for (const std::int64_t value : each.values) held[value].push_back(each.when);
  }
  for (const auto& [value, a] : of) {
    std::size_t passed = 0;
    for (const auto& [other, b] : of) {
      // `a` should have come first: under lifo only if it existed before b's read.
      const bool first = as == sequence::fifo ? a.put_before(b)
                                              : b.put_before(a) && b.got != nullptr &&
                                                    a.put->when.before(b.got->when);
      if (!first || !b.got_before(a) || a.got == b.got) continue;
      ++passed;
      const auto& holds = held[value];
      if (std::any_of(holds.begin(), holds.end(),
                      [&read = b](const span& each) { return each.meets(read.got->when); })) {
        continue;
      }
      if (out.unexplained++ == 0) out.first = named(b) + " passed over " + named(a);
    }
    if (passed > 0) ++out.messages;
    out.most = std::max(out.most, passed);
  }
  return out;
}

std::string printed(const history& all) {
  std::string out;
  for (const operation& each : all) {
    out += "actor " + std::to_string(each.actor) + " " + std::to_string(each.when.call) + ".." +
           std::to_string(each.when.back);
    out += each.what == deed::put ? " put" : each.what == deed::got ? " got" : " undone";
    for (const std::int64_t value : each.values) out += " " + std::to_string(value);
    out += '\n';
  }
  return out;
}

}  // namespace tableq_test
