import { type ApiError, errorIn } from './api-error.js';
import { connection } from './connection.js';
import { session } from './session.js';

export interface WatchOptions {
  readonly method: string;
  /** The request, for who has everything up to a bookmark, or nothing. */
  readonly request: (bookmark: string | undefined) => unknown;
  readonly onMessage: (json: unknown) => void;
  /** The stream is open, for the first time or again. */
  readonly onOpen?: () => void;
  /** The orchestrator will not go on with it. */
  readonly onRefused?: (error: ApiError) => void;
}

const AGAIN_MILLIS = 2000;

/** Refusals of an orchestrator that stops, or that has much to do: the same request may be answered later. */
const passing = new Set(['SHUTTING_DOWN', 'SLOW_CONSUMER', 'TOO_MANY_WATCHERS', 'OVERLOADED']);

/**
 * Follows a stream until it is left. What breaks is opened again after the last bookmark: by the browser, or, where that has
 * given up, from here. A page that nobody looks at holds no connection: a browser has six for one address, and tabs share them.
 */
export class Watch {
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #bookmark: string | undefined;

  constructor(private readonly options: WatchOptions) {
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#onVisibility();
  }

  readonly leave = (): void => {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#rest();
  };

  readonly #onVisibility = (): void => (document.hidden ? this.#rest() : this.#open());

  #open(): void {
    this.#shut();
    const { method, request, onOpen } = this.options;
    const asked = encodeURIComponent(JSON.stringify(request(this.#bookmark)));
    const source = new EventSource(`/api/${method}?request=${asked}`);
    this.#source = source;
    source.onopen = () => {
      connection.up(this);
      onOpen?.();
    };
    source.onmessage = (message) => this.#take(message);
    source.addEventListener('end', this.leave);
    source.addEventListener('refused', ({ data }) => this.#refused(errorIn(200, JSON.parse(data))));
    source.onerror = () => this.#broken(source);
  }

  #take({ data, lastEventId }: MessageEvent<string>): void {
    if (lastEventId !== '') this.#bookmark = lastEventId;
    this.options.onMessage(JSON.parse(data));
  }

  #refused(error: ApiError): void {
    if (passing.has(error.reason)) return;
    this.leave();
    this.options.onRefused?.(error);
  }

  #broken({ readyState }: EventSource): void {
    connection.down(this);
    if (readyState !== EventSource.CLOSED) return;
    this.#timer = setTimeout(() => this.#open(), AGAIN_MILLIS);
    // It may be the key that is no longer good; an EventSource does not tell.
    session.read().catch(() => {});
  }

  #rest(): void {
    this.#shut();
    connection.up(this);
  }

  #shut(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
  }
}
