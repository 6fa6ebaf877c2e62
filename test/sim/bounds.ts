import { limits } from '../../src/core/limits.js';
import type { Effect } from '../../src/core/machine/effects.js';
import type { World } from '../../src/core/machine/state.js';
import type { Simulation } from './simulation.js';

/** Nothing grows without end, and nothing outlives what it belongs to (I16). */
export function checkBounds(sim: Simulation, world: World, effects: readonly Effect[]): void {
  const bound = (what: string, size: number, most: number) => {
    if (size > most) sim.violated('I16', `${size} ${what}, and at most ${most} are needed`);
  };
  bound('nodes', world.nodes.size, limits.nodes);
  bound('contacts', world.contacts.size, world.nodes.size);
  bound('names', world.nodeByName.size, world.nodes.size);
  bound('placements', world.placements.size, world.nodes.size);
  bound('requests', world.requests.size, limits.requestRecords);
  bound('footprints', world.footprints.size, limits.footprintRecords);
  let current = 0;
  for (const { session } of world.contacts.values()) current += Number(session !== undefined);
  bound('sessions', world.sessions.size, current);
  for (const effect of effects) {
    if (effect.kind !== 'send' || effect.message.message?.$case !== 'provision') continue;
    const session = world.sessions.get(effect.session);
    if (session)
      bound('unanswered deliveries', session.unanswered.size, world.placements.get(session.nodeId)?.size ?? 0);
  }
}
