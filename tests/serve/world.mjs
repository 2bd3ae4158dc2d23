// Shared by the tests of `tableq serve`: the command, queues with messages of every state, the server, a browser.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {after} from 'node:test';

export const command = process.env.TABLEQ_COMMAND;

process.setMaxListeners(100);

// Packages stand in the build tree.
const load = createRequire(resolve(process.env.TABLEQ_NODE_MODULES ?? 'node_modules', 'any.js'));

// A browser. It has no sandbox of its own where root starts it.
export async function browser() {
  const {chromium} = load('playwright-core');
  return chromium.launch({
    executablePath: process.env.TABLEQ_CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
  });
}

// The findings of axe-core on the open page.
export async function faults(page) {
  await page.evaluate(load('axe-core').source);
  const found = await page.evaluate(() => window.axe.run({
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).join('\n    ')}`);
}

// Runs the command. What it prints is the result; `fails` allows another exit status than 0.
export function tableq(db, words, {input = '', fails = false} = {}) {
  try {
    return execFileSync(command, words, {
      env: {...process.env, TABLEQ_DB: db},
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (failure) {
    if (fails) return failure.stdout;
    throw new Error(`tableq ${words.join(' ')}: ${failure.stderr}`);
  }
}

// A folder that is removed at the end.
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tableq-serve-'));
  process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

export const fresh = () => `sqlite://${join(scratch(), 'shop.db')}`;

// Texts that a browser would run if a page trusted them.
export const evil = [
  `<script>window.hacked = 1</script>`,
  `"><img src=x onerror="window.hacked = 1">`,
  `' onmouseover='window.hacked = 1`,
  `</title></textarea></style><svg onload=window.hacked=1>`,
  `javascript:window.hacked=1//`,
  `{{constructor.constructor('window.hacked=1')()}}`,
  `\u202Egnp.exe\u202C ${'\u0301'.repeat(30)}`,
];

const takes = (db, queue, count) =>
  tableq(db, ['take', queue, '--count', String(count), '--lease', '1h', '--json'])
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).receipt);

// As a worker stores what its handler has said.
export function says(db, queue, id, done, note) {
  const json = JSON.stringify({done: done * 1e6, at: Date.now(), note}).replaceAll("'", "''");
  execFileSync('sqlite3', [db.slice('sqlite://'.length), `UPDATE ${queue} SET progress = '${json}' WHERE id = ${id}`]);
}

// Queues of a shop, with messages in every state, and with texts that attack.
export function fill(db) {
  const run = (...words) => tableq(db, words);
  run('create', 'claim', 'letters');
  run('create', 'claim', 'orders', '--keep', '--groups', '1', '--retry', '1m,1h');
  run('create', 'claim', 'invoices', '--dead-letters', 'letters', '--max-attempts', '1');
  run('create', 'claim', 'emails', '--max-attempts', '2');
  run('create', 'claim', 'imports', '--batches', '--keep');
  run('create', 'fifo', 'audit');
  run('create', 'pending', 'reminders');
  run('create', 'heap', 'thumbnails');
  run('enqueue', 'orders', ...Array.from({length: 120}, (_, i) => JSON.stringify({order: 1000 + i, total: 12.5 * i})));
  for (let i = 0; i < 12; i++) {
    run('enqueue', 'orders', `{"order":${i},"customer":"c${i % 3}"}`, '--group', `customer-${i % 3}`,
      '--key', `order-${i}`, '--priority', String(i % 4), '--header', 'source=web');
  }
  run('enqueue', 'orders', 'later', '--delay', '2h', '--key', 'later');
  run('complete', 'orders', ...takes(db, 'orders', 20));
  takes(db, 'orders', 3);
  run('fail', 'orders', ...takes(db, 'orders', 2), '--error', 'the shop does not answer');
  run('enqueue', 'emails', ...Array.from({length: 30}, (_, i) => `mail ${i}`));
  run('fail', 'emails', ...takes(db, 'emails', 8), '--error', '550 no such mailbox', '--final');
  run('fail', 'emails', ...takes(db, 'emails', 3), '--error', 'connection reset by the mail server', '--final');
  run('enqueue', 'invoices', 'a', 'b', 'c');
  run('fail', 'invoices', ...takes(db, 'invoices', 2), '--error', 'no VAT number', '--final');
  run('enqueue', 'audit', 'one', 'two', 'three');
  run('enqueue', 'reminders', 'call Ada', '--delay', '3d');
  run('limit', 'emails', '--rate', '20', '--concurrency', '4');
  run('pause', 'reminders');
  for (const [i, text] of evil.entries()) {
    run('enqueue', 'orders', text, '--key', text, '--group', text, '--header', `${text.slice(0, 60)}=${text}`,
      '--priority', String(100 - i));
    if (i < 2) continue;
    run('enqueue', 'emails', text, '--key', text, '--header', `h${i}=${text}`, '--priority', '100');
    run('fail', 'emails', ...takes(db, 'emails', 1), '--error', text, '--final');
  }
  for (const [i, text] of evil.entries()) run('every', 'imports', text, i % 2 ? '90s' : '0 2 * * *', '--', text);
  run('every', 'audit', 'signs', '1h');
  run('schedules', 'pause', evil[1]);
  const batch = run('batch', 'begin', '--then', 'letters', '--payload', 'all').trim();
  run('enqueue', 'imports', '--batch', batch, 'one', 'two', 'three');
  run('complete', 'imports', ...takes(db, 'imports', 1), '--result', `{"rows": 7, "of": "${evil[0].replaceAll('"', "'")}"}`);
  const [running] = takes(db, 'imports', 1);
  // The command has no way to say it: a worker's handler says it.
  says(db, 'imports', Number(running.split('.')[0]), 0.4, evil[1]);
  tableq(db, ['enqueue', 'emails', '--stdin', '--key', 'bytes'], {input: Buffer.from([0, 1, 2, 255, 254, 60, 62])});
}

