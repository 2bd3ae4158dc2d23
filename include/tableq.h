#ifndef TABLEQ_H
#define TABLEQ_H

/// @file
/// tableq for C, and for every language that can call C. One shared library, `libtableq.so.0`, with
/// this one header; it contains the C++ library and exports the functions below alone. A program in
/// C++ uses `tableq/tableq.hpp` and the C++ library instead: docs/c.md says which to link.
///
///     tq_error *error = NULL;
///     tq_database *db = NULL;
///     tq_queue *jobs = NULL;
///     tq_result *taken = NULL;
///     int outcome = 0;
///     if (tq_database_open("sqlite:///var/lib/shop/shop.db", TQ_NUL, NULL, &db, &error) ||
///         tq_queue_open(db, "thumbnails", TQ_NUL, "claim", NULL, &jobs, &error) ||
///         tq_enqueue(jobs, NULL, "cat.jpg", 7, NULL, NULL, NULL, &error) ||
///         tq_take(jobs, NULL, 1, NULL, &taken, &error))
///       return failed(error);
///     size_t size = 0;
///     const char *receipt = tq_result_bytes(taken, 0, "receipt", &size);
///     if (tq_complete(jobs, NULL, receipt, size, &outcome, &error)) return failed(error);
///     tq_result_free(taken);
///     tq_queue_close(jobs);
///     tq_database_close(db);
///
/// Calls. A function that can fail returns a code: TQ_OK, or one of the TQ_ERROR_ numbers. Its last
/// parameter receives the error, or NULL after success; the caller frees it. NULL for that
/// parameter: only the code is told. When the code is not TQ_OK, every other result of the call is
/// NULL or zero. No exception and no signal leaves a call.
///
/// Handles. Every object is opaque, made by a call that returns it by a pointer, and ended by its
/// `_free` or `_close`, which takes NULL, never fails and stores nothing. What an object uses stays
/// open for it: a database may be closed before its queues. A handle that is NULL where one is
/// needed is TQ_ERROR_INVALID_ARGUMENT; so is one of another type, as far as that can be told.
///
/// Bytes and texts. What goes in is a pointer and a size, and is borrowed for the call. The size
/// TQ_NUL means: up to the first NUL byte. A NULL pointer with the size 0 is an empty text. Texts
/// are UTF-8; payloads are any bytes. What comes out belongs to the object that it was asked of,
/// until that is freed; one NUL byte follows it, which its size does not count. A word of this
/// interface (a key, a kind, a state) is a plain C string.
///
/// Times are milliseconds since 1970, UTC, by the database's clock; durations are milliseconds, and
/// their keys end in `_ms`.
///
/// Threads. Databases, queues, stops, clocks, watches and keepers may be used by several threads at
/// once. Results and errors never change, so several threads may read them. Options and batches may
/// be read by several calls at once while nobody changes them. One thread at a time uses a
/// transaction. No thread may use a handle while another frees it. The library has threads of its
/// own (a database with waiting calls or watches, a keeper); none of them calls the program.
///
/// Transactions. A call with a parameter `tx` works in that transaction, or with NULL in its own.
/// In a transaction nothing waits for messages or room, and nothing is repeated. A call without
/// that parameter has its own transactions and is refused with TQ_ERROR_INVALID_ARGUMENT in a
/// thread that has a transaction of the database open, unless its comment says that it reads only;
/// `tq_queue_outside` and `tq_database_outside` are for work beside it on purpose.
///
/// fork(). In the child each call on an object of the parent is TQ_ERROR_INVALID_ARGUMENT, and
/// ending one does nothing.
///
/// Calls promise the same as in C++: docs/guarantees.md. The
/// binary interface never breaks within `libtableq.so.0`: functions, keys and fields are only
/// added.

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(TQ_BUILDING)
#define TQ_API __declspec(dllexport)
#else
#define TQ_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define TQ_API __attribute__((visibility("default")))
#else
#define TQ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The size of a text that ends at its first NUL byte.
#define TQ_NUL ((size_t)-1)

typedef struct tq_error tq_error;              ///< Why a call failed.
typedef struct tq_options tq_options;          ///< Typed values by key, for one purpose.
typedef struct tq_stop tq_stop;                ///< Ends calls that wait, from another thread.
typedef struct tq_clock tq_clock;              ///< A time for tests, in place of the database's.
typedef struct tq_result tq_result;            ///< Rows with typed fields by key.
typedef struct tq_batch tq_batch;              ///< The items of one call.
typedef struct tq_database tq_database;        ///< A database that holds queues.
typedef struct tq_transaction tq_transaction;  ///< Several calls that commit together.
typedef struct tq_queue tq_queue;              ///< One queue, or a table of the application.
typedef struct tq_watch tq_watch;              ///< A descriptor for news of many queues.
typedef struct tq_keeper tq_keeper;            ///< Extends leases.

struct pg_conn;  // PGconn of libpq
struct sqlite3;

// ---------------------------------------------------------------------------------------- errors

/// The cause of an error. The numbers are those of `errc` in C++ and never change; later versions
/// may add some.
enum tq_code {
  TQ_OK = 0,
  TQ_ERROR_INVALID_ARGUMENT = 1,      ///< The call itself is wrong; nothing was sent.
  TQ_ERROR_NOT_FOUND = 2,             ///< The queue, its table or the database's file is not there.
  TQ_ERROR_KIND_MISMATCH = 3,         ///< The queue exists as another kind.
  TQ_ERROR_OPTIONS_MISMATCH = 4,      ///< It exists with another option that is fixed.
  TQ_ERROR_SCHEMA_MISMATCH = 5,       ///< A foreign table has the name, or the table differs.
  TQ_ERROR_SCHEMA_TOO_NEW = 6,        ///< A newer tableq wrote the catalogue.
  TQ_ERROR_CONNECTION_FAILED = 7,     ///< No session could be opened.
  TQ_ERROR_CONNECTION_LOST = 8,       ///< The session died; nothing of the call has happened.
  TQ_ERROR_OUTCOME_UNKNOWN = 9,       ///< The session died in a change, which may have happened.
  TQ_ERROR_BUSY = 10,                 ///< No lock or session was free in time.
  TQ_ERROR_CONFLICT = 11,             ///< Deadlock or serialization: the transaction is undone.
  TQ_ERROR_CONSTRAINT_VIOLATED = 12,  ///< A constraint or trigger refused the row.
  TQ_ERROR_PERMISSION_DENIED = 13,    ///< The user lacks a right.
  TQ_ERROR_READ_ONLY = 14,            ///< The file, database or session accepts no writes.
  TQ_ERROR_STORAGE_FULL = 15,         ///< Disk, quota or log is full.
  TQ_ERROR_TOO_LARGE = 16,            ///< A payload is over the limit.
  TQ_ERROR_NOT_A_DATABASE = 17,       ///< The file is something else, or damaged.
  TQ_ERROR_DUPLICATE_KEY = 18,        ///< Another message holds the key (on_duplicate "reject").
  TQ_ERROR_CANCELLED = 19,            ///< A time limit or cancel request ended the statement.
  TQ_ERROR_UNSUPPORTED = 20,          ///< This database has no such feature.
  TQ_ERROR_QUEUE_FULL = 21,           ///< The queue has reached its capacity.
  TQ_ERROR_STORAGE_FAILED = 22,       ///< The disk failed a read or write.
  TQ_ERROR_INTERNAL = 23,             ///< A result that no rule covers: please report it.
  TQ_ERROR_NO_MEMORY = 1000           ///< Memory was short. The call may have had its effect.
};

