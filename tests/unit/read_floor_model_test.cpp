// A model of a database with snapshots and locks, in which reads begin at the read floor.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/floor/read_floor.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::core::read_floor;

/// What the model does wrong on purpose.
enum class mistake {
  none,
  id_before_lock,          ///< An insert draws its id before it takes the lock.
  locks_before_snapshot,   ///< A look reads the locks first.
  prepared_is_ended,       ///< A prepared transaction gets another name, and no rule expects that.
  lock_ends_first,         ///< A commit releases its lock before it becomes visible.
  one_look_ends_and_sees,  ///< The snapshot of the look that misses the writers settles ids.
};

class model {
 public:
  model(mistake wrong, unsigned seed) : wrong_(wrong), random_(seed) {}

  /// @return whether a message was ever below the floor.
  bool skips(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      const auto from = floors_.begin(now_);
      const std::int64_t floor = from.everything || from.levels.empty()
                                     ? read_floor::lowest
                                     : from.levels.front().floor;
      if (std::ranges::any_of(messages_,
                              [&](const auto& each) { return !each.second && each.first < floor; }))
        return true;
    }
    return false;
  }

 private:
  struct writer {
    std::string name;
    bool locked = false;
    bool ending = false;
    std::vector<std::int64_t> drawn = {};
  };

  std::size_t any(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  void step() {
    switch (any(16)) {
      case 0:
      case 8:
        if (writers_.size() < 6) writers_.push_back({.name = "3/" + std::to_string(++named_)});
        break;
      case 1:
      case 2:
        write();
        break;
      case 3:
        end();
        break;
      case 4:
        prepare();
        break;
      case 5:
      case 6:
      case 7:
        read();
        break;
      default:
        look();
    }
  }

  /// One step of an insert: the lock, then the id.
  void write() {
    if (writers_.empty()) return;
    writer& one = writers_[any(writers_.size())];
    if (one.ending) return;
    const bool draws = one.locked || wrong_ == mistake::id_before_lock;
    // An insert of several rows draws several ids.
    for (std::size_t i = draws ? 1 + any(4) : 0; i > 0; --i) one.drawn.push_back(++last_id_);
    one.locked = one.locked || wrong_ != mistake::id_before_lock || any(2) == 0;
  }

  void end() {
    if (writers_.empty()) return;
    const auto at = writers_.begin() + static_cast<std::ptrdiff_t>(any(writers_.size()));
    if (wrong_ == mistake::lock_ends_first && at->locked) {
      at->locked = false;
      at->ending = true;
      return;
    }
    const bool commits = any(4) > 0;
    if (commits) {
      for (const std::int64_t id : at->drawn) messages_[id] = false;
    }
    writers_.erase(at);
  }

  void prepare() {
    if (writers_.empty()) return;
    writer& one = writers_[any(writers_.size())];
    if (one.locked) one.name = "-1/" + std::to_string(++named_);
  }

  void read() {
    now_ += 20ms;
    const auto from = floors_.begin(now_);
    const std::int64_t floor = from.levels.empty() ? read_floor::lowest : from.levels.front().floor;
    read_floor::level_result got;
    for (auto at = messages_.lower_bound(floor); at != messages_.end(); ++at) {
      if (at->second) continue;
      at->second = true;
      got.count = 64;  // A look is due.
      got.first = got.first.value_or(at->first);
      got.last = at->first;
    }
    if (got.count == 0) {
      floors_.end(from, {}, now_);
    } else {
      floors_.end(from, {&got, 1}, now_);
    }
  }

  void some_steps() {
    for (std::size_t i = any(16); i > 0; --i) any(8) > 0 ? write() : end();
  }

  std::optional<std::int64_t> first(std::int64_t from) const {
    const auto found = std::ranges::find_if(
        messages_, [&](const auto& each) { return !each.second && each.first >= from; });
    return found == messages_.end() ? std::nullopt : std::optional(found->first);
  }

  void look() {
    const auto asked = floors_.ask(now_);
    if (!asked) return;
    const std::int64_t floor =
        asked->levels.empty() ? read_floor::lowest : asked->levels.front().floor;
    read_floor::sight seen{.first = {}, .writers = "", .ended = true};
    const auto snapshot = [&] {
      seen.oldest = first(floor);
      seen.first.assign(asked->levels.size(), seen.oldest);
    };
    const auto locks = [&] {
      for (const writer& one : writers_) {
        if (!one.locked) continue;
        seen.writers += one.name + " ";
        const bool prepared = one.name.starts_with("-1/") && wrong_ != mistake::prepared_is_ended;
        if (prepared || asked->writers.find(one.name + " ") != std::string::npos)
          seen.ended = false;
      }
    };
    const bool turned = wrong_ == mistake::locks_before_snapshot;
    turned ? locks() : snapshot();
    some_steps();
    turned ? snapshot() : locks();
    floors_.answer(*asked, seen, now_);
    if (wrong_ == mistake::one_look_ends_and_sees && seen.ended && !asked->writers.empty())
      floors_.answer(*asked, seen, now_);
  }

  mistake wrong_;
  std::mt19937 random_;
  read_floor floors_;
  read_floor::clock::time_point now_ = read_floor::clock::time_point(1h);
  std::map<std::int64_t, bool> messages_;  // committed ones; true: taken
  std::vector<writer> writers_;
  std::int64_t last_id_ = 0;
  int named_ = 0;
};

bool any_skips(mistake wrong) {
  for (unsigned seed = 1; seed <= 50; ++seed)
    if (model(wrong, seed).skips(3000)) return true;
  return false;
}

TEST(read_floor_model, never_skips_a_message) {
  EXPECT_FALSE(any_skips(mistake::none));
}

TEST(read_floor_model, skips_messages_when_any_part_of_the_proof_is_missing) {
  EXPECT_TRUE(any_skips(mistake::id_before_lock));
  EXPECT_TRUE(any_skips(mistake::prepared_is_ended));
  EXPECT_TRUE(any_skips(mistake::lock_ends_first));
  EXPECT_TRUE(any_skips(mistake::one_look_ends_and_sees));
  EXPECT_TRUE(any_skips(mistake::locks_before_snapshot));
}

}  // namespace
