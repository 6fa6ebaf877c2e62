import { EdgeKind, type EdgePlan } from '../../gen/stageplane/v1/plan.js';
import { type OpenTokenEndpoint, TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../core/limits.js';
import type { EdgeContract } from '../worker/edge/edge-contract.js';

/** What an endpoint must know of its run to cut prompts and end answers. */
export interface AnswerBounds {
  /** Tokens of prompt and answer together. */
  readonly contextLength: number;
  /** Rows of one piece of a prompt. */
  readonly microBatch: number;
  /** Generation sessions that every stage holds at once. */
  readonly sessions: number;
  /** Tokens of one answer; 0 for no bound of its own. */
  readonly maxTokens: number;
  /** Id of the first generation session; lower ones belong to an earlier endpoint. */
  readonly firstSession: bigint;
}

/** One end of an edge on this machine. */
export interface TokenEdge {
  readonly socket: string;
  readonly contract: EdgeContract;
}

export interface CheckedOpen {
  readonly kind: 'checked';
  readonly tokenIn: TokenEdge;
  readonly tokenOut: TokenEdge;
  readonly modelPath: string;
  readonly tokenizer: TokenizerKind.TOKENIZER_KIND_MODEL | TokenizerKind.TOKENIZER_KIND_BYTES;
  readonly bounds: AnswerBounds;
}

export type OpenCheck =
  | CheckedOpen
  /** `problem` goes on a sentence about the open command. */
  | { readonly kind: 'malformed'; readonly problem: string };

/** Checks an open command and takes from it what is used. */
export function checkOpen(command: OpenTokenEndpoint): OpenCheck {
  const { settings, modelPath, maxTokens, firstSession, outboundSocket, inboundSocket } = command;
  const tokenizer = tokenizerOf(command);
  const problem =
    problemOfSocket('outbound_socket', outboundSocket) ??
    problemOfSocket('inbound_socket', inboundSocket) ??
    problemOfEdge('token_in', command.tokenIn, EdgeKind.EDGE_KIND_TOKEN_IN) ??
    problemOfEdge('token_out', command.tokenOut, EdgeKind.EDGE_KIND_TOKEN_OUT) ??
    problemOfSettings(settings);
  if (problem !== undefined) return { kind: 'malformed', problem };
  if (tokenizer === undefined)
    return { kind: 'malformed', problem: 'names a tokenizer that this version does not know' };
  const { contextLength, microBatch, sessions } = settings!;
  return {
    kind: 'checked',
    tokenIn: { socket: outboundSocket, contract: contractOf(command, command.tokenIn!) },
    tokenOut: { socket: inboundSocket, contract: contractOf(command, command.tokenOut!) },
    modelPath,
    tokenizer,
    bounds: {
      contextLength,
      microBatch,
      sessions: Math.max(1, sessions),
      maxTokens,
      firstSession: firstSession || 1n,
    },
  };
}

function tokenizerOf({ tokenizer, settings }: OpenTokenEndpoint): CheckedOpen['tokenizer'] | undefined {
  switch (tokenizer) {
    case TokenizerKind.TOKENIZER_KIND_MODEL:
    case TokenizerKind.TOKENIZER_KIND_BYTES:
      return tokenizer;
    case TokenizerKind.TOKENIZER_KIND_UNSPECIFIED:
      return settings?.engine === 'fixture' ? TokenizerKind.TOKENIZER_KIND_BYTES : TokenizerKind.TOKENIZER_KIND_MODEL;
    default:
      return undefined;
  }
}

function problemOfSocket(name: string, path: string): string | undefined {
  const bytes = Buffer.byteLength(path);
  return bytes === 0 || bytes > limits.socketPathBytes
    ? `has a ${name} of ${bytes} bytes, 1 to ${limits.socketPathBytes} are possible`
    : undefined;
}

function problemOfEdge(name: string, edge: EdgePlan | undefined, kind: EdgeKind): string | undefined {
  if (edge?.objectSpec === undefined || edge.ringSpec === undefined) return `has no whole ${name} edge`;
  if (edge.kind !== kind) return `has an edge of ${EdgeKind[edge.kind]} as ${name}`;
  if (edge.producer?.endpoint === undefined) return `has a ${name} edge without a producer`;
  return edge.objectSpec.alignment === 0 ? `has a ${name} edge with alignment 0` : undefined;
}

function problemOfSettings(settings: OpenTokenEndpoint['settings']): string | undefined {
  if (settings === undefined) return 'has no settings';
  if (settings.contextLength === 0) return 'has settings without context_length';
  return settings.microBatch === 0 ? 'has settings without micro_batch' : undefined;
}

function contractOf({ runId, generation }: OpenTokenEndpoint, edge: EdgePlan): EdgeContract {
  return {
    runId,
    generation,
    edgeId: edge.edgeId,
    producerNodeId: edge.producer!.endpoint!.value.nodeId,
    maxExtent: Number(edge.objectSpec!.maxExtent),
    alignment: edge.objectSpec!.alignment,
    capacity: Number(edge.ringSpec!.dataCapacity),
  };
}
