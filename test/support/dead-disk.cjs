// Required into a process whose disk has stopped to answer: its engine thread, or without one its thread pool, is in the
// middle of a read that never ends.
const { readFile, readFileSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const { DEAD_DISK, DEAD_DISK_IN } = process.env;
if (DEAD_DISK_IN === 'engine' && !isMainThread) readFileSync(DEAD_DISK);
if (DEAD_DISK_IN === 'pool' && isMainThread) readFile(DEAD_DISK, () => {});
