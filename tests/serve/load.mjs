// Many clients, slow ones, many queues, a database that stops and starts: before a release, by scripts/dashboard.sh check.
import assert from 'node:assert/strict';
import {execFileSync, execSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {Agent, request} from 'node:http';
import {connect} from 'node:net';
import {test} from 'node:test';
import {fresh, server, tableq} from './world.mjs';

const slow = Number(process.env.TABLEQ_SLOW ?? 1);
const queues = 10_000;

const resident = (of) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${of.process.pid}/status`, 'utf8'))[1]) / 1024;
const pause = (ms) => new Promise((go) => setTimeout(go, ms));

// The statuses of so many GETs at once, each by a connection of its own.
function crowd(of, path, count) {
  const {hostname, port} = new URL(of.url);
  const agent = new Agent({maxSockets: count});
  const one = () => new Promise((resolve) => {
    const sent = request({agent, hostname, port, path}, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', () => resolve(0));
    sent.end();
  });
  return Promise.all(Array.from({length: count}, one)).finally(() => agent.destroy());
}

// Sockets that each send the beginning of a request.
function sockets(of, count, text) {
  const {hostname, port} = new URL(of.url);
  return Array.from({length: count}, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(text);
    return socket;
  });
}

// 10,000 queues by plain SQL: the command would need minutes.
function manyQueues() {
  const db = fresh();
  tableq(db, ['create', 'fifo', 'q00000']);
  const file = db.slice('sqlite://'.length);
  const tables = execFileSync('sqlite3', [file, "SELECT sql || ';' FROM sqlite_master WHERE tbl_name = 'q00000' AND sql IS NOT NULL"], {encoding: 'utf8'});
  const columns = execFileSync('sqlite3', [file, "SELECT group_concat(name) FROM pragma_table_info('tableq_queues')"], {encoding: 'utf8'}).trim().split(',');
  let text = 'BEGIN;\n';
  for (let i = 1; i < queues; i++) {
    const name = `q${String(i).padStart(5, '0')}`;
    const values = columns.map((each) => (each === 'name' ? `'${name}'` : each === 'identity' ? i + 1 : each));
    text += tables.replaceAll('q00000', name);
    text += `INSERT INTO tableq_queues (${columns}) SELECT ${values} FROM tableq_queues WHERE name = 'q00000';\n`;
  }
  execFileSync('sqlite3', [file], {input: `${text}COMMIT;\n`});
  return db;
}

test('10,000 queues are shown, counted and found, for a hundred viewers at once', async (t) => {
  const shown = await server.start(manyQueues());
  const began = Date.now();
  for (let i = 0; ; i++) {
    const {queues: seen} = await (await shown.get('/api/v1/databases/1/queues')).json();
    if (seen.length === queues && seen.every((one) => one.ready !== undefined)) break;
    assert.ok(i < 300 * slow, `only ${seen.length} queues`);
    await pause(200);
  }
  t.diagnostic(`all read after ${Date.now() - began} ms, ${resident(shown).toFixed()} MiB`);
  for (const path of ['/', '/?by=ready&from=9800', '/?find=q09', '/db/1/queues/q09999', '/metrics', '/api/v1/databases/1/queues']) {
    const start = Date.now();
    const text = await (await shown.get(path)).text();
    t.diagnostic(`${path}: ${Date.now() - start} ms, ${text.length} bytes`);
    assert.match(text, /q0/);
    assert.ok(Date.now() - start < 2000 * slow, path);
  }
  const start = Date.now();
  const statuses = await crowd(shown, '/', 100);
  t.diagnostic(`100 at once: ${Date.now() - start} ms`);
  assert.equal(statuses.filter((each) => each === 200).length, 100);
  await pause(3000);
  t.diagnostic(`${resident(shown).toFixed()} MiB`);
  // Clients that do not read: the server keeps their answers up to a bound, and serves others.
  const before = resident(shown);
  const {host} = new URL(shown.url);
  const idle = sockets(shown, 300, `GET /api/v1/databases/1/queues HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  idle.forEach((each) => each.pause());
  await pause(3000 * slow);
  for (let i = 0; i < 10; i++) assert.equal((await shown.get('/')).status, 200);
  t.diagnostic(`300 that do not read: ${(resident(shown) - before).toFixed()} MiB more`);
  assert.ok(resident(shown) - before < 700 * Math.min(slow, 2));
  idle.forEach((each) => each.destroy());
  await shown.stop();
});

test('1,000 clients at once, and 1,000 slow ones beside them', async (t) => {
  const db = fresh();
  tableq(db, ['create', 'claim', 'jobs']);
  const shown = await server.start(db);
  await shown.until('/healthz', (_, answer) => answer.status === 200, 'the first figures');
  const lazy = sockets(shown, 1000, 'GET / HTTP/1.1\r\nHo');
  for (const path of ['/', '/db/1/queues/jobs', '/metrics', '/db/1/queues/jobs/messages', '/login']) {
    const start = Date.now();
    const statuses = await crowd(shown, path, 1000);
    t.diagnostic(`${path}: ${Date.now() - start} ms`);
    assert.equal(statuses.filter((each) => each === (path === '/login' ? 404 : 200)).length, 1000, path);
    lazy.forEach((each) => each.write('x'));
  }
  const before = resident(shown);
  for (let i = 0; i < 3; i++) await crowd(shown, '/', 1000);
  assert.ok(resident(shown) - before < 50 * slow, `${resident(shown)} MiB after ${before}`);
  lazy.forEach((each) => each.destroy());
  await shown.stop();
});

test('the server of the database stops and starts', {skip: !process.env.TABLEQ_TEST_STOP}, async () => {
  const db = process.env.TABLEQ_TEST_POSTGRESQL;
  tableq(db, ['create', 'claim', 'jobs']);
  tableq(db, ['enqueue', 'jobs', 'a']);
  const shown = await server.start(db);
  for (let round = 0; round < 3; round++) {
    await shown.until('/healthz', (text) => text === 'ok\n', 'it is there');
    execSync(process.env.TABLEQ_TEST_STOP);
    await shown.until('/healthz', (text) => text === 'not ok\n', 'it is away');
    const page = await (await shown.get('/')).text();
    assert.match(page, /does not answer/);
    assert.match(page, />jobs<\/a>/);
    assert.equal((await shown.get('/db/1/queues/jobs/messages')).status, 503);
    execSync(process.env.TABLEQ_TEST_START);
  }
  await shown.until('/healthz', (text) => text === 'ok\n', 'it is there');
  assert.equal((await shown.get('/db/1/queues/jobs/messages')).status, 200);
  await shown.stop();
});
