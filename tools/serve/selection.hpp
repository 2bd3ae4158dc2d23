#pragma once

#include <tableq/tableq.hpp>

#include "html.hpp"
#include "http.hpp"
#include "site.hpp"

namespace tool::web {

/// The filter in a query or a form; nothing if it has no condition. usage_error for a wrong one.
/// @param with_headers whether it may ask for headers: they are hidden, and a filter would tell.
std::optional<tableq::message_filter> read_filter(const fields& from, bool with_headers);

/// The conditions as a part of an address: `&error=time-out`; empty if there are none.
std::string filter_query(const fields& from);
/// The same as hidden fields of a form.
html filter_fields(const fields& from);
/// The inputs of a form that asks for them.
html filter_inputs(const call& asked);

/// The state in the query; `ready` without. usage_error for another word.
tableq::message_state wanted_state(const call& asked);

/// A page of a list.
struct selection {
  std::vector<tableq::stored_message> messages = {};
  std::string next = {};  ///< Of the address of the next page; empty: there is none.
  bool few = false;       ///< The user has no right to more than a viewer.
};

/// The messages in a state, of which a filter in the query selects some.
selection select(const call& asked, tableq::message_state state, std::size_t most,
                 const tableq::look_options& with);

/// Its table, with the columns that this state has.
html messages_table(const call& asked, const queue_view& queue, const selection& found,
                    tableq::message_state state);

/// The message that the address names, alone, without what is hidden. @throws page_error if it is
/// not there.
selection found_message(const call& asked);

}  // namespace tool::web
