#pragma once

#include <cstdint>
#include <string_view>

namespace tableq::inline v0::core {

/// The same in every process and version, because locks in databases have its numbers: FNV-1a of 64
/// bits (Fowler, Noll, Vo).
constexpr std::uint64_t stable_hash(std::string_view text) noexcept {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace tableq::inline v0::core
