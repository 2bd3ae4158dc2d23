// Actions, by clicks, with script and without.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {browser, copied, faults, fill, fresh, scratch, server, tableq, write} from './world.mjs';
import {join} from 'node:path';

let chromium;
let db;
let shown;

let filled;
before(async () => {
  filled = fresh();
  fill(filled);
  chromium = await browser();
});
after(() => chromium?.close());

async function on(path, options, then) {
  const context = await chromium.newContext({viewport: {width: 1400, height: 900}, reducedMotion: 'reduce', ...options});
  context.setDefaultTimeout(15000);
  try {
    const page = await context.newPage();
    await page.goto(shown.at(path));
    await then(page);
  } finally {
    await context.close();
  }
}

async function begin(words = ['--allow-changes']) {
  await shown?.stop();
  db = copied(filled);
  shown = await server.start(db, words);
  await shown.until('/healthz', (_, answer) => answer.status === 200, 'the first figures');
}
after(() => shown?.stop());

const figures = (queue) => JSON.parse(tableq(db, ['stats', queue, '--json']));
const said = (page) => page.locator('.notice').innerText();

for (const javaScriptEnabled of [true, false]) {
  const way = javaScriptEnabled ? 'with script' : 'without script';

  test(`a queue is paused and resumed ${way}`, async () => {
    await begin();
    await on('/db/1/queues/audit', {javaScriptEnabled}, async (page) => {
      await page.getByRole('button', {name: 'Pause'}).click();
      assert.match(await said(page), /is paused/);
      assert.equal(JSON.parse(tableq(db, ['limit', 'audit', '--json'])).paused, true);
      await page.getByRole('button', {name: 'Resume'}).click();
      assert.equal(JSON.parse(tableq(db, ['limit', 'audit', '--json'])).paused, false);
    });
  });

  test(`a message is made ready, gets a priority, and is cancelled ${way}`, async () => {
    await begin();
    await on('/db/1/queues/orders/messages?state=delayed', {javaScriptEnabled}, async (page) => {
      await page.locator('tbody th a').first().click();
      const id = /Message (\d+)/.exec(await page.locator('h1').innerText())[1];
      await page.getByRole('button', {name: 'Ready now'}).click();
      assert.match(await said(page), /ready now/);
      assert.equal(JSON.parse(tableq(db, ['get', 'orders', id])).state, 'ready');
      await page.getByLabel('Priority').fill('-7');
      await page.getByRole('button', {name: 'Set priority'}).click();
      assert.match(await said(page), /-7/);
      assert.equal(JSON.parse(tableq(db, ['get', 'orders', id])).priority, -7);
      await page.getByText('Cancel', {exact: true}).click();
      await page.getByRole('button', {name: 'Delete this message'}).click();
      assert.match(await said(page), /is deleted/);
      assert.equal(tableq(db, ['get', 'orders', id], {fails: true}), '');
    });
  });

  test(`dead messages are selected, counted, redriven and deleted ${way}`, async () => {
    await begin();
    const before = figures('emails');
    await on('/db/1/queues/emails/dead', {javaScriptEnabled}, async (page) => {
      assert.equal(await page.getByRole('button', {name: 'Redrive them'}).count(), 0, 'only after a count');
      await page.getByLabel('Last error has').fill('mailbox');
      await page.getByRole('button', {name: 'Count'}).click();
      assert.match(await page.locator('.banner').innerText(), /^8 of the selection/);
      if (javaScriptEnabled) assert.deepEqual(await faults(page), []);
      await page.getByRole('button', {name: 'Redrive them'}).click();
      await shown.until('/db/1/queues/emails/actions', (text) => text.includes('8 messages') && text.includes('done'), 'its end');
      assert.equal(figures('emails').dead, before.dead - 8);
      await page.goto(shown.at('/db/1/queues/emails/dead'));
      await page.getByRole('button', {name: 'Count'}).click();
      await page.getByRole('button', {name: 'Delete them'}).click();
      await shown.until('/db/1/queues/emails/actions', (text) => text.includes('Deletion of dead messages') && !text.includes('running'), 'its end');
      assert.equal(figures('emails').dead, 0);
    });
  });
}

test('one dead message is redriven', async () => {
  await begin();
  await on('/db/1/queues/emails/dead', {}, async (page) => {
    await page.locator('tbody th a').first().click();
    await page.getByRole('button', {name: 'Redrive'}).click();
    assert.match(await said(page), /ready again/);
  });
});

test('messages come back from a dead-letter queue', async () => {
  await begin();
  await on('/db/1/queues/invoices/dead?count=1', {}, async (page) => {
    assert.match(await page.locator('.banner').innerText(), /^2 of the selection/);
    await page.getByRole('button', {name: 'Redrive them'}).click();
    await shown.until('/db/1/queues/invoices/actions', (text) => text.includes('2 messages'), 'its end');
    assert.equal(figures('letters').ready, 0);
  });
});

test('messages are found by a filter', async () => {
  await begin(['--show-payloads']);
  await on('/db/1/queues/orders/messages', {}, async (page) => {
    const ids = async (fill) => {
      await page.goto(shown.at('/db/1/queues/orders/messages?state=held'));
      await page.getByText('Filter').click();
      for (const [label, text] of Object.entries(fill)) await page.getByLabel(label, {exact: true}).fill(text);
      await page.getByRole('button', {name: 'Show'}).click();
      return page.locator('tbody th').count();
    };
    const all = await ids({Header: 'source=web'});
    assert.ok(all > 3);
    assert.equal(await ids({'Key begins with': 'order-1'}) > 0, true);
    assert.ok(await ids({Group: 'customer-2'}) < all);
    assert.equal(await ids({Group: 'nobody'}), 0);
    assert.equal(await ids({'Older than': '1d'}), 0);
    await page.getByLabel('Older than').fill('soon');
    await page.getByRole('button', {name: 'Show'}).click();
    assert.match(await page.locator('main').innerText(), /500ms, 30s/);
  });
});

test('hidden headers cannot be asked for', async () => {
  await begin();
  const answer = await shown.get('/db/1/queues/orders/messages?header=source%3Dweb');
  assert.equal(answer.status, 400);
  await on('/db/1/queues/orders/messages', {}, async (page) => {
    assert.equal(await page.getByLabel('Header', {exact: true}).count(), 0);
  });
});

test('the login leads back to the page, and out again', async () => {
  await begin(['--allow-changes', '--token-file', write(join(scratch(), 'token'), 'a-token-for-the-browser-test\n')]);
  await on('/db/1/queues/orders', {}, async (page) => {
    assert.match(page.url(), /\/login\?to=/);
    assert.deepEqual(await faults(page), []);
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', {name: 'Log in'}).click();
    assert.match(await page.locator('.banner').innerText(), /not the token/);
    await page.getByLabel('Token').fill('a-token-for-the-browser-test');
    await page.getByRole('button', {name: 'Log in'}).click();
    assert.equal(new URL(page.url()).pathname, '/db/1/queues/orders');
    await page.getByRole('button', {name: 'Pause'}).click();
    assert.match(await said(page), /is paused/);
    await page.getByRole('button', {name: 'Log out'}).click();
    assert.match(page.url(), /\/login/);
  });
});
