// Our own stage worker behind a gate: a stage is prepared only once a file exists. Writes down each time it gets a stage.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';

const [gate, diary, worker] = process.argv.slice(2);
const own = spawn(process.execPath, [worker], { stdio: ['pipe', 'inherit', 'inherit'] });
own.on('exit', (code) => process.exit(code ?? 1));
own.stdin.on('error', () => {});
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const held = [];
let isOpen = true;

function waitAtTheGate() {
  appendFileSync(diary, `${process.pid}\n`);
  say({ loading: { phase: 'PHASE_BYTES', bytesDone: '0', bytesTotal: '1' } });
  process.stderr.write('waiting for the gate\n');
  isOpen = false;
  const watcher = watch(dirname(gate), (_event, file) => {
    if (file === basename(gate)) open();
  });
  const open = () => {
    watcher.close();
    isOpen = true;
    for (const line of held.splice(0)) own.stdin.write(`${line}\n`);
  };
  if (existsSync(gate)) open();
}

for await (const line of createInterface({ input: process.stdin })) {
  const { prepare, stop, checkHealth } = JSON.parse(line);
  if (prepare) waitAtTheGate();
  if (isOpen || stop || checkHealth) own.stdin.write(`${line}\n`);
  else held.push(line);
}
own.stdin.end();
