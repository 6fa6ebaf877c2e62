import { describe, expect, it } from 'vitest';
import {
  readLayerCaps,
  readLayerRanges,
  readNodeNames,
  readPlacement,
} from '../../../src/cli/config/placement-readers.js';

describe('--place', () => {
  it('reads stages and nodes', () => {
    const value = [
      { stage: 0, node: 'alpha' },
      { stage: 1, node: '3' },
    ];
    expect(readPlacement('0=alpha, 1=3')).toEqual({ kind: 'read', value });
  });

  it('refuses a stage that is named twice', () => {
    const problem = 'names stage 1 twice; give each stage once';
    expect(readPlacement('0=a,1=b,1=c')).toEqual({ kind: 'refused', problem });
  });

  it.each(['', '0', '=a', '0=', 'x=a', '0=a,', '0=a b', '-1=a'])('refuses "%s"', (text) => {
    expect(readPlacement(text)).toMatchObject({ kind: 'refused' });
  });
});

describe('--layers', () => {
  it('reads half-open ranges, and leaves their sense to the planner', () => {
    const value = [
      { stage: 0, start: 0, end: 12 },
      { stage: 1, start: 30, end: 12 },
    ];
    expect(readLayerRanges('0=0-12,1=30-12')).toEqual({ kind: 'read', value });
  });

  it.each(['0=1', '0=1-', '0=-1-2', '0=a-b'])('refuses "%s"', (text) => {
    expect(readLayerRanges(text)).toMatchObject({ kind: 'refused' });
  });
});

describe('--max-layers', () => {
  it('reads nodes and labels, whose values may have colons', () => {
    const value = [
      { kind: 'node', node: 'alpha', layers: 3 },
      { kind: 'label', key: 'room', value: 'attic', layers: 5 },
      { kind: 'label', key: 'rack', value: '4:2', layers: 1 },
      { kind: 'label', key: 'spare', value: '', layers: 2 },
    ];
    const text = 'alpha=3, label:room=attic:5,label:rack=4:2:1,label:spare=:2';
    expect(readLayerCaps(text)).toEqual({ kind: 'read', value });
  });

  it.each(['', 'alpha', 'alpha=0', 'alpha=-1', 'alpha=3,', 'label:room=attic', 'label:=a:3', 'room=attic:3'])(
    'refuses "%s"',
    (text) => expect(readLayerCaps(text)).toMatchObject({ kind: 'refused' }),
  );
});

describe('--exclude', () => {
  it('reads names and ids', () => {
    expect(readNodeNames('alpha, 3')).toEqual({ kind: 'read', value: ['alpha', '3'] });
  });

  it.each(['', 'alpha,', 'a b', '0=alpha'])('refuses "%s"', (text) => {
    expect(readNodeNames(text)).toMatchObject({ kind: 'refused' });
  });
});
