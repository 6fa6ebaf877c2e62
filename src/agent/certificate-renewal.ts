import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import { RpcError } from '../grpc/rpc-error.js';
import { type Credentials, writeCredentials } from '../pki/credential-folder.js';
import { renew, renewalTime } from '../pki/renew.js';
import type { NodeAccess } from './node-access.js';

export interface RenewalParts {
  readonly access: NodeAccess;
  /** `host:port` of the orchestrator; tried in turn. */
  readonly addresses: readonly string[];
  /** The next connection shall show the new one. */
  readonly renewed: () => void;
  readonly logger: Logger;
  /** Between attempts; default `limits.renewalRetryMillis`. */
  readonly retryMillis?: number;
}

/** Keeps the certificate of an agent good: a new one at half of its life, on the disk before it is shown. */
export class CertificateRenewal {
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #stopped = false;
  /** Issued, and not on the disk: each further one would count among those that a holder may have. */
  #unwritten: Credentials | undefined;

  constructor(private readonly parts: RenewalParts) {
    this.#wait(renewalTime(parts.access.credentials.certificate) - Date.now());
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** What fires too early, since no timer waits so long, waits again. */
  #wait(delay: number): void {
    if (this.#stopped) return;
    const bounded = Math.min(Math.max(delay, 0), limits.longestTimerMillis);
    this.#timer = setTimeout(() => void this.#look(), bounded).unref();
  }

  async #look(): Promise<void> {
    const { addresses, access, renewed, logger, retryMillis = limits.renewalRetryMillis } = this.parts;
    const early = renewalTime(access.credentials.certificate) - Date.now();
    if (early > 0) return this.#wait(early);
    try {
      const address = addresses[this.#attempts++ % addresses.length] ?? '';
      const next = this.#unwritten ?? (await renew(address, access.credentials));
      this.#unwritten = next;
      const problem = writeCredentials(access.folder, 'agent', next);
      if (problem !== undefined) throw new Error(problem);
      this.#unwritten = undefined;
      access.credentials = next;
      logger.info({ renewalAt: new Date(renewalTime(next.certificate)) }, 'certificate renewed');
      renewed();
      this.#wait(renewalTime(next.certificate) - Date.now());
    } catch (error) {
      const why = error instanceof RpcError ? error.message : String(error);
      logger.warn({ why }, 'the certificate was not renewed; trying again');
      this.#wait(retryMillis);
    }
  }
}
