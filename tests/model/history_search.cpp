#include "model/history.hpp"

#include <deque>
#include <set>
#include <stdexcept>
#include <utility>

namespace tableq_test {

namespace {

/// Tries the operations in every order that their times allow, depth first, and never the same
/// state twice: Wing and Gong, "Testing and Verifying Concurrent Objects" (1993), with the memory
/// of Lowe, "Testing for Linearizability" (2017).
class search {
 public:
  search(const history& all, sequence as) : as_(as) {
    for (const operation& each : all) {
      if (each.what != deed::undone) all_.push_back(&each);
    }
    if (all_.size() > 64) throw std::invalid_argument("more than 64 operations");
  }

  bool run() { return from(0); }

 private:
  using state = std::deque<std::int64_t>;

  bool from(std::uint64_t done) {
    if (done == all_done()) return true;
    if (!seen_.emplace(done, content_).second) return false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if ((done >> i & 1U) != 0 || !may_be_next(i, done)) continue;
      state before = content_;
      if (apply(*all_[i]) && from(done | std::uint64_t{1} << i)) return true;
      content_ = std::move(before);
    }
    return false;
  }

  [[nodiscard]] std::uint64_t all_done() const {
    return all_.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << all_.size()) - 1;
  }

  /// No other pending call ended before this one began.
  [[nodiscard]] bool may_be_next(std::size_t which, std::uint64_t done) const {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if ((done >> i & 1U) == 0 && all_[i]->when.before(all_[which]->when)) return false;
    }
    return true;
  }

  bool apply(const operation& one) {
    if (one.what == deed::put) {
      content_.insert(content_.end(), one.values.begin(), one.values.end());
      return true;
    }
    if (one.values.empty()) return content_.empty();
    for (const std::int64_t value : one.values) {
      if (content_.empty()) return false;
      if ((as_ == sequence::fifo ? content_.front() : content_.back()) != value) return false;
      if (as_ == sequence::fifo) {
        content_.pop_front();
      } else {
        content_.pop_back();
      }
    }
    return true;
  }

  sequence as_;
  std::vector<const operation*> all_;
  state content_;
  std::set<std::pair<std::uint64_t, state>> seen_;
};

}  // namespace

complaint check_by_search(const history& all, sequence as) {
  if (search(all, as).run()) return {};
  return "no order of the operations explains their results:\n" + printed(all);
}

}  // namespace tableq_test
