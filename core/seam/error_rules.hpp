#pragma once

#include <tableq/error.hpp>

namespace tableq::inline v0::core {

// The consequences of an error, by the one table in error_rules.cpp.

/// Whether tableq's own unit of work may run again: another session held a lock, or this one was
/// lost before its use.
/// @param known whether the database has answered before; otherwise a refused connection counts as
///   a wrong address or password.
[[nodiscard]] bool may_repeat(const error& failure, bool known) noexcept;

/// Whether a worker goes on and tries again.
[[nodiscard]] bool may_pass(const error& failure) noexcept;

/// Whether the content of one row may have caused the failure, so that the statement may succeed
/// without that row.
[[nodiscard]] bool may_concern_one_row(const error& failure) noexcept;

/// The same, or something else of one message, such as its key: others must not be affected.
[[nodiscard]] bool may_concern_one_message(const error& failure) noexcept;

/// Whether a call that shared a unit of work with others may succeed without them.
[[nodiscard]] bool may_concern_one_call(const error& failure) noexcept;

}  // namespace tableq::inline v0::core