/// The largest unit that is safe to repeat after an error, from small to large.
enum tq_advice {
  TQ_ADVICE_NEVER = 0,        ///< A repetition would fail again, or might do the work twice.
  TQ_ADVICE_STATEMENT = 1,    ///< The same call may be made again at once.
  TQ_ADVICE_TRANSACTION = 2,  ///< The transaction is gone: run all of it again.
  TQ_ADVICE_SESSION = 3       ///< As TRANSACTION; the next call opens a new session by itself.
};

/// A number of tq_code.
TQ_API int tq_error_code(const tq_error* error);
/// A number of tq_advice.
TQ_API int tq_error_advice(const tq_error* error);
/// 1: the call, or with a transaction all of it, may be repeated (any advice but NEVER). 0: not.
TQ_API int tq_error_retryable(const tq_error* error);
/// `backend: operation: sentence`, with the remedy. Never holds a payload, a password or any other
/// value of the user.
TQ_API const char* tq_error_message(const tq_error* error);
/// The operation that failed: `claim.take`, `open`, `commit`. May be empty.
TQ_API const char* tq_error_operation(const tq_error* error);
/// The dialect's name: `postgresql`. Empty before a database is known.
TQ_API const char* tq_error_backend(const tq_error* error);
/// Five characters. Empty where the database has none.
TQ_API const char* tq_error_sqlstate(const tq_error* error);
/// The database's own number. Zero: none.
TQ_API int tq_error_native(const tq_error* error);
/// Of NULL the getters above return TQ_OK, NEVER, 0 or an empty text.
TQ_API void tq_error_free(tq_error* error);

/// The stable name of a code: `outcome_unknown`. `unknown` for another number.
TQ_API const char* tq_code_name(int code);
/// The stable name of an advice: `transaction`.
TQ_API const char* tq_advice_name(int advice);
/// The version of the library that runs: `0.2.0`.
TQ_API const char* tq_version(void);

// --------------------------------------------------------------------------------------- options

/// The purpose of options. Each one has its keys; a key that it does not know, or of another
/// type, is refused by the setter. A call takes options of the purpose whose comment names it, or
/// NULL for none. Ranges are checked by the call that uses the options. The numbers never change.
enum tq_purpose {
  /// `tq_database_open`. Text: `schema` ("create_if_missing", "verify_only"), `table_prefix`,
  /// `schema_name`, `notifications` ("automatic", "send_only", "off"). Integer: `max_sessions`,
  /// `session_timeout_ms`, `retry_for_ms`, `max_payload`, `poll_interval_ms`. Boolean:
  /// `refuses_beside_begin`, `combining`, `spinning`, `floors`, `writers_line`, and `metrics`,
  /// which `tq_database_metrics` needs. Meaning and ranges: `open_options` in tableq/options.hpp.
  TQ_FOR_OPEN = 1,
  /// `tq_queue_open`, `tq_ddl`, `tq_statements`, `tq_grants`. For "fifo" and "lifo", text:
  /// `ordering` ("relaxed", "strict"). For "claim", integer: `lease_ms`, `max_attempts`,
  /// `time_to_live_ms` (null: forever), `key_window_ms`, `retain_done_ms`, `retain_dead_ms` (null:
  /// until purge), `group_limit`; list of integers: `retry_ms`, the delays after failed attempts;
  /// integer: `retry_jitter`, per cent; text: `retry` ("none", "usual") instead of delays, `keys`
  /// ("active", "waiting"), `group_on_failure` ("hold", "pass"), `dead_letters`; boolean:
  /// `keep_completed`, `groups`, `group_by_turns`, `batches`. Each key that begins with `group_`
  /// gives the queue groups, as `groups` does, and is refused beside a `groups` that is false. See
  /// `claim_options`.
  TQ_FOR_QUEUE = 2,
  /// `tq_enqueue`, `tq_batch_add`. All kinds but tables, time: `created_at`. "pending" and "claim",
  /// integer: `delay_ms`; time: `due_at`. "claim", integer: `priority`, `time_to_live_ms` (null:
  /// forever), `max_attempts`; list of integers: `retry_ms`; integer: `retry_jitter`; text: `retry`
  /// ("none", "usual"), `key`, `group`, `on_duplicate` ("keep_first", "reject", "replace",
  /// "postpone"); integer: `batch`, its id, and text: `batch_member`, the receipt of a member whose
  /// handler adds to it; headers: `tq_options_set_header`. `tq_enqueue` only, integer: `wait_ms`
  /// for room; stop. See `claim_enqueue_options` and `when_full`.
  TQ_FOR_MESSAGE = 3,
  /// One row for `tq_enqueue` or `tq_batch_add` into a table of the application: its keys are the
  /// names of columns, its values what they get.
  TQ_FOR_ROW = 4,
  /// `tq_enqueue_batch`. Integer: `wait_ms` for room; stop.
  TQ_FOR_ENQUEUE = 5,
  /// `tq_dequeue`, `tq_take`. Integer: `wait_ms`, the longest wait for the first message; stop.
  /// `tq_take` also, integer: `lease_ms`; time: `claimed_at`. See `take_options`.
  TQ_FOR_READ = 6,
  /// `tq_fail`, and `tq_batch_add` for `tq_fail_batch`. Integer: `delay_ms`; boolean: `give_up`. In
  /// a batch, text: `error`. See `fail_options`.
  TQ_FOR_FAILURE = 7,
  /// `tq_queue_set_limits`. Integer: `capacity`, `burst`, `concurrency`; double: `rate`. See
  /// `queue_limits`.
  TQ_FOR_LIMITS = 8,
  /// `tq_queue_stats`. Boolean: `exact`; integer: `count_to`. See `stats_options`.
  TQ_FOR_STATS = 9,
  /// `tq_purge` of a "claim" queue. Integer: `older_than_ms`, `batch`. See `purge_options`.
  TQ_FOR_PURGE = 10,
  /// `tq_redrive_all`. Integer: `max`; double: `per_second`; stop. See `redrive_options`.
  TQ_FOR_REDRIVE = 11,
  /// `tq_database_migrate`. List of texts: `queues`; integer: `to`, `wait_ms`; boolean: `dry_run`.
  /// See `migrate_options`.
  TQ_FOR_MIGRATE = 12,
  /// Lists and actions by filter. Text: `state`, `group`, `key_prefix`, `error`; integer:
  /// `older_than_ms`; one header; boolean: `all`. See `message_filter`. Of a list, integer: `max`;
  /// of an action, boolean: `dry_run`, integer: `batch`, stop; see `bulk_options`. Text: `after`,
  /// where an earlier call with the filter stopped. Of a list also the keys of TQ_FOR_LOOK.
  TQ_FOR_FILTER = 13,
  /// `tq_database_alter`. The keys of TQ_FOR_QUEUE for "claim" and `ordering`, of which `groups`
  /// and `group_by_turns` say why they cannot change; `time_to_live_ms`, `retain_done_ms` and
  /// `retain_dead_ms` take null for none, `dead_letters` an empty text; boolean: `dry_run`. See
  /// `queue_changes`.
  TQ_FOR_ALTER = 14,
  /// A schedule, for `tq_schedule_add`, `tq_schedule_change`, and `tq_batch_add` for
  /// `tq_schedule_declare`; its payload goes beside them. Text: `name`, `queue`, `cron`, `zone`,
  /// `key`, `group`; integer: `every_ms`, `priority`, `catch_up`, `not_later_than_ms`; boolean:
  /// `skip_if_running`; headers: `tq_options_set_header`. See `schedule`.
  TQ_FOR_SCHEDULE = 15,
  /// `tq_queue_begin_batch`. Text: `name`; `then`, the queue of the message at the end, `key`,
  /// `group`; integer: `priority`; headers: `tq_options_set_header`. Integer: `parent`, the batch
  /// of which it is a member, and text: `parent_member`, as `batch_member`. See `batch_options`.
  TQ_FOR_BATCH = 16,
  /// `tq_set_group_limits`. Integer: `running`, `burst`, `weight`; double: `rate`. See
  /// `group_limits`.
  TQ_FOR_GROUP_LIMITS = 17,
  /// `tq_list`, `tq_get`, `tq_get_batch`, `tq_find`. Text: `detail` ("all", "outline": without
  /// payload and headers, "seen": what a viewer may read); boolean: `progress`, `result`. See
  /// `look_options`.
  TQ_FOR_LOOK = 18
};

