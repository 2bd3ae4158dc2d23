// The pictures of docs/dashboard.md: a shop at work for some seconds. See scripts/dashboard.sh.
import {spawn} from 'node:child_process';
import {join} from 'node:path';
import {browser, command, fresh, server, tableq} from './world.mjs';

const folder = process.argv[2];
const db = fresh();
const run = (...words) => tableq(db, words);
run('create', 'claim', 'orders', '--groups', '1', '--keep', '--retry', '1s,10s,1m');
run('create', 'claim', 'emails', '--max-attempts', '1');
run('create', 'claim', 'invoices', '--dead-letters', 'letters');
run('create', 'fifo', 'audit');
run('create', 'pending', 'reminders');
run('limit', 'emails', '--rate', '200');
run('enqueue', 'reminders', 'call', '--delay', '3d');
run('enqueue', 'invoices', ...Array.from({length: 40}, (_, i) => `invoice ${i}`));
for (const [i, error] of ['550 no such mailbox', 'connection reset by the mail server', '550 no such mailbox'].entries()) {
  for (let k = 0; k < 4; k++) run('enqueue', 'emails', `mail ${i}`, '--key', `customer-${17 * i + k}`);
  const taken = run('take', 'emails', '--count', '4', '--json').trim().split('\n').map((line) => JSON.parse(line).receipt);
  run('fail', 'emails', ...taken, '--error', error, '--final');
}
run('enqueue', 'emails', ...Array.from({length: 800}, (_, i) => `newsletter ${i}`));
run('create', 'heap', 'thumbnails');
run('pause', 'thumbnails');

const shown = await server.start(db, ['--allow-changes', '--history', '24s']);
const workers = ['orders', 'emails'].map((queue) =>
  spawn(command, ['work', queue, '--concurrency', '2', '--', 'true'], {env: {...process.env, TABLEQ_DB: db}, stdio: 'ignore'}));
const until = Date.now() + 26_000;
for (let i = 0; Date.now() < until; i++) {
  const wave = Math.round(6 + 5 * Math.sin(i / 4));
  run('enqueue', 'orders', ...Array.from({length: wave}, (_, k) => `{"order":${i * 10 + k}}`), '--group', `customer-${i % 7}`);
  run('enqueue', 'audit', ...Array.from({length: 1 + (i % 3)}, () => 'signed in'));
}

const chromium = await browser();
const page = await chromium.newPage({viewport: {width: 1200, height: 700}, colorScheme: 'light'});
for (const [name, path] of [['queues', '/'], ['queue', '/db/1/queues/orders'], ['dead', '/db/1/queues/emails/dead?error=mailbox&count=1']]) {
  await page.goto(shown.at(path));
  if (name === 'queue') await page.getByText('The ten that wait longest').waitFor();
  await page.waitForTimeout(500);
  await page.screenshot({path: join(folder, `${name}.png`), fullPage: true});
}
workers.forEach((each) => each.kill('SIGTERM'));
await chromium.close();
await shown.stop();
process.exit(0);
