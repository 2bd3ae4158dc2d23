#pragma once

#include <optional>

#include "core/queue/queue_state.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

/// The finding that messages may be hidden from this session's user. Needs a session; if the look
/// fails, the next read meets the failure.
[[nodiscard]] std::optional<finding_row> find_hidden(const queue_state& queue);

/// For a read that found nothing and will wait: it would wait for ever if all messages are hidden
/// from this user. Looks at most once a minute.
void refuse_hidden(const queue_state& queue);

}  // namespace tableq::inline v0::core
