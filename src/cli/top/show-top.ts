import { render } from 'ink';
import { createElement } from 'react';
import type { Interrupts } from '../interrupts.js';
import { takeScreen } from './screen.js';
import { TopApp } from './top-app.js';
import type { TopFeed } from './top-feed.js';
import type { TopStore } from './top-store.js';

interface ShowTop {
  readonly store: TopStore;
  readonly feed: Pick<TopFeed, 'follow' | 'tellTimeline'>;
  readonly address: string;
  readonly interrupts: Interrupts;
}

/** The live picture, until somebody leaves it. Throws RpcError as the feed does, with the terminal as it was. */
export async function showTop({ store, feed, address, interrupts }: ShowTop): Promise<'quit' | 'interrupt'> {
  const giveBack = takeScreen(process.stdout.fd);
  let instance: ReturnType<typeof render> | undefined;
  try {
    return await new Promise((resolve, reject) => {
      interrupts.first.addEventListener('abort', () => resolve('interrupt'), { once: true });
      const app = createElement(TopApp, {
        store,
        address,
        onOpen: (runId: bigint) => void feed.tellTimeline(runId).catch(reject),
        onQuit: resolve,
      });
      instance = render(app, { exitOnCtrlC: false, patchConsole: false, maxFps: 20 });
      instance.waitUntilExit().catch(reject);
      feed.follow().then(() => resolve('interrupt'), reject);
    });
  } finally {
    instance?.unmount();
    giveBack();
  }
}
