// Replaces a file again and again and prints each count that is durable, until it is killed.
// Built code, since this is a process of its own: `npm test` builds first.
import { writeSync } from 'node:fs';
import { writeFileAtomically } from '../../dist/src/process/write-file-atomically.js';

const padding = 'x'.repeat(100_000);
for (let count = 1; ; count++) {
  const answer = writeFileAtomically(process.argv[2], JSON.stringify({ padding, count }));
  if (answer.kind !== 'written') throw new Error(answer.message);
  writeSync(1, `${count}\n`);
}
