#pragma once

#include <cstddef>
#include <functional>

#include <tableq/tableq.hpp>

#include "measure.hpp"
#include "settings.hpp"

namespace bench {

/// The work of a call: an enqueue, a destructive read, or a take with its complete.
enum class action { enqueue, dequeue, take_complete };

/// tableq, opened as by an application.
tableq::database open(const bed& where);
/// The same with other shortcuts than those of the settings.
tableq::database open(const bed& where, const tableq::shortcuts& shortcuts);
/// The same on the tables of the raw side.
tableq::database open_plain(const bed& where);

/// Calls of tableq on the queue `mail`, or `jobs` for takes, each with this number of messages.
operation_maker on_tableq(tableq::database db, action what, std::size_t batch);

/// Takes and completes rows of the raw side's table, by a mapping of its columns. `db` is open on
/// raw_database::plain_url.
operation_maker on_mapped(tableq::database db, std::size_t batch);
/// The same without tableq.
operation_maker on_raw(raw_database& raw, action what, std::size_t batch, owner whose = owner::raw);

/// Makes a claim queue hold this number of messages, which tableq adds.
void fill_claims(raw_database& raw, tableq::claim_queue queue, std::size_t messages,
                 const std::function<tableq::claim_enqueue_options(std::size_t)>& options = {});

/// The table of an action.
const char* queue_of(action what);
const char* table_of(action what);

}  // namespace bench
