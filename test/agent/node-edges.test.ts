import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { NodeEdges } from '../../src/agent/node-edges.js';
import { runId } from '../../src/core/ids.js';
import { edgeRuntimeFolder, ownEdgeFolder } from '../../src/edge-gateway/runtime-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { PlannedStages } from './planned-stages.js';

const INSTANCE = '12345678-1111-4222-8333-444444444444';
const identity = { clusterId: 'c0ffee00-1111-4222-8333-444444444444', nodeId: 2n };
const keyOf = (stageIndex: number) => ({ runId: runId(7n), stageIndex, generation: 1 });

beforeEach(() => {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryFolder());
  return () => void vi.unstubAllEnvs();
});

function nodeEdges(): NodeEdges {
  const edges = new NodeEdges({ flags: {}, instanceId: INSTANCE, onNote: () => {} });
  onTestFinished(() => edges.close());
  return edges;
}

/** What the machine would command, of both stages of a run on node 2. */
function prepares(): PrepareStage[] {
  const { stages } = new PlannedStages([2n, 2n]).deliveryTo(2n);
  const sockets = { inboundSocket: '', outboundSocket: '' };
  return stages.map((stage) => ({ ...stage, generation: 1, modelPath: '/m.gguf', ...sockets }));
}

async function socketsOf(edges: NodeEdges, stageIndex: number) {
  const connected = await edges.connect(keyOf(stageIndex), prepares()[stageIndex]!, identity);
  if (connected.kind !== 'connected') throw new Error(JSON.stringify(connected));
  return connected.sockets;
}

describe('the sockets of a stage', () => {
  it('lead to the stage after it, and from the last one out of the node', async () => {
    const edges = nodeEdges();
    const [first, last] = [await socketsOf(edges, 0), await socketsOf(edges, 1)];
    expect(first.outboundSocket).toBe(last.inboundSocket);
    expect(last.outboundSocket).toBe(`${ownEdgeFolder(INSTANCE)}/local.sock`);
  });

  it('are none when its provision has no edges', async () => {
    const [{ provision, ...rest }] = prepares() as [PrepareStage];
    const bare = { ...rest, provision: { ...provision!, inbound: undefined, outbound: undefined } };
    const sockets = { inboundSocket: '', outboundSocket: '' };
    expect(await nodeEdges().connect(keyOf(0), bare, identity)).toEqual({ kind: 'connected', sockets });
  });

  it('are gone with its worker, also when that was killed', async () => {
    const edges = nodeEdges();
    const { inboundSocket } = await socketsOf(edges, 0);
    writeFileSync(inboundSocket, '');
    edges.release(keyOf(0));
    expect(existsSync(inboundSocket)).toBe(false);
  });

  it('may be asked for again after its worker, which ended before it had them', async () => {
    const edges = nodeEdges();
    const early = edges.connect(keyOf(0), prepares()[0]!, identity);
    edges.release(keyOf(0));
    expect(await early).toEqual({ kind: 'released' });
    await socketsOf(edges, 0);
    edges.release(keyOf(0));
    await socketsOf(edges, 0);
  });
});

describe('the gateway of a node', () => {
  it('is opened once, and anew when the node got another id', async () => {
    const edges = nodeEdges();
    const [first, again] = await Promise.all([edges.open(identity), edges.open(identity)]);
    expect(again).toBe(first);
    await edges.open({ ...identity, nodeId: 5n });
    expect(readdirSync(edgeRuntimeFolder(identity.clusterId))).toEqual(['5.sock']);
  });

  it('that was refused is tried again', async () => {
    const edges = nodeEdges();
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    vi.stubEnv('XDG_RUNTIME_DIR', file);
    expect(await edges.open(identity)).toMatchObject({ kind: 'refused', reason: 'RUNTIME_FOLDER' });
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryFolder());
    expect(await edges.open(identity)).toMatchObject({ kind: 'open' });
  });
});
