#include <gtest/gtest.h>

#include <array>

#include "locks/lock_table.hpp"

namespace {

using namespace tableq_test::locks;  // NOLINT(google-build-using-namespace): the tests' own
                                     // vocabulary

constexpr lock_mode range_update{gap_part::shared, entry_part::update};
constexpr lock_mode range_shared{gap_part::shared, entry_part::shared};

/// The matrix of "Key-range locking" in the documentation.
TEST(locks_of_the_model, exclude_each_other_as_documented) {
  constexpr std::array modes{shared_lock,  update_lock,  exclusive_lock,
                             range_shared, range_update, insert_test};
  constexpr std::array<std::array<bool, 6>, 6> wanted{{{true, true, false, true, true, true},
                                                       {true, false, false, true, false, true},
                                                       {false, false, false, false, false, true},
                                                       {true, true, false, true, true, false},
                                                       {true, false, false, true, false, false},
                                                       {true, true, true, false, false, true}}};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    for (std::size_t j = 0; j < modes.size(); ++j) {
      EXPECT_EQ(compatible(modes[i], modes[j]), wanted[i][j]) << i << " " << j;
    }
  }
}

TEST(locks_of_the_model, are_held_until_they_are_released) {
  lock_table table;
  table.hold("row", 1, update_lock);
  EXPECT_TRUE(table.free_for("row", 1, exclusive_lock));
  EXPECT_TRUE(table.free_for("row", 2, shared_lock));
  EXPECT_EQ(table.holders_against("row", 2, update_lock), std::set<int>{1});
  const lock_mode before = table.hold("row", 1, exclusive_lock);
  EXPECT_FALSE(table.free_for("row", 2, shared_lock));
  table.lower("row", 1, before);
  EXPECT_TRUE(table.free_for("row", 2, shared_lock));
  table.release_all(1);
  EXPECT_TRUE(table.free_for("row", 2, exclusive_lock));
}

}  // namespace
