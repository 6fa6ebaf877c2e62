// How fast one orchestrator pushes provisions to many agents and takes in their answers, against bare acknowledgements
// on the same streams. Everything runs in this process on loopback; figures are ratios of one run, never pass or fail.
//
//   npm run bench:fanout -- --agents 500
import { parseArgs } from 'node:util';
import { Agent, echoes, Launcher, openOrchestrator } from './agents.mjs';
import { median } from './figures.mjs';

const { values } = parseArgs({
  options: { agents: { type: 'string', default: '200' }, rounds: { type: 'string', default: '5' } },
});
const count = Math.min(Number(values.agents), 512);
const rounds = Number(values.rounds);

const orchestrator = await openOrchestrator();
const launcher = new Launcher(orchestrator.address);

const joinStarted = performance.now();
const agents = Array.from({ length: count }, (_, at) => new Agent(orchestrator.address, `agent-${at}`));
await Promise.all(agents.map(({ joined }) => joined));
const join1 = performance.now() - joinStarted;
const runs = [];
const bare = [];
for (let round = 0; round < rounds; round++) {
  bare.push(await echoes(agents));
  runs.push(await launcher.wholeRun(round, count));
}
const up = median(runs.map((run) => run.up));
const down = median(runs.map((run) => run.down));
const echo = median(bare);
console.log(`${count} agents on ${count} connections, medians of ${rounds} rounds`);
console.log(
  `join, committed and reconciled     ${join1.toFixed(0)} ms, ${((join1 / count) * 1000).toFixed(0)} us each`,
);
console.log(
  `create until RUNNING               ${up.toFixed(0)} ms, ${(up / echo).toFixed(2)}x two bare echoes each (${echo.toFixed(0)} ms)`,
);
console.log(`stop until DONE                    ${down.toFixed(0)} ms, ${(down / echo).toFixed(2)}x`);
for (const agent of agents) agent.close();
launcher.close();
await orchestrator.stop();
