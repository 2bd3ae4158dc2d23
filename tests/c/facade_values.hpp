#pragma once

// Options of C++ as options of C, and results of C as values of C++. Part of facade.hpp.

namespace tableq_facade {

// ----------------------------------------------------------------------------------------- options

inline c_options options_of(const tableq::open_options& given) {
  const c_options out(TQ_FOR_OPEN);
  out.set("schema", given.schema);
  out.set("table_prefix", given.table_prefix);
  out.set("schema_name", given.schema_name);
  out.set("max_sessions", given.max_sessions);
  out.set("session_timeout_ms", given.session_timeout);
  out.set("retry_for_ms", given.retry_for);
  out.set("max_payload", given.max_payload);
  out.set("notifications", given.notifications);
  out.set("poll_interval_ms", given.poll_interval);
  out.set("refuses_beside_begin", given.refuses_beside_begin);
  out.set("combining", given.shortcuts.combining);
  out.set("spinning", given.shortcuts.spinning);
  out.set("floors", given.shortcuts.floors);
  out.set("writers_line", given.shortcuts.writers_line);
  done([&](tq_error** e) { return tq_testing_set_open(out.get(), &given, e); });
  return out;
}
inline c_options options_of(const tableq::order_options& given) {
  const c_options out(TQ_FOR_QUEUE);
  out.set("ordering", given.ordering);
  return out;
}
inline c_options options_of(const tableq::claim_options& given) {
  const c_options out(TQ_FOR_QUEUE);
  out.set("lease_ms", given.lease);
  out.set("max_attempts", given.max_attempts);
  out.set("keep_completed", given.keep_completed);
  out.set_retry(given.retry);
  out.set("time_to_live_ms", given.time_to_live);
  out.set("keys", given.keys);
  out.set("key_window_ms", given.key_window);
  out.set("dead_letters", given.dead_letters);
  out.set("batches", given.batches);
  if (given.retention) {
    out.set_or_null("retain_done_ms", given.retention->done);
    out.set_or_null("retain_dead_ms", given.retention->dead);
  }
  if (given.groups == tableq::group_options{.enabled = false}) return out;
  out.set("group_limit", given.groups.limit);
  out.set("group_on_failure", given.groups.on_failure);
  out.set("group_by_turns", given.groups.by_turns);
  out.set("groups", given.groups.enabled);
  return out;
}
inline c_options options_of(const tableq::queue_settings& given) {
  const c_options out = options_of(given.claim);
  out.set("ordering", given.order.ordering);
  return out;
}
inline c_options options_of(const tableq::migrate_options& given) {
  const c_options out(TQ_FOR_MIGRATE);
  for (const std::string& each : given.queues) {
    done([&](tq_error** e) {
      return tq_options_add_text(out.get(), "queues", each.data(), each.size(), e);
    });
  }
  out.set("to", given.to);
  out.set("dry_run", given.dry_run);
  out.set("wait_ms", given.wait);
  return out;
}
inline c_options options_of(const tableq::enqueue_options& given) {
  const c_options out(TQ_FOR_MESSAGE);
  out.set("created_at", given.created_at);
  return out;
}
inline c_options options_of(const tableq::pending_options& given) {
  const c_options out(TQ_FOR_MESSAGE);
  out.set("created_at", given.created_at);
  if (given.delay.count() != 0) out.set("delay_ms", given.delay);
  out.set("due_at", given.due_at);
  return out;
}
inline c_options options_of(const tableq::claim_enqueue_options& given) {
  const c_options out(TQ_FOR_MESSAGE);
  out.set("priority", given.priority);
  if (given.delay.count() != 0) out.set("delay_ms", given.delay);
  out.set("due_at", given.due_at);
  out.set("key", given.key);
  out.set("group", given.group);
  out.set("created_at", given.created_at);
  out.set("on_duplicate", given.on_duplicate);
  out.set("time_to_live_ms", given.time_to_live);
  out.set("max_attempts", given.max_attempts);
  out.set_retry(given.retry);
  out.set_headers(given.headers);
  out.set_batch("batch", given.batch);
  return out;
}
inline c_options options_of(const tableq::queue_limits& given) {
  const c_options out(TQ_FOR_LIMITS);
  out.set("capacity", given.capacity);
  out.set("rate", given.rate);
  out.set("burst", given.burst);
  out.set("concurrency", given.concurrency);
  return out;
}
inline c_options options_of(const tableq::stats_options& given) {
  const c_options out(TQ_FOR_STATS);
  out.set("exact", given.exact);
  out.set("count_to", given.count_to);
  return out;
}
inline c_options options_of(const tableq::purge_options& given) {
  const c_options out(TQ_FOR_PURGE);
  out.set("older_than_ms", given.older_than);
  out.set("batch", given.batch);
  return out;
}
inline c_options options_of(const tableq::fail_options& given) {
  const c_options out(TQ_FOR_FAILURE);
  out.set("delay_ms", given.delay);
  out.set("give_up", given.give_up);
  return out;
}

inline c_options options_of(const tableq::look_options& given) {
  const c_options out(TQ_FOR_LOOK);
  out.set("detail", given.detail);
  out.set("progress", given.progress);
  out.set("result", given.result);
  return out;
}

/// Options of a read.
class c_read {
 public:
  c_read(milliseconds wait, const std::stop_token& stop) : options_(TQ_FOR_READ) {
    options_.set("wait_ms", wait);
    options_.set_stop(stop);
  }
  [[nodiscard]] const c_options& options() const noexcept { return options_; }
  [[nodiscard]] tq_options* get() const noexcept { return options_.get(); }

