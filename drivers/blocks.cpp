#include "drivers/blocks.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/base/errors.hpp"

namespace tableq::inline v0::drivers {
namespace {

constexpr std::string_view block_start = "-- name:";
constexpr std::string_view fragment_start = "-- fragment:";
constexpr std::string_view for_given_clock = ".given";
constexpr std::string_view for_shard = ".shard";
constexpr std::string_view for_turns = ".turns";
constexpr std::string_view for_outline = ".outline";
constexpr std::string_view for_seen = ".seen";
constexpr std::string_view spaces = " \n\r\t";
/// A limit: nested fragments could fill the memory.
constexpr std::size_t longest_text = 100'000;

/// The beginning of the next block or fragment.
std::size_t next_start(std::string_view file, std::size_t offset) {
  return std::min(file.find(block_start, offset), file.find(fragment_start, offset));
}

std::string_view trimmed(std::string_view text, std::string_view removed_at_end) {
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(removed_at_end) + 1 - first);
}

std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (!trimmed(line, spaces).starts_with("--")) out += line;
    text.remove_prefix(end);
  }
  return std::string(trimmed(out, spaces));
}

/// Replaces `{name}` by the fragment. Other braces stay.
std::string expanded(std::string_view text, const blocks& fragments) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    out += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t close = text.find('}');
    const auto known = close == std::string_view::npos ? fragments.end()
                                                       : fragments.find(text.substr(1, close - 1));
    if (known == fragments.end()) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += known->second;
      text.remove_prefix(close + 1);
    }
    if (out.size() > longest_text) {
      core::refuse("a statement has over 100000 characters with its fragments");
    }
  }
  return out;
}

/// Removes the endings of a fragment's name.
/// @return false if one of them is not wanted.
template <class Endings>
bool without_endings(std::string_view& name, const Endings& endings) {
  bool all_wanted = true;
  for (bool found = true; found;) {
    found = false;
    for (const auto& [ending, wanted] : endings) {
      if (!name.ends_with(ending)) continue;
      name.remove_suffix(ending.size());
      all_wanted = all_wanted && wanted;
      found = true;
    }
  }
  return all_wanted;
}

[[noreturn]] void refuse_twice(std::string_view what, std::string_view name) {
  core::refuse("there are two texts of the " + std::string(what) + " " + std::string(name));
}

}  // namespace

blocks split_blocks(std::string_view file, const text_variant& variant) {
  // The endings of fragments, and whether they are wanted.
  const std::array<std::pair<std::string_view, bool>, 5> endings{{
      {for_given_clock, variant.clock == clock_source::given},
      {for_shard, variant.place == table_place::shard},
      {for_turns, variant.order == take_order::turns},
      {for_outline, variant.columns == message_detail::outline},
      {for_seen, variant.columns == message_detail::seen},
  }};
  blocks out;
  blocks fragments;
  std::set<std::string_view> seen;  // names of fragments with their endings
  std::size_t at = next_start(file, 0);
  while (at != std::string_view::npos) {
    const bool is_fragment = file.substr(at).starts_with(fragment_start);
    const std::size_t names_at = at + (is_fragment ? fragment_start : block_start).size();
    const std::size_t line_end = std::min(file.find('\n', at), file.size());
    std::string_view names = trimmed(file.substr(names_at, line_end - names_at), spaces);
    at = next_start(file, line_end);
    const std::string_view body = file.substr(line_end, std::min(at, file.size()) - line_end);
    if (is_fragment) {
      if (!seen.insert(names).second) refuse_twice("fragment", names);
      std::string text = expanded(without_comments(body), fragments);
      if (without_endings(names, endings)) {
        fragments.insert_or_assign(std::string(names), std::move(text));
      } else {
        fragments.try_emplace(std::string(names));
      }
      continue;
    }
    const std::string text(trimmed(expanded(body, fragments), " \n\r\t;"));
    while (!names.empty()) {
      const std::size_t end = std::min(names.find_first_of(" \r\t"), names.size());
      const std::string_view name = names.substr(0, end);
      if (!out.try_emplace(std::string(name), text).second) refuse_twice("statement", name);
      names = trimmed(names.substr(end), spaces);
    }
  }
  return out;
}

}  // namespace tableq::inline v0::drivers
