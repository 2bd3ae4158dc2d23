#pragma once

#include <span>
#include <vector>

#include <tableq/message.hpp>

#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

/// The items of a statement that takes ids.
[[nodiscard]] inline std::vector<id_item> items_of(std::span<const message_id> ids) {
  std::vector<id_item> out;
  out.reserve(ids.size());
  for (const message_id id : ids) out.push_back({id});
  return out;
}

}  // namespace tableq::inline v0::core
