// A stage worker that becomes ready only once a file exists, and writes down each time it gets a stage.
import { appendFileSync, existsSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';

const [gate, diary] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

say({ hello: { protocol: 1, engines: ['fixture'] } });

const becomeReady = () =>
  say({ ready: { bytesRead: '1', bytesDigest: '00'.repeat(32), deviceBytes: '1', hostBytes: '1' } });

function prepare() {
  appendFileSync(diary, `${process.pid}\n`);
  say({ loading: { phase: 'PHASE_BYTES', bytesDone: '0', bytesTotal: '1' } });
  process.stderr.write('waiting for the gate\n');
  const watcher = watch(dirname(gate), (_event, file) => {
    if (file === basename(gate)) open();
  });
  const open = () => {
    watcher.close();
    becomeReady();
  };
  if (existsSync(gate)) open();
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.prepare) prepare();
  if (command.checkHealth) say({ health: { sequence: command.checkHealth.sequence ?? '0', busyMillis: '0' } });
  if (command.stop) {
    say({ stopped: {} });
    process.exit(0);
  }
}
process.exit(0);
