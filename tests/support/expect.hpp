#pragma once

#include <gtest/gtest.h>

#include <string>

#include <tableq/error.hpp>

namespace tableq_test {

/// Runs `call` and returns its tableq::error; fails the test without one, or with another
/// exception.
template <class F>
tableq::error thrown_by(F&& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const tableq::error& caught) {
    return caught;
  } catch (const std::exception& caught) {
    ADD_FAILURE() << "something else was thrown: " << caught.what();
  }
  return {tableq::errc::internal, tableq::advice::never, "nothing was thrown"};
}

/// The name of the code that `call` throws, for readable failures.
template <class F>
std::string code_of(F&& call) {
  const tableq::error caught = thrown_by(call);
  return std::string(tableq::to_string(caught.code()));
}

/// A short form of `EXPECT_PRED2(fails_as, ...)`.
#define EXPECT_CODE(expected, ...) \
  EXPECT_EQ(tableq::to_string(tableq::errc::expected), ::tableq_test::code_of([&] { __VA_ARGS__; }))

}  // namespace tableq_test
