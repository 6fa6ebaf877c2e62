import { describe, expect, it } from 'vitest';
import { failPointNames } from '../../src/orchestrator/fail-point.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { CrashStory } from './crash-story.js';

/** More than one story passes any point. */
const MOST_PASSAGES = 100;

/** Milliseconds for some 20 starts of a process: a second each where nobody else computes, and five where many do. */
const PATIENCE = 600_000;

const nothing = 'loses nothing that was told and starts nothing twice (I3, I4, I9, I11, I17, I18)';

describe.concurrent(`kill -9 at every passage of every point ${nothing}`, () => {
  it.for(failPointNames)('%s', { timeout: PATIENCE }, async (name, { onTestFinished }) => {
    // Of its own context: the imported one would be another test's, as they run at once.
    const story = new CrashStory(temporaryFolder(onTestFinished));
    onTestFinished(() => story.end());
    await story.begin();
    let passage = 1;
    while (await story.crashAt(name, passage)) {
      passage += 1;
      expect(passage).toBeLessThan(MOST_PASSAGES);
    }
    // It was reached at all, and each passage but the last ended the process.
    expect(story.kills).toBeGreaterThan(0);
    expect(story.kills).toBe(passage - 1);
    if (process.env.TEST_LOG) console.log(`${name}: ${story.kills} kills`);
  });
});