/// Makes options without any value.
/// @param purpose a number of tq_purpose.
TQ_API int tq_options_new(int purpose, tq_options** options, tq_error** error);

// The setters replace an earlier value of the key. Each is TQ_ERROR_INVALID_ARGUMENT for a key that
// the purpose does not have, naming those that it has, and for a key of another type. In a row any
// key is a column.

TQ_API int tq_options_set_bool(tq_options* options, const char* key, int value, tq_error** error);
TQ_API int tq_options_set_int(tq_options* options, const char* key, int64_t value,
                              tq_error** error);
TQ_API int tq_options_set_double(tq_options* options, const char* key, double value,
                                 tq_error** error);
/// UTF-8, copied.
TQ_API int tq_options_set_text(tq_options* options, const char* key, const char* text, size_t size,
                               tq_error** error);
/// Any bytes, copied: for columns of rows.
TQ_API int tq_options_set_bytes(tq_options* options, const char* key, const void* bytes,
                                size_t size, tq_error** error);
/// The decimal text of a number, such as `12.50`: for columns of rows.
TQ_API int tq_options_set_decimal(tq_options* options, const char* key, const char* digits,
                                  size_t size, tq_error** error);
/// Milliseconds since 1970, UTC.
TQ_API int tq_options_set_time(tq_options* options, const char* key, int64_t milliseconds,
                               tq_error** error);
/// NULL for a column of a row; no end for a key that says so.
/// @param type of a column's NULL: a number of tq_type. 0: text. Otherwise ignored.
TQ_API int tq_options_set_null(tq_options* options, const char* key, int type, tq_error** error);
/// Adds an integer to a list.
TQ_API int tq_options_add_int(tq_options* options, const char* key, int64_t value,
                              tq_error** error);
/// Adds a text to a list. Copied.
TQ_API int tq_options_add_text(tq_options* options, const char* key, const char* text, size_t size,
                               tq_error** error);
/// Sets one header of a message, or the header of a filter. Copied.
TQ_API int tq_options_set_header(tq_options* options, const char* name, size_t name_size,
                                 const char* value, size_t value_size, tq_error** error);
/// A request at `stop` ends the waiting of the calls that use these options. NULL: nothing does.
TQ_API int tq_options_set_stop(tq_options* options, tq_stop* stop, tq_error** error);
/// For tests, options TQ_FOR_OPEN: a clock in place of the database's. NULL: the database's own.
TQ_API int tq_options_set_clock(tq_options* options, tq_clock* clock, tq_error** error);
TQ_API void tq_options_free(tq_options* options);

/// Makes a stop. Give it to options; any number of calls may share it.
TQ_API int tq_stop_new(tq_stop** stop, tq_error** error);
/// Ends the waiting of all calls that have it, now and later: a read returns no messages, an
/// enqueue TQ_ERROR_QUEUE_FULL, a redrive or an action by filter what it has done. No lease is lost
/// by it: what a read has taken it returns. Any thread, at any time. For another wait make another
/// stop.
TQ_API void tq_stop_request(tq_stop* stop);
/// 1: requested.
TQ_API int tq_stop_requested(const tq_stop* stop);
/// Calls and options that have it keep it.
TQ_API void tq_stop_free(tq_stop* stop);

/// Makes a clock for tests: due times, leases and ages follow it, and waits do not. It stands until
/// it is set; any number of databases may share it. See `testing::set_clock`.
/// @param now milliseconds since 1970, UTC.
TQ_API int tq_clock_new(int64_t now, tq_clock** clock, tq_error** error);
/// Sets it. Any thread, at any time.
TQ_API void tq_clock_set(tq_clock* clock, int64_t now);
/// Options and databases that have it keep it.
TQ_API void tq_clock_free(tq_clock* clock);

// --------------------------------------------------------------------------------------- results

/// The type of a field in one row.
enum tq_type {
  TQ_TYPE_NONE = 0,     ///< The result has no such row or field.
  TQ_TYPE_NULL = 1,     ///< The field has no value.
  TQ_TYPE_INT = 2,      ///< tq_result_int.
  TQ_TYPE_BOOL = 3,     ///< tq_result_int: 0 or 1.
  TQ_TYPE_TIME = 4,     ///< tq_result_int: milliseconds since 1970.
  TQ_TYPE_DOUBLE = 5,   ///< tq_result_double.
  TQ_TYPE_DECIMAL = 6,  ///< tq_result_bytes: exact decimal text; also tq_result_double, rounded.
  TQ_TYPE_TEXT = 7,     ///< tq_result_bytes: UTF-8.
  TQ_TYPE_BYTES = 8,    ///< tq_result_bytes.
  TQ_TYPE_LIST = 9      ///< tq_result_list.
};

// The getters borrow: what they return is valid until the outermost result is freed. A row or field
// that is not there, and a value of another type, is 0 or NULL: tq_result_type tells them apart.
// Field names are compared exactly; in the row of a table, if none is exactly that, by the one name
// that differs in the case of ASCII letters only. Of NULL all return 0 or NULL.

/// The number of rows.
TQ_API size_t tq_result_count(const tq_result* result);
/// The number of fields of each row.
TQ_API size_t tq_result_field_count(const tq_result* result);
/// The name of a field, from 0.
TQ_API const char* tq_result_field_name(const tq_result* result, size_t field);
/// A number of tq_type.
TQ_API int tq_result_type(const tq_result* result, size_t row, const char* field);
/// An integer, a boolean or a time.
TQ_API int64_t tq_result_int(const tq_result* result, size_t row, const char* field);
/// A double, a decimal or an integer.
TQ_API double tq_result_double(const tq_result* result, size_t row, const char* field);
/// A text, bytes or a decimal.
/// @param size receives the number of bytes. May be NULL.
TQ_API const char* tq_result_bytes(const tq_result* result, size_t row, const char* field,
                                   size_t* size);
/// `tq_result_int` of a field in all rows, for languages whose calls of C are dear.
/// @param values room for `tq_result_count` numbers.
TQ_API void tq_result_all_ints(const tq_result* result, const char* field, int64_t* values);
/// `tq_result_bytes` of a field in all rows: copies them, one after the other.
/// @param sizes room for `tq_result_count` sizes; 0 where there are no bytes. May be NULL.
/// @param bytes room for `capacity` bytes. Nothing is copied into less room than all need.
/// @return the number of all bytes: ask with a capacity of 0 first.
TQ_API size_t tq_result_all_bytes(const tq_result* result, const char* field, size_t* sizes,
                                  void* bytes, size_t capacity);
