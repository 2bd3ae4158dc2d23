// A database that goes away and comes back, and a user with few rights: on the server of TABLEQ_TEST_POSTGRESQL.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, readdirSync, rmSync} from 'node:fs';
import {connect} from 'node:net';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fresh, server, tableq} from './world.mjs';

const cluster = process.env.TABLEQ_TEST_POSTGRESQL;
const skip = cluster ? false : 'TABLEQ_TEST_POSTGRESQL names no server';
const name = `serve_${process.pid}`;

const sql = (text, database = 'postgres') =>
  execFileSync('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', url(database), '-c', text], {encoding: 'utf8', stdio: 'pipe'});
const url = (database, user) => {
  const out = new URL(cluster.replace(/^postgresql:/, 'http:'));
  out.pathname = `/${database}`;
  if (user) out.username = user;
  return out.href.replace(/^http:/, 'postgresql:');
};

before(() => {
  if (skip) return;
  sql(`CREATE DATABASE ${name}`);
  const db = url(name);
  tableq(db, ['create', 'claim', 'jobs', '--groups', '1']);
  tableq(db, ['enqueue', 'jobs', 'secret payload', '--key', 'secret-key', '--header', 'a=secret header']);
  tableq(db, ['create', 'fifo', 'mail']);
  tableq(db, ['create', 'claim', 'parts', '--batches', '--keep']);
  tableq(db, ['batch', 'begin', '--then', 'mail']);
  tableq(db, ['every', 'parts', 'secret-rule', '1h', '--', 'secret']);
  tableq(db, ['enqueue', 'parts', 'secret']);
  const {receipt} = JSON.parse(tableq(db, ['take', 'parts', '--json']));
  tableq(db, ['complete', 'parts', receipt, '--result', 'secret']);
  tableq(db, ['enqueue', 'parts', 'secret']);
  tableq(db, ['take', 'parts', '--lease', '1h']);
});
after(() => {
  if (skip) return;
  sql(`DROP DATABASE ${name} WITH (FORCE)`);
  sql(`DROP ROLE IF EXISTS ${name}_viewer`);
});

const pages = ['/', '/db/1/queues/jobs', '/metrics', '/healthz', '/api/v1/databases/1/queues'];

