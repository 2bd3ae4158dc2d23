#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <tableq/error.hpp>

namespace tableq::core {

// Where errors get their names: a check does not know who has called it, so it refuses, and the
// operation names what leaves it.

/// The call itself is wrong, and nothing was sent.
/// @throws error errc::invalid_argument, always.
[[noreturn]] void refuse(const std::string& sentence);

/// Whether an error says all that it can of where it comes from.
/// @param backend empty: nobody knows it.
[[nodiscard]] bool located(const error& failure, std::string_view backend) noexcept;

/// The same error, with what it does not say of where it comes from.
[[nodiscard]] error locate(const error& failure, std::string_view backend,
                           std::string_view operation);

/// Runs `work()`: what it throws names the operation and the backend.
template <class Work>
auto named(std::string_view backend, std::string_view operation, Work work)
    -> std::invoke_result_t<Work&> {
  try {
    return work();
  } catch (const error& failure) {
    if (located(failure, backend)) throw;
    throw locate(failure, backend, operation);
  }
}

}  // namespace tableq::core