/// A result inside of the result: do not free it.
TQ_API const tq_result* tq_result_list(const tq_result* result, size_t row, const char* field);
/// Frees it with all that it has given. Messages that a read returned are not given back: see
/// `tq_release`.
TQ_API void tq_result_free(tq_result* result);

// --------------------------------------------------------------------------------------- batches

/// Makes an empty batch: messages, rows, receipts or ids for one call, which changes all in one
/// transaction and returns one result for each, in order.
TQ_API int tq_batch_new(tq_batch** batch, tq_error** error);
/// Adds a message (its payload, and options TQ_FOR_MESSAGE or NULL), a schedule (its message's
/// payload, and options TQ_FOR_SCHEDULE), a row (no bytes, and options TQ_FOR_ROW), a receipt (its
/// text, no options) or a failure (a receipt, and options TQ_FOR_FAILURE). Bytes and options are
/// copied.
TQ_API int tq_batch_add(tq_batch* batch, const void* bytes, size_t size, const tq_options* options,
                        tq_error** error);
/// The same with `count` items at once, whose bytes stand one after the other. Not for rows.
/// @param sizes of each item.
/// @param options of all: TQ_FOR_MESSAGE, TQ_FOR_FAILURE or NULL.
TQ_API int tq_batch_add_all(tq_batch* batch, const void* bytes, const size_t* sizes, size_t count,
                            const tq_options* options, tq_error** error);
/// Adds the id of a message.
/// @param priority for `tq_set_priority_batch`; otherwise 0.
TQ_API int tq_batch_add_id(tq_batch* batch, int64_t id, int32_t priority, tq_error** error);
/// Adds the receipts of all messages that a take has returned.
/// @param options TQ_FOR_FAILURE, the same for each, or NULL.
TQ_API int tq_batch_add_receipts(tq_batch* batch, const tq_result* taken, const tq_options* options,
                                 tq_error** error);
/// The number of items.
TQ_API size_t tq_batch_count(const tq_batch* batch);
/// Removes all items.
TQ_API void tq_batch_clear(tq_batch* batch);
TQ_API void tq_batch_free(tq_batch* batch);

// -------------------------------------------------------------------------------------- databases

/// Opens a database: connects once, so that a wrong address, password or file fails here.
/// @param url `sqlite://...`, `postgresql://...`; docs/connecting.md lists all.
TQ_API int tq_database_open(const char* url, size_t url_size, const tq_options* options,
                            tq_database** db, tq_error** error);
/// Another handle of the same database for work beside a transaction of this thread: to begin
/// another one, to drop or create a queue. Such work commits independently, and waits for the locks
/// of that transaction.
TQ_API int tq_database_outside(tq_database* db, tq_database** outside, tq_error** error);
/// The dialect's name: `postgresql`. Valid until the handle is closed.
TQ_API const char* tq_database_backend(const tq_database* db);
/// All queues of the catalogue, by name. Reads only.
/// Fields: name, kind TEXT; layout, identity INT; ordering TEXT; schedules, batch_ends BOOL;
/// created_at TIME; of "claim" lease_ms, max_attempts INT; keep_completed BOOL; retry_ms LIST (ms
/// INT); retry_jitter INT; time_to_live_ms INT or NULL; keys TEXT; key_window_ms INT; key_windows
/// BOOL; retain_done_ms, retain_dead_ms INT or NULL; group_limit INT, group_on_failure TEXT,
/// group_by_turns BOOL or NULL without groups; group_limits, group_rates BOOL; dead_letters TEXT,
/// empty without; batches BOOL; of "table" definition TEXT, as JSON. NULL where the kind has none.
TQ_API int tq_database_queues(tq_database* db, tq_result** queues, tq_error** error);
/// One queue of the catalogue, or no row. Fields as above. Reads only.
TQ_API int tq_database_find(tq_database* db, const char* name, size_t name_size, tq_result** queue,
                            tq_error** error);
/// Deletes a queue with all its messages; of a stored table only its definition.
/// @param existed receives whether there was one. May be NULL.
TQ_API int tq_database_drop(tq_database* db, const char* name, size_t name_size, int* existed,
                            tq_error** error);
/// Changes stored options of a queue while programs use it: `database::alter`.
/// @param changed fields: option, its key; before, after TEXT, empty if not stored; refused_at_open
///   BOOL.
TQ_API int tq_database_alter(tq_database* db, const char* name, size_t name_size,
                             const tq_options* changes, tq_result** changed, tq_error** error);
/// Stores a table of the application and its mapping under a name: `database::store_table`.
/// @param json as `to_json` in tableq/table_definition.hpp and docs/tables.md have it.
TQ_API int tq_database_store_table(tq_database* db, const char* name, size_t name_size,
                                   const char* json, size_t json_size, tq_error** error);
/// Brings catalogue and queues to a layout: `database::migrate`. Waits for locks up to `wait_ms`.
/// @param steps those done, or with `dry_run` to do. Fields: queue TEXT; from, to INT; sql TEXT.
TQ_API int tq_database_migrate(tq_database* db, const tq_options* options, tq_result** steps,
                               tq_error** error);
/// Checks for causes of slow or wrong queues. Reads only.
/// Fields: severity TEXT ("ok", "warning", "problem"); subject, what, fix TEXT.
TQ_API int tq_database_inspect(tq_database* db, tq_result** findings, tq_error** error);
/// The figures of a database that was opened with `metrics`. The database is not asked.
/// @param format "prometheus" or "json".
/// @param text one row, field: text TEXT.
TQ_API int tq_database_metrics(tq_database* db, const char* format, tq_result** text,
                               tq_error** error);
/// Adds a rule that adds a message to a queue again and again: `schedules::add`.
TQ_API int tq_schedule_add(tq_database* db, const void* payload, size_t size,
                           const tq_options* rule, tq_error** error);
/// Replaces the rule of that name.
TQ_API int tq_schedule_change(tq_database* db, const void* payload, size_t size,
                              const tq_options* rule, tq_error** error);
/// Replaces a rule if it is still as it was found. To change some fields, find it, and begin anew
/// while it was changed meanwhile. The name stays.
/// @param found of `tq_schedule_find`, one row.
/// @param changed receives 0 if somebody else has changed or removed the rule. May be NULL.
TQ_API int tq_schedule_change_found(tq_database* db, const tq_result* found, const void* payload,
                                    size_t size, const tq_options* rule, int* changed,
                                    tq_error** error);
/// Stops following a rule.
/// @param existed receives whether there is one, as in the next three. May be NULL.
TQ_API int tq_schedule_pause(tq_database* db, const char* name, size_t name_size, int* existed,
                             tq_error** error);
/// Goes on with the next time from now.
TQ_API int tq_schedule_resume(tq_database* db, const char* name, size_t name_size, int* existed,
                              tq_error** error);
TQ_API int tq_schedule_remove(tq_database* db, const char* name, size_t name_size, int* existed,
                              tq_error** error);
/// Adds the rule's message at once; its times stay.
/// @param id receives the id of the message, or of the earlier one that keeps it out. May be NULL.
/// @param outcome receives ADDED or KEPT_FIRST; 0: there is no such rule. May be NULL.
TQ_API int tq_schedule_run_now(tq_database* db, const char* name, size_t name_size, int64_t* id,
                               int* outcome, tq_error** error);
