#pragma once

// Objects of C with destructors, and their contents as values of C++: what facade.cpp is made of.

#include <tableq.h>
#include <testing.hpp>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>

namespace tableq_facade {

using std::chrono::milliseconds;

/// Runs `call(tq_error**)`. @throws tableq::error its error, as the library would have thrown it.
template <class Call>
void done(Call call) {
  tq_error* raw = nullptr;
  const int code = call(&raw);
  const std::unique_ptr<tq_error, void (*)(tq_error*)> failure(raw, tq_error_free);
  if (code == TQ_OK && raw == nullptr) return;
  if (code == TQ_ERROR_NO_MEMORY) throw std::bad_alloc();
  const tableq::error_origin origin{.backend = tq_error_backend(raw),
                                    .operation = tq_error_operation(raw),
                                    .sqlstate = tq_error_sqlstate(raw),
                                    .native = tq_error_native(raw)};
  std::string sentence = tq_error_message(raw);
  for (const std::string& part : {origin.backend, origin.operation}) {
    if (!part.empty() && sentence.starts_with(part + ": ")) sentence.erase(0, part.size() + 2);
  }
  throw tableq::error(static_cast<tableq::errc>(code),
                      static_cast<tableq::advice>(tq_error_advice(raw)), sentence, origin);
}

/// Something that C does not have.
[[noreturn]] inline void refuse(const std::string& why) {
  throw tableq::error(tableq::errc::unsupported, tableq::advice::never, why);
}

class c_options {
 public:
  c_options() = default;
  explicit c_options(int purpose) {
    tq_options* made = nullptr;
    done([&](tq_error** e) { return tq_options_new(purpose, &made, e); });
    options_.reset(made, tq_options_free);
  }
  [[nodiscard]] tq_options* get() const noexcept { return options_.get(); }

