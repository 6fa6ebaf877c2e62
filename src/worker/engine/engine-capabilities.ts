import type { StructuredStatus } from './status.js';

interface EngineCapabilitiesFields {
  readonly status: StructuredStatus;
  readonly shardStart?: number;
  readonly shardEnd?: number;
  readonly effectiveStart?: number;
  readonly totalLayers?: number;
  readonly architecture?: string;
  readonly maxConcurrentSessions?: number;
  readonly maxContextTokens?: number;
}

/** The range and the limits that an engine answers for, once it is loaded. */
export class EngineCapabilities {
  readonly status: StructuredStatus;
  readonly shardStart: number;
  /** Inclusive. */
  readonly shardEnd: number;
  readonly effectiveStart: number;
  readonly totalLayers: number;
  readonly architecture: string;
  readonly maxConcurrentSessions: number;
  /** Tokens that one session may hold. */
  readonly maxContextTokens: number;
  readonly supportsMtp = false;

  constructor(fields: EngineCapabilitiesFields) {
    this.status = fields.status;
    this.shardStart = fields.shardStart ?? 0;
    this.shardEnd = fields.shardEnd ?? 0;
    this.effectiveStart = fields.effectiveStart ?? 0;
    this.totalLayers = fields.totalLayers ?? 0;
    this.architecture = fields.architecture ?? '';
    this.maxConcurrentSessions = fields.maxConcurrentSessions ?? 0;
    this.maxContextTokens = fields.maxContextTokens ?? 0;
  }

  /** Whether token ids come in. */
  get isHead(): boolean {
    return this.shardStart === 0;
  }

  /** Whether tokens come out. */
  get isTail(): boolean {
    return this.shardEnd >= this.totalLayers - 1;
  }
}
