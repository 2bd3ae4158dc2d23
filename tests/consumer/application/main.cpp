// An application of the library, with every public header. Run with a connection string.
#include <iostream>
#include <optional>

#include <tableq/batch.hpp>
#include <tableq/batch_options.hpp>
#include <tableq/batch_view.hpp>
#include <tableq/claim_options.hpp>
#include <tableq/claim_queue.hpp>
#include <tableq/database.hpp>
#include <tableq/enlistment.hpp>
#include <tableq/error.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/handled.hpp>
#include <tableq/handler.hpp>
#include <tableq/keeper.hpp>
#include <tableq/kept_delivery.hpp>
#include <tableq/leased_queue.hpp>
#include <tableq/libpq.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/message_filter.hpp>
#include <tableq/message_range.hpp>
#include <tableq/message_rules.hpp>
#include <tableq/metrics.hpp>
#include <tableq/move.hpp>
#include <tableq/observer.hpp>
#include <tableq/odbc.hpp>
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
#include <tableq/soci.hpp>
#include <tableq/sqlite.hpp>
#include <tableq/stats.hpp>
#include <tableq/table_definition.hpp>
#include <tableq/table_mapping.hpp>
#include <tableq/table_queue.hpp>
#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>
#include <tableq/text.hpp>
#include <tableq/text_view.hpp>
#include <tableq/timestamp.hpp>
#include <tableq/trace_context.hpp>
#include <tableq/transaction.hpp>
#include <tableq/unstable/dialect.hpp>
#include <tableq/version.hpp>
#include <tableq/watch.hpp>
#include <tableq/worker.hpp>
#include <tableq/worker_event.hpp>
#include <tableq/worker_source.hpp>

int main(int argc, char** argv) {
  try {
    auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://:memory:");
    auto mail = db.fifo("mail");
    mail.enqueue("hello");
    const std::optional<tableq::message> got = mail.dequeue();
    if (!got || got->payload != "hello") {
      std::cerr << "the message did not come back\n";
      return 1;
    }
  } catch (const tableq::error& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
  // Caught across the library's border, so its type information must be exported.
  try {
    (void)tableq::database::open("nosuch://x");
  } catch (const tableq::error& e) {
    if (e.code() == tableq::errc::invalid_argument) return 0;
  }
  std::cerr << "an unknown scheme was accepted\n";
  return 1;
}
