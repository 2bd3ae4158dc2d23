// The guards of `tableq serve`, without a browser: what is refused, and what the answers forbid a browser.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {chmodSync} from 'node:fs';
import {request} from 'node:http';
import {connect} from 'node:net';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {command, fresh, scratch, server, tableq, write} from './world.mjs';

const token = 'a-token-of-more-than-twenty-characters';
let db;
let open; // read only
let acting; // allows changes
let closed; // needs a token

before(async () => {
  db = fresh();
  tableq(db, ['create', 'claim', 'jobs']);
  tableq(db, ['create', 'fifo', 'mail']);
  tableq(db, ['enqueue', 'jobs', 'secret payload', '--header', 'name=secret header', '--key', 'k']);
  const file = write(join(scratch(), 'token'), `${token}\n`);
  open = await server.start(db);
  acting = await server.start(db, ['--allow-changes']);
  closed = await server.start(db, ['--allow-changes', '--token-file', file]);
  await acting.until('/db/1/queues/jobs', (_, answer) => answer.status === 200, 'the first figures');
  await open.until('/db/1/queues/jobs', (_, answer) => answer.status === 200, 'the first figures');
});
after(async () => {
  for (const each of [open, acting, closed]) await each.stop();
});

const paused = () => JSON.parse(tableq(db, ['limit', 'jobs', '--json'])).paused;

