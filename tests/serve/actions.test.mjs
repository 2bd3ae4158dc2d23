// Actions, by clicks, with script and without.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {browser, copied, evil, faults, fill, fresh, scratch, server, tableq, write} from './world.mjs';
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

  test(`a queue is paused, resumed and emptied ${way}`, async () => {
    await begin();
    await on('/db/1/queues/audit', {javaScriptEnabled}, async (page) => {
      await page.getByRole('button', {name: 'Pause'}).click();
      assert.match(await said(page), /is paused/);
      assert.equal(JSON.parse(tableq(db, ['limit', 'audit', '--json'])).paused, true);
      await page.getByRole('button', {name: 'Resume'}).click();
      assert.equal(JSON.parse(tableq(db, ['limit', 'audit', '--json'])).paused, false);
      await page.getByText('Delete every message').first().click();
      await page.getByLabel("The queue's name").fill('other');
      await page.getByRole('button', {name: 'Delete every message'}).click();
      assert.match(await page.locator('main').innerText(), /Nothing was deleted/);
      assert.equal(figures('audit').ready, 3);
      await page.goBack();
      if (!(await page.getByLabel("The queue's name").isVisible())) {
        await page.getByText('Delete every message').first().click();
      }
      await page.getByLabel("The queue's name").fill('audit');
      await page.getByRole('button', {name: 'Delete every message'}).click();
      await shown.until('/db/1/queues/audit/actions', (text) => text.includes('3 messages') && text.includes('done'), 'its end');
      assert.equal(figures('audit').ready, 0);
      await page.goto(shown.at('/db/1/queues/orders'));
      await page.getByText('Delete done messages').click();
      await page.getByLabel('That finished').fill('0s');
      await page.getByRole('button', {name: 'Delete', exact: true}).click();
      await shown.until('/db/1/queues/orders/actions', (text) => text.includes('20 messages') && text.includes('done'), 'its end');
      assert.equal(figures('orders').done, 0);
    });
  });

  test(`limits are set and removed, also of a group ${way}`, async () => {
    await begin();
    const limits = (...words) => tableq(db, ['limit', 'orders', '--json', ...words]).trim().split('\n').map((line) => JSON.parse(line));
    await on('/db/1/queues/orders', {javaScriptEnabled}, async (page) => {
      const form = async (summary, inputs, press) => {
        await page.locator('summary', {hasText: summary}).click();
        const open = page.locator('details.danger[open]');
        for (const [label, text] of Object.entries(inputs)) await open.getByLabel(label).fill(text);
        await page.getByRole('button', {name: press}).click();
      };
      await form('Change the limits', {Capacity: '5000', Rate: '2.5', Concurrency: '9'}, 'Set the limits');
      assert.match(await said(page), /limits are set/);
      assert.match(await page.locator('main').innerText(), /2\.5 per second/);
      assert.deepEqual(limits()[0], {queue: 'orders', paused: false, capacity: 5000, rate: 2.5, burst: null, concurrency: 9});
      await form('Change the limits', {Rate: 'none', Capacity: 'none'}, 'Set the limits');
      assert.deepEqual(limits()[0], {queue: 'orders', paused: false, capacity: null, rate: null, burst: null, concurrency: 9});
      await form('Change the limits', {Rate: 'much'}, 'Set the limits');
      assert.match(await page.locator('main').innerText(), /The limit rate must be a number/);
      await page.goto(shown.at('/db/1/queues/orders'));
      const groups = {'Group, or empty': evil[1], Running: '4', Rate: '0.25'};
      await form('Change limits of groups', groups, 'Set the group');
      assert.match(await said(page), /of the group are set/);
      const of = (group) => limits('--groups').find((one) => one.group === group);
      assert.deepEqual(of(evil[1]), {queue: 'orders', group: evil[1], running: 4, rate: 0.25, burst: null, weight: null});
      await form('Change limits of groups', {'Group, or empty': evil[1], Running: 'none', Rate: 'none'}, 'Set the group');
      assert.equal(of(evil[1]), undefined);
      if (javaScriptEnabled) assert.deepEqual(await faults(page), []);
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

test('a schedule is paused, resumed and run', async () => {
  await begin();
  const rule = () => tableq(db, ['schedules', 'list', '--json']).trim().split('\n').map((line) => JSON.parse(line)).find((one) => one.name === evil[0]);
  await shown.until('/db/1/queues/imports', (text) => text.includes('Run now'), 'the schedules');
  await on('/db/1/queues/imports', {}, async (page) => {
    const press = async (name) => {
      await page.locator('tr', {hasText: evil[0]}).getByRole('button', {name}).click();
      return said(page);
    };
    assert.match(await press('Pause it'), /schedule is paused/);
    assert.equal(rule().enabled, false);
    assert.match(await press('Resume it'), /goes on/);
    assert.equal(rule().enabled, true);
    const before = figures('imports').ready;
    assert.match(await press('Run now'), /is added/);
    assert.equal(figures('imports').ready, before + 1);
  });
  // The schedule of another queue is none of this page.
  const form = await shown.form('/db/1/queues/imports');
  assert.equal((await shown.post('/db/1/queues/imports/schedules/run', {form, name: 'signs'})).status, 404);
  assert.equal((await shown.post('/db/1/queues/imports/schedules/remove', {form, name: evil[0]})).status, 404);
});

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
    const all = await ids({Header: 'source', 'Value of the header': 'web'});
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
  const answer = await shown.get('/db/1/queues/orders/messages?header=source&value=web');
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
