import { describe, expect, it } from 'vitest';
import { readModelsFolder, readPercent, readSeconds } from '../../../src/cli/config/readers.js';

describe('a percentage', () => {
  it.each([
    ['0', 0],
    ['20', 200],
    ['12.5', 125],
    ['100%', 1000],
  ])('%s is read as %d thousandths', (text, value) => {
    expect(readPercent(text)).toEqual({ kind: 'read', value });
  });

  it.each(['', '-1', '100.1', '12.55', '0x10', '1e2', '.5'])('is not "%s"', (text) => {
    expect(readPercent(text)).toMatchObject({ kind: 'refused' });
  });
});

describe('seconds', () => {
  it.each([
    ['2', 2_000_000n],
    ['0.25', 250_000n],
    ['0.000001', 1n],
  ])('%s are read as %d microseconds', (text, value) => {
    expect(readSeconds(text)).toEqual({ kind: 'read', value });
  });

  it.each(['', '0', '0.0', '0.0000001', '-1', '5s'])('are not "%s"', (text) => {
    expect(readSeconds(text)).toMatchObject({ kind: 'refused' });
  });
});

describe('a models folder', () => {
  it('exists, and is not the whole machine', () => {
    expect(readModelsFolder('.')).toEqual({ kind: 'read', value: process.cwd() });
    for (const text of ['/', '/usr/..', '//']) {
      expect(readModelsFolder(text)).toMatchObject({ problem: expect.stringContaining('whole machine') });
    }
    expect(readModelsFolder('/nowhere')).toMatchObject({ problem: expect.stringContaining('no folder') });
  });
});
