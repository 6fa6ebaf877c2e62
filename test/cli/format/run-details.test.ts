import { describe, expect, it } from 'vitest';
import { Run, StageStatus, StageUsage, TextLoad } from '../../../gen/stageplane/v1/run.js';
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

  it('is silent about them otherwise', () => {
    expect(runDetails(Run.create({ runId: 7n }), now)).not.toMatch(/^text:/m);
  });
});
