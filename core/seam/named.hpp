#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <tableq/error.hpp>

namespace tableq::inline v0::core {

// A check does not know which operation called it, so its errors have no names. The operation adds
// them.

/// The call itself is wrong; nothing was sent.
/// @throws error errc::invalid_argument, always.
[[noreturn]] void refuse(const std::string& sentence);

/// Whether an error has all the names that are known.
/// @param backend empty: not known.
[[nodiscard]] bool located(const error& failure, std::string_view backend) noexcept;

/// The same error, with its missing names added.
[[nodiscard]] error locate(const error& failure, std::string_view backend,
                           std::string_view operation);

/// Runs `work()`, and adds the names of the operation and the backend to its errors.
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

}  // namespace tableq::inline v0::core
