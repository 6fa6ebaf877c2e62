import { useEffect, useRef } from 'react';
import { type WatchOptions, watch } from './watch.js';

/** Follows a stream while the component is shown. Only `key` decides which stream it is; undefined is none. */
export function useWatch(key: string | undefined, options: WatchOptions): void {
  const newest = useRef(options);
  newest.current = options;
  useEffect(() => {
    if (key === undefined) return;
    return watch({
      method: newest.current.method,
      request: (bookmark) => newest.current.request(bookmark),
      onMessage: (json) => newest.current.onMessage(json),
      onOpen: () => newest.current.onOpen?.(),
      onRefused: (error) => newest.current.onRefused?.(error),
    });
  }, [key]);
}