/// Makes the rules of an owner these: adds, changes and removes what differs. Rules of others stay.
/// @param rules payloads with their options, TQ_FOR_SCHEDULE.
/// @param done one row, fields: added, changed, removed INT.
TQ_API int tq_schedule_declare(tq_database* db, const char* owner, size_t owner_size,
                               const tq_batch* rules, tq_result** done, tq_error** error);
/// All rules, by name. Reads only. Fields: name, queue TEXT; cron TEXT or every_ms INT, the other
/// NULL; zone TEXT; payload BYTES; headers LIST (name, value TEXT); key, group TEXT or NULL;
/// priority, catch_up INT; not_later_than_ms INT or NULL; skip_if_running BOOL; owner TEXT, empty
/// without; enabled BOOL; problem TEXT, empty without; last, overdue TIME or NULL; next LIST (at
/// TIME), the next five times.
TQ_API int tq_schedule_list(tq_database* db, tq_result** rules, tq_error** error);
/// One of them, or no row.
TQ_API int tq_schedule_find(tq_database* db, const char* name, size_t name_size, tq_result** rule,
                            tq_error** error);
/// Batches of messages, the newest first. Reads only.
/// @param max rows, 1 to 1,000. @param before only batches with lower ids; 0: the newest.
/// @param count_to how many members of each batch are counted at least; 0: all.
/// @param batches fields: batch, total, outstanding, completed, dead, removed, gone INT; sealed,
///   cancelled BOOL; name, then TEXT or NULL; created_at TIME; finished_at TIME or NULL; counted_to
///   INT, where the counts stopped, or NULL.
TQ_API int tq_database_batches(tq_database* db, size_t max, int64_t before, size_t count_to,
                               tq_result** batches, tq_error** error);
/// One batch, or no row. Fields as above. Reads only.
TQ_API int tq_database_find_batch(tq_database* db, tq_transaction* tx, int64_t id,
                                  tq_result** batch, tq_error** error);
/// No more messages are added to a batch: when they are done, it ends. `batch::seal`.
TQ_API int tq_database_seal_batch(tq_database* db, tq_transaction* tx, int64_t id,
                                  tq_error** error);
/// Seals a batch and removes its messages that wait: `batch::cancel`.
/// @param open receives 0 when it has ended or is not there. May be NULL.
TQ_API int tq_database_cancel_batch(tq_database* db, int64_t id, int* open, tq_error** error);
/// Ends the handle. The sessions close with the last queue, transaction, watch and keeper.
TQ_API void tq_database_close(tq_database* db);

// The next four need no database. Their results have one row for each text.

/// The dialects of this build. Field: name TEXT.
TQ_API int tq_dialects(tq_result** dialects, tq_error** error);
/// The SQL with which an administrator creates a queue. Field: text TEXT.
/// @param place TQ_FOR_OPEN: table_prefix and schema_name are used.
TQ_API int tq_ddl(const char* dialect, const char* name, size_t name_size, const char* kind,
                  const tq_options* options, const tq_options* place, tq_result** text,
                  tq_error** error);
/// The statements that tableq runs on a queue, for reading. Fields: name, text TEXT.
TQ_API int tq_statements(const char* dialect, const char* name, size_t name_size, const char* kind,
                         const tq_options* options, const tq_options* place, tq_result** statements,
                         tq_error** error);
/// The SQL that grants a user the rights of a role ("producer", "replacer", "consumer", "viewer",
/// "manager", "owner", "scheduler") on a queue. Field: text TEXT.
TQ_API int tq_grants(const char* dialect, const char* role, const char* user, size_t user_size,
                     const char* name, size_t name_size, const char* kind,
                     const tq_options* options, const tq_options* place, tq_result** text,
                     tq_error** error);

// ----------------------------------------------------------------------------------- transactions

/// Begins a transaction on a session of its own. While it is open, the thread that used it last is
/// refused calls without `tx` on the same database; open option `refuses_beside_begin` turns that
/// off, for event loops, and for languages whose tasks change threads. After an error with the
/// advice TRANSACTION or SESSION, free it and run all of it again; tableq does not.
TQ_API int tq_transaction_begin(tq_database* db, tq_transaction** tx, tq_error** error);
/// Makes all permanent and ends the transaction; then only `tq_transaction_free` is left.
/// TQ_ERROR_OUTCOME_UNKNOWN: the session died meanwhile; do not repeat the work without a check. An
/// enlisted one is refused: its owner commits.
TQ_API int tq_transaction_commit(tq_transaction* tx, tq_error** error);
/// Undoes all and ends the transaction. Nothing if it has ended. An enlisted one is refused.
TQ_API int tq_transaction_rollback(tq_transaction* tx, tq_error** error);
/// 1: neither committed nor rolled back. Always 1 for an enlisted one.
TQ_API int tq_transaction_active(const tq_transaction* tx);
/// Rolls back if it is active; an enlisted one is left as it is.
TQ_API void tq_transaction_free(tq_transaction* tx);

// The caller's own connection as a transaction: calls with it work in the transaction that is open
// there. tableq never commits it, rolls it back or repeats, and leaves no setting behind; after an
// error the caller should roll back. The connection is borrowed and must outlive `tx`. It must be
// to the same database, and come from the same copy of the client library that this library uses:
// two copies in one process cannot share a connection.
// @param flags 0: a transaction must be open, and nothing stays prepared. TQ_ENLIST_AUTOCOMMIT:
//   none need be open; each call commits by itself. TQ_ENLIST_KEEP_STATEMENTS: the statements that
//   add messages stay prepared in the connection until `tx` is freed, so that the next message
//   costs no parsing. Keep one `tx` beside each connection then, for any number of its
//   transactions, and free it before you close the connection. After DISCARD ALL or DEALLOCATE ALL
//   the next call in a transaction fails with the advice TRANSACTION. Not on a connection through a
//   pooler in transaction mode, except one that the database's address names. Other flags are
//   refused. At its other calls the thread that used `tx` last asks the client library whether the
//   connection is in a transaction: free `tx` before the connection moves on to another thread.

enum tq_enlist { TQ_ENLIST_AUTOCOMMIT = 1, TQ_ENLIST_KEEP_STATEMENTS = 2 };
TQ_API int tq_enlist_libpq(tq_database* db, struct pg_conn* connection, int flags,
                           tq_transaction** tx, tq_error** error);
TQ_API int tq_enlist_sqlite(tq_database* db, struct sqlite3* connection, int flags,
                            tq_transaction** tx, tq_error** error);
/// @param connection an SQLHDBC, whose transaction began by SQL_ATTR_AUTOCOMMIT.
TQ_API int tq_enlist_odbc(tq_database* db, void* connection, int flags, tq_transaction** tx,
                          tq_error** error);

// The connection of a transaction, for the application's own statements in it. NULL if its sessions
// have another client library, or it has ended. Valid while it is active. Do not begin, commit,
// roll back or close it.

TQ_API struct pg_conn* tq_transaction_libpq(tq_transaction* tx);
TQ_API struct sqlite3* tq_transaction_sqlite(tq_transaction* tx);
TQ_API void* tq_transaction_odbc(tq_transaction* tx);

// ----------------------------------------------------------------------------------------- queues

/// Opens a queue. Creates it, in a transaction of its own, if it does not exist and the open option
/// `schema` allows that.
/// @param kind "heap", "fifo", "lifo", "pending" or "claim".
TQ_API int tq_queue_open(tq_database* db, const char* name, size_t name_size, const char* kind,
                         const tq_options* options, tq_queue** queue, tq_error** error);