  void set(const char* key, bool value) const {
    done([&](tq_error** e) { return tq_options_set_bool(get(), key, value ? 1 : 0, e); });
  }
  void set(const char* key, std::int64_t value) const {
    done([&](tq_error** e) { return tq_options_set_int(get(), key, value, e); });
  }
  void set(const char* key, int value) const { set(key, std::int64_t{value}); }
  void set(const char* key, std::size_t value) const { set(key, static_cast<std::int64_t>(value)); }
  void set(const char* key, milliseconds value) const { set(key, std::int64_t{value.count()}); }
  void set(const char* key, double value) const {
    done([&](tq_error** e) { return tq_options_set_double(get(), key, value, e); });
  }
  void set(const char* key, std::string_view value) const {
    done([&](tq_error** e) {
      return tq_options_set_text(get(), key, value.data(), value.size(), e);
    });
  }
  void set(const char* key, const std::string& value) const { set(key, std::string_view(value)); }
  void set(const char* key, tableq::timestamp value) const {
    done([&](tq_error** e) {
      return tq_options_set_time(get(), key, value.time_since_epoch().count(), e);
    });
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void set(const char* key, Enum value) const { set(key, to_string(value)); }
  void set(const char* key, const tableq::lifetime& value) const {
    set_or_null(key, value.length());
  }
  void set_or_null(const char* key, const std::optional<milliseconds>& value) const {
    if (value) return set(key, *value);
    done([&](tq_error** e) { return tq_options_set_null(get(), key, 0, e); });
  }
  template <class Value>
  void set(const char* key, const std::optional<Value>& value) const {
    if (value) set(key, *value);
  }
  /// A column of a row.
  void set_column(const std::string& name, const tableq::row_value& value) const;
  void set_retry(const tableq::optional_retry& value) const {
    if (!value) return;
    set("retry", std::string_view("none"));
    for (const milliseconds each : value->after) {
      done([&](tq_error** e) { return tq_options_add_int(get(), "retry_ms", each.count(), e); });
    }
    set("retry_jitter", value->jitter);
  }
  void set_headers(const tableq::headers& given) const {
    for (const auto& [name, value] : given) set_header(name, value);
  }
  void set_header(std::string_view name, std::string_view value) const {
    done([&](tq_error** e) {
      return tq_options_set_header(get(), name.data(), name.size(), value.data(), value.size(), e);
    });
  }
  /// A batch, and the member whose handler adds to it.
  void set_batch(const std::string& key, const std::optional<tableq::batch_id>& batch) const {
    if (!batch) return;
    set(key.c_str(), batch->value);
    if (batch->member) set((key + "_member").c_str(), to_string(*batch->member));
  }
  void set_stop(std::stop_token token);
  /// For messages of one enqueue, or those of a batch.
  void set_full(const tableq::when_full& full) {
    if (full.wait.count() != 0) set("wait_ms", full.wait);
    set_stop(full.stop);
  }

 private:
  struct stopped;
  std::shared_ptr<tq_options> options_;
  std::shared_ptr<stopped> stop_;
};

/// A stop token as a stop of C.
struct c_options::stopped {
  struct request {
    tq_stop* stop;
    void operator()() const noexcept { tq_stop_request(stop); }
  };
  explicit stopped(std::stop_token token) {
    done([&](tq_error** e) { return tq_stop_new(&stop, e); });
    asked.emplace(std::move(token), request{stop});
  }
  stopped(const stopped&) = delete;
  stopped& operator=(const stopped&) = delete;
  ~stopped() {
    asked.reset();
    tq_stop_free(stop);
  }
  tq_stop* stop = nullptr;
  std::optional<std::stop_callback<request>> asked;
};
inline void c_options::set_column(const std::string& name, const tableq::row_value& value) const {
  using type = tableq::column_type;
  const char* const key = name.c_str();
  const tableq::row_cell& cell = value.cell();
  if (value.is_null()) {
    const int of =
        std::map<type, int>{{type::integer, TQ_TYPE_INT},    {type::boolean, TQ_TYPE_BOOL},
                            {type::number, TQ_TYPE_DECIMAL}, {type::text, TQ_TYPE_TEXT},
                            {type::bytes, TQ_TYPE_BYTES},    {type::time, TQ_TYPE_TIME}}
            .at(value.type());
    return done([&](tq_error** e) { return tq_options_set_null(get(), key, of, e); });
  }
  if (value.type() == type::integer) return set(key, std::get<std::int64_t>(cell));
  if (value.type() == type::boolean) return set(key, std::get<std::int64_t>(cell) != 0);
  if (value.type() == type::time) {
    return set(key, tableq::timestamp(milliseconds(std::get<std::int64_t>(cell))));
  }
  const auto& bytes = std::get<std::string>(cell);
  done([&](tq_error** e) {
    if (value.type() == type::number) {
      return tq_options_set_decimal(get(), key, bytes.data(), bytes.size(), e);
    }
    return value.type() == type::bytes
               ? tq_options_set_bytes(get(), key, bytes.data(), bytes.size(), e)
               : tq_options_set_text(get(), key, bytes.data(), bytes.size(), e);
  });
}
inline void c_options::set_stop(std::stop_token token) {
  if (!token.stop_possible()) return;
  stop_ = std::make_shared<stopped>(std::move(token));
  done([&](tq_error** e) { return tq_options_set_stop(get(), stop_->stop, e); });
}

class c_result {
 public:
  explicit c_result(tq_result* made) : result_(made, tq_result_free) {}
  [[nodiscard]] const tq_result* get() const noexcept { return result_.get(); }
  [[nodiscard]] std::size_t count() const noexcept { return tq_result_count(get()); }
  [[nodiscard]] std::int64_t number(std::size_t row, const char* field) const noexcept {
    return tq_result_int(get(), row, field);
  }

 private:
  std::shared_ptr<tq_result> result_;
};
/// Runs `call(tq_result**, tq_error**)`.
template <class Call>
c_result asked(Call call) {
  tq_result* made = nullptr;
  done([&](tq_error** e) { return call(&made, e); });
  return c_result(made);
}

class c_batch {
 public:
  c_batch() {
    tq_batch* made = nullptr;
    done([&](tq_error** e) { return tq_batch_new(&made, e); });
    batch_.reset(made, tq_batch_free);
  }
  [[nodiscard]] tq_batch* get() const noexcept { return batch_.get(); }
  void add(std::string_view bytes, const tq_options* options) const {
    done([&](tq_error** e) { return tq_batch_add(get(), bytes.data(), bytes.size(), options, e); });
  }
  void add_id(tableq::message_id id, std::int32_t priority) const {
    done([&](tq_error** e) { return tq_batch_add_id(get(), id.value, priority, e); });
  }

