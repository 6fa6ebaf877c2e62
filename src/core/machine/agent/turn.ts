import type { SubscribeRequest } from '../../../../gen/stageplane/v1/node_agent_service.js';
import type { Millis } from '../../ids.js';
import type { LogFields } from '../effects.js';
import type { StageKey } from '../state.js';
import type { AgentEffect } from './effects.js';
import type { AgentRules } from './rules.js';
import { type AgentState, type HeldStageState, stageName } from './state.js';

/** One event's turn: the state that it leads to, and what must be done. The state it began with stays as it was. */
export class Turn {
  readonly effects: AgentEffect[] = [];

  constructor(
    public state: AgentState,
    readonly at: Millis,
    readonly rules: AgentRules,
  ) {}

  /** The session that takes messages; undefined while there is none, or before its Welcome. */
  get joined(): number | undefined {
    return this.state.contact.kind === 'joined' ? this.state.contact.session : undefined;
  }

  stage(key: StageKey): HeldStageState | undefined {
    return this.state.stages.get(stageName(key));
  }

  /** Every generation that is held of the stage that `key` names. */
  generationsOf(key: Pick<StageKey, 'runId' | 'stageIndex'>): HeldStageState[] {
    return [...this.state.stages.values()].filter(
      (stage) => stage.key.runId === key.runId && stage.key.stageIndex === key.stageIndex,
    );
  }

  change(patch: Partial<AgentState>): void {
    this.state = { ...this.state, ...patch };
  }

  putStage(stage: HeldStageState): void {
    this.change({ stages: new Map(this.state.stages).set(stageName(stage.key), stage) });
  }

  forgetStage(key: StageKey): void {
    const stages = new Map(this.state.stages);
    stages.delete(stageName(key));
    this.change({ stages });
  }

  /** A message that changes nothing but this counter (I6). */
  ignore(): void {
    this.change({ ignoredMessages: this.state.ignoredMessages + 1 });
  }

  perform(effect: AgentEffect): void {
    this.effects.push(effect);
  }

  /** Sends within the session, if there is one. What must not be lost is kept elsewhere, and sent after a Welcome. */
  send(message: NonNullable<SubscribeRequest['message']>): void {
    if (this.joined !== undefined) this.perform({ kind: 'send', session: this.joined, message: { message } });
  }

  say(level: 'info' | 'warn', message: string, fields: LogFields = {}): void {
    this.perform({ kind: 'say', level, message, fields });
  }
}