/// Uses a table of the application as a queue, of the kind "table". Changes nothing.
/// @param json the table and what its columns mean: see `tq_database_store_table`.
TQ_API int tq_queue_open_table(tq_database* db, const char* json, size_t json_size,
                               tq_queue** queue, tq_error** error);
/// The same for a table that is stored under this name.
TQ_API int tq_queue_open_stored_table(tq_database* db, const char* name, size_t name_size,
                                      tq_queue** queue, tq_error** error);
/// Another handle of the queue, for work beside a transaction of this thread on purpose.
TQ_API int tq_queue_outside(tq_queue* queue, tq_queue** outside, tq_error** error);
/// The queue's name. Valid until the handle is closed.
TQ_API const char* tq_queue_name(const tq_queue* queue);
/// The queue's kind: "claim". Valid for ever.
TQ_API const char* tq_queue_kind(const tq_queue* queue);
/// The options of this handle. The database is not asked. One row; of "claim": lease_ms,
/// max_attempts INT; of "table": definition TEXT, as JSON, at_least_once, fenced, ends, settles
/// BOOL, words TEXT (`table_guarantee`).
TQ_API int tq_queue_settings(tq_queue* queue, tq_result** settings, tq_error** error);
/// Stops all reads, in every process within a second, until `tq_queue_resume`.
TQ_API int tq_queue_pause(tq_queue* queue, tq_error** error);
TQ_API int tq_queue_resume(tq_queue* queue, tq_error** error);
/// As it stands in the database now. Reads only.
TQ_API int tq_queue_paused(tq_queue* queue, int* paused, tq_error** error);
/// Replaces all limits, for every process within a second.
/// @param limits TQ_FOR_LIMITS; a key without a value means no limit. NULL: none at all.
TQ_API int tq_queue_set_limits(tq_queue* queue, const tq_options* limits, tq_error** error);
/// One row; fields as the keys of TQ_FOR_LIMITS, NULL without a limit. Reads only.
TQ_API int tq_queue_limits(tq_queue* queue, tq_result** limits, tq_error** error);
/// Counts messages. Reads only. One row. Fields of all: last_id INT or NULL; oldest TIME or NULL;
/// counted_to INT or NULL (then greater figures are lower bounds); as_of TIME. Of "claim" and
/// "table" INT: ready, due, delayed, leased, held, done, dead; dead_letters INT or NULL;
/// dead_letters_at_least BOOL. Of the others INT: waiting, delayed. See `claim_stats`,
/// `queue_stats`.
TQ_API int tq_queue_stats(tq_queue* queue, const tq_options* options, tq_result** stats,
                          tq_error** error);
/// Rates in messages per second between two results of `tq_queue_stats` of one queue. No database.
/// One row. Fields: enqueued, left DOUBLE or NULL. See `queue_rates`.
TQ_API int tq_queue_rates(const tq_result* earlier, const tq_result* later, tq_result** rates,
                          tq_error** error);
/// Kind "table": findings on its indexes and mapping, as `tq_database_inspect`. Reads only.
TQ_API int tq_queue_inspect(tq_queue* queue, tq_result** findings, tq_error** error);
/// Kind "table": the SQL of the indexes that are missing. One row, field: text TEXT. Reads only.
TQ_API int tq_queue_ddl(tq_queue* queue, tq_result** text, tq_error** error);
/// Ends the handle; the queue stays.
TQ_API void tq_queue_close(tq_queue* queue);

// --------------------------------------------------------------------------------- adding messages

/// The outcome for one message, as the batches' field `outcome` has it too.
enum tq_outcome {
  TQ_OUTCOME_APPLIED = 0,     ///< It took effect.
  TQ_OUTCOME_LEASE_LOST = 1,  ///< No effect: the lease had ended, or it was settled before.
  TQ_OUTCOME_RUNNING = 2,     ///< No effect: the message is leased.
  TQ_OUTCOME_FINISHED = 3,    ///< No effect: the message is done or dead.
  TQ_OUTCOME_NOT_THERE = 4,   ///< No effect: the queue has no such message.
  TQ_OUTCOME_ADDED = 5,       ///< An enqueue added it.
  TQ_OUTCOME_KEPT_FIRST = 6,  ///< Another message holds the key: nothing was changed.
  TQ_OUTCOME_REPLACED = 7,    ///< The message with the key has the new payload.
  TQ_OUTCOME_POSTPONED = 8    ///< The same, and it falls due later.
};

/// The stable name of an outcome: `lease_lost`.
TQ_API const char* tq_outcome_name(int outcome);

/// Adds one message, or one row to a table. It is stored when the call returns; in a transaction,
/// when that commits. Waits for room up to `wait_ms`, outside of a transaction.
/// @param payload any bytes, also none. For a table none.
/// @param options TQ_FOR_MESSAGE; for a table TQ_FOR_ROW.
/// @param id receives the id of the message, or of the one that holds the key. May be NULL. Of a
///   table 0: `tq_enqueue_batch` returns the stored row.
/// @param outcome receives ADDED, KEPT_FIRST, REPLACED or POSTPONED. May be NULL.
TQ_API int tq_enqueue(tq_queue* queue, tq_transaction* tx, const void* payload, size_t size,
                      const tq_options* options, int64_t* id, int* outcome, tq_error** error);
/// Adds all or none, in order, in one transaction; an empty batch does nothing.
/// @param added one row for each item. Fields: id, outcome INT; of a table row LIST. May be NULL.
TQ_API int tq_enqueue_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* messages,
                            const tq_options* options, tq_result** added, tq_error** error);

// ------------------------------------------------------------ "heap", "fifo", "lifo", "pending"

/// Takes up to `max` messages (1 to 10,000) out of the queue, in its order: the result is the only
/// copy. Outside of a transaction they are lost if the process dies. Waits for the first one up to
/// `wait_ms`.
/// @param messages fields: id INT; payload BYTES; created_at TIME; due_at TIME or NULL.
TQ_API int tq_dequeue(tq_queue* queue, tq_transaction* tx, size_t max, const tq_options* options,
                      tq_result** messages, tq_error** error);

/// Reads up to `max` messages (1 to 10,000) that reads would return next, without taking or locking
/// them. Any kind. Reads only.
/// @param messages fields of `tq_dequeue`; of "claim" those of `tq_list`; of "table" row LIST.
TQ_API int tq_peek(tq_queue* queue, size_t max, tq_result** messages, tq_error** error);

/// Deletes messages, in small transactions.
/// @param state "claim": "done" or "dead". Of the other kinds NULL: all messages.
/// @param options TQ_FOR_PURGE, "claim" only.
/// @param count receives how many. May be NULL.
TQ_API int tq_purge(tq_queue* queue, const char* state, const tq_options* options, int64_t* count,
                    tq_error** error);

// ----------------------------------------------------------------------------- "claim" and "table"

// A receipt is a text without blanks, the right to settle one delivery: it may be stored, or sent
// to another process. It is valid until the message is settled, or taken again after the end of its
// lease. A receipt of another queue is TQ_ERROR_INVALID_ARGUMENT.

/// Takes up to `max` messages (1 to 10,000) under a lease, in the queue's order. Waits for the
/// first one up to `wait_ms`. A rollback undoes a take in its transaction.
/// @param taken fields: receipt TEXT; id INT (0 in a table whose key is not one integer); payload
///   BYTES; headers LIST (name, value TEXT); key, group TEXT or NULL; priority, attempt INT;
///   created_at TIME; claimed_at TIME or NULL; lease_until TIME; of a table row LIST: one row,
///   whose fields are the columns.
TQ_API int tq_take(tq_queue* queue, tq_transaction* tx, size_t max, const tq_options* options,
                   tq_result** taken, tq_error** error);