 private:
  std::shared_ptr<tq_batch> batch_;
};
inline c_batch batch_with(std::span<const tableq::message_id> ids) {
  const c_batch out;
  for (const tableq::message_id each : ids) out.add_id(each, 0);
  return out;
}

struct c_database {
  explicit c_database(tq_database* opened) : db(opened, tq_database_close) {
    tq_database* made = nullptr;
    done([&](tq_error** e) { return tq_database_outside(opened, &made, e); });
    beside.reset(made, tq_database_close);
    backend = tq_database_backend(opened);
  }
  [[nodiscard]] tq_database* get(bool outside) const noexcept {
    return outside ? beside.get() : db.get();
  }
  std::shared_ptr<tq_database> db;
  std::shared_ptr<tq_database> beside;
  std::string backend;
};
struct c_transaction {
  explicit c_transaction(tq_transaction* begun) : tx(begun, tq_transaction_free) {}
  std::unique_ptr<tq_transaction, void (*)(tq_transaction*)> tx;
};
struct c_queue {
  /// No queue: for a batch, which belongs to none.
  explicit c_queue(std::shared_ptr<c_database> of) : db(std::move(of)) {}
  c_queue(std::shared_ptr<c_database> in, tq_queue* opened, tableq::kind of)
      : db(std::move(in)), queue(opened, tq_queue_close), kind(of) {
    tq_queue* made = nullptr;
    done([&](tq_error** e) { return tq_queue_outside(opened, &made, e); });
    beside.reset(made, tq_queue_close);
    name = tq_queue_name(opened);
  }
  std::shared_ptr<c_database> db;
  std::shared_ptr<tq_queue> queue = {};
  std::shared_ptr<tq_queue> beside = {};
  tableq::kind kind = tableq::kind::claim;
  std::string name;
  mutable std::optional<tableq::table_mapping> mapping;  ///< Of a table, once it was asked for.
};

/// A queue, and the transaction of its handle.
struct where {
  tq_queue* queue;
  bool bound = false;
  std::shared_ptr<c_transaction> in = {};

  [[nodiscard]] tq_transaction* tx() const {
    if (!bound) return nullptr;
    if (in) return in->tx.get();
    throw tableq::error(tableq::errc::invalid_argument, tableq::advice::never,
                        "the transaction of in(tx) is gone");
  }
};

}  // namespace tableq_facade

namespace tableq::inline v0::core {

/// The friend of the public classes, for objects of C. They stand where the library has its own.
class access {
  template <class To, class From>
  static std::shared_ptr<To> as(const std::shared_ptr<From>& from) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): never used as a To
    return {from, reinterpret_cast<To*>(from.get())};
  }
  using c_database = tableq_facade::c_database;
  using c_transaction = tableq_facade::c_transaction;
  using c_queue = tableq_facade::c_queue;

 public:
  static database made(const std::shared_ptr<c_database>& db) noexcept {
    return database(as<database_state>(db));
  }
  static std::shared_ptr<c_database> shared(const std::shared_ptr<database_state>& state) noexcept {
    return as<c_database>(state);
  }
  static std::shared_ptr<c_database> shared(const database& handle) noexcept {
    return shared(handle.state_);
  }
  static const c_database& of(const database& handle) noexcept { return *shared(handle); }
  static transaction made(const std::shared_ptr<c_transaction>& tx) noexcept {
    return transaction(as<transaction_state>(tx));
  }
  static enlistment join(transaction joined) noexcept { return enlistment(std::move(joined)); }
  static tq_transaction* of(const transaction& handle) noexcept {
    return handle.state_ == nullptr ? nullptr : as<c_transaction>(handle.state_)->tx.get();
  }
  static std::weak_ptr<transaction_state> weak(const transaction& tx) noexcept { return tx.state_; }
  static std::weak_ptr<transaction_state> weak(const enlistment& joined) noexcept {
    return joined.joined_.state_;
  }
  static std::shared_ptr<queue_state> hidden(const std::shared_ptr<c_queue>& queue) noexcept {
    return as<queue_state>(queue);
  }
  static const c_queue& of(const queue& handle) noexcept { return *as<c_queue>(handle.state_); }
  /// For calls that are in no transaction: of a bound handle nothing, which they refuse.
  static tq_queue* plain(const queue& handle) {
    if (handle.in_) {
      throw error(errc::invalid_argument, advice::never, "this is not done inside a transaction");
    }
    return handle.outside_ ? of(handle).beside.get() : of(handle).queue.get();
  }
  static claim_queue claims_of(const std::shared_ptr<c_queue>& queue) noexcept {
    return claim_queue(hidden(queue));
  }
  /// The database of a batch's handle.
  static tq_database* database_of(const queue& handle) noexcept {
    return of(handle).db->get(handle.outside_);
  }
  static tableq_facade::where in(const queue& handle) {
    tableq_facade::where out{.queue = handle.outside_ ? of(handle).beside.get()
                                                      : of(handle).queue.get()};
    if (!handle.in_) return out;
    out.bound = true;
    if (const auto tx = handle.in_->lock()) out.in = as<c_transaction>(tx);
    return out;
  }
};

}  // namespace tableq::inline v0::core

#include "facade_values.hpp"
