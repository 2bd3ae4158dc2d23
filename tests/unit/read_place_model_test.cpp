// A model of a database with snapshots and locks, in which reads begin after deleted rows. Now and
// then another process begins at the places that one has told.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "drivers/postgresql/floor/table_places.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tableq::drivers::postgresql;  // NOLINT(google-build-using-namespace): what is
                                              // tested

/// What the model does wrong on purpose.
enum class mistake {
  none,
  id_before_lock,          ///< An insert draws its id before it takes the lock.
  locks_before_snapshot,   ///< A look reads the locks first.
  prepared_is_ended,       ///< A prepared transaction gets another name, and no rule expects that.
  lock_ends_first,         ///< A commit releases its lock before it becomes visible.
  one_look_ends_and_sees,  ///< The snapshot of the look that misses the writers settles ids.
};

using messages = std::set<std::int64_t>;  // committed and not taken

/// Reads from the lowest id on.
class reader {
 public:
  bool hides(std::int64_t id, time_point now) { return !holds(places_.begin(now).where, id); }

  void read(messages& all, time_point now) {
    const auto from = places_.begin(now);
    std::vector<read_message> got;
    for (auto at = all.begin(); at != all.end() && got.size() < 64;) {
      const bool takes = holds(from.where, *at);
      if (takes) got.push_back({.id = *at});
      at = takes ? all.erase(at) : std::next(at);
    }
    places_.end(from, got, order::ids, now);
  }

  std::optional<std::string> ask(time_point now) {
    asked_ = places_.ask(order::ids, now);
    if (!asked_) return std::nullopt;
    seen_ = {.writers = "", .ended = true};
    return asked_->writers;
  }
  void see(const messages& all) {
    for (const std::int64_t id : all) {
      if (!seen_.first && holds(asked_->where, id)) seen_.first = id;
    }
  }
  void answer(const std::string& writers, bool ended, std::int64_t last, time_point now) {
    seen_.last = last;
    seen_.writers = writers;
    seen_.ended = ended;
    places_.answer(*asked_, seen_, now);
  }
  void pass_on(time_point now) {
    if (const auto news = places_.news(now)) {
      const auto told = to_places(to_text(*news));
      std::destroy_at(&places_);
      std::construct_at(&places_);
      static_cast<void>(places_.asks_others(true, now));
      places_.adopt(*told, 0ms, now);
    }
  }

 private:
  static bool holds(const places& where, std::int64_t id) { return id >= where.oldest; }

  table_places places_;
  std::optional<table_places::question> asked_;
  table_places::sight seen_;
};

class model {
 public:
  model(mistake wrong, unsigned seed) : wrong_(wrong), random_(seed) {}

  /// @return whether reads ever passed over a message.
  bool skips(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      for (const std::int64_t id : messages_) {
        if (places_.hides(id, now_)) return true;
      }
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
      case 1:
        if (writers_.size() < 6) writers_.push_back({.name = "3/" + std::to_string(++named_)});
        break;
      case 2:
      case 3:
        write();
        break;
      case 4:
        end();
        break;
      case 5:
        prepare();
        break;
      case 6:
      case 7:
      case 8:
        now_ += 20ms;
        places_.read(messages_, now_);
        break;
      case 9:
        places_.pass_on(now_);
        break;
      default:
        look();
    }
  }

  /// One step of an insert: the lock, then the ids of its rows.
  void write() {
    if (writers_.empty()) return;
    writer& one = writers_[any(writers_.size())];
    if (one.ending) return;
    const bool draws = one.locked || wrong_ == mistake::id_before_lock;
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
    if (any(4) > 0) {
      messages_.insert(at->drawn.begin(), at->drawn.end());
    }
    writers_.erase(at);
  }

  void prepare() {
    if (writers_.empty()) return;
    writer& one = writers_[any(writers_.size())];
    if (one.locked) one.name = "-1/" + std::to_string(++named_);
  }

  void look() {
    const auto searched = places_.ask(now_);
    if (!searched) return;
    std::string writers;
    bool ended = true;
    const auto locks = [&] {
      for (const writer& one : writers_) {
        if (!one.locked) continue;
        writers += one.name + " ";
        const bool prepared = one.name.starts_with("-1/") && wrong_ != mistake::prepared_is_ended;
        if (prepared || searched->find(one.name + " ") != std::string::npos) ended = false;
      }
    };
    const bool turned = wrong_ == mistake::locks_before_snapshot;
    turned ? locks() : places_.see(messages_);
    for (std::size_t i = any(16); i > 0; --i) any(8) > 0 ? write() : end();
    turned ? places_.see(messages_) : locks();
    for (std::size_t i = any(4); i > 0; --i) write();  // before the last id is read
    places_.answer(writers, ended, last_id_, now_);
    if (wrong_ == mistake::one_look_ends_and_sees && ended && !searched->empty())
      places_.answer(writers, ended, last_id_, now_);
  }

  mistake wrong_;
  std::mt19937 random_;
  reader places_;
  time_point now_ = time_point(1h);
  messages messages_;
  std::vector<writer> writers_;
  std::int64_t last_id_ = 0;
  int named_ = 0;
};

class read_place_model : public testing::Test {
 protected:
  static bool any_skips(mistake wrong) {
    for (unsigned seed = 1; seed <= 60; ++seed)
      if (model(wrong, seed).skips(2000)) return true;
    return false;
  }
};

TEST_F(read_place_model, never_skips_a_message) {
  EXPECT_FALSE(any_skips(mistake::none));
}

TEST_F(read_place_model, skips_messages_when_any_part_of_the_proof_is_missing) {
  EXPECT_TRUE(any_skips(mistake::id_before_lock));
  EXPECT_TRUE(any_skips(mistake::prepared_is_ended));
  EXPECT_TRUE(any_skips(mistake::lock_ends_first));
  EXPECT_TRUE(any_skips(mistake::one_look_ends_and_sees));
  EXPECT_TRUE(any_skips(mistake::locks_before_snapshot));
}

}  // namespace
