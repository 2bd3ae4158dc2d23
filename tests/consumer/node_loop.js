// The event loop runs while a take waits: the message that ends the wait is put by a timer.
'use strict';
const { Database, Stop } = require('./tableq.js');

async function main() {
  const db = await Database.open(process.argv[2]);
  const queue = await db.claim('resize');
  const stop = new Stop();
  const forever = 600_000;
  const taking = queue.take(1, forever, stop);
  setTimeout(() => queue.put('late.jpg'), 1);
  const [job] = await taking;
  if (job.payload.toString() !== 'late.jpg' || job.attempt !== 1) throw new Error('another job');
  if (!(await queue.complete(job))) throw new Error('the keeper has lost the lease');
  const waiting = queue.take(1, forever, stop);
  stop.request();
  if ((await waiting).length !== 0) throw new Error('a stop did not end the wait');
  queue.close();
  db.close();
  console.log('the event loop ran while a take waited');
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
