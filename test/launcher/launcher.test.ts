import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentSession, Launcher, planRun, RpcError, RunPhase, validateRunPlan } from '../../src/index.js';
import { sampleHello, samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

/** Everything here uses the package as its users do: through its public API. */
async function launch() {
  const orchestrator = await runOrchestrator();
  const launcher = new Launcher(orchestrator.address);
  onTestFinished(() => launcher.close());
  return { ...orchestrator, launcher };
}

describe('a launcher', () => {
  it('plans, starts, watches, stops and forgets a run', async () => {
    const { launcher, address } = await launch();
    const agent = await ScriptedAgent.join(address, 'alpha');
    expect(await launcher.listNodes()).toMatchObject([{ nodeId: 2n, name: 'alpha' }]);
    expect((await launcher.planRun(samplePlan([2n]))).outcome?.$case).toBe('plan');

    const { outcome } = await launcher.createRun({ requestId: 'r', plan: samplePlan([2n]) });
    if (outcome?.$case !== 'run') throw new Error('no run');
    const { runId } = outcome.value;
    expect(validateRunPlan(outcome.value.plan!)).toEqual({ kind: 'valid' });
    await agent.becomeReady();
    const phases: RunPhase[] = [];
    for await (const news of launcher.watchRun(runId)) {
      if (news.kind !== 'update' || news.update.update?.$case !== 'event') continue;
      const { detail } = news.update.update.value;
      if (detail?.$case !== 'runPhase') continue;
      phases.push(detail.value.phase);
      if (detail.value.phase !== RunPhase.RUN_PHASE_RUNNING) continue;
      await launcher.stopRun(runId);
      await agent.confirmStop();
    }
    expect(phases.at(-1)).toBe(RunPhase.RUN_PHASE_DONE);
    expect(await launcher.listRuns()).toMatchObject([{ runId, readyStages: 0 }]);
    await launcher.deleteRun(runId);
    await expect(launcher.getRun(runId)).rejects.toBeInstanceOf(RpcError);
  });

  it('goes on watching all runs when the orchestrator restarts, and sees each event once', async () => {
    const { launcher, address, dataFolder, stop } = await launch();
    await ScriptedAgent.join(address, 'alpha');
    await launcher.createRun({ requestId: 'a', plan: samplePlan([2n]) });
    const revisions: bigint[] = [];
    let again: { readonly address: string } | undefined;
    for await (const news of launcher.watchEvents()) {
      if (news.kind === 'broken') {
        again = await runOrchestrator({ dataFolder, listen: address });
        await ScriptedAgent.join(address, 'beta');
        await launcher.createRun({ requestId: 'b', plan: samplePlan([3n]) });
        continue;
      }
      const { update } = news.update;
      if (update?.$case === 'event') revisions.push(update.value.revision);
      if (update?.$case === 'progress' && !again) await stop();
      if (update?.$case === 'event' && update.value.runId === 2n) break;
    }
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => Number(a - b)));
    const from = { $case: 'last', value: 1 } as const;
    for await (const news of launcher.watchEvents(from)) {
      if (news.kind !== 'update') continue;
      expect(news.update.update).toMatchObject({ $case: 'event', value: { runId: 2n } });
      break;
    }
    const leave = AbortSignal.timeout(50);
    for await (const news of launcher.watchEvents({ $case: 'last', value: 0 }, leave)) {
      expect(news).toMatchObject({ update: { update: { $case: 'progress' } } });
    }
  });

  it('goes on watching when the orchestrator restarts', async () => {
    const { launcher, address, dataFolder, stop } = await launch();
    await ScriptedAgent.join(address, 'alpha');
    await launcher.createRun({ requestId: 'r', plan: samplePlan([2n]) });
    const kinds: string[] = [];
    let stopping: Promise<void> | undefined;
    for await (const news of launcher.watchRun(1n)) {
      kinds.push(news.kind);
      if (news.kind === 'update' && kinds.includes('broken')) break;
      stopping ??= stop();
      if (news.kind !== 'broken') continue;
      await stopping;
      await runOrchestrator({ dataFolder, listen: address });
    }
    expect(kinds).toContain('broken');
    expect((await launcher.getRun(1n)).runId).toBe(1n);
  });
});

describe("an agent of one's own", () => {
  it('joins, takes a stage and says that it is ready', async () => {
    const { launcher, address } = await launch();
    const session = new AgentSession({
      address,
      callbacks: {
        onProvision({ deliveryId, generation, stages }) {
          session.ack(deliveryId);
          for (const { provision } of stages) {
            const { runId, stageIndex } = provision!;
            const ready = { bytesRead: 0n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n };
            const report = { $case: 'ready', value: ready } as const;
            session.report({ reportId: 1n, runId, stageIndex, generation, report });
          }
        },
        onStop() {},
        onReconciled: () => joined(),
      },
    });
    let joined = () => {};
    const reconciled = new Promise<void>((resolve) => {
      joined = resolve;
    });
    session.hello(sampleHello('own'));
    await reconciled;
    await launcher.createRun({ requestId: 'r', plan: samplePlan([2n]) });
    for await (const news of launcher.watchRun(1n)) {
      if (news.kind === 'update' && (await launcher.getRun(1n)).phase === RunPhase.RUN_PHASE_RUNNING) break;
    }
    session.close('done');
    expect(await session.ended).toEqual({ kind: 'closed', why: 'done' });
  });
});

describe('the planner', () => {
  it('is a pure function of the package', () => {
    expect(planRun({} as never)).toMatchObject({ kind: 'rejected' });
  });
});
