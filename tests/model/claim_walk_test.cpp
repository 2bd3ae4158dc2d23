#include "model/claim_walk.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

TABLEQ_ON_BACKENDS(claim_walk, shared_backends);

TEST_P(claim_walk, agrees_with_the_model) {
  walk_by({.lease = 5s, .max_attempts = 3});
}

TEST_P(claim_walk, of_a_queue_that_keeps_agrees_with_the_model) {
  walk_by(
      {.lease = 5s, .max_attempts = 3, .keep_completed = true, .keys = tableq::key_scope::waiting});
}

TEST_P(claim_walk, of_a_queue_with_a_key_window_agrees_with_the_model) {
  walk_by({.lease = 5s, .max_attempts = 3, .key_window = 9s});
}

TEST_P(claim_walk, of_a_queue_that_keeps_and_has_a_key_window_agrees_with_the_model) {
  walk_by({.lease = 5s,
           .max_attempts = 4,
           .keep_completed = true,
           .retry = tableq::retry_delays{.after = {500ms, 2s}, .jitter = 25},
           .key_window = 3s});
}

TEST_P(claim_walk, of_groups_that_hold_agrees_with_the_model) {
  walk_by({.lease = 5s, .max_attempts = 3, .groups = tableq::group_options{}});
}

TEST_P(claim_walk, of_groups_that_pass_agrees_with_the_model) {
  walk_by({.lease = 5s,
           .max_attempts = 3,
           .groups = tableq::group_options{.limit = 2, .on_failure = tableq::group_policy::pass},
           .dead_letters = "letters"});
}

TEST_P(claim_walk, of_groups_that_take_turns_agrees_with_the_model) {
  walk_by({.lease = 5s,
           .max_attempts = 3,
           .retry = tableq::retry_delays{.after = {0ms, 2s}},
           .groups = tableq::group_options{.by_turns = true}});
}

TEST_P(claim_walk, of_groups_that_pass_and_take_turns_agrees_with_the_model) {
  walk_by({.lease = 5s,
           .max_attempts = 2,
           .time_to_live = 20s,
           .key_window = 6s,
           .groups = tableq::group_options{
               .limit = 2, .on_failure = tableq::group_policy::pass, .by_turns = true}});
}

TEST_P(claim_walk, of_a_queue_with_all_of_these_agrees_with_the_model) {
  walk_by({.lease = 5s,
           .max_attempts = 2,
           .keep_completed = true,
           .retry = tableq::retry_delays{.after = {1s, 3s}, .jitter = 25},
           .time_to_live = 20s,
           .key_window = 6s,
           .groups = tableq::group_options{.limit = 2},
           .dead_letters = "letters"});
}

TEST_P(claim_walk, of_a_queue_with_dead_letters_agrees_with_the_model) {
  walk_by({.lease = 5s, .max_attempts = 2, .time_to_live = 20s, .dead_letters = "letters"});
}

}  // namespace
