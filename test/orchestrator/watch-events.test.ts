import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as Service,
  type WatchEventsRequest,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { samplePlan } from '../core/machine/samples.js';
import { runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

type From = WatchEventsRequest['from'];

/** Every commit as a list of its events' revisions, until a watcher has as many events. */
async function commitsUntil(client: OrchestratorServiceClient, from: From, events: number, onStart = async () => {}) {
  const commits: bigint[][] = [];
  let open: bigint[] = [];
  for await (const { update } of streamCall(client, Service.watchEvents, { from })) {
    if (update?.$case === 'event') open.push(update.value.revision);
    else if (update?.$case === 'progress') {
      expect(open.every((revision) => revision <= update.value.revision)).toBe(true);
      if (commits.push(open) === 1) await onStart();
      open = [];
      if (commits.flat().length >= events) break;
    }
  }
  return commits;
}

async function runUntilDone(client: OrchestratorServiceClient, agent: ScriptedAgent, requestId: string) {
  const { outcome } = await unaryCall(client, Service.createRun, { requestId, plan: samplePlan([2n]) });
  if (outcome?.$case !== 'run') throw new Error('no run');
  const { runId } = outcome.value;
  await agent.becomeReady();
  await watchUntil(client, runId, RunPhase.RUN_PHASE_RUNNING);
  await unaryCall(client, Service.stopRun, { runId });
  await agent.confirmStop();
  await watchUntil(client, runId, RunPhase.RUN_PHASE_DONE);
  return runId;
}

test('tells the events of all runs in order, each once, commit by commit, whether they were stored or happen', async () => {
  const { client, address } = await runOrchestrator();
  const agent = await ScriptedAgent.join(address, 'alpha');
  await runUntilDone(client, agent, 'a');
  const stored = await commitsUntil(client, undefined, 1);
  expect(stored).toHaveLength(1);
  const past = stored[0]!;
  const newest = past.at(-1)!;

  const live = await commitsUntil(client, undefined, past.length * 2, async () => {
    await runUntilDone(client, agent, 'b');
  });
  const all = live.flat();
  expect(live[0]).toEqual(past);
  expect(all).toEqual([...new Set(all)].sort((a, b) => Number(a - b)));
  // A stop and what it does to the stage are one commit: a watcher never stands in between.
  expect(live.slice(1).some((commit) => commit.length > 1)).toBe(true);

  // Where another stopped reading, with the newest events only, and with nothing of the past.
  const resumed = await commitsUntil(client, { $case: 'afterRevision', value: newest }, 1);
  expect(resumed).toEqual([all.filter((revision) => revision > newest)]);
  expect(await commitsUntil(client, { $case: 'last', value: 3 }, 1)).toEqual([all.slice(-3)]);
  expect(await commitsUntil(client, { $case: 'last', value: 0 }, 0)).toEqual([[]]);
  expect(await commitsUntil(client, { $case: 'last', value: 4_000_000_000 }, 1)).toEqual([all]);
});

test('has no event of a run that was deleted, and none of the future', async () => {
  const { client, address } = await runOrchestrator();
  const agent = await ScriptedAgent.join(address, 'alpha');
  const gone = await runUntilDone(client, agent, 'a');
  await runUntilDone(client, agent, 'b');
  await unaryCall(client, Service.deleteRun, { runId: gone });
  const runs = new Set<bigint>();
  for await (const { update } of streamCall(client, Service.watchEvents, { from: undefined })) {
    if (update?.$case !== 'event') break;
    runs.add(update.value.runId);
  }
  expect([...runs]).toEqual([2n]);
  const ahead = streamCall(client, Service.watchEvents, { from: { $case: 'afterRevision', value: 2n ** 64n - 1n } });
  await expect(ahead.next()).rejects.toMatchObject({ code: status.OUT_OF_RANGE, reason: 'REVISION_AHEAD' });
});