// With a Host header of its own, which fetch does not allow.
function raw(of, path, headers, method = 'GET', body = '') {
  const {hostname, port} = new URL(of.url);
  return new Promise((resolve, reject) => {
    const sent = request({hostname, port, path, method, headers}, (answer) => {
      let text = '';
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({status: answer.statusCode, headers: answer.headers, text}));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

// The answer of the server to bytes.
function bytes(of, text, {wait = 0} = {}) {
  const {hostname, port} = new URL(of.url);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (part) => {
      answer += part;
      if (!wait) socket.end();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', () => resolve(answer));
  });
}

test('another name of the host is refused, exactly', async () => {
  const port = new URL(open.url).port;
  for (const host of ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`, `xlocalhost:${port}`,
    `localhost:${port}1`, `127.0.0.1.nip.io:${port}`, `localhost:${port}@evil.example`]) {
    assert.equal((await raw(open, '/', {host})).status, 403, host);
  }
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    assert.equal((await raw(open, '/', {host})).status, 200, host);
  }
  const twice = await bytes(open, `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nHost: evil.example\r\n\r\n`);
  assert.match(twice, /^HTTP\/1\.1 400 /);
  assert.match(await bytes(open, 'GET / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.0 403 /);
  assert.match(await bytes(open, 'GET / HTTP/1.1\r\nHost: \r\n\r\n'), /^HTTP\/1\.1 403 /);
});

test('a read-only server changes nothing', async () => {
  const form = await open.form('/db/1/queues/jobs');
  assert.equal(form, '', 'no page of it has a form');
  assert.equal((await open.post('/db/1/queues/jobs/pause', {form: '00'})).status, 403);
  assert.equal(paused(), false);
});

test('a POST needs the form token', async () => {
  for (const form of [{}, {form: ''}, {form: '0'.repeat(32)}]) {
    assert.equal((await acting.post('/db/1/queues/jobs/pause', form)).status, 403);
  }
  assert.equal(paused(), false);
});

test('a POST from a foreign page is refused, even with the form token', async () => {
  const form = await acting.form('/db/1/queues/jobs');
  assert.notEqual(form, '');
  const {host} = new URL(acting.url);
  for (const headers of [
    {origin: 'http://evil.example'},
    {origin: 'null'},
    {origin: `http://${host}.evil.example`},
    {origin: `http://${host.replace('127.0.0.1', 'localhost')}`},
    {'sec-fetch-site': 'cross-site'},
    {'sec-fetch-site': 'same-site'},
    {'sec-fetch-site': 'none'},
  ]) {
    const body = new URLSearchParams({form}).toString();
    const answer = await raw(acting, '/db/1/queues/jobs/pause',
      {host, 'content-type': 'application/x-www-form-urlencoded', ...headers}, 'POST', body);
    assert.equal(answer.status, 403, JSON.stringify(headers));
  }
  assert.equal(paused(), false);
  const answer = await acting.post('/db/1/queues/jobs/pause', {form}, {origin: `http://${host}`});
  assert.equal(answer.status, 303);
  assert.equal(paused(), true);
  tableq(db, ['resume', 'jobs']);
});

test('a form of another type is refused', async () => {
  const form = await acting.form('/db/1/queues/jobs');
  for (const type of ['text/plain', 'multipart/form-data', 'application/json', '']) {
    const answer = await raw(acting, '/db/1/queues/jobs/pause',
      {host: new URL(acting.url).host, 'content-type': type}, 'POST', `form=${form}`);
    assert.equal(answer.status, 415, type);
  }
});

test('GET changes nothing', async () => {
  for (const action of ['pause', 'resume', 'messages/1/cancel', 'messages/1/priority', 'dead/redrive', 'dead/purge']) {
    assert.equal((await acting.get(`/db/1/queues/jobs/${action}`)).status, 404, action);
  }
  assert.equal((await acting.get('/logout')).status, 404);
});

test('without the token nothing but health and the files of the login page is answered', async () => {
  for (const path of ['/', '/db/1/queues/jobs', '/db/1/doctor', '/nothing']) {
    const answer = await closed.get(path);
    assert.equal(answer.status, 303, path);
    assert.match(answer.headers.get('location'), /^\/login\?to=/);
  }
  for (const path of ['/metrics', '/api/v1/databases', '/api/v1/nothing']) {
    assert.equal((await closed.get(path)).status, 401, path);
  }
  assert.equal((await closed.post('/db/1/queues/jobs/pause', {form: '0'})).status, 401);
  assert.equal((await closed.get('/healthz')).status, 200);
  assert.equal(await (await closed.get('/healthz')).text(), 'ok\n');
  assert.equal((await closed.get('/assets/style.css')).status, 200);
});

test('a program sends the token as a bearer', async () => {
  const ask = (text) => closed.get('/api/v1/databases', {authorization: text});
  assert.equal((await ask(`Bearer ${token}`)).status, 200);
  assert.equal((await ask(`bearer ${token}`)).status, 200);
  for (const text of [`Bearer ${token}x`, `Bearer ${token.slice(1)}`, 'Bearer ', `Basic ${token}`, token,
    `Bearer ${token}${token}`]) {
    assert.equal((await ask(text)).status, 401, text);
  }
});

test('metrics are open where that is asked for, and nothing else is', async () => {
  const file = write(join(scratch(), 'token'), `${token}\n`);
  const shown = await server.start(db, ['--token-file', file, '--open-metrics']);
  assert.equal((await closed.get('/metrics')).status, 401);
  assert.equal((await shown.get('/metrics')).status, 200);
  assert.equal((await shown.get('/api/v1/databases')).status, 401);
  await shown.stop();
});

test('the login gives a cookie, and ends', async () => {
  const form = await closed.form('/login');
  assert.equal((await closed.post('/login', {form, token: 'wrong'})).status, 403);
  assert.equal((await closed.post('/login', {token})).status, 403, 'without the form token');
  const answer = await closed.post('/login', {form, token, to: '/db/1/queues/jobs'});
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get('location'), '/db/1/queues/jobs');
  const cookie = answer.headers.get('set-cookie');
  assert.match(cookie, /HttpOnly/);
  assert.match(cookie, /SameSite=Strict/);
  assert.ok(!cookie.includes(token));
  // Browsers send a cookie to all ports of a host.
  assert.ok(cookie.startsWith(`tableq_${new URL(closed.url).port}=`));
  const session = {cookie: cookie.split(';')[0]};
  assert.equal((await closed.get('/', session)).status, 200);
  await closed.until('/healthz', (_, a) => a.status === 200, 'figures');
  const own = await closed.form('/db/1/queues/jobs', session);
  assert.notEqual(own, form, 'each session has its own form token');
  assert.equal((await closed.post('/db/1/queues/jobs/pause', {form}, session)).status, 403);
  assert.equal((await closed.post('/db/1/queues/jobs/resume', {form: own}, session)).status, 303);
  assert.equal((await closed.post('/logout', {form: own}, session)).status, 303);
  assert.equal((await closed.get('/', session)).status, 303, 'the session is over');
});

test('the login leads to no other site', async () => {
  const form = await closed.form('/login');
  for (const to of ['https://evil.example/', '//evil.example/', '/\\evil.example', '/\t/evil.example/', '/\u00e9', 'javascript:alert(1)', '',
    '/x\r\nSet-Cookie: a=b']) {
    const answer = await closed.post('/login', {form, token, to});
    assert.equal(answer.headers.get('location'), '/', to);
  }
});

test('paths are matched exactly', async () => {
  for (const path of ['/DB/1/queues/jobs', '/db/01/queues/jobs', '/db/0/queues/jobs', '/db/2/queues/jobs',
    '/db/1/queues/jobs/x', '/db/1/queues/', '/db/1', '/assets/../healthz/x', '/login.css', '/assets/login',
    '/db/1/queues/..%2f..', '/metrics/x', '/healthz/x', '/api/v1', '/api/v2/databases', '/db/1//doctor']) {
    assert.equal((await raw(open, path, {host: new URL(open.url).host})).status, 404, path);
  }
  // Nothing that looks like an open path is open.
  for (const path of ['/x/healthz', '/db/1/queues/healthz', '/?/assets/style.css', '/assets', '/login/x', '//healthz', '/healthz/']) {
    assert.notEqual((await raw(closed, path, {host: new URL(closed.url).host})).status, 200, path);
  }
  assert.equal((await open.get('/%zz')).status, 400);
  assert.equal((await open.get('/db/1/queues/jobs%00')).status, 400);
});

test('every answer forbids foreign content, frames and guesses of its type', async () => {
  assert.equal((await open.get('/metrics')).headers.get('cache-control'), 'no-store');
  for (const path of ['/', '/nothing', '/assets/live.js', '/metrics', '/%zz', '/api/v1/databases']) {
    const {headers} = await open.get(path);
    const policy = headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/, path);
    assert.match(policy, /script-src 'self'(;|$)/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|http:/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'same-origin');
  }
});

