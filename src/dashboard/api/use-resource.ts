import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from './api-error.js';

export interface Resource<T> {
  /** The newest that was read; stays while the orchestrator is away. */
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** Reads it again; what is asked for meanwhile is one more reading. */
  readonly refresh: () => void;
}

/**
 * Something of the orchestrator's: read at once, whenever `refresh` is called, and every so often, as long as what was read
 * last can still change by itself. `load` must be stable.
 */
export function useResource<T>(
  load: () => Promise<T>,
  every?: (data: T | undefined) => number | undefined,
): Resource<T> {
  const [state, setState] = useState<{ data?: T; error?: ApiError | undefined }>({});
  const isReading = useRef(false);
  const isAskedAgain = useRef(false);

  const refresh = useCallback(async () => {
    isAskedAgain.current = true;
    if (isReading.current) return;
    isReading.current = true;
    while (isAskedAgain.current) {
      isAskedAgain.current = false;
      try {
        setState({ data: await load(), error: undefined });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        setState((before) => ({ ...before, error }));
      }
    }
    isReading.current = false;
  }, [load]);

  useEffect(() => void refresh(), [refresh]);

  const everyMillis = every?.(state.data);
  useEffect(() => {
    if (everyMillis === undefined) return;
    const timer = setInterval(() => document.hidden || void refresh(), everyMillis);
    return () => clearInterval(timer);
  }, [refresh, everyMillis]);

  return { data: state.data, error: state.error, refresh };
}
