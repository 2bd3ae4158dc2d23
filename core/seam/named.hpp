#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <tableq/error.hpp>

namespace tableq::inline v0::core {

// Checks throw errors without the name of the operation; the operation adds it.

/// The call itself is wrong; nothing was sent.
/// @throws error errc::invalid_argument, always.
[[noreturn]] void refuse(const std::string& sentence);

/// Whether an error names the operation, and the backend as far as it is known.
/// @param backend empty: not known.
[[nodiscard]] bool located(const error& failure, std::string_view backend,
                           std::string_view operation) noexcept;

/// The same error in the name of the operation. The name of the step that failed, if it has one,
/// begins the sentence.
[[nodiscard]] error locate(const error& failure, std::string_view backend,
                           std::string_view operation);

/// Runs `work()`. Its errors are of the operation, and of the backend unless they name one.
template <class Work>
auto named(std::string_view backend, std::string_view operation, Work work)
    -> std::invoke_result_t<Work&> {
  try {
    return work();
  } catch (const error& failure) {
    if (located(failure, backend, operation)) throw;
    throw locate(failure, backend, operation);
  }
}

}  // namespace tableq::inline v0::core
