// Tries to lock the folder, prints what came of it as one line of JSON, and stays until it is told or killed.
// Built code, since this is a process of its own: `npm test` builds first.
import { lockFolder } from '../../dist/src/process/folder-lock.js';

const answer = (() => {
  // The lock is dropped on purpose: only the module itself refers to it afterwards.
  const { kind, reason, message } = lockFolder(process.argv[2]);
  return { kind, reason, message };
})();
for (let count = 0; count < 3; count++) globalThis.gc?.();
console.log(JSON.stringify(answer));
if (answer.kind === 'locked') process.stdin.resume().on('end', () => process.exit(0));
