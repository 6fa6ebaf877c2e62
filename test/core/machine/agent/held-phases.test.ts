import { expect, it } from 'vitest';
import { heldPhases, heldTransitions } from '../../../../src/core/machine/agent/held-phases.js';

it('ranks only grow, but for the step that ends (I2)', () => {
  const falling = heldTransitions.flatMap(({ from, on, to }) =>
    from.filter((phase) => heldPhases.indexOf(phase) >= heldPhases.indexOf(to)).map((phase) => `${phase} ${on} ${to}`),
  );
  expect(falling).toEqual(['EXECUTING step-ended READY']);
});

it('each phase has at most one row for an event', () => {
  const pairs = heldTransitions.flatMap(({ from, on }) => from.map((phase) => `${phase} ${on}`));
  expect(new Set(pairs).size).toBe(pairs.length);
});
