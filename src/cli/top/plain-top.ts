import { Node } from '../../../gen/stageplane/v1/node.js';
import type { OrchestratorServiceClient } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { RunEvent, RunSummary } from '../../../gen/stageplane/v1/run.js';
import { listNodes, listRuns } from '../../launcher/list-all.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { nodeState } from '../format/node-state.js';
import { nodeTable } from '../format/node-table.js';
import { nodeTitle } from '../format/node-title.js';
import { runTable } from '../format/run-table.js';
import type { Output } from '../output.js';
import { TopFeed } from './top-feed.js';
import type { TopState, TopUpdate } from './top-state.js';
import { TopStore } from './top-store.js';

interface PlainTop {
  readonly client: OrchestratorServiceClient;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** What there is: two tables, or one JSON document. */
export async function showOnce(client: OrchestratorServiceClient, output: Output): Promise<ExitCode> {
  const [nodes, runs] = await Promise.all([listNodes(client), listRuns(client, false)]);
  if (output.json) output.document({ nodes: nodes.map(Node.toJSON), runs: runs.map(RunSummary.toJSON) });
  else printTables(output, nodes, runs);
  return exitCode.ok;
}

/** What there is, and then each change: a line, or a JSON object. Until the signal fires. Throws RpcError as the feed does. */
export async function followPlainly({ client, output, signal }: PlainTop): Promise<void> {
  const [nodes, runs] = await Promise.all([listNodes(client), listRuns(client, false)]);
  if (!output.json) printTables(output, nodes, runs);
  // What is in the tables is no change.
  const seen = new Map(nodes.map((node) => [node.nodeId, signOf(node)]));
  const past = runs.map(({ revision }) => revision).sort((a, b) => (a < b ? 1 : -1))[0] ?? 0n;
  const show = output.json ? jsonShow(output) : lineShow(output, seen, past);
  const store = new TopStore(show);
  try {
    await new TopFeed(client, store.tell, signal).follow();
  } finally {
    store.stop();
  }
}

function printTables(output: Output, nodes: readonly Node[], runs: readonly RunSummary[]): void {
  const now = new Date();
  output.print(`${nodeTable(nodes, now)}\n\n${runTable(runs, now)}\n`);
}

type Show = (update: TopUpdate, before: TopState, after: TopState) => void;

function jsonShow(output: Output): Show {
  return (update) => {
    switch (update.kind) {
      case 'node':
        return output.jsonLine({ node: Node.toJSON(update.node) });
      case 'node-removed':
        return output.jsonLine({ removedNodeId: String(update.nodeId) });
      case 'event':
        return output.jsonLine({ event: RunEvent.toJSON(update.event) });
      case 'connected':
        return output.jsonLine({ connection: { state: 'connected' } });
      case 'lost':
        return output.jsonLine({ connection: { state: 'lost', since: update.at.toISOString(), why: update.why } });
      default:
        return;
    }
  };
}

/** @param seen what was last said of each node */
function lineShow(output: Output, seen: Map<bigint, string>, past: bigint): Show {
  const say = (what: string) => output.print(`${new Date().toISOString().slice(11, 19)}  ${what}`);
  return (update, before, after) => {
    switch (update.kind) {
      case 'node': {
        // Figures change with each heartbeat; a log needs what a person would act on.
        const sign = signOf(update.node);
        if (seen.get(update.node.nodeId) !== sign) say(sign);
        seen.set(update.node.nodeId, sign);
        return;
      }
      case 'node-removed':
        seen.delete(update.nodeId);
        return say(`node ${nodeTitle(before.nodes.get(update.nodeId)?.name, update.nodeId)}  deleted`);
      case 'event':
        if (after.events !== before.events && update.event.revision > past)
          output.print(after.events.at(-1)?.line ?? '');
        return;
      case 'connected':
        if (before.connection.kind === 'lost') say('connected again');
        return;
      case 'lost':
        if (after.connection === before.connection) return;
        return output.note('CONNECTION_LOST', `connection lost, trying again: ${update.why}`);
      default:
        return;
    }
  };
}

/** What a line says of a node. */
function signOf(node: Node): string {
  return `node ${nodeTitle(node.name, node.nodeId)}  ${nodeState(node)}  ${node.liveStages} stages`;
}
