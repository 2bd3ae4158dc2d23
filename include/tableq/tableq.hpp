#pragma once

/// @file
/// Everything that an application needs, except `tableq/soci.hpp`, `tableq/libpq.hpp`,
/// `tableq/sqlite.hpp` and `tableq/odbc.hpp` (work inside your own session). Its tests include
/// `tableq/testing.hpp` too. Headers in `tableq/unstable/` may change with each version:
/// `tableq/unstable/dialect.hpp` supports another database.

#include <tableq/batch.hpp>
#include <tableq/batch_options.hpp>
#include <tableq/batch_view.hpp>
#include <tableq/claim_options.hpp>
#include <tableq/claim_queue.hpp>
#include <tableq/database.hpp>
#include <tableq/enlistment.hpp>
#include <tableq/error.hpp>
#include <tableq/fwd.hpp>
#include <tableq/handled.hpp>
#include <tableq/handler.hpp>
#include <tableq/keeper.hpp>
#include <tableq/kept_delivery.hpp>
#include <tableq/leased_queue.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/message_filter.hpp>
#include <tableq/message_range.hpp>
#include <tableq/message_rules.hpp>
#include <tableq/metrics.hpp>
#include <tableq/move.hpp>
#include <tableq/observer.hpp>
#include <tableq/options.hpp>
#include <tableq/outcome.hpp>
#include <tableq/payload.hpp>
#include <tableq/pending_queue.hpp>
#include <tableq/plain_queue.hpp>
#include <tableq/queue.hpp>
#include <tableq/queue_changes.hpp>
#include <tableq/receipts.hpp>
#include <tableq/row.hpp>
#include <tableq/row_value.hpp>
#include <tableq/schedules.hpp>
#include <tableq/schema.hpp>
#include <tableq/scoped_delivery.hpp>
#include <tableq/shortcuts.hpp>
#include <tableq/stats.hpp>
#include <tableq/table_definition.hpp>
#include <tableq/table_mapping.hpp>
#include <tableq/table_queue.hpp>
#include <tableq/text.hpp>
#include <tableq/text_view.hpp>
#include <tableq/timestamp.hpp>
#include <tableq/trace_context.hpp>
#include <tableq/transaction.hpp>
#include <tableq/version.hpp>
#include <tableq/watch.hpp>
#include <tableq/worker.hpp>
#include <tableq/worker_event.hpp>
#include <tableq/worker_source.hpp>
