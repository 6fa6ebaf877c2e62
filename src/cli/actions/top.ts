import type { OrchestratorServiceClient } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { RpcError } from '../../grpc/rpc-error.js';
import type { Invocation } from '../command.js';
import type { TopValues } from '../commands/top.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';
import type { Output } from '../output.js';
import { followPlainly, showOnce } from '../top/plain-top.js';
import { TopFeed } from '../top/top-feed.js';
import { TopStore } from '../top/top-store.js';
import { withOrchestrator } from '../with-orchestrator.js';

export function top({ values, output }: Invocation<TopValues>): Promise<ExitCode> {
  return withOrchestrator(output, values, (client) => {
    if (values.once) return showOnce(client, output);
    // Keys need a terminal too.
    const isPlain = output.json || !output.live || process.stdin.isTTY !== true;
    return watch(client, output, { isPlain, address: values.orchestrator });
  });
}

async function watch(
  client: OrchestratorServiceClient,
  output: Output,
  { isPlain, address }: { isPlain: boolean; address: string },
): Promise<ExitCode> {
  const interrupts = listenForInterrupts(['SIGINT', 'SIGTERM', 'SIGHUP']);
  const over = new AbortController();
  interrupts.first.addEventListener('abort', () => over.abort(), { once: true });
  const store = new TopStore();
  const feed = new TopFeed(client, store.tell, over.signal);
  try {
    if (isPlain) await followPlainly({ client, output, signal: over.signal });
    else {
      const { showTop } = await import('../top/show-top.js');
      if ((await showTop({ store, feed, address, interrupts })) === 'quit') return exitCode.ok;
    }
    return exitCode.interrupted;
  } catch (error) {
    if (error instanceof RpcError && over.signal.aborted) return exitCode.interrupted;
    throw error;
  } finally {
    over.abort();
    store.stop();
    interrupts.ignore();
  }
}