// A copy of a database that no process has open.
export function copied(db) {
  const out = fresh();
  cpSync(dirname(db.slice('sqlite://'.length)), dirname(out.slice('sqlite://'.length)), {recursive: true});
  return out;
}

const running = new Set();
after(() => running.forEach((each) => each.process.kill('SIGKILL'))); // Those of a test that has failed.
after(() => {
  for (const each of running) assert.doesNotMatch(each.errors, /Sanitizer|runtime error/);
});

// A running `tableq serve`.
export class server {
  static async start(dbs, words = [], program = [command]) {
    const urls = (Array.isArray(dbs) ? dbs : [dbs]).flatMap((db) => ['--db', db]);
    const made = new server();
    made.process = spawn(program[0], [...program.slice(1), 'serve', ...urls, '--listen', '127.0.0.1:0', '--interval', '200ms', ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    made.errors = '';
    made.process.stderr.on('data', (text) => (made.errors += text));
    const lines = createInterface({input: made.process.stdout});
    made.url = await new Promise((resolve, reject) => {
      lines.once('line', resolve);
      made.process.once('exit', (status) => reject(new Error(`serve ended with ${status}: ${made.errors}`)));
    });
    running.add(made);
    return made;
  }

  at(path) {
    return new URL(path, this.url).href;
  }

  // GET, without a browser.
  async get(path, headers = {}) {
    return fetch(this.at(path), {headers, redirect: 'manual'});
  }

  async post(path, form, headers = {}) {
    return fetch(this.at(path), {
      method: 'POST',
      redirect: 'manual',
      headers: {'content-type': 'application/x-www-form-urlencoded', ...headers},
      body: new URLSearchParams(form).toString(),
    });
  }

  // The token of the forms of a page.
  async form(path, headers = {}) {
    const text = await (await this.get(path, headers)).text();
    return /name="form" value="([0-9a-f-]+)"/.exec(text)?.[1] ?? '';
  }

  // Reads until it is so: figures come with the next reading.
  async until(path, holds, what, tries = 200) {
    for (let i = 0; i < tries; i++) {
      const answer = await this.get(path);
      const text = await answer.text();
      if (holds(text, answer)) return text;
      await new Promise((go) => setTimeout(go, 50));
    }
    throw new Error(`it never came: ${what}`);
  }

  // @return the exit status.
  async stop(signal = 'SIGTERM') {
    const ended = new Promise((resolve) => this.process.once('exit', (status) => resolve(status)));
    this.process.kill(signal);
    return ended;
  }
}

export function write(file, text) {
  writeFileSync(file, text);
  return file;
}
