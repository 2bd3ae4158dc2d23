#include "core/database/progress_notes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using tableq::receipt;
using tableq::core::progress_notes;

TEST(progress_notes, a_full_store_forgets_the_oldest_report) {
  constexpr std::int64_t most = 10'000;
  const auto of = [](std::int64_t id) { return receipt{.id = {id}, .fence = 1}; };
  progress_notes notes;
  for (std::int64_t id = most; id > 0; --id) notes.say(of(id), {.done = id});
  notes.say(of(most), {.done = 0});  // It is the newest again.
  notes.say(of(most + 1), {.done = 1});
  const auto known = [&](std::int64_t id) {
    const receipt one = of(id);
    return !notes.of(std::vector{one}).empty();
  };
  EXPECT_FALSE(known(most - 1));
  EXPECT_TRUE(known(most));
  EXPECT_TRUE(known(most + 1));
  EXPECT_TRUE(known(1));
}

}  // namespace
