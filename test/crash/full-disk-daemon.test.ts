import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { samplePlan } from '../core/machine/samples.js';
import { canMount, mountedFolder } from '../support/mounted-folder.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { DaemonProcess } from './daemon-process.js';
import { HonestAgent } from './honest-agent.js';

// Pages that are left when a run is asked for: where in its life the disk is full differs.
it.for([0, 2, 5, 9, 14, 20])(
  'an orchestrator whose disk has %i pages left loses nothing, and goes on when there is room',
  async (pages, { skip }) => {
    if (!canMount()) skip('needs root and mount(8) for a file system of its own');
    const disk = mountedFolder('size=8m');
    let daemon = new DaemonProcess();
    const agent = new HonestAgent('alpha');
    let client: OrchestratorServiceClient | undefined;
    const begin = async () => {
      const address = await daemon.start(disk.path, '127.0.0.1:0');
      expect(address).toBeDefined();
      client?.close();
      client = dial(address!, OrchestratorServiceClient);
      await agent.join(address!);
      return client;
    };
    try {
      let orchestrator = await begin();
      const { nodes } = await unaryCall(orchestrator, Service.listNodes, { pageSize: 0, pageToken: '' });
      const request = { requestId: 'r', plan: samplePlan([nodes[0]!.nodeId]) };
      const filler = join(disk.path, 'filler');
      fillUp(filler, disk.path, pages);
      const first = await unaryCall(orchestrator, Service.createRun, request).catch((error: RpcError) => error);
      if (first instanceof RpcError) {
        expect([first.codeName, first.reason]).toEqual(['RESOURCE_EXHAUSTED', 'STORE_FAILED']);
        expect(first.message).toContain(`the disk of the data folder ${disk.path} is full, so nothing was committed`);
      }
      rmSync(filler);
      await agent.join(await addressOf());
      const { outcome } = await unaryCall(orchestrator, Service.createRun, request);
      if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
      const { runId } = outcome.value;
      if (!(first instanceof RpcError)) expect(first.outcome?.value).toMatchObject({ runId });
      await watchUntil(orchestrator, runId, RunPhase.RUN_PHASE_RUNNING);

      // What it says now is what it would say after a crash.
      await daemon.kill();
      daemon = new DaemonProcess();
      orchestrator = await begin();
      await unaryCall(orchestrator, Service.stopRun, { runId });
      await watchUntil(orchestrator, runId, RunPhase.RUN_PHASE_DONE);
      expect([...agent.starts.values()]).toEqual([1]);
      expect(agent.holds()).toEqual([]);
    } finally {
      agent.leave();
      client?.close();
      await daemon.kill();
      disk.remove();
    }

    async function addressOf(): Promise<string> {
      return client!.getChannel().getTarget().replace(/^dns:/, '');
    }
  },
);

function fillUp(path: string, folder: string, pages: number): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(path, Buffer.alloc((bavail - pages) * bsize));
}
