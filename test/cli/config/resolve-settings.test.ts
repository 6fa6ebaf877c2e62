import { describe, expect, it } from 'vitest';
import { readAddress, readCount, readDuration } from '../../../src/cli/config/readers.js';
import { resolveOperands, resolveSettings } from '../../../src/cli/config/resolve-settings.js';
import { list, operand, operands, optional, required, toggle } from '../../../src/cli/config/setting.js';

const settings = {
  listen: required(readAddress, { description: '', fallback: '127.0.0.1:7070', environment: true }),
  ackDeadline: required(readDuration(1), { description: '', fallback: '10s', environment: true }),
  insecure: toggle('', { environment: true }),
  stages: optional(readCount(1), { description: '' }),
  warm: list(readCount(0), { description: '', environment: true }),
};

describe('settings', () => {
  it('take flags before the environment before fallbacks', () => {
    const environment = { STAGEPLANE_LISTEN: '127.0.0.1:1', STAGEPLANE_ACK_DEADLINE: '3s' };
    const { values, problems } = resolveSettings(settings, { listen: '127.0.0.1:2' }, environment);
    expect(problems).toEqual([]);
    expect(values).toEqual({ listen: '127.0.0.1:2', ackDeadline: 3000, insecure: false, stages: undefined, warm: [] });
  });

  it('read switches and lists from the environment', () => {
    const { values } = resolveSettings(settings, {}, { STAGEPLANE_INSECURE: 'false', STAGEPLANE_WARM: '1,2' });
    expect(values).toMatchObject({ insecure: false, warm: [1, 2] });
    expect(resolveSettings(settings, {}, { STAGEPLANE_INSECURE: '1' }).values.insecure).toBe(true);
  });

  it('do not let the environment set what belongs to one request', () => {
    expect(resolveSettings(settings, {}, { STAGEPLANE_STAGES: '4' }).values.stages).toBeUndefined();
  });

  it('report everything that is wrong at once, and where it was given', () => {
    const environment = { STAGEPLANE_ACK_DEADLINE: 'soon', STAGEPLANE_INSECURE: 'maybe' };
    const given = { listen: 'nowhere', warm: ['1', 'x', 'y'], stages: '0' };
    expect(resolveSettings(settings, given, environment).problems).toEqual([
      { field: '--listen', message: '"nowhere" is no address; write host:port, such as 127.0.0.1:7070' },
      { field: 'STAGEPLANE_ACK_DEADLINE', message: '"soon" is no duration; write one such as 300ms, 5s or 2m' },
      { field: 'STAGEPLANE_INSECURE', message: '"maybe" is neither true nor false' },
      { field: '--stages', message: '"0" is too small; write at least 1' },
      { field: '--warm', message: '"x" is no whole number' },
      { field: '--warm', message: '"y" is no whole number' },
    ]);
  });

  it('read arguments without a flag by position', () => {
    const parts = { placeholder: '<id>', description: '' };
    const taken = { first: operand(readCount(0), parts), rest: operands(readCount(0), parts) };
    expect(resolveOperands(taken, ['1', ['2', '3']]).values).toEqual({ first: 1, rest: [2, 3] });
    expect(resolveOperands(taken, ['x', ['2']]).problems).toEqual([
      { field: '<id>', message: '"x" is no whole number' },
    ]);
  });
});
