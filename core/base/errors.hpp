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
/// The same with another code: the call cannot succeed.
[[noreturn]] void refuse(errc code, const std::string& sentence);

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

// The consequences of an error, by the one table in errors.cpp.

/// Whether tableq's own unit of work may run again: another session held a lock, or this one was
/// lost before its use.
/// @param known whether the database has answered before; otherwise a refused connection counts as
///   a wrong address or password.
[[nodiscard]] bool may_repeat(const error& failure, bool known) noexcept;

/// Whether a worker goes on and tries again.
[[nodiscard]] bool may_pass(const error& failure) noexcept;

/// Whether the database may take no writes of anybody for now, as with a full disk.
[[nodiscard]] bool stops_writes(const error& failure) noexcept;

/// Whether the content of one row may have caused the failure, so that the statement may succeed
/// without that row.
[[nodiscard]] bool may_concern_one_row(const error& failure) noexcept;

/// The same, or something else of one message, such as its key: others must not be affected.
[[nodiscard]] bool may_concern_one_message(const error& failure) noexcept;

/// Whether a call that shared a unit of work with others may succeed without them.
[[nodiscard]] bool may_concern_one_call(const error& failure) noexcept;

}  // namespace tableq::inline v0::core
