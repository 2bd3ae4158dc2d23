#pragma once

#include <gtest/gtest.h>

#include <vector>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// Fails the test if they differ.
inline void compare(const std::vector<tableq::stored_message>& got,
                    const std::vector<tableq::stored_message>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].id, expected[i].id);
    ASSERT_EQ(got[i].state, expected[i].state);
    ASSERT_EQ(got[i].payload, expected[i].payload);
    ASSERT_EQ(got[i].headers, expected[i].headers);
    ASSERT_EQ(got[i].key, expected[i].key);
    ASSERT_EQ(got[i].group, expected[i].group);
    ASSERT_EQ(got[i].expires_at, expected[i].expires_at);
    ASSERT_EQ(got[i].priority, expected[i].priority);
    ASSERT_EQ(got[i].attempts, expected[i].attempts);
    ASSERT_EQ(got[i].created_at, expected[i].created_at);
    ASSERT_EQ(got[i].due_at, expected[i].due_at);
    ASSERT_EQ(got[i].claimed_at, expected[i].claimed_at);
    ASSERT_EQ(got[i].finished_at, expected[i].finished_at);
    ASSERT_EQ(got[i].errors.size(), expected[i].errors.size());
    for (std::size_t e = 0; e < got[i].errors.size(); ++e) {
      ASSERT_EQ(got[i].errors[e].at, expected[i].errors[e].at);
      ASSERT_EQ(got[i].errors[e].error, expected[i].errors[e].error);
    }
  }
}

}  // namespace tableq_test
