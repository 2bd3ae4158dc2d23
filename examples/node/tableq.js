// Queues in Node by libtableq.so.0, as far as main.js needs them: take it, and add what you need
// from tableq.h. Each call that may wait runs in a thread of libuv's pool, and gives a promise.
'use strict';
const koffi = require('koffi');

const library = koffi.load(process.env.TABLEQ_LIBRARY || 'libtableq.so.0');
for (const type of ['error', 'options', 'stop', 'result', 'database', 'queue', 'keeper']) {
  koffi.opaque(`tq_${type}`);
}
const tq = {};
for (const prototype of [
  'int tq_database_open(const char *url, size_t size, tq_options *options, _Out_ tq_database **db, _Out_ tq_error **error)',
  'void tq_database_close(tq_database *db)',
  'int tq_queue_open(tq_database *db, const char *name, size_t size, const char *kind, tq_options *options, _Out_ tq_queue **queue, _Out_ tq_error **error)',
  'void tq_queue_close(tq_queue *queue)',
  'int tq_enqueue(tq_queue *queue, void *tx, const void *payload, size_t size, tq_options *options, _Out_ int64_t *id, void *outcome, _Out_ tq_error **error)',
  'int tq_take(tq_queue *queue, void *tx, size_t max, tq_options *options, _Out_ tq_result **taken, _Out_ tq_error **error)',
  'int tq_complete(tq_queue *queue, void *tx, const char *receipt, size_t size, _Out_ int *outcome, _Out_ tq_error **error)',
  'int tq_fail(tq_queue *queue, void *tx, const char *receipt, size_t size, const char *text, size_t text_size, tq_options *options, _Out_ int *outcome, _Out_ tq_error **error)',
  'int tq_keeper_new(tq_database *db, _Out_ tq_keeper **keeper, _Out_ tq_error **error)',
  'int tq_keeper_add(tq_keeper *keeper, tq_queue *queue, const char *receipt, size_t size, int64_t lease_ms, _Out_ tq_error **error)',
  'int tq_keeper_remove(tq_keeper *keeper, const char *receipt, size_t size, void *kept, _Out_ tq_error **error)',
  'void tq_keeper_free(tq_keeper *keeper)',
  'int tq_options_new(int purpose, _Out_ tq_options **options, _Out_ tq_error **error)',
  'int tq_options_set_int(tq_options *options, const char *key, int64_t value, _Out_ tq_error **error)',
  'int tq_options_set_bool(tq_options *options, const char *key, int value, _Out_ tq_error **error)',
  'int tq_options_set_stop(tq_options *options, tq_stop *stop, _Out_ tq_error **error)',
  'void tq_options_free(tq_options *options)',
  'int tq_stop_new(_Out_ tq_stop **stop, _Out_ tq_error **error)',
  'void tq_stop_request(tq_stop *stop)',
  'void tq_stop_free(tq_stop *stop)',
  'size_t tq_result_count(tq_result *result)',
  'int64_t tq_result_int(tq_result *result, size_t row, const char *field)',
  'void *tq_result_bytes(tq_result *result, size_t row, const char *field, _Out_ size_t *size)',
  'void tq_result_free(tq_result *result)',
  'const char *tq_error_message(tq_error *error)',
  'int tq_error_retryable(tq_error *error)',
  'const char *tq_code_name(int code)',
  'void tq_error_free(tq_error *error)',
]) {
  const call = library.func(prototype);
  tq[/tq_(\w+)\(/.exec(prototype)[1]] = call;
}
const FOR_READ = 6;
const FOR_FAILURE = 7;

class TableqError extends Error {
  constructor(code, error) {
    super(tq.error_message(error));
    this.name = 'TableqError';
    this.code = tq.code_name(code); // 'busy'
    this.retryable = tq.error_retryable(error) === 1;
    tq.error_free(error);
  }
}

/// A call that does not wait. Its last parameter is the error.
function call(wanted, ...given) {
  const error = [null];
  const code = wanted(...given, error);
  if (code !== 0) throw new TableqError(code, error[0]);
}
/// A call that may wait, in a thread of the pool.
function later(wanted, ...given) {
  const error = [null];
  return new Promise((resolve, reject) => {
    wanted.async(...given, error, (failed, code) => {
      if (failed) reject(failed);
      else if (code !== 0) reject(new TableqError(code, error[0]));
      else resolve();
    });
  });
}

function bytes(result, row, field) {
  const size = [0];
  const at = tq.result_bytes(result, row, field, size);
  return size[0] === 0 ? Buffer.alloc(0) : Buffer.from(koffi.decode(at, 'uint8_t', Number(size[0])));
}
function options(purpose, fill) {
  const made = [null];
  call(tq.options_new, purpose, made);
  fill(made[0]);
  return made[0];
}

/// Ends waits: `stop.request()`. For any number of them.
class Stop {
  constructor() {
    const made = [null];
    call(tq.stop_new, made);
    this.handle = made[0];
  }
  request() {
    tq.stop_request(this.handle);
  }
  free() {
    tq.stop_free(this.handle);
  }
}

class Database {
  /// Database.open('sqlite://jobs.db')
  static async open(url) {
    const made = [null];
    await later(tq.database_open, url, Buffer.byteLength(url), null, made);
    const db = new Database();
    db.handle = made[0];
    return db;
  }
  async claim(name) {
    const made = [null];
    await later(tq.queue_open, this.handle, name, Buffer.byteLength(name), 'claim', null, made);
    const keeper = [null];
    call(tq.keeper_new, this.handle, keeper);
    return new Queue(made[0], keeper[0]);
  }
  /// After its queues, when no call is under way.
  close() {
    tq.database_close(this.handle);
  }
}

class Queue {
  constructor(handle, keeper) {
    this.handle = handle;
    this.keeper = keeper;
  }
  /// @param payload a string or a Buffer. @return the id of the message, which is stored.
  async put(payload) {
    const data = Buffer.from(payload);
    const id = [0];
    await later(tq.enqueue, this.handle, null, data, data.length, null, id, null);
    return id[0];
  }
  /// Up to `max` jobs; waits `wait` milliseconds for the first one, in one thread of the pool. The
  /// library extends their leases until they are settled.
  async take(max, wait, stop) {
    const read = options(FOR_READ, (made) => {
      call(tq.options_set_int, made, 'wait_ms', wait);
      call(tq.options_set_stop, made, stop.handle);
    });
    const taken = [null];
    try {
      await later(tq.take, this.handle, null, max, read, taken);
      return Array.from({ length: Number(tq.result_count(taken[0])) }, (_, row) => {
        const receipt = bytes(taken[0], row, 'receipt').toString();
        call(tq.keeper_add, this.keeper, this.handle, receipt, Buffer.byteLength(receipt), 0);
        return {
          receipt,
          id: tq.result_int(taken[0], row, 'id'),
          attempt: Number(tq.result_int(taken[0], row, 'attempt')),
          payload: bytes(taken[0], row, 'payload'),
        };
      });
    } finally {
      tq.result_free(taken[0]);
      tq.options_free(read);
    }
  }
  /// @return false: the lease was lost, and another worker may have the message.
  async complete(job) {
    const outcome = [0];
    const size = Buffer.byteLength(job.receipt);
    await later(tq.complete, this.handle, null, job.receipt, size, outcome);
    return outcome[0] === 0;
  }
  /// @param giveUp no further attempt. @return as `complete`.
  async fail(job, why, giveUp = false) {
    const outcome = [0];
    const how = options(FOR_FAILURE, (made) =>
      call(tq.options_set_bool, made, 'give_up', giveUp ? 1 : 0),
    );
    try {
      const size = Buffer.byteLength(job.receipt);
      const text = Buffer.byteLength(why);
      await later(tq.fail, this.handle, null, job.receipt, size, why, text, how, outcome);
    } finally {
      tq.options_free(how);
    }
    return outcome[0] === 0;
  }
  /// Of a job that could not be settled: it is ready again when its lease ends.
  letGo(job) {
    call(tq.keeper_remove, this.keeper, job.receipt, Buffer.byteLength(job.receipt), null);
  }
  /// When no call is under way.
  close() {
    tq.keeper_free(this.keeper);
    tq.queue_close(this.handle);
  }
}

module.exports = { Database, Stop, TableqError };
