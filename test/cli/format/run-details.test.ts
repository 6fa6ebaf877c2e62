import { describe, expect, it } from 'vitest';
import { RestartMode, Run, RunPhase, StageStatus, StageUsage, TextLoad } from '../../../gen/stageplane/v1/run.js';
import { runDetails } from '../../../src/cli/format/run-details.js';

const now = new Date('2026-03-04T03:04:05Z');

describe('a run in words', () => {
  it('says what its endpoint has to do and what each stage holds, when they have said so', () => {
    const stage = (stageIndex: number, usage?: StageUsage) => ({
      ...StageStatus.create({ stageIndex, nodeName: `node-${stageIndex}` }),
      usage,
    });
    const run = {
      ...Run.create({ runId: 7n, fidelity: 'exact' }),
      textLoad: TextLoad.create({ waitingPrompts: 3, runningAnswers: 2, heldSessions: 4 }),
      stages: [stage(0, StageUsage.create({ heldSessions: 4, heldTokens: 1200n })), stage(1)],
    };
    const text = runDetails(run, now);
    expect(text).toContain('2 answers under way, 3 prompts waiting, 4 sessions held');
    expect(text).toMatch(/fidelity: +exact/);
    expect(text).toMatch(/node-0 .* 1200 tokens of 4 sessions/);
    expect(text).toMatch(/node-1 .* - +-$/m);
  });

  it('says how often it began again, why, and what is left of earlier generations', () => {
    const gone = StageStatus.create({ stageIndex: 1, generation: 1, nodeName: 'beta', nodeId: 3n });
    const run = Run.fromPartial({
      runId: 7n,
      generation: 2,
      phase: RunPhase.RUN_PHASE_TEARING_DOWN,
      restarts: 1,
      restart: { mode: RestartMode.RESTART_MODE_ON_FAULT, maxAttempts: 3 },
      lastCause: { reason: 25, message: 'it was out of contact', nodeName: 'beta', stageIndex: 1, component: 'agent' },
      restartObstacle: 'no node fits',
      earlierStages: [gone],
    });
    const text = runDetails(run, now);
    expect(text).toMatch(/^phase: +TEARING_DOWN, then it begins again$/m);
    expect(text).toMatch(/^restarts: +1 of 3$/m);
    expect(text).toMatch(/^cause before: +stage 1 on beta, agent: NODE_LOST: it was out of contact$/m);
    expect(text).toMatch(/^no new plan: +no node fits$/m);
    expect(text).toContain('stage 1 of generation 1 on beta (3) is LOST and may still be alive');
  });

  it('is silent about them otherwise', () => {
    expect(runDetails(Run.create({ runId: 7n }), now)).not.toMatch(/^text:/m);
  });
});
