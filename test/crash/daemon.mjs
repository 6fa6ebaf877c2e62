// An orchestrator in a process of its own that is told when to start and where to end: one JSON object per line on stdin.
// Its token endpoints are ready at once, since stages of scripted agents have no edges. Built code: `npm test` builds first.
import { createInterface } from 'node:readline';
import pino from 'pino';
import { defaultTimings } from '../../dist/src/core/machine/timings.js';
import { FailPoint } from '../../dist/src/orchestrator/fail-point.js';
import { startOrchestrator } from '../../dist/src/orchestrator/orchestrator.js';
import { readyEndpoints } from '../support/ready-endpoints.mjs';

const failPoint = new FailPoint();
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { start, arm } = JSON.parse(line);
  if (arm) failPoint.arm(arm.name, arm.passage);
  if (start) {
    const { address } = await startOrchestrator({
      ...start,
      models: [],
      insecure: false,
      timings: defaultTimings,
      tokenEndpoints: readyEndpoints,
      failPoint,
      logger: pino({ level: process.env.TEST_LOG ?? 'silent' }, pino.destination(2)),
    });
    tell({ address });
  } else tell({});
}
process.exit(0);
