#include "model/claim_history.hpp"

#include <algorithm>
#include <map>

namespace tableq_test {

namespace {

using tableq::settle_result;

/// Leases are by the clock of the database, in milliseconds; the history is by a steady one.
constexpr std::int64_t tolerance = 20'000'000;

struct delivery_record {
  const claim_event* take = nullptr;
  std::vector<const claim_event*> asked;  ///< The calls with its receipt.
};

bool ends(const claim_event& asked) {
  return asked.what != claim_deed::extend;
}
bool took_effect(const claim_event& asked) {
  return asked.result == settle_result::applied;
}
std::int64_t lease_end(const claim_event& from) {
  return from.when.call + std::chrono::nanoseconds(from.lease).count() - tolerance;
}

/// The history of one message, its deliveries by their fences.
class message_record {
 public:
  void add(const claim_event& each) {
    if (each.what == claim_deed::put) {
      put_ = &each;
    } else if (each.what == claim_deed::take) {
      if (by_fence_[each.fence].take != nullptr) wrong_ = "a fence came twice";
      by_fence_[each.fence].take = &each;
    } else {
      by_fence_[each.fence].asked.push_back(&each);
    }
  }

  complaint check(bool complete) {
    if (wrong_) return wrong_;
    const delivery_record* previous = nullptr;
    int completed = 0;
    for (const auto& [fence, each] : by_fence_) {
      if (each.take == nullptr) {
        if (settles(each)) return "a receipt settled that no take gave";
        continue;
      }
      if (put_ == nullptr) return "it was taken and never put";
      if (each.take->when.before(put_->when)) return "it was taken before it was put";
      if (auto wrong = check_attempt(previous, each)) return wrong;
      if (previous != nullptr) {
        if (auto wrong = check_pair(*previous, each)) return wrong;
      }
      if (auto wrong = check_receipt(each)) return wrong;
      previous = &each;
    }
    for (const auto& [fence, each] : by_fence_) {
      completed += static_cast<int>(
          std::count_if(each.asked.begin(), each.asked.end(), [](const claim_event* asked) {
            return asked->what == claim_deed::complete && took_effect(*asked);
          }));
    }
    if (completed > 1) return "it was completed by two receipts";
    if (complete && completed == 0) return "it was put and never completed";
    return {};
  }

 private:
  static bool settles(const delivery_record& of) {
    return std::any_of(of.asked.begin(), of.asked.end(),
                       [](const claim_event* each) { return took_effect(*each); });
  }

  static complaint check_attempt(const delivery_record* previous, const delivery_record& each) {
    int expected = 1;
    if (previous != nullptr) {
      const bool released =
          std::any_of(previous->asked.begin(), previous->asked.end(), [](const claim_event* asked) {
            return asked->what == claim_deed::release && took_effect(*asked);
          });
      expected = previous->take->attempt + (released ? 0 : 1);
    }
    if (each.take->attempt == expected) return {};
    return "a take told attempt " + std::to_string(each.take->attempt) + " instead of " +
           std::to_string(expected);
  }

  /// A take and the next one of the same message, by their fences.
  static complaint check_pair(const delivery_record& first, const delivery_record& next) {
    const span& later = next.take->when;
    if (later.before(first.take->when)) return "a fence was lower than one before it";
    bool settled_before = false;
    std::int64_t end = lease_end(*first.take);
    for (const claim_event* asked : first.asked) {
      if (!took_effect(*asked)) continue;
      if (later.before(asked->when)) return "a receipt settled after a later take";
      if (!ends(*asked)) {
        // Of several concurrent ones, each may have been the last.
        const bool last =
            std::none_of(first.asked.begin(), first.asked.end(), [&](const claim_event* other) {
              return other != asked && !ends(*other) && took_effect(*other) &&
                     !other->when.before(asked->when);
            });
        if (last) end = lease_end(*asked);
        continue;
      }
      if (asked->what == claim_deed::complete) return "it was handed out and completed as well";
      settled_before = true;
    }
    if (!settled_before && later.back < end) return "it was handed out within a lease";
    return {};
  }

  /// The calls with one receipt.
  complaint check_receipt(const delivery_record& of) const {
    for (const claim_event* asked : of.asked) {
      if (asked->when.before(of.take->when)) return "a receipt was used before it was given";
      for (const claim_event* other : of.asked) {
        if (other == asked || !ends(*other) || !took_effect(*other)) continue;
        if (took_effect(*asked) && (ends(*asked) || other->when.before(asked->when))) {
          return "a receipt settled twice";
        }
      }
      if (!took_effect(*asked) && !may_be_lost(*asked, of)) {
        return "a settlement was refused without a reason";
      }
    }
    return {};
  }

  /// The lease may have ended, or the receipt have settled, or another take have come.
  [[nodiscard]] bool may_be_lost(const claim_event& asked, const delivery_record& of) const {
    if (asked.when.back >= lease_end(*of.take)) return true;
    for (const claim_event* other : of.asked) {
      if (!ends(*other) && took_effect(*other) && asked.when.back >= lease_end(*other)) return true;
      if (other != &asked && ends(*other) && took_effect(*other) &&
          !asked.when.before(other->when)) {
        return true;
      }
    }
    return std::any_of(by_fence_.upper_bound(of.take->fence), by_fence_.end(), [&](const auto& it) {
      return it.second.take != nullptr && !asked.when.before(it.second.take->when);
    });
  }

  const claim_event* put_ = nullptr;
  std::map<std::int64_t, delivery_record> by_fence_;
  complaint wrong_;
};

}  // namespace

complaint check_claims(const claim_history& all, bool complete) {
  std::map<tableq::message_id, message_record> messages;
  for (const claim_event& each : all) messages[each.id].add(each);
  for (auto& [id, each] : messages) {
    if (auto wrong = each.check(complete)) {
      return "message " + std::to_string(id.value) + ": " + *wrong;
    }
  }
  return {};
}

}  // namespace tableq_test