 private:
  c_options options_;
};

// ----------------------------------------------------------------------------------------- results

/// One row of a result.
struct row_of {
  const tq_result* result;
  std::size_t row;

  [[nodiscard]] bool has(const char* field) const noexcept {
    return tq_result_type(result, row, field) != TQ_TYPE_NULL;
  }
  [[nodiscard]] std::int64_t number(const char* field) const noexcept {
    return tq_result_int(result, row, field);
  }
  [[nodiscard]] std::size_t size(const char* field) const noexcept {
    return static_cast<std::size_t>(number(field));
  }
  [[nodiscard]] std::string text(const char* field) const {
    std::size_t length = 0;
    const char* const found = tq_result_bytes(result, row, field, &length);
    return found == nullptr ? std::string() : std::string(found, length);
  }
  [[nodiscard]] tableq::timestamp time(const char* field) const noexcept {
    return tableq::timestamp(milliseconds(number(field)));
  }
  [[nodiscard]] std::optional<std::string> maybe_text(const char* field) const {
    return has(field) ? std::optional(text(field)) : std::nullopt;
  }
  [[nodiscard]] std::optional<tableq::timestamp> maybe_time(const char* field) const {
    return has(field) ? std::optional(time(field)) : std::nullopt;
  }
  [[nodiscard]] std::optional<milliseconds> maybe_length(const char* field) const {
    return has(field) ? std::optional(milliseconds(number(field))) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::size_t> maybe_size(const char* field) const {
    return has(field) ? std::optional(size(field)) : std::nullopt;
  }
  /// The field `row` of an application's table.
  [[nodiscard]] tableq::row columns() const {
    tableq::row out;
    const tq_result* const list = tq_result_list(result, row, "row");
    if (list == nullptr) return out;
    const row_of only{list, 0};
    for (std::size_t i = 0; i < tq_result_field_count(list); ++i) {
      const char* const name = tq_result_field_name(list, i);
      out.set(std::string(name), only.column(name));
    }
    return out;
  }
  /// A value in a row of a table. C does not tell the type of a NULL.
  [[nodiscard]] tableq::row_value column(const char* name) const {
    using type = tableq::column_type;
    switch (tq_result_type(result, row, name)) {
      case TQ_TYPE_INT:
        return number(name);
      case TQ_TYPE_BOOL:
        return number(name) != 0;
      case TQ_TYPE_TIME:
        return time(name);
      case TQ_TYPE_DECIMAL:
        return {type::number, text(name)};
      case TQ_TYPE_BYTES:
        return {type::bytes, text(name)};
      case TQ_TYPE_TEXT:
        return text(name);
      default:
        return nullptr;
    }
  }
  [[nodiscard]] tableq::headers headers() const {
    tableq::headers out;
    const tq_result* const list = tq_result_list(result, row, "headers");
    for (std::size_t i = 0; i < tq_result_count(list); ++i) {
      out.emplace(row_of{list, i}.text("name"), row_of{list, i}.text("value"));
    }
    return out;
  }
};
template <class Value, class Make>
std::vector<Value> all_of(const c_result& result, Make make) {
  std::vector<Value> out;
  for (std::size_t i = 0; i < result.count(); ++i) out.push_back(make(row_of{result.get(), i}));
  return out;
}
/// The enumerator of a name.
template <class Enum>
Enum named(const std::string& name, std::initializer_list<Enum> all) {
  return *std::find_if(all.begin(), all.end(), [&](Enum each) { return to_string(each) == name; });
}

/// The text of a result that is one.
inline std::string text_of(const c_result& result) {
  return row_of{result.get(), 0}.text("text");
}

inline std::vector<tableq::message> messages_of(const c_result& result) {
  return all_of<tableq::message>(result, [](const row_of& row) {
    return tableq::message{.id = {row.number("id")},
                           .created_at = row.time("created_at"),
                           .due_at = row.maybe_time("due_at"),
                           .payload = row.text("payload")};
  });
}
inline std::vector<tableq::delivery> taken_of(const c_result& result) {
  return all_of<tableq::delivery>(result, [](const row_of& row) {
    tableq::delivery out{};
    out.receipt = tableq::parse_receipt(row.text("receipt"));
    out.payload = row.text("payload");
    out.headers = row.headers();
    out.key = row.maybe_text("key");
    out.group = row.maybe_text("group");
    out.priority = static_cast<std::int32_t>(row.number("priority"));
    out.attempt = static_cast<int>(row.number("attempt"));
    out.created_at = row.time("created_at");
    out.claimed_at = row.maybe_time("claimed_at");
    out.lease_until = row.time("lease_until");
    out.row = row.columns();
    return out;
  });
}
inline std::vector<std::optional<tableq::stored_message>> stored_of(const c_result& result) {
  using state = tableq::message_state;
  return all_of<std::optional<tableq::stored_message>>(
      result, [](const row_of& row) -> std::optional<tableq::stored_message> {
        if (!row.has("id")) return std::nullopt;
        tableq::stored_message out{};
        out.id = {row.number("id")};
        out.state = named(row.text("state"), {state::ready, state::leased, state::delayed,
                                              state::done, state::dead, state::held});
        out.payload = row.text("payload");
        out.headers = row.headers();
        out.key = row.maybe_text("key");
        out.group = row.maybe_text("group");
        out.priority = static_cast<std::int32_t>(row.number("priority"));
        out.attempts = static_cast<int>(row.number("attempts"));
        out.created_at = row.time("created_at");
        out.due_at = row.maybe_time("due_at");
        out.expires_at = row.maybe_time("expires_at");
        out.claimed_at = row.maybe_time("claimed_at");
        out.finished_at = row.maybe_time("finished_at");
        const tq_result* const errors = tq_result_list(row.result, row.row, "errors");
        for (std::size_t i = 0; i < tq_result_count(errors); ++i) {
          out.errors.push_back({row_of{errors, i}.time("at"), row_of{errors, i}.text("error")});
        }
        out.unread_headers = row.maybe_text("unread_headers");
        out.result = row.maybe_text("result");
        if (row.has("progress")) {
          out.progress =
              tableq::message_progress{.done = tq_result_double(row.result, row.row, "progress"),
                                       .note = row.text("progress_note"),
                                       .at = row.time("progress_at")};
        }
        return out;
      });
}
inline tableq::awaited awaited_of(const c_result& result) {
  using state = tableq::message_state;
  const row_of row{result.get(), 0};
  tableq::awaited out{.how = static_cast<tableq::awaited::ending>(row.number("ending"))};
  if (row.has("state")) {
    out.state = named(row.text("state"), {state::ready, state::leased, state::delayed, state::done,
                                          state::dead, state::held});
  }
  out.result = row.maybe_text("result");
  if (row.has("error")) out.error = {.at = row.time("error_at"), .error = row.text("error")};
  return out;
}
inline std::vector<tableq::stored_message> present(const c_result& result) {
  std::vector<tableq::stored_message> out;
  for (auto& each : stored_of(result)) out.push_back(*std::move(each));
  return out;
}
inline std::optional<tableq::stored_message> first(const c_result& result) {
  auto all = stored_of(result);
  return all.empty() ? std::nullopt : std::move(all.front());
}
inline tableq::queue_limits limits_of(const c_result& result) {
  const row_of row{result.get(), 0};
  tableq::queue_limits out{.capacity = row.maybe_size("capacity")};
  if (row.has("rate")) out.rate = tq_result_double(result.get(), 0, "rate");
  if (row.has("burst")) out.burst = static_cast<int>(row.number("burst"));
  if (row.has("concurrency")) out.concurrency = static_cast<int>(row.number("concurrency"));
  return out;
}
template <class Stats>
Stats figures_of(const row_of& row) {
  Stats out{};
  out.delayed = row.size("delayed");
  out.oldest = row.maybe_time("oldest");
  out.counted_to = row.maybe_size("counted_to");
  if (row.has("last_id")) out.last_id = tableq::message_id{row.number("last_id")};
  out.as_of = row.time("as_of");
  return out;
}
inline tableq::queue_stats queue_stats_of(const c_result& result) {
  const row_of row{result.get(), 0};
  auto out = figures_of<tableq::queue_stats>(row);
  out.waiting = row.size("waiting");
  return out;
}
inline tableq::claim_stats claim_stats_of(const c_result& result) {
  const row_of row{result.get(), 0};
  auto out = figures_of<tableq::claim_stats>(row);
  out.ready = row.size("ready");
  out.due = row.size("due");
  out.leased = row.size("leased");
  out.held = row.size("held");
  out.done = row.size("done");
  out.dead = row.size("dead");
  out.dead_letters = row.maybe_size("dead_letters");
  out.dead_letters_at_least = row.number("dead_letters_at_least") != 0;
  return out;
}
inline std::vector<tableq::queue_info> queues_of(const c_result& result) {
  return all_of<tableq::queue_info>(result, [](const row_of& row) {
    tableq::queue_info out;
    out.name = row.text("name");
    out.kind = tableq::parse_kind(row.text("kind"));
    out.layout = static_cast<int>(row.number("layout"));
    out.identity = row.number("identity");
    out.ordering =
        named(row.text("ordering"), {tableq::ordering::relaxed, tableq::ordering::strict});
    out.created_at = row.time("created_at");
    out.schedules = row.number("schedules") != 0;
    out.batch_ends = row.number("batch_ends") != 0;
    if (row.has("definition")) out.table = tableq::parse_table_definition(row.text("definition"));
    if (out.kind != tableq::kind::claim) return out;
    out.lease = milliseconds(row.number("lease_ms"));
    out.max_attempts = static_cast<int>(row.number("max_attempts"));
    out.keep_completed = row.number("keep_completed") != 0;
    const tq_result* const delays = tq_result_list(row.result, row.row, "retry_ms");
    for (std::size_t i = 0; i < tq_result_count(delays); ++i) {
      out.retry.after.emplace_back(tq_result_int(delays, i, "ms"));
    }
    out.retry.jitter = static_cast<int>(row.number("retry_jitter"));
    if (row.has("time_to_live_ms")) out.time_to_live = milliseconds(row.number("time_to_live_ms"));
    out.keys = named(row.text("keys"), {tableq::key_scope::active, tableq::key_scope::waiting});
    out.key_window = milliseconds(row.number("key_window_ms"));
    out.dead_letters = row.text("dead_letters");
    out.group_limits = row.number("group_limits") != 0;
    out.group_rates = row.number("group_rates") != 0;
    out.batches = row.number("batches") != 0;
    out.retention.done = row.maybe_length("retain_done_ms");
    out.retention.dead = row.maybe_length("retain_dead_ms");
    if (!row.has("group_limit")) return out;
    out.groups = tableq::group_options{
        .limit = static_cast<int>(row.number("group_limit")),
        .on_failure = named(row.text("group_on_failure"),
                            {tableq::group_policy::hold, tableq::group_policy::pass}),
        .by_turns = row.number("group_by_turns") != 0};
    return out;
  });
}
inline std::vector<tableq::finding> findings_of(const c_result& result) {
  using level = tableq::finding::level;
  return all_of<tableq::finding>(result, [](const row_of& row) {
    return tableq::finding{named(row.text("severity"), {level::ok, level::warning, level::problem}),
                           row.text("subject"), row.text("what"), row.text("fix")};
  });
}

// ---------------------------------------------------------------------------------------- outcomes

inline tableq::enqueue_result effect_of(int outcome) noexcept {
  return static_cast<tableq::enqueue_result>(outcome - TQ_OUTCOME_ADDED);
}
inline tableq::change_result change_of(int outcome) noexcept {
  return static_cast<tableq::change_result>(outcome == TQ_OUTCOME_APPLIED ? 0 : outcome - 1);
}
inline tableq::settle_result settle_of(std::int64_t outcome) noexcept {
  return static_cast<tableq::settle_result>(outcome);
}
inline std::vector<tableq::change_result> changes_of(const c_result& result) {
  return all_of<tableq::change_result>(
      result, [](const row_of& row) { return change_of(static_cast<int>(row.number("outcome"))); });
}
inline std::vector<tableq::settle_result> settles_of(const c_result& result) {
  return all_of<tableq::settle_result>(
      result, [](const row_of& row) { return settle_of(row.number("outcome")); });
}

// --------------------------------------------------------------------------- reads and settlements

inline c_result take_through_c(const where& in, std::size_t max,
                               const tableq::take_options& given) {
  const c_read read(given.wait, given.stop);
  read.options().set("lease_ms", given.lease);
  read.options().set("claimed_at", given.claimed_at);
  return asked([&](tq_result** r, tq_error** e) {
    return tq_take(in.queue, in.tx(), max, read.get(), r, e);
  });
}
/// @param call tq_complete or tq_release.
template <class Call>
tableq::settle_result settled(const where& in, const tableq::receipt& taken, Call call) {
  const std::string text = to_string(taken);
  int outcome = 0;
  done(
      [&](tq_error** e) { return call(in.queue, in.tx(), text.data(), text.size(), &outcome, e); });
  return settle_of(outcome);
}
inline c_batch receipts_of(const tableq::receipts_view& taken) {
  const c_batch out;
  for (std::size_t i = 0; i < taken.size(); ++i) out.add(to_string(taken[i]), nullptr);
  return out;
}
template <class Call>
std::vector<tableq::settle_result> settled_all(const where& in, const tableq::receipts_view& taken,
                                               Call call) {
  const c_batch batch = receipts_of(taken);
  return settles_of(asked(
      [&](tq_result** r, tq_error** e) { return call(in.queue, in.tx(), batch.get(), r, e); }));
}
inline tableq::settle_result extended(const where& in, const tableq::receipt& taken,
                                      milliseconds lease) {
  return settled(
      in, taken,
      [&](auto* queue, auto* tx, const char* text, std::size_t size, int* outcome, tq_error** e) {
        return tq_extend(queue, tx, text, size, lease.count(), outcome, e);
      });
}
inline std::vector<tableq::settle_result> extended_all(const where& in,
                                                       const tableq::receipts_view& taken,
                                                       milliseconds lease) {
  return settled_all(
      in, taken, [&](auto* queue, auto* tx, const tq_batch* batch, tq_result** r, tq_error** e) {
        return tq_extend_batch(queue, tx, batch, lease.count(), r, e);
      });
}
inline tableq::settle_result failed(const where& in, const tableq::receipt& taken,
                                    std::string_view text, const tableq::fail_options& options) {
  const c_options given = options_of(options);
  return settled(in, taken,
                 [&](auto* queue, auto* tx, const char* receipt, std::size_t size, int* outcome,
                     tq_error** e) {
                   return tq_fail(queue, tx, receipt, size, text.data(), text.size(), given.get(),
                                  outcome, e);
                 });
}
inline std::vector<tableq::settle_result> failed_all(const where& in,
                                                     std::span<const tableq::failure> failures) {
  const c_batch batch;
  for (const tableq::failure& each : failures) {
    const c_options options = options_of(each.options);
    options.set("error", each.error);
    batch.add(to_string(each.receipt), options.get());
  }
  return settles_of(asked([&](tq_result** r, tq_error** e) {
    return tq_fail_batch(in.queue, in.tx(), batch.get(), r, e);
  }));
}

}  // namespace tableq_facade
