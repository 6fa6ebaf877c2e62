import type { SubscribeRequest } from '../../../../gen/stageplane/v1/node_agent_service.js';
import type { WorkerCommand } from '../../../../gen/stageplane/v1/worker.js';
import type { Millis } from '../../ids.js';
import type { LogFields } from '../effects.js';
import type { StageKey } from '../state.js';
import type { Identity } from './state.js';

/** Arming a timer again replaces it. */
export type AgentTimer = 'heartbeat' | 'lease';

/** What must be done, in this order. The machine does none of it. */
export type AgentEffect =
  /** Must be on disk before anything after it is done (I5). */
  | { readonly kind: 'persist-identity'; readonly identity: Identity }
  | { readonly kind: 'send'; readonly session: number; readonly message: SubscribeRequest }
  | { readonly kind: 'close-session'; readonly session: number; readonly why: string }
  | { readonly kind: 'start-worker'; readonly key: StageKey }
  | { readonly kind: 'command-worker'; readonly key: StageKey; readonly command: WorkerCommand }
  /** The stop command; SIGKILL when it is not obeyed in time. */
  | { readonly kind: 'stop-worker'; readonly key: StageKey; readonly reason: string }
  /** SIGKILL now: whatever the worker still says is not to be trusted. */
  | { readonly kind: 'kill-worker'; readonly key: StageKey }
  | { readonly kind: 'arm'; readonly timer: AgentTimer; readonly at: Millis }
  /** No worker is left and Goodbye, if there was anyone to hear it, is sent. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'say'; readonly level: 'info' | 'warn'; readonly message: string; readonly fields: LogFields };
