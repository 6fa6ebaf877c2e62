import { useEffect, useRef } from 'react';
import { Watch, type WatchOptions } from './watch.js';

/** Follows a stream while the component is shown. Only `key` decides which stream it is. */
export function useWatch(key: string, options: WatchOptions): void {
  const newest = useRef(options);
  newest.current = options;
  useEffect(() => {
    const { method } = newest.current;
    return new Watch({
      method,
      request: (bookmark) => newest.current.request(bookmark),
      onMessage: (json) => newest.current.onMessage(json),
      onOpen: () => newest.current.onOpen?.(),
      onRefused: (error) => newest.current.onRefused?.(error),
    }).leave;
  }, [key]);
}
