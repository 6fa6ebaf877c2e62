// What the transport costs without any layers: `edge-hop.mjs` as it stands.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goalAtMost, heading } from './figures.mjs';

const program = fileURLToPath(new URL('../edge-hop.mjs', import.meta.url));
const GOAL_MICROS = 80;

export async function hop() {
  heading('hop: objects of 32 KB through edges, an engine that echoes');
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const lines = stdout.trim().split('\n').slice(1);
  for (const line of lines) console.log(`  ${line}`);
  const medians = lines.filter((line) => line.startsWith('edges')).map((line) => Number(line.match(/median (\d+)/)[1]));
  goalAtMost('a hop of our transport alone, µs', Math.max(...medians), GOAL_MICROS, 0);
}
