#include "core/worker/turns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using tableq::core::turns;

/// Sources with messages at hand; the first is A.
struct supply {
  turns order;
  std::vector<int> left;

  void add(std::size_t weight, int precedence, int count) {
    order.add(weight, precedence);
    left.push_back(0);
    fill(left.size() - 1, count);
  }
  void fill(std::size_t source, int count) {
    if (left[source] == 0) order.filled(source);
    left[source] += count;
  }
  /// The sources of the next messages.
  std::string next(int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      const auto source = order.next([this](std::size_t each) { return left[each] > 0; });
      if (!source) break;
      --left[*source];
      out += static_cast<char>('A' + *source);
    }
    return out;
  }
};

TEST(turns_of_sources, give_no_credit_for_a_time_without_messages) {
  supply all;
  all.add(1, 0, 1000);
  all.add(1, 0, 0);
  EXPECT_EQ(all.next(500), std::string(500, 'A'));
  all.fill(1, 100);
  EXPECT_EQ(all.next(6), "BABABA");
}

TEST(turns_of_sources, leave_no_debt_to_one_that_was_alone) {
  supply all;
  all.add(1, 0, 500);
  all.add(1, 0, 0);
  EXPECT_EQ(all.next(500), std::string(500, 'A'));
  all.fill(1, 100);
  all.fill(0, 100);
  EXPECT_EQ(all.next(6), "BABABA");
}

}  // namespace
