// A producer and a worker: node main.js DATABASE produce NAME...; node main.js DATABASE work [COUNT]
// works until SIGTERM or Ctrl-C, or until COUNT jobs are over.
'use strict';
const { setTimeout: pause } = require('node:timers/promises');
const { Database, Stop } = require('./tableq.js');

const together = 4; // jobs at once

/// The work itself: it may last longer than the lease.
async function resize(name) {
  if (!name.endsWith('.jpg')) throw new Error('not an image');
  await pause(10);
  console.log(`resized ${name}`);
}

async function handle(queue, job) {
  let failure;
  try {
    await resize(job.payload.toString());
  } catch (error) {
    failure = error.message;
    console.log(`gave up ${job.payload}: ${failure}`);
  }
  try {
    const settled = failure ? await queue.fail(job, failure, true) : await queue.complete(job);
    if (!settled) console.log('too late');
  } catch (error) {
    console.error(error.message);
    queue.letGo(job);
  }
}

async function work(queue, stop, count) {
  const running = new Set();
  let over = 0;
  while (!stop.asked && over < count) {
    let jobs = [];
    try {
      jobs = await queue.take(Math.min(together - running.size, count - over), 5000, stop);
    } catch (error) {
      if (!error.retryable) throw error;
      console.error(error.message);
      await pause(1000); // The database is away.
    }
    for (const job of jobs) {
      const one = handle(queue, job).finally(() => running.delete(one));
      running.add(one);
      ++over;
    }
    if (running.size === together) await Promise.race(running);
  }
  await Promise.all(running);
}

async function main([url = 'sqlite://jobs.db', what = 'work', ...rest]) {
  const db = await Database.open(url);
  const queue = await db.claim('resize');
  const stop = new Stop();
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      stop.asked = true;
      stop.request();
    });
  }
  if (what === 'produce') for (const name of rest) await queue.put(name);
  else await work(queue, stop, rest.length ? Number(rest[0]) : Infinity);
  queue.close();
  db.close();
  stop.free();
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