// The settlements. Outcome: APPLIED or LEASE_LOST, which is certain. `outcome` must not be NULL.
// The batches change all in one transaction; results have one row for each item, field: outcome
// INT. They take a message out of the keepers that have it.

/// The work is done: removes the message, or marks it done in a queue that keeps them.
TQ_API int tq_complete(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
                       int* outcome, tq_error** error);
TQ_API int tq_complete_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* receipts,
                             tq_result** outcomes, tq_error** error);
/// The same with a result for who waits for the message: up to 64 KiB, kept with it. "claim" with
/// keep_completed only; another queue is TQ_ERROR_INVALID_ARGUMENT, one of a layout before 3
/// TQ_ERROR_UNSUPPORTED, a longer result TQ_ERROR_TOO_LARGE.
TQ_API int tq_complete_with_result(tq_queue* queue, tq_transaction* tx, const char* receipt,
                                   size_t size, const void* result, size_t result_size,
                                   int* outcome, tq_error** error);
/// A failed attempt: ready again after the queue's delays or `delay_ms`, or dead after the last
/// one.
/// @param text stored in the message's history, cut at 2,000 bytes.
TQ_API int tq_fail(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
                   const char* text, size_t text_size, const tq_options* options, int* outcome,
                   tq_error** error);
TQ_API int tq_fail_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* failures,
                         tq_result** outcomes, tq_error** error);
/// Gives the message back without an attempt: ready again at once.
TQ_API int tq_release(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
                      int* outcome, tq_error** error);
TQ_API int tq_release_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* receipts,
                            tq_result** outcomes, tq_error** error);
/// The lease ends `lease_ms` from now (1 ms to 365 days). The receipt stays valid. A keeper does it
/// by itself.
TQ_API int tq_extend(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
                     int64_t lease_ms, int* outcome, tq_error** error);
TQ_API int tq_extend_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* receipts,
                           int64_t lease_ms, tq_result** outcomes, tq_error** error);
/// Kind "table": rows that were taken longer ago wait again, whatever became of their takers.
/// @param count receives how many. May be NULL.
TQ_API int tq_requeue_older_than(tq_queue* queue, int64_t age_ms, int64_t* count, tq_error** error);

// ----------------------------------------------------------------------------------- "claim" alone

/// Says how far a message is; asks no database. Stored with the next extension of its lease through
/// this database object (a keeper's, `tq_extend`), or with its failure or release. A queue of a
/// layout before 3 is TQ_ERROR_UNSUPPORTED.
/// @param done from 0 to 1; beyond, the nearest.
/// @param note cut at 500 bytes.
TQ_API int tq_progress(tq_queue* queue, const char* receipt, size_t size, double done,
                       const char* note, size_t note_size, tq_error** error);

/// How a wait for the end of a message has ended.
enum tq_ending {
  TQ_ENDING_DONE = 0,    ///< It is completed, and the queue keeps it.
  TQ_ENDING_DEAD = 1,    ///< It has failed for the last time, or has expired.
  TQ_ENDING_GONE = 2,    ///< It is not in the queue: completed in one that keeps none, say.
  TQ_ENDING_WAITING = 3  ///< The time is over or a stop was requested.
};

/// The stable name of an ending: `gone`.
TQ_API const char* tq_ending_name(int ending);

/// Waits up to `wait_ms` (0 without options) until a message is done or dead; at once if it is not
/// there. Reads only. Settlements through this database object wake it, for others it looks every
/// half second.
/// @param options TQ_FOR_READ: `wait_ms` and stop.
/// @param message one row. Fields: ending INT; state TEXT or NULL; result BYTES or NULL; error TEXT
///   or NULL, the last one, and error_at TIME or NULL.
TQ_API int tq_wait_for(tq_queue* queue, int64_t id, const tq_options* options, tq_result** message,
                       tq_error** error);

/// A page of the messages in one state ("ready", "leased", "delayed", "done", "dead", "held"), 1 to
/// 10,000. Reads only.
/// @param after the previous page: this one begins after its last message. NULL: the first page.
/// @param look TQ_FOR_LOOK, or NULL: all columns, no progress and no result.
/// @param messages fields: id INT; state TEXT; payload BYTES; headers LIST (name, value TEXT); key,
///   group TEXT or NULL; priority, attempts INT; created_at TIME; due_at, expires_at, claimed_at,
///   finished_at TIME or NULL; errors LIST (at TIME, error TEXT), the oldest first;
///   unread_headers TEXT or NULL; if `look` asks for them, progress DOUBLE, progress_note TEXT,
///   progress_at TIME, result BYTES, each or NULL. A column that `look` leaves out is empty or
///   NULL.
TQ_API int tq_list(tq_queue* queue, const char* state, size_t max, const tq_result* after,
                   const tq_options* look, tq_result** messages, tq_error** error);
/// One message in any state, or no row. Options and fields of `tq_list`.
TQ_API int tq_get(tq_queue* queue, tq_transaction* tx, int64_t id, const tq_options* look,
                  tq_result** message, tq_error** error);
/// One row for each id, in order; all fields are NULL where there is no such message.
TQ_API int tq_get_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* ids,
                        const tq_options* look, tq_result** messages, tq_error** error);
/// The message that holds a key, or no row. Options and fields of `tq_list`; it reads all columns.
TQ_API int tq_find(tq_queue* queue, tq_transaction* tx, const char* key, size_t key_size,
                   const tq_options* look, tq_result** message, tq_error** error);
/// The groups whose oldest message waits longest. Reads only.
/// @param max rows, 1 to 10,000.
/// @param groups fields: group TEXT; waiting INT, among the messages that were looked at; oldest
///   TIME. See `claim_queue::groups`.
TQ_API int tq_groups(tq_queue* queue, size_t max, tq_result** groups, tq_error** error);
/// Sets the limits of a group, in every process within a second. The queue has groups.
/// @param group empty: each group without limits of its own.
/// @param limits TQ_FOR_GROUP_LIMITS. NULL: the group has none of its own any more.
TQ_API int tq_set_group_limits(tq_queue* queue, const char* group, size_t group_size,
                               const tq_options* limits, tq_error** error);
/// A page of the limits of groups, by their names. Reads only.
/// @param max groups, 1 to 10,000.
/// @param first the name to begin with: `next` of the page before. Empty: all.
/// @param limits fields: group TEXT, empty for each group without limits of its own; running,
///   burst, weight INT or NULL; rate DOUBLE or NULL.
/// @param next field: group TEXT, for `first`. No row: there are no others. May be NULL.
TQ_API int tq_group_limits(tq_queue* queue, size_t max, const char* first, size_t first_size,
                           tq_result** limits, tq_result** next, tq_error** error);
/// Begins a batch of messages. docs/batches.md has the rules.
/// @param payload of the message at the end, if the options have a `then`.
TQ_API int tq_queue_begin_batch(tq_queue* queue, tq_transaction* tx, const void* payload,
                                size_t size, const tq_options* options, int64_t* batch,
                                tq_error** error);
/// The batch of a message that the receipt holds; 0: none.
TQ_API int tq_queue_batch_of(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
                             int64_t* batch, tq_error** error);
