#pragma once

#include <array>

#include <tableq/tableq.hpp>

#include "html.hpp"
#include "site.hpp"

namespace tool::web {

/// A condition of a filter: its name in addresses and forms, and its words on pages.
struct condition {
  const char* name;
  const char* words;
  const char* hint = "";
  bool of_headers = false;
};
inline constexpr std::array<condition, 5> conditions{{{"key", "Key begins with"},
                                                      {"group", "Group"},
                                                      {"error", "Last error has"},
                                                      {"older", "Older than", "such as 10m or 7d"},
                                                      {"header", "Header", "name=value", true}}};

/// The filter of dead messages in a query or a form; all without a condition. usage_error for a
/// wrong one.
tableq::message_filter dead_filter(const call& asked, const fields& from);

/// The conditions as a part of an address: `&error=time-out`; empty if there are none.
std::string filter_query(const fields& from);

/// The state in the query; `ready` without. usage_error for another word.
tableq::message_state wanted_state(const call& asked);

inline constexpr std::size_t page_size = 50;

/// A page of a list.
struct selection {
  std::vector<tableq::stored_message> messages = {};
  std::string next = {};  ///< Of the address of the next page; empty: there is none.
  bool few = false;       ///< The user has no right to more than a viewer.
};

/// The messages in a state, of which a filter in the query selects some.
selection select(const call& asked, tableq::message_state state, std::size_t most,
                 const tableq::look_options& with);

/// The message that the address names, alone, without what is hidden. @throws page_error if it is
/// not there.
selection found_message(const call& asked);

}  // namespace tool::web
