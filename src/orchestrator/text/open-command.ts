import { type OpenTokenEndpoint, TokenizerKind } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { RunState } from '../../core/machine/state.js';

/** What is true of one opening alone. */
export interface OpeningFacts {
  /** Where the node's gateway takes token-in. */
  readonly outboundSocket: string;
  /** Where the endpoint listens for token-out. */
  readonly inboundSocket: string;
  /** The file with the tokenizer; empty when the engine needs none. */
  readonly modelPath: string;
  /** Grows with each start of the orchestrator. */
  readonly epoch: bigint;
}

/** Tells a token endpoint which run it serves. */
export function openCommand(run: RunState, facts: OpeningFacts): OpenTokenEndpoint {
  const { outboundSocket, inboundSocket, modelPath, epoch } = facts;
  return {
    runId: run.runId,
    generation: run.generation,
    tokenIn: run.plan.edges.at(0),
    tokenOut: run.plan.edges.at(-1),
    outboundSocket,
    inboundSocket,
    modelPath,
    // Engine, context, micro-batch and sessions are the same for all stages.
    settings: run.settings[0],
    maxTokens: run.plan.maxTokens,
    tokenizer: TokenizerKind.TOKENIZER_KIND_UNSPECIFIED,
    // The endpoint of an earlier epoch may have used lower ids in this very generation.
    firstSession: (epoch << 32n) + 1n,
  };
}
