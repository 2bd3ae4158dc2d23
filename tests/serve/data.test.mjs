// Metrics, health and JSON, and that the documentation and its files have their names.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {evil, fill, fresh, server, tableq} from './world.mjs';

const docs = new URL('../../docs/', import.meta.url);
const read = (name) => readFileSync(new URL(name, docs), 'utf8');

let db;
let shown;

before(async () => {
  db = fresh();
  fill(db);
  shown = await server.start(db);
  await shown.until('/healthz', (_, answer) => answer.status === 200, 'the first figures');
});
after(() => shown?.stop());

const names = (text) => new Set(text.match(/\btableq_(?:queue|database|figures)_[a-z_]+\b/g));

test('metrics are what stats says', async () => {
  const text = await (await shown.get('/metrics')).text();
  const figures = Object.fromEntries(
    tableq(db, ['stats', '--json']).trim().split('\n').map((line) => [JSON.parse(line).queue, JSON.parse(line)]));
  for (const [queue, one] of Object.entries(figures)) {
    for (const [name, gauge] of [['ready', 'ready'], ['delayed', 'delayed'], ['leased', 'leased'], ['held', 'held'],
      ['done', 'done'], ['dead', 'dead'], ['dead_letters', 'dead_elsewhere']]) {
      const found = new RegExp(`^tableq_queue_${gauge}\\{database="sqlite: shop.db",queue="${queue}",kind="${one.kind}"\\} (\\d+)$`, 'm').exec(text);
      assert.equal(found ? Number(found[1]) : null, one[name], `${queue} ${name}`);
    }
  }
  assert.match(text, /^tableq_database_up\{database="sqlite: shop.db"\} 1$/m);
  assert.match(text, /^tableq_queue_paused\{.*queue="reminders".*\} 1$/m);
  // Each name once has its help and type, before its values.
  for (const name of names(text)) {
    assert.equal(text.split(`# TYPE ${name} gauge`).length, 2, name);
    assert.equal(text.split(`# HELP ${name} `).length, 2, name);
  }
  for (const line of text.trim().split('\n')) {
    assert.match(line, /^# (HELP|TYPE) |^tableq_[a-z_]+\{([a-z]+="[^"\\]*",?)+\} -?[0-9.e+-]+$/);
  }
});

test('a count that stopped at its bound is told', async () => {
  const large = fresh();
  tableq(large, ['create', 'fifo', 'many']);
  tableq(large, ['enqueue', 'many', '--lines'], {input: 'x\n'.repeat(10_050)});
  const one = await server.start(large);
  await one.until('/metrics', (text) => text.includes('tableq_queue_at_least{database="sqlite: shop.db",queue="many",figure="ready"} 1'), 'bound');
  assert.match(await (await one.get('/')).text(), /10,000\+/);
  const json = await (await one.get('/api/v1/databases/1/queues/many')).json();
  assert.deepEqual(json.at_least, ['ready']);
  await one.stop();
});

test('the alerts, the dashboard of Grafana and the page have the names of the metrics, and no other', async () => {
  const served = names(await (await shown.get('/metrics')).text());
  for (const file of ['dashboard/alerts.yml', 'dashboard/grafana.json']) {
    const used = names(read(file));
    assert.ok(used.size > 5, file);
    for (const name of used) assert.ok(served.has(name), `${file}: ${name}`);
  }
  const page = read('dashboard.md');
  for (const name of served) {
    assert.ok(page.includes(name) || page.includes('`' + name.replace('tableq_queue', '') + '`'), `dashboard.md lacks ${name}`);
  }
  JSON.parse(read('dashboard/grafana.json'));
});

test('the addresses of the page are there', async () => {
  const dead = await (await shown.get('/api/v1/databases/1/queues/emails/messages?state=dead')).json();
  const examples = [...read('dashboard.md').matchAll(/^curl http:\/\/127\.0\.0\.1:8080(\S+)$/gm)].map((found) => found[1]);
  assert.ok(examples.length >= 6);
  for (const path of examples) {
    const here = path.replace('/orders/messages/17', `/emails/messages/${dead.messages[0].id}`);
    const answer = await shown.get(here);
    assert.equal(answer.status, 200, path);
    await answer.json();
  }
});

test('JSON has the messages page by page', async () => {
  const seen = [];
  let path = '/api/v1/databases/1/queues/orders/messages?state=ready';
  for (let next = ''; next !== null;) {
    const part = await (await shown.get(`${path}${next && `&after=${next}`}`)).json();
    seen.push(...part.messages.map((one) => one.id));
    next = part.next;
  }
  const all = tableq(db, ['list', 'orders', '--count', '1000', '--json']).trim().split('\n').map((line) => JSON.parse(line).id);
  assert.deepEqual(seen, all);
  assert.ok(seen.length > 100);
});

test('a message is as the command prints it, without what is hidden', async () => {
  const {messages} = await (await shown.get('/api/v1/databases/1/queues/emails/messages?state=dead')).json();
  const id = messages.at(-1).id;
  const printed = JSON.parse(tableq(db, ['get', 'emails', String(id)]));
  const one = await (await shown.get(`/api/v1/databases/1/queues/emails/messages/${id}`)).json();
  delete printed.payload;
  delete printed.headers;
  assert.deepEqual(one, printed);
});

test('JSON has schedules as the command prints them, without headers and payloads', async () => {
  const {schedules} = await (await shown.get('/api/v1/databases/1/queues/imports/schedules')).json();
  const printed = tableq(db, ['schedules', 'list', '--json']).trim().split('\n').map((line) => JSON.parse(line))
    .filter((one) => one.queue === 'imports');
  for (const each of printed) {
    delete each.payload;
    delete each.headers;
  }
  assert.ok(printed.length > 3);
  // The next times of both were asked for at different times.
  const timeless = (all) => all.map(({next, overdue, ...rest}) => ({...rest, next: next.length}));
  assert.deepEqual(timeless(schedules), timeless(printed));
  assert.equal((await (await shown.get('/api/v1/databases/1/queues/emails/schedules')).json()).schedules.length, 0);
});

test('JSON has limits as the command prints them', async () => {
  const {queue, paused, ...limits} = JSON.parse(tableq(db, ['limit', 'emails', '--json']));
  assert.equal(limits.rate, 20);
  assert.deepEqual((await (await shown.get('/api/v1/databases/1/queues/emails')).json()).limits, limits);
});

test('JSON has the groups that wait longest', async () => {
  const {groups} = await (await shown.get('/api/v1/databases/1/queues/orders/groups')).json();
  for (const text of [...evil, 'customer-0']) assert.ok(groups.find((one) => one.group === text)?.waiting > 0, text);
  assert.deepEqual(groups.map((one) => one.oldest), groups.map((one) => one.oldest).sort());
  assert.equal((await shown.get('/api/v1/databases/1/queues/audit/groups')).status, 404);
});

test('JSON has batches as the command prints them', async () => {
  const {batches} = await (await shown.get('/api/v1/databases/1/batches')).json();
  assert.deepEqual(batches, tableq(db, ['batch', 'list', '--json']).trim().split('\n').map((line) => JSON.parse(line)));
  assert.equal(batches[0].total, 3);
});

test('JSON and pages have progress; results only with payloads', async () => {
  const progress = await (await shown.get('/api/v1/databases/1/queues/imports/messages/2')).json();
  assert.equal(progress.progress.done, 0.4);
  assert.equal(progress.progress.note, evil[1]);
  const [leased] = (await (await shown.get('/api/v1/databases/1/queues/imports/messages?state=leased')).json()).messages;
  assert.deepEqual(leased.progress, progress.progress);
  assert.match(await (await shown.get('/db/1/queues/imports/messages?state=leased')).text(), /40%: /);
  const path = '/queues/imports/messages/1';
  assert.equal((await (await shown.get(`/api/v1/databases/1${path}`)).json()).result, undefined);
  assert.doesNotMatch(await (await shown.get(`/db/1${path}`)).text(), /rows/);
  const showing = await server.start(db, ['--show-payloads']);
  await showing.until(`/db/1${path}`, (text) => /&quot;rows&quot;: 7/.test(text), 'the result');
  assert.match((await (await showing.get(`/api/v1/databases/1${path}`)).json()).result, /"rows": 7/);
  await showing.stop();
});

test('wrong addresses of JSON say what is wrong', async () => {
  for (const [path, status] of [
    ['/api/v1/databases/1/queues/nothing', 404],
    ['/api/v1/databases/1/queues/audit/messages', 404],
    ['/api/v1/databases/9/queues', 404],
    ['/api/v1/databases/1/queues/orders/messages?state=odd', 400],
    ['/api/v1/databases/1/queues/orders/messages?after=1.x', 400],
    ['/api/v1/databases/1/queues/orders/messages?after=1.2.3.4', 400],
    ['/api/v1/databases/1/queues/orders/messages/0', 400],
    ['/api/v1/databases/1/queues/orders/messages/99999', 404],
  ]) {
    const answer = await shown.get(path);
    assert.equal(answer.status, status, path);
    assert.match(answer.headers.get('content-type'), /^text\/plain/);
  }
});

test('several databases stand beside each other', async () => {
  const other = fresh();
  tableq(other, ['create', 'fifo', 'only-here']);
  const both = await server.start([db, other]);
  await both.until('/db/2/queues/only-here', (_, answer) => answer.status === 200, 'the second database');
  const {databases} = await (await both.get('/api/v1/databases')).json();
  assert.deepEqual(databases.map((one) => one.label), ['sqlite: shop.db', "sqlite: shop.db'"]);
  assert.equal((await both.get('/db/1/queues/only-here')).status, 404);
  await both.stop();
});
