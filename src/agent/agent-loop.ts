import type { Logger } from 'pino';
import type { Millis } from '../core/ids.js';
import type { AgentEffect } from '../core/machine/agent/effects.js';
import type { AgentEvent } from '../core/machine/agent/events.js';
import type { AgentRules } from '../core/machine/agent/rules.js';
import { type AgentState, type Identity, openAgent } from '../core/machine/agent/state.js';
import { step } from '../core/machine/agent/step.js';

export interface AgentLoopOptions {
  readonly identity: Identity;
  readonly rules: AgentRules;
  readonly now: () => Millis;
  /** Undefined when the identity is on disk, otherwise why it is not. */
  readonly persist: (identity: Identity) => string | undefined;
  readonly perform: (effect: AgentEffect) => void;
  readonly logger: Logger;
}

/** The single writer of an agent's state: one event at a time, effects in their order. */
export class AgentLoop {
  #state: AgentState;
  readonly #events: AgentEvent[] = [];
  #running = false;

  constructor(private readonly options: AgentLoopOptions) {
    this.#state = openAgent(options.identity);
  }

  get state(): AgentState {
    return this.#state;
  }

  /** Takes an event; one that comes while effects are performed waits for its turn. */
  take(event: AgentEvent): void {
    this.#events.push(event);
    if (this.#running) return;
    this.#running = true;
    try {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) this.#turn(next);
    } finally {
      this.#running = false;
    }
  }

  #turn(event: AgentEvent): void {
    const { now, rules, perform } = this.options;
    const { state, effects } = step(this.#state, event, now(), rules);
    if (!this.#persist(effects)) {
      // As if the message had never come: the next session brings what counts once more.
      if ('session' in event)
        perform({ kind: 'close-session', session: event.session, why: 'the identity cannot be written' });
      return;
    }
    this.#state = state;
    for (const effect of effects) perform(effect);
  }

  /** Before everything else of the turn: nothing is said under an epoch that a restart would forget (I5). */
  #persist(effects: readonly AgentEffect[]): boolean {
    const identities = effects.flatMap((effect) => (effect.kind === 'persist-identity' ? [effect.identity] : []));
    const newest = identities.at(-1);
    const problem = newest && this.options.persist(newest);
    if (problem === undefined) return true;
    this.options.logger.error({ why: problem }, 'identity cannot be written, session is given up');
    return false;
  }
}