/// Removes a message that is ready, delayed, held or dead, and frees its key. Outcome: APPLIED,
/// RUNNING, FINISHED or NOT_THERE.
TQ_API int tq_cancel(tq_queue* queue, tq_transaction* tx, int64_t id, int* outcome,
                     tq_error** error);
TQ_API int tq_cancel_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* ids,
                           tq_result** outcomes, tq_error** error);
/// Changes the priority of a message that is ready, delayed or held. Outcome as above.
TQ_API int tq_set_priority(tq_queue* queue, tq_transaction* tx, int64_t id, int32_t priority,
                           int* outcome, tq_error** error);
TQ_API int tq_set_priority_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* changes,
                                 tq_result** outcomes, tq_error** error);
/// Makes a delayed message ready now, also one that rests before its next attempt. Outcome as
/// above; APPLIED too if it is ready already.
TQ_API int tq_make_ready(tq_queue* queue, tq_transaction* tx, int64_t id, int* outcome,
                         tq_error** error);
TQ_API int tq_make_ready_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* ids,
                               tq_result** outcomes, tq_error** error);

// By filter: TQ_FOR_FILTER, which must have a condition or `all`. Actions work in several
// transactions, up to 1,000 messages in each. Result: one row, fields: count, running, changed,
// key_held INT; stopped_at TEXT, for the key `after`, or NULL at the end. See `bulk_result`.

/// Removes the messages that match, as tq_cancel.
TQ_API int tq_cancel_by(tq_queue* queue, const tq_options* filter, tq_result** done,
                        tq_error** error);
/// Changes the priority of those that match, as tq_set_priority.
TQ_API int tq_set_priority_by(tq_queue* queue, int32_t priority, const tq_options* filter,
                              tq_result** done, tq_error** error);
/// Makes delayed messages that fit ready now.
TQ_API int tq_make_ready_by(tq_queue* queue, const tq_options* filter, tq_result** done,
                            tq_error** error);
/// Makes dead messages that fit ready again, also those in the queue's dead-letter queue.
TQ_API int tq_redrive_by(tq_queue* queue, const tq_options* filter, tq_result** done,
                         tq_error** error);
/// Deletes done and dead messages that fit.
TQ_API int tq_purge_by(tq_queue* queue, const tq_options* filter, tq_result** done,
                       tq_error** error);
/// Lists messages that fit, up to `max`, reading at most 10,000. Needs no condition. Reads only.
/// @param messages fields of `tq_list`.
/// @param next field: place TEXT, for the key `after`. No row: there are no others. May be NULL.
TQ_API int tq_list_by(tq_queue* queue, const tq_options* filter, tq_result** messages,
                      tq_result** next, tq_error** error);

/// Makes dead messages ready again, by id.
/// @param count receives how many were dead. May be NULL.
TQ_API int tq_redrive(tq_queue* queue, const tq_batch* ids, int64_t* count, tq_error** error);
/// Makes all dead messages ready again, also those in the queue's dead-letter queue, in several
/// transactions. A stop ends it after the current batch.
/// @param redriven one row. Fields: count, key_held INT. See `redriven`.
TQ_API int tq_redrive_all(tq_queue* queue, const tq_options* options, tq_result** redriven,
                          tq_error** error);

// ---------------------------------------------------------------------------------------- waiting

/// Makes a watch: a set of queues, and one descriptor that an event loop waits for.
///
/// The descriptor is readable while a queue may have a message. Then, until `tq_watch_next` returns
/// 0, which an edge-triggered loop has to see before it waits again: read from the queue that it
/// names without waiting, and tell the watch what that found:
///
///     while (tq_watch_next(watch, &number)) {
///       size_t found = 0;
///       if (tq_take(queue[number], NULL, 10, NULL, &taken, &error) != TQ_OK) break;
///       found = tq_result_count(taken);
///       ...  // handles the messages
///       tq_result_free(taken);
///       if (tq_watch_done(watch, number, found, &error) != TQ_OK) break;
///     }
///
/// A program that has no room for messages takes the queue out, and adds it again later.
///
/// A queue is named once for each piece of news: when it is added, when a message is enqueued,
/// here or elsewhere, or falls due, and from time to time as a waiting call polls. A message starts
/// at most one read in each watch; a read that found something starts the next. Watches do not take
/// news from each other, nor from calls that wait. Queues may be of several databases. It needs no
/// thread for each queue, and reads nothing by itself.
TQ_API int tq_watch_new(tq_watch** watch, tq_error** error);
/// Adds a queue of any kind; it is named at once.
/// @param number the caller's own name for it, which no other queue of the watch has.
TQ_API int tq_watch_add(tq_watch* watch, tq_queue* queue, int64_t number, tq_error** error);
/// Takes a queue out; it is not named any more. Nothing if it is not there.
TQ_API void tq_watch_remove(tq_watch* watch, int64_t number);
/// The descriptor: wait until it is readable, and do nothing else with it. Valid until the watch is
/// freed. -1 on systems without one, and in a child of fork().
TQ_API int tq_watch_descriptor(const tq_watch* watch);
/// The next queue that may have a message. Never waits, and asks no database.
/// @param number receives its number.
/// @return 1; 0 if there is none: the descriptor is not readable any more.
TQ_API int tq_watch_next(tq_watch* watch, int64_t* number);
/// The result of a read from a queue after `tq_watch_next` has named it.
/// @param found above 0: there may be more, and the queue is named again. 0: also after a read that
///   failed. Then this call may ask the database, with one short statement, when the next message
///   falls due.
TQ_API int tq_watch_done(tq_watch* watch, int64_t number, size_t found, tq_error** error);
/// Closes the descriptor: take it out of the event loop before.
TQ_API void tq_watch_free(tq_watch* watch);

/// Makes a keeper of leases: a thread of the library that extends the lease of each message given
/// to it, every third of its length, until it is settled, lost or taken out.
TQ_API int tq_keeper_new(tq_database* db, tq_keeper** keeper, tq_error** error);
/// Gives it a message, soon after the take.
/// @param queue of the keeper's database, "claim" or a table with `lease_until`.
/// @param lease_ms as the take gave it, 1 ms to 365 days. 0: the queue handle's.
TQ_API int tq_keeper_add(tq_keeper* keeper, tq_queue* queue, const char* receipt, size_t size,
                         int64_t lease_ms, tq_error** error);
/// Takes a message out: its lease ends in its time. A settlement by the same database does it, also
/// one in a transaction that is then rolled back.
/// @param kept receives 1, or 0 if it was not there any more: settled or lost. May be NULL.
TQ_API int tq_keeper_remove(tq_keeper* keeper, const char* receipt, size_t size, int* kept,
                            tq_error** error);
/// The messages whose work is to end, since the last call. Never waits. Fields: receipt, queue
/// TEXT; why TEXT. The keeper has them no more, and others may have them: "lease_lost" when the
/// database has refused the extension, "not_confirmed" when it could not be reached before the
/// lease ended. It still has them, and their settlement counts: "batch_cancelled", told once.
TQ_API int tq_keeper_lost(tq_keeper* keeper, tq_result** lost, tq_error** error);
/// A descriptor that is readable while `tq_keeper_lost` has something to tell. As that of a watch.
TQ_API int tq_keeper_descriptor(const tq_keeper* keeper);
/// The number of messages that it has.
TQ_API size_t tq_keeper_count(const tq_keeper* keeper);
/// Ends the thread; waits for an extension under way. Leases end in their time.
TQ_API void tq_keeper_free(tq_keeper* keeper);

#ifdef __cplusplus
}
#endif

#endif