test('pages have no inline script, no inline style and nothing from elsewhere', async () => {
  for (const path of ['/', '/db/1/queues/jobs', '/db/1/queues/jobs/messages', '/db/1/queues/jobs/messages/1',
    '/db/1/queues/jobs/dead', '/db/1/doctor']) {
    const answer = await acting.get(path);
    assert.equal(answer.status, 200, path);
    const text = await answer.text();
    assert.doesNotMatch(text, /<script(?![^>]* src="\/assets\/)|<style| style=| on[a-z]+=|javascript:/, path);
    assert.doesNotMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\//, path);
  }
});

test('payloads and headers are hidden unless they are wanted', async () => {
  for (const path of ['/db/1/queues/jobs/messages', '/db/1/queues/jobs/messages/1',
    '/api/v1/databases/1/queues/jobs/messages', '/api/v1/databases/1/queues/jobs/messages/1']) {
    const text = await (await open.get(path)).text();
    assert.doesNotMatch(text, /secret/, path);
  }
  const showing = await server.start(db, ['--show-payloads']);
  const text = await showing.until('/db/1/queues/jobs/messages/1', (_, a) => a.status === 200, 'figures');
  assert.match(text, /secret payload/);
  assert.match(text, /secret header/);
  await showing.stop();
});

test('what is too large is refused', async () => {
  const {host} = new URL(open.url);
  const long = 'x'.repeat(20_000);
  assert.match(await bytes(open, `GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${long}\r\n\r\n`), /^HTTP\/1\.1 431 /);
  const body = await bytes(open, `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n\r\n`);
  assert.match(body, /^HTTP\/1\.1 413 /);
  assert.match(await bytes(open, 'this is not HTTP\r\n\r\n'), /^HTTP\/1\.[01] 400 /);
  assert.match(await bytes(open, `DELETE / HTTP/1.1\r\nHost: ${host}\r\n\r\n`), /^HTTP\/1\.1 405 /);
});

const statuses = (text) => [...text.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map((found) => Number(found[1]));

test('a request that a proxy may read differently is refused, and its connection ends', async () => {
  const {host} = new URL(open.url);
  const next = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
  for (const head of [
    'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', 'Content-Length: 4\r\nContent-Length: 5\r\n',
    'Transfer-Encoding: xchunked\r\n', 'Transfer-Encoding: chunked, chunked\r\n', 'Transfer-Encoding : chunked\r\n',
    'X: a\0b\r\n',
  ]) {
    for (const method of ['POST', 'GET']) {
      const text = await bytes(open, `${method} / HTTP/1.1\r\nHost: ${host}\r\n${form}${head}\r\n0\r\n\r\n${next}`);
      assert.deepEqual(statuses(text), [400], `${method} ${JSON.stringify(head)}`);
    }
  }
  for (const line of ['GET http://evil.example/ HTTP/1.1', 'GET / HTTP/3.7', 'GET /a\0b HTTP/1.1', 'PRI * HTTP/2.0']) {
    assert.deepEqual(statuses(await bytes(open, `${line}\r\nHost: ${host}\r\n\r\n${next}`)), [400], line);
  }
  const chunk = `ffff\r\n${'x'.repeat(0xffff)}\r\n`;
  const large = await bytes(open, `POST / HTTP/1.1\r\nHost: ${host}\r\n${form}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`);
  assert.deepEqual(statuses(large), [413]);
  // A line of a chunk that does not end takes no memory.
  for (const begin of ['4;', '0\r\nX: ']) {
    const text = await bytes(open, `POST / HTTP/1.1\r\nHost: ${host}\r\n${form}Transfer-Encoding: chunked\r\n\r\n${begin}${'y'.repeat(200_000)}`);
    assert.deepEqual(statuses(text), [400], begin);
  }
});

test('requests that come together are answered in their order', async () => {
  const {host} = new URL(open.url);
  const one = (path, more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
  const text = await bytes(open, one('/metrics') + one('/nothing') + one('/db/1/doctor') + one('/healthz', 'Connection: close\r\n'), {wait: 1});
  assert.deepEqual(statuses(text), [200, 404, 200, 200]);
});

test('a wrong name of a condition selects nothing', async () => {
  for (const query of ['grup=x', 'keys=a&error=x', 'header=x']) {
    for (const path of ['messages', 'dead']) {
      assert.equal((await acting.get(`/db/1/queues/jobs/${path}?${query}`)).status, 400, query);
    }
    const form = await acting.form('/db/1/queues/jobs');
    const wrong = Object.fromEntries(new URLSearchParams(query));
    for (const action of ['redrive', 'purge']) {
      assert.equal((await acting.post(`/db/1/queues/jobs/dead/${action}`, {form, ...wrong})).status, 400, query);
    }
  }
  assert.match(await (await acting.get('/db/1/queues/jobs/actions')).text(), /Nothing was started/);
});

test('times that only plain SQL writes are shown', async () => {
  const odd = fresh();
  tableq(odd, ['create', 'claim', 'jobs']);
  tableq(odd, ['enqueue', 'jobs', 'a', 'b', 'c']);
  const shown = await server.start(odd, ['--show-payloads']);
  await shown.until('/db/1/queues/jobs', (_, answer) => answer.status === 200, 'the first figures');
  for (const time of ['9223372036854775807', '-9223372036854775808', '253402300800000', '-1']) {
    execFileSync('sqlite3', [odd.slice('sqlite://'.length), `UPDATE jobs SET created_at = ${time};
      UPDATE jobs SET state = 2, due_at = ${time} WHERE id = 2;
      UPDATE jobs SET state = 4, finished_at = ${time} WHERE id = 3;
      UPDATE jobs SET progress = '{"done": 1e300, "at": ${time}, "note": "x"}', errors = '[{"at": ${time}, "error": "x"}]'`]);
    for (const path of ['/', '/db/1/queues/jobs', '/metrics', '/api/v1/databases/1/queues/jobs', ...[1, 2, 3].map((id) => `/db/1/queues/jobs/messages/${id}`),
      ...['ready', 'delayed', 'dead'].map((state) => `/db/1/queues/jobs/messages?state=${state}`)]) {
      assert.equal((await shown.get(path)).status, 200, `${path} at ${time}`);
    }
  }
  await shown.stop();
});

test('HEAD has the headers of GET and no body', async () => {
  const {host} = new URL(open.url);
  const answer = await raw(open, '/', {host}, 'HEAD');
  assert.equal(answer.status, 200);
  assert.equal(answer.text, '');
  assert.ok(Number(answer.headers['content-length']) > 500);
});

test('slow clients hold no other up', async () => {
  const {hostname, port} = new URL(open.url);
  const slow = Array.from({length: 300}, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: ');
    return socket;
  });
  for (let i = 0; i < 20; i++) assert.equal((await open.get('/')).status, 200);
  slow.forEach((each) => each.destroy());
});

test('clients take no files from the database where there are few', async () => {
  const few = write(join(scratch(), 'few'), `ulimit -n 60; exec '${command}' "$@"\n`);
  const shown = await server.start(db, [], ['bash', few]);
  await shown.until('/db/1/queues/jobs', (_, answer) => answer.status === 200, 'the first figures');
  const {hostname, port} = new URL(shown.url);
  const idle = Array.from({length: 200}, () => connect(Number(port), hostname).on('error', () => {}));
  // Those beyond the bound are closed at once, so that no client waits for a place.
  await Promise.all(idle.slice(100).map((each) => new Promise((go) => each.on('close', go).resume())));
  idle.forEach((each) => each.destroy());
  await shown.until('/db/1/queues/jobs/messages', (_, answer) => answer.status === 200, 'its healing');
  await shown.stop();
});

test('every address but loopback needs a token file', () => {
  const refused = (...words) => {
    try {
      execFileSync(command, ['serve', '--db', db, ...words], {stdio: 'pipe'});
      return {status: 0, text: ''};
    } catch (failure) {
      return {status: failure.status, text: String(failure.stderr)};
    }
  };
  for (const address of ['0.0.0.0:0', '[::]:0', '192.0.2.1:0']) {
    const {status, text} = refused('--listen', address);
    assert.equal(status, 2, address);
    assert.match(text, /needs --token-file/);
  }
  const short = write(join(scratch(), 'token'), 'too short\n');
  assert.match(refused('--token-file', short).text, /at least 20 characters/);
  assert.match(refused('--token-file', join(scratch(), 'none')).text, /cannot read a token/);
  assert.match(refused('--listen', 'nothing').text, /--listen must be/);
  assert.match(refused('--db', 'nothing://x').text, /scheme/);
});

test('a token file that every user can read is told at the start', async () => {
  const file = write(join(scratch(), 'token'), `${token}\n`);
  for (const [mode, told] of [[0o644, true], [0o640, false], [0o600, false]]) {
    chmodSync(file, mode);
    const one = await server.start(db, ['--token-file', file]);
    assert.equal(/warning: every user of this machine can read .*chmod 0600/.test(one.errors), told, mode.toString(8));
    await one.stop();
  }
});

test('other names are answered if they were given', async () => {
  const named = await server.start(db, ['--host', 'Queues.example.org', '--host', 'x.example:8443', '--https']);
  const {port} = new URL(named.url);
  for (const host of ['queues.example.org', `queues.example.org:${port}`, 'x.example:8443']) {
    assert.equal((await raw(named, '/', {host})).status, 200, host);
  }
  assert.equal((await raw(named, '/', {host: 'x.example'})).status, 403);
  await named.stop();
});

test('behind a proxy every link has its path', async () => {
  const below = await server.start(db, ['--path', '/tableq', '--allow-changes']);
  assert.match(below.url, /\/tableq\/$/);
  assert.equal((await below.get('/')).status, 404);
  const text = await below.until('/tableq/db/1/queues/jobs', (_, a) => a.status === 200, 'figures');
  for (const [, link] of text.matchAll(/(?:href|src|action)="([^"#]+)"/g)) assert.match(link, /^\/tableq\//);
  assert.equal((await below.get('/tableq/healthz')).status, 200);
  await below.stop();
});

test('a password in the address is on no page', async () => {
  const away = await server.start('postgresql://someone:hidden-word@127.0.0.1:9/shop?sslmode=disable');
  for (const path of ['/', '/metrics', '/api/v1/databases', '/db/1/doctor', '/healthz']) {
    const text = await (await away.get(path)).text();
    assert.doesNotMatch(text, /hidden-word|someone/, path);
  }
  assert.doesNotMatch(away.errors, /hidden-word/);
  await away.stop();
});

test('it ends by a signal, with status 0', async () => {
  const one = await server.start(db);
  assert.equal(await one.stop('SIGINT'), 0);
});

test('it ends while clients ask', async () => {
  for (let round = 0; round < 3; round++) {
    const one = await server.start(db);
    await one.until('/db/1/queues/jobs', (_, answer) => answer.status === 200, 'the first figures');
    const {host} = new URL(one.url);
    let first;
    const begun = new Promise((go) => (first = go));
    const asked = Array.from({length: 300}, (_, i) =>
      raw(one, i % 2 ? '/' : '/db/1/queues/jobs/messages', {host}).then(first, () => {}));
    await begun;
    assert.equal(await one.stop(), 0);
    await Promise.all(asked);
    assert.equal(one.errors, '');
  }
});

test('a thousand clients at once are answered', async () => {
  const answers = await Promise.all(Array.from({length: 1000}, () => raw(open, '/', {host: new URL(open.url).host}).then((a) => a.status, () => 0)));
  assert.equal(answers.filter((status) => status === 200).length, 1000);
});
