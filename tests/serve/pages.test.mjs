// Every page in a browser: narrow and wide, light and dark, with script and without, with texts that attack.
import assert from 'node:assert/strict';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {browser, evil, faults, fill, fresh, server} from './world.mjs';

const widths = [1400, 400];
const schemes = ['light', 'dark'];
const pictures = process.env.TABLEQ_PICTURES;

let chromium;
let shown;
let paths;
let attacks; // messages with each of the texts of `evil`

before(async () => {
  const db = fresh();
  fill(db);
  shown = await server.start(db, ['--allow-changes', '--show-payloads']);
  await shown.until('/db/1/queues/imports', (text) => text.includes('0 2 * * *'), 'the schedules');
  await shown.until('/db/1/queues/orders', (text) => text.includes('customer-1'), 'the groups');
  const list = await (await shown.get('/api/v1/databases/1/queues/emails/messages?state=dead')).json();
  const ready = await (await shown.get('/api/v1/databases/1/queues/orders/messages')).json();
  const held = await (await shown.get('/api/v1/databases/1/queues/orders/messages?state=held')).json();
  paths = {
    queues: '/',
    found: '/?find=nothing-has-this-name',
    queue: '/db/1/queues/orders',
    paused: '/db/1/queues/reminders',
    plain: '/db/1/queues/audit',
    rules: '/db/1/queues/imports',
    leased: '/db/1/queues/imports/messages?state=leased',
    result: '/db/1/queues/imports/messages/1',
    progress: '/db/1/queues/imports/messages/2',
    ready: '/db/1/queues/orders/messages',
    dead_messages: '/db/1/queues/emails/messages?state=dead',
    dead: '/db/1/queues/emails/dead',
    letters: '/db/1/queues/invoices/dead',
    message: `/db/1/queues/orders/messages/${held.messages[0].id}`,
    doctor: '/db/1/doctor',
    missing: '/db/1/queues/orders/messages/999999',
  };
  attacks = ready.messages.slice(0, evil.length).map((one) => `/db/1/queues/orders/messages/${one.id}`);
  paths.attack = attacks[0];
  paths.evil_error = `/db/1/queues/emails/messages/${list.messages.at(-1).id}`;
  paths.bytes = '/db/1/queues/emails/messages?state=ready';
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  await shown?.stop();
});

// One tab of the browser shows page after page. Without motion: colours that are on their way have no contrast yet.
async function inTab(options, then) {
  const context = await chromium.newContext({viewport: {width: 1400, height: 900}, reducedMotion: 'reduce', ...options});
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (failure) => said.push(String(failure)));
  page.on('dialog', (dialog) => said.push(`a dialog: ${dialog.message()}`));
  try {
    await then(page, (path) => page.goto(shown.at(path)), said);
  } finally {
    await context.close();
  }
}

test('every page is whole and accessible, narrow and wide, light and dark', async () => {
  await inTab({}, async (page, show, said) => {
    for (const [i, [name, path]] of Object.entries(paths).entries()) {
      said.length = 0;
      const answer = await show(path);
      assert.equal(answer.status(), name === 'missing' ? 404 : 200, path);
      assert.equal(await page.locator('h1').count(), 1, name);
      for (const width of widths) {
        await page.setViewportSize({width, height: 900});
        for (const colorScheme of schemes) {
          const where = `${name} at ${width} pixels, ${colorScheme}`;
          await page.emulateMedia({colorScheme});
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${where}: too wide`);
          if (pictures) {
            mkdirSync(pictures, {recursive: true});
            await page.screenshot({path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true});
          }
          // The pages share their parts: each width and scheme is searched for faults on every other page.
          if ((width === 400) === (colorScheme === 'dark') && (width === 400) === (i % 2 === 0)) {
            assert.deepEqual(await faults(page), [], where);
          }
        }
      }
      assert.equal(await page.evaluate('window.hacked'), undefined, name);
      if (name !== 'missing') assert.deepEqual(said, [], name);
    }
  });
});

test('texts of messages are shown as texts', async () => {
  await inTab({}, async (page, show) => {
    for (const [i, text] of evil.entries()) {
      await show(attacks[i]);
      const shownText = await page.locator('main').innerText();
      assert.ok(shownText.includes(text), `${i}: key`);
      assert.equal(await page.locator('pre.payload').innerText(), text, `${i}: payload`);
      assert.equal(await page.locator('main script, main img, main [onmouseover], main [onload]').count(), 0);
      await page.hover('dl.facts dd');
      assert.equal(await page.evaluate('window.hacked'), undefined);
    }
    await shown.until(paths.rules, (text) => text.includes('0 2 * * *'), 'the schedules');
    await show(paths.rules);
    const rules = await page.locator('main').innerText();
    for (const text of evil) assert.ok(rules.includes(text), text);
    await shown.until(paths.queue, (text) => text.includes('customer-1'), 'the groups');
    await show(paths.queue);
    const groups = await page.locator('main').innerText();
    for (const text of evil) assert.ok(groups.includes(text.slice(0, 55)), text);
    await show(paths.progress);
    assert.ok((await page.locator('dl.facts').first().innerText()).includes(`40%: ${evil[1]}`));
    await show(paths.result);
    assert.match(await page.getByRole('region', {name: 'Result'}).innerText(), /"rows": 7,\n.*<script>/);
  });
});

test('a page of JSON runs nothing either', async () => {
  const answer = await shown.get('/api/v1/databases/1/queues/orders/messages');
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const keys = (await answer.json()).messages.map((one) => one.key);
  for (const text of evil) assert.ok(keys.includes(text));
  await inTab({}, async (page, show) => {
    await show('/api/v1/databases/1/queues/orders/messages');
    assert.equal(await page.evaluate('window.hacked'), undefined);
  });
});

test('everything is there without script', async () => {
  await inTab({javaScriptEnabled: false}, async (page, show) => {
    for (const [name, path] of Object.entries(paths)) {
      await show(path);
      assert.ok((await page.locator('main').innerText()).length > 10, name);
      assert.equal(await page.locator('#live').isVisible().catch(() => false), false, name);
    }
  });
});

test('the keyboard reaches everything, and begins with the way to the content', async () => {
  await inTab({}, async (page, show) => {
    await show('/');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
    const reached = new Set();
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate('document.activeElement.textContent'));
    }
    for (const name of ['audit', 'emails', 'orders', 'Doctor', 'Find']) assert.ok(reached.has(name), name);
  });
});

test('figures are live, can be held still, and keep the focus', async () => {
  const {tableq} = await import('./world.mjs');
  await inTab({}, async (page, show) => {
    await show('/');
    const cell = page.locator('[data-live="q0-thumbnails"] td').first();
    const db = shown.process.spawnargs[shown.process.spawnargs.indexOf('--db') + 1];
    await page.locator('a', {hasText: 'thumbnails'}).focus();
    tableq(db, ['enqueue', 'thumbnails', 'a', 'b']);
    await page.waitForFunction(() => document.querySelector('[data-live="q0-thumbnails"] td').textContent === '2');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'thumbnails');
    await page.locator('#live').click();
    assert.equal(await page.locator('#live').getAttribute('aria-pressed'), 'false');
    tableq(db, ['enqueue', 'thumbnails', 'c']);
    await shown.until('/api/v1/databases/1/queues/thumbnails', (text) => JSON.parse(text).ready === 3, 'three');
    assert.equal(await cell.textContent(), '2');
    await page.locator('#live').click();
    await page.waitForFunction(() => document.querySelector('[data-live="q0-thumbnails"] td').textContent === '3');
  });
});