test('a database that is away shows as such, with its last figures, and heals', {skip}, async () => {
  const shown = await server.start(url(name));
  await shown.until('/healthz', (text) => text === 'ok\n', 'the first figures');
  sql(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  await shown.until('/healthz', (text, answer) => answer.status === 503 && text === 'not ok\n', 'the trouble');
  for (const path of pages) assert.ok((await shown.get(path)).status < 504, path);
  const queues = await (await shown.get('/')).text();
  assert.match(queues, /does not answer/);
  assert.match(queues, /The figures are those of \d{4}-/);
  assert.match(queues, />jobs<\/a>/);
  const metrics = await (await shown.get('/metrics')).text();
  assert.match(metrics, /^tableq_database_up\{.*\} 0$/m);
  assert.doesNotMatch(metrics, /^tableq_queue_ready\{/m);
  const list = await shown.get('/db/1/queues/jobs/messages');
  assert.equal(list.status, 503);
  sql(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await shown.until('/healthz', (text) => text === 'ok\n', 'its healing');
  assert.equal((await shown.get('/db/1/queues/jobs/messages')).status, 200);
  assert.doesNotMatch(await (await shown.get('/')).text(), /does not answer/);
  await shown.stop();
});

test('a database that takes questions and does not answer shows as away, holds up no other, and heals', {skip}, async (t) => {
  const other = fresh();
  tableq(other, ['create', 'claim', 'here']);
  const shown = await server.start([url(name), other], ['--allow-changes']);
  await shown.until('/healthz', (text) => text === 'ok\n', 'the first figures');
  const form = await shown.form('/db/1/queues/jobs');
  // All that reads the queue waits for this transaction.
  const holder = spawn('psql', ['-X', '-q', url(name)], {stdio: ['pipe', 'ignore', 'inherit']});
  t.after(() => holder.kill());
  const ended = new Promise((go) => holder.once('exit', go));
  holder.stdin.write('BEGIN; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE;\n');
  await shown.until('/healthz', (text) => text === 'not ok\n', 'the trouble', 1000);
  assert.match(await (await shown.get('/')).text(), /has not answered for ten seconds.*The figures are those of/s);
  assert.match(await (await shown.get('/metrics')).text(), /^tableq_database_up\{.*\} 0$/m);
  // Pages that ask the database end, and hold up no page that does not, however many they are.
  const asked = Array.from({length: 5}, () => shown.get('/db/1/queues/jobs/messages'));
  const change = shown.post('/db/1/queues/jobs/messages/1/priority', {form, priority: '3'});
  const others = async () => {
    for (const path of ['/', '/metrics', '/db/1/queues/jobs', '/db/2/queues/here/messages', '/db/2/doctor']) {
      for (let i = 0; i < 3; i++) assert.equal((await shown.get(path)).status, 200, path);
    }
  };
  await others();
  assert.deepEqual((await Promise.all(asked)).map((answer) => answer.status), Array(5).fill(504));
  const late = await change;
  assert.equal(late.status, 504);
  assert.match(await late.text(), /may still do what you asked/);
  const {host, hostname, port} = new URL(shown.url);
  const many = Array.from({length: 1500}, () => connect(Number(port), hostname).on('error', () => {}));
  many.forEach((each) => each.write(`GET /db/1/doctor HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
  await others();
  many.forEach((each) => each.destroy());
  holder.stdin.end('ROLLBACK;\n');
  await ended;
  await shown.until('/healthz', (text) => text === 'ok\n', 'its healing');
  assert.equal((await shown.get('/db/1/queues/jobs/messages')).status, 200);
  // What had not begun when its time was over does not begin any more.
  assert.equal(JSON.parse(tableq(url(name), ['get', 'jobs', '1'])).priority, 0);
  await shown.stop();
});

test('a file that is away is told at the start, is not made, and answers by 503 until it is there', async () => {
  const db = fresh();
  const file = db.slice('sqlite://'.length);
  const shown = await server.start(db);
  assert.match(shown.errors, /warning: sqlite: shop.db does not answer, and is tried again: .*shop.db does not exist/);
  await shown.until('/', (text) => text.includes('does not answer'), 'the trouble');
  for (const path of ['/db/1/doctor', '/db/1/queues/late', '/db/1/queues/late/messages', '/db/1/queues/late/messages/1',
    ...['doctor', 'batches', 'queues/late', 'queues/late/messages', 'queues/late/schedules'].map((each) => `/api/v1/databases/1/${each}`)]) {
    assert.equal((await shown.get(path)).status, 503, path);
  }
  assert.equal(existsSync(file), false);
  tableq(db, ['create', 'fifo', 'late']);
  await shown.until('/', (text) => text.includes('>late</a>'), 'the queue');
  // Another file in its place.
  for (const each of readdirSync(dirname(file))) rmSync(join(dirname(file), each));
  await shown.until('/healthz', (text) => text === 'not ok\n', 'the trouble');
  assert.equal((await shown.get('/api/v1/databases/1/doctor')).status, 503);
  tableq(db, ['create', 'fifo', 'later']);
  await shown.until('/', (text) => text.includes('>later</a>') && !text.includes('>late</a>'), 'the new queue');
  assert.equal((await shown.get('/api/v1/databases/1/doctor')).status, 200);
  await shown.stop();
});

test('a queue that is dropped and made again goes on being shown', async () => {
  const db = fresh();
  tableq(db, ['create', 'fifo', 'one']);
  tableq(db, ['enqueue', 'one', 'a']);
  const shown = await server.start(db);
  await shown.until('/api/v1/databases/1/queues/one', (text) => text.includes('"ready":1'), 'the first figures');
  tableq(db, ['drop', 'one', '--yes']);
  await shown.until('/db/1/queues/one', (_, answer) => answer.status === 404, 'its end');
  tableq(db, ['create', 'claim', 'one']);
  await shown.until('/api/v1/databases/1/queues/one', (text) => text.includes('"kind":"claim"'), 'the new one');
  await shown.stop();
});

test('a viewer sees counts and states, and has no right to all else', {skip}, async () => {
  const role = `${name}_viewer`;
  sql(`CREATE ROLE ${role} LOGIN PASSWORD 'viewer'`);
  for (const [kind, queue, ...options] of [['claim', 'jobs', '--groups', '1'], ['fifo', 'mail'], ['claim', 'parts', '--batches', '--keep']]) {
    const grants = tableq('', ['ddl', 'postgresql', kind, queue, ...options, '--grant', 'viewer', '--to', role]);
    sql(grants, name);
  }
  const address = new URL(url(name, role).replace(/^postgresql:/, 'http:'));
  address.password = 'viewer';
  const shown = await server.start(address.href.replace(/^http:/, 'postgresql:'), ['--allow-changes', '--show-payloads']);
  await shown.until('/healthz', (text) => text === 'ok\n', 'the first figures');
  assert.match(await (await shown.get('/metrics')).text(), /tableq_queue_ready\{.*queue="jobs".*\} 1/);
  const list = await (await shown.get('/db/1/queues/jobs/messages')).text();
  assert.match(list, /no right/i);
  assert.match(list, /messages\/1"/);
  assert.doesNotMatch(list, /secret/);
  const message = await (await shown.get('/db/1/queues/jobs/messages/1')).text();
  assert.match(message, /no right/i);
  assert.match(message, /ready/);
  assert.doesNotMatch(message, /secret/);
  const groups = await shown.until('/db/1/queues/jobs', (text) => text.includes('may not read groups'), 'the groups');
  assert.doesNotMatch(groups, /secret/);
  const parts = await shown.until('/db/1/queues/parts', (text) => text.includes('may not read batches'), 'the batches');
  assert.match(parts, /may not read schedules/);
  assert.doesNotMatch(parts, /secret/);
  const finished = await (await shown.get('/db/1/queues/parts/messages/1')).text();
  assert.match(finished, /no right.* result/is);
  assert.doesNotMatch(finished, /secret/);
  for (const [path, status] of [['parts/messages/1', 200], ['parts/messages?state=done', 200],
    ['parts/messages/2', 200], ['parts/messages?state=leased', 200], ['parts/schedules', 403]]) {
    const answer = await shown.get(`/api/v1/databases/1/queues/${path}`);
    const text = await answer.text();
    assert.equal(answer.status, status, path);
    assert.doesNotMatch(text, /secret/, path);
    if (status === 200) assert.match(text, /"no_right":true/, path);
  }
  assert.equal((await shown.get('/api/v1/databases/1/batches')).status, 403);
  for (const path of ['messages/2', 'messages?state=leased']) {
    const answer = await shown.get(`/db/1/queues/parts/${path}`);
    assert.equal(answer.status, 200, path);
    const text = await answer.text();
    assert.match(text, /no right/i, path);
    assert.doesNotMatch(text, /secret/, path);
  }
  for (const path of ['/db/1/queues/jobs', '/db/1/queues/mail', '/db/1/queues/jobs/dead']) {
    assert.equal((await shown.get(path)).status, 200, path);
  }
  // The database refuses what the server would allow.
  const form = await shown.form('/db/1/queues/jobs');
  for (const [action, more] of [['pause', {}], ['messages/1/priority', {priority: '1'}], ['messages/1/cancel', {}]]) {
    assert.equal((await shown.post(`/db/1/queues/jobs/${action}`, {form, ...more})).status, 403, action);
  }
  assert.equal(JSON.parse(tableq(url(name), ['stats', 'jobs', '--json'])).ready, 1);
  await shown.stop();
});
