#pragma once

#include <optional>
#include <string>
#include <vector>

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

/// A page of a list.
struct selection {
  std::vector<tableq::stored_message> messages;
  std::string next = {};  ///< Of the address of the next page; empty: there is none.
  /// The columns that were read: `seen` if the user has no right to more.
  tableq::message_detail detail = tableq::message_detail::outline;
};

/// The messages in a state, of which a filter in the query selects some.
selection select(const call& asked, const tableq::claim_queue& opened, tableq::message_state state);

/// Its table, with the columns that this state has.
html messages_table(const call& asked, const queue_view& queue, const selection& found,
                    tableq::message_state state);

/// Reads with this detail; what a viewer may read, if the user has no right to more.
/// @return the detail that was read.
template <class Read>
tableq::message_detail read_as_allowed(tableq::message_detail wanted, const Read& read) {
  try {
    read(wanted);
    return wanted;
  } catch (const tableq::error& failure) {
    if (failure.code() != tableq::errc::permission_denied) throw;
  }
  read(tableq::message_detail::seen);
  return tableq::message_detail::seen;
}

/// Where a page of a filtered list ended, as a part of an address.
std::string place_text(const tableq::filter_place& place);
/// The same, read; usage_error if it is not whole.
std::optional<tableq::filter_place> read_place(const std::string& text);

}  // namespace tool::web
