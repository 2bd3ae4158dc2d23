#include "subject.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

operation enqueue(tableq::fifo_queue mail, std::size_t batch) {
  if (batch == 1) {
    return [mail]() mutable {
      mail.enqueue(payload());
      return std::size_t{1};
    };
  }
  return [mail, all = std::vector<tableq::new_message>(batch, {std::string(payload())})]() mutable {
    mail.enqueue_batch(all);
    return all.size();
  };
}

operation dequeue(tableq::fifo_queue mail, std::size_t batch) {
  if (batch == 1) return [mail]() mutable { return std::size_t{mail.dequeue() ? 1U : 0U}; };
  return [mail, batch]() mutable { return mail.dequeue_batch(batch).size(); };
}

template <class Queue>
operation take_complete(Queue jobs, std::size_t batch) {
  if (batch == 1) {
    return [jobs]() mutable -> std::size_t {
      const std::optional<tableq::delivery> taken = jobs.take_one();
      if (!taken) return 0;
      return jobs.complete(*taken) == tableq::settle_result::applied ? 1 : 0;
    };
  }
  return [jobs, batch]() mutable { return jobs.complete_batch(jobs.take(batch)).size(); };
}

tableq::database open_at(const bed& where, const std::string& url,
                         const tableq::shortcuts& shortcuts) {
  tableq::open_options options;
  options.shortcuts = shortcuts;
  if (where.how.notifications == "send-only")
    options.notifications = tableq::notifications::send_only;
  if (where.how.notifications == "off") options.notifications = tableq::notifications::off;
  if (where.how.sessions > 0) options.max_sessions = where.how.sessions;
  return tableq::database::open(url, options);
}

}  // namespace

tableq::database open(const bed& where) {
  return open(where, where.how.shortcuts);
}

tableq::database open(const bed& where, const tableq::shortcuts& shortcuts) {
  return open_at(where, where.raw.url(), shortcuts);
}

tableq::database open_plain(const bed& where) {
  return open_at(where, where.raw.plain_url(), where.how.shortcuts);
}

operation_maker on_tableq(tableq::database db, action what, std::size_t batch) {
  if (what == action::take_complete) {
    return [jobs = db.claim(queue_of(what)), batch](std::size_t) {
      return take_complete(jobs, batch);
    };
  }
  return [mail = db.fifo(queue_of(what)), what, batch](std::size_t) {
    return what == action::enqueue ? enqueue(mail, batch) : dequeue(mail, batch);
  };
}

operation_maker on_mapped(tableq::database db, std::size_t batch) {
  return [jobs = db.table(
              "claims",
              {.key = {"id"}, .waiting = tableq::flag("taken"), .columns = {"id", "payload"}}),
          batch](std::size_t) { return take_complete(jobs, batch); };
}

operation_maker on_raw(raw_database& raw, action what, std::size_t batch, owner whose) {
  return [&raw, what, batch, whose](std::size_t) -> operation {
    const std::shared_ptr<raw_client> client = raw.connect(batch, whose);
    switch (what) {
      case action::enqueue:
        return [client, batch] {
          client->insert();
          return batch;
        };
      case action::dequeue:
        return [client] { return client->pop(); };
      case action::take_complete:
        break;
    }
    return [client] { return client->claim(); };
  };
}

void fill_claims(raw_database& raw, tableq::claim_queue queue, std::size_t messages,
                 const std::function<tableq::claim_enqueue_options(std::size_t)>& options) {
  const std::size_t at_once = std::clamp<std::size_t>(8'000'000 / payload().size(), 1, 1000);
  raw.clear(owner::tableq, queue.name());
  std::vector<tableq::new_claim_message> some;
  for (std::size_t i = 0; i < messages; ++i) {
    some.push_back(
        {std::string(payload()), options ? options(i) : tableq::claim_enqueue_options{}});
    if (some.size() < at_once) continue;
    queue.enqueue_batch(some);
    some.clear();
  }
  queue.enqueue_batch(some);
  raw.tidy(owner::tableq, queue.name());
}

const char* queue_of(action what) {
  return what == action::take_complete ? "jobs" : "mail";
}

const char* table_of(action what) {
  return what == action::take_complete ? "claims" : "plain";
}

}  // namespace bench
