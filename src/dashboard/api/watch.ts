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
export function watch({ method, request, onMessage, onOpen, onRefused }: WatchOptions): () => void {
  const me = Symbol(method);
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let bookmark: string | undefined;
  let isOver = false;

  const shut = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const leave = () => {
    isOver = true;
    shut();
    connection.up(me);
    document.removeEventListener('visibilitychange', onVisibility);
  };
  const open = () => {
    shut();
    const opened = new EventSource(`/api/${method}?request=${encodeURIComponent(JSON.stringify(request(bookmark)))}`);
    source = opened;
    opened.onopen = () => {
      connection.up(me);
      onOpen?.();
    };
    opened.onmessage = ({ data, lastEventId }) => {
      if (lastEventId !== '') bookmark = lastEventId;
      onMessage(JSON.parse(data));
    };
    opened.addEventListener('end', leave);
    opened.addEventListener('refused', ({ data }) => {
      const error = errorIn(200, JSON.parse(data));
      if (passing.has(error.reason)) return;
      leave();
      onRefused?.(error);
    });
    opened.onerror = () => {
      connection.down(me);
      if (opened.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, AGAIN_MILLIS);
      // It may be the key that is no longer good; an EventSource does not tell.
      session.read().catch(() => {});
    };
  };
  const onVisibility = () => {
    if (isOver) return;
    if (!document.hidden) open();
    else {
      shut();
      connection.up(me);
    }
  };
  document.addEventListener('visibilitychange', onVisibility);
  if (!document.hidden) open();
  return leave;
}
