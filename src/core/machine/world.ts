import type { Millis, NodeId, RunId } from '../ids.js';
import { millis } from '../ids.js';
import type { Effect } from './effects.js';
import { noneIgnored } from './ignored-messages.js';
import { awaitsRestart } from './restart-policy.js';
import type { StoredWorld, World } from './state.js';
import type { Timings } from './timings.js';

/**
 * The world after a start: all that was stored, and every node out of contact (I11). The effects are the graces of
 * those nodes; deadlines of stages begin when their nodes come back.
 */
export function openWorld(stored: StoredWorld, now: Millis, timings: Timings): { world: World; effects: Effect[] } {
  const graceEndsAt = millis(now + timings.graceAfterStart);
  const world: World = {
    cluster: stored.cluster,
    nodes: new Map(stored.nodes.map((node) => [node.nodeId, node])),
    nodeByInstance: new Map(stored.nodes.map((node) => [node.instanceId, node.nodeId])),
    nodeByName: new Map(stored.nodes.map((node) => [node.name, node.nodeId])),
    runs: new Map(stored.runs.map((run) => [run.runId, run])),
    requests: new Map(stored.requests.map((request) => [request.requestId, request])),
    footprints: new Map(stored.footprints.map((record) => [record.key, record])),
    tokens: new Map(stored.tokens.map((token) => [token.digest, token])),
    certificates: new Map(stored.certificates.map((certificate) => [certificate.serial, certificate])),
    keys: new Map(stored.keys.map((key) => [key.digest, key])),
    contacts: new Map(
      stored.nodes.map((node) => [
        node.nodeId,
        {
          lastHeard: now,
          graceEndsAt,
          graceExtended: false,
          lost: false,
          usage: [],
        },
      ]),
    ),
    sessions: new Map(),
    placements: placementsOf(stored),
    undispatched: [],
    ignored: noneIgnored(),
  };
  const effects: Effect[] = stored.nodes.map((node) => ({
    kind: 'arm',
    timer: { kind: 'grace', nodeId: node.nodeId },
    at: graceEndsAt,
  }));
  for (const run of stored.runs) {
    // The launcher's second has long passed: what is known now is the cause.
    if (run.cause && !run.cause.fixed)
      effects.push({
        kind: 'arm',
        timer: { kind: 'cause', runId: run.runId },
        at: now,
      });
    if (awaitsRestart(run)) effects.push({ kind: 'arm', timer: { kind: 'restart', runId: run.runId }, at: now });
  }
  for (const { nodeId, drainUntil } of stored.nodes) {
    if (drainUntil !== undefined) effects.push({ kind: 'arm', timer: { kind: 'drain', nodeId }, at: now });
  }
  return { world, effects };
}

function placementsOf(stored: StoredWorld): Map<NodeId, ReadonlySet<RunId>> {
  const placements = new Map<NodeId, Set<RunId>>();
  for (const run of stored.runs) {
    for (const stage of [...run.stages, ...run.remnants.map((remnant) => remnant.stage)]) {
      if (stage.phase === 'STOPPED') continue;
      const runs = placements.get(stage.nodeId) ?? new Set();
      placements.set(stage.nodeId, runs.add(run.runId));
    }
  }
  return placements;
}
