import type { HeldStage } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { limits } from '../../limits.js';
import { wireHeldPhase } from './held-phases.js';
import type { AgentState } from './state.js';

/** Every stage that the agent holds, from state alone. Some faults leave their log lines to the report that follows. */
export function inventoryOf(state: AgentState): HeldStage[] {
  let tails = 0;
  return [...state.stages.values()].map(({ key, phase, fault, footprint }) => {
    if (fault) tails += 1;
    const brief = fault && tails > limits.inventoryLogTails ? { ...fault, logTail: [] } : fault;
    return { ...key, phase: wireHeldPhase(phase), fault: brief, footprint };
  });
}
