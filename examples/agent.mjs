// @ts-check
// An agent of one's own: it joins the pool, takes every stage that it is given, and pretends to run it.
//   node agent.mjs localhost:7070 pretender
// A real one also opens the edges, keeps who it is on disk, holds its stages while the session is broken, and ends them
// with the lease.
import { randomUUID } from 'node:crypto';
import { AgentSession } from 'stageplane';

/** @import { DeepPartial, StageReport } from 'stageplane' */

const [address = 'localhost:7070', name = 'pretender'] = process.argv.slice(2);
const devices = [{ deviceId: 'cpu', totalBytes: 16n << 30n, freeBytes: 12n << 30n, residentBytes: 0n }];
let [heartbeats, reports] = [0n, 0n];

const session = new AgentSession({
  address,
  callbacks: {
    onWelcome({ nodeId, heartbeatPeriodMillis }) {
      console.log(`we are node ${nodeId}`);
      setInterval(() => session.heartbeat(++heartbeats, devices), heartbeatPeriodMillis).unref();
    },
    onProvision({ deliveryId, generation, stages }) {
      session.ack(deliveryId);
      for (const { provision: { runId, stageIndex } = {} } of stages) {
        report({ runId, stageIndex, generation, report: { $case: 'ready', value: {} } });
      }
    },
    onStop({ runId, stageIndex, generation }) {
      report({ runId, stageIndex, generation, report: { $case: 'stopped', value: {} } });
    },
  },
});

/** @param {DeepPartial<StageReport>} report */
function report(report) {
  console.log(`stage ${report.stageIndex} of run ${report.runId} is ${report.report?.$case}`);
  session.report({ reportId: ++reports, ...report });
}

const who = { name, instanceId: randomUUID(), processId: randomUUID(), protocolMin: 1, protocolMax: 1 };
const engines = [{ name: 'fixture', build: 'pretended', deviceIds: ['cpu'] }];
session.hello({ ...who, engines, descriptor: { devices } });
process.once('SIGINT', () => session.goodbye('Ctrl-C'));
const end = await session.ended;
console.log(end.kind === 'failed' ? end.error.message : end.kind);
