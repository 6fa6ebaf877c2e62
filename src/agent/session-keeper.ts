import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import { type TlsRefusal, tlsRefusal } from '../grpc/tls-refusal.js';
import { whyUnanswered } from '../grpc/why-unanswered.js';
import { afterSession, type NextSession } from './after-session.js';
import { AgentSession, type AgentSessionCallbacks, type AgentSessionEnd } from './agent-session.js';

/** What the keeper does not know itself. Sessions are numbered from 1. */
export interface SessionHost {
  /** Called before a session opens; what it finds out may take a while. */
  prepare(): Promise<void>;
  callbacks(session: number): AgentSessionCallbacks;
  /** The stream is there and waits for Hello. */
  opened(session: number, stream: AgentSession): void;
  ended(session: number): void;
}

export interface SessionKeeperOptions {
  /** Tried in turn; at least one. */
  readonly addresses: readonly string[];
  /** Asked before each session: what is shown may have been renewed. */
  readonly credentials?: () => ChannelCredentials | undefined;
  readonly host: SessionHost;
  readonly logger: Logger;
}

export type KeeperEnd = { readonly kind: 'stopped' } | { readonly kind: 'refused'; readonly message: string };

/** An agent joins at its start, and not with `stageplane join`, which is for people. */
const adviceFor = {
  'certificate-required':
    'certificates are asked for here and this agent has none: start it with --join and a token of `stageplane token create`',
  'certificate-refused': 'the certificate of this agent is not taken here: start it with --join and a new token',
  'foreign-orchestrator':
    'what answers here is not the orchestrator that was joined; nothing was said to it: check the address',
} as const satisfies Record<TlsRefusal, string>;

/** Keeps one session open, one after the other, until it is stopped or the orchestrator will never have this agent. */
export class SessionKeeper {
  #session = 0;
  #everWelcomed = false;
  #shortSessions = 0;
  #inUseSince: number | undefined;

  constructor(private readonly options: SessionKeeperOptions) {}

  /** @param signal stops it; the session that is open must be ended by its owner */
  async run(signal: AbortSignal): Promise<KeeperEnd> {
    while (!signal.aborted) {
      const began = performance.now();
      const end = await this.#oneSession(signal);
      if (signal.aborted) break;
      const next = this.#decide(end, performance.now() - began);
      if (next.kind === 'give-up') return { kind: 'refused', message: next.message };
      await sleep(next.afterMillis, undefined, { signal }).catch(() => {});
    }
    return { kind: 'stopped' };
  }

  async #oneSession(signal: AbortSignal): Promise<AgentSessionEnd> {
    const { addresses, host } = this.options;
    await host.prepare();
    // Stopped in the meantime: nobody would end a session that is opened now.
    if (signal.aborted) return { kind: 'closed', why: 'stopped' };
    const session = ++this.#session;
    const credentials = this.options.credentials?.();
    const address = addresses[(session - 1) % addresses.length] ?? '';
    const stream = new AgentSession({ address, callbacks: this.#listen(session), ...(credentials && { credentials }) });
    host.opened(session, stream);
    const end = await stream.ended;
    host.ended(session);
    await this.#tell(address, end, credentials !== undefined);
    return end;
  }

  /** Listens along for what decides how long to hold on. */
  #listen(session: number): AgentSessionCallbacks {
    const callbacks = this.options.host.callbacks(session);
    return {
      ...callbacks,
      onWelcome: (welcome) => {
        this.#everWelcomed = true;
        callbacks.onWelcome?.(welcome);
      },
    };
  }

  /** @param lasted milliseconds */
  #decide(end: AgentSessionEnd, lasted: number): NextSession {
    const inUse = end.kind === 'failed' && end.error.reason === 'INSTANCE_IN_USE';
    const now = performance.now();
    this.#inUseSince = inUse ? (this.#inUseSince ?? now) : undefined;
    // A session that was welcomed and broke at once must not be tried four times a second for ever.
    if (lasted >= limits.sessionBackoffMaxMillis) this.#shortSessions = 0;
    const history = {
      everWelcomed: this.#everWelcomed,
      shortSessions: this.#shortSessions,
      inUseFor: this.#inUseSince === undefined ? 0 : now - this.#inUseSince,
    };
    this.#shortSessions += 1;
    return afterSession(end, history, Math.random());
  }

  async #tell(address: string, end: AgentSessionEnd, showed: boolean): Promise<void> {
    const { logger } = this.options;
    switch (end.kind) {
      case 'failed': {
        const refusal = await tlsRefusal(address, end.error, showed);
        if (refusal) return logger.warn({ address, reason: refusal, why: end.error.message }, adviceFor[refusal]);
        const unanswered = whyUnanswered(end.error);
        if (unanswered) return logger.warn({ address, why: unanswered }, 'no orchestrator answers; trying again');
        return logger.warn({ address, reason: end.error.reason, why: end.error.message }, 'session failed');
      }
      case 'sent-away':
        return logger.info(
          { address, why: end.reason, retryDelayMillis: end.retryDelayMillis },
          'session was sent away',
        );
      case 'closed':
        return logger.info({ address, why: end.why }, 'session closed');
      case 'ended':
        return logger.info({ address }, 'session ended');
    }
  }
}
