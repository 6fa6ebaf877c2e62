/**
 * The public API: the wire's types and codecs, the planner, the model reader, a launcher client, an agent session for
 * one's own agents, and the contract of stage engines. Everything else may change without notice.
 */
export * from '../gen/stageplane/v1/model.js';
export * from '../gen/stageplane/v1/node.js';
export * from '../gen/stageplane/v1/node_agent_service.js';
export * from '../gen/stageplane/v1/orchestrator_service.js';
export * from '../gen/stageplane/v1/plan.js';
export * from '../gen/stageplane/v1/planner.js';
export * from '../gen/stageplane/v1/provision.js';
export * from '../gen/stageplane/v1/rejection.js';
export * from '../gen/stageplane/v1/run.js';
export { ChatMessage, TextDone, TextDoneReason } from '../gen/stageplane/v1/token_endpoint.js';
export * from '../gen/stageplane/v1/worker.js';
export {
  AgentSession,
  type AgentSessionCallbacks,
  type AgentSessionEnd,
  type AgentSessionOptions,
} from './agent/agent-session.js';
export type { DeepPartial } from './core/deep-partial.js';
export {
  deriveStageProvision,
  type ProjectionOutcome,
  type ProjectionsOutcome,
  projectStages,
} from './core/planner/derive-stage-provision.js';
export { type PlanOutcome, planRun } from './core/planner/plan-run.js';
export { type ValidationOutcome, validateRunPlan } from './core/planner/validate-run-plan.js';
export type { GgufError, GgufErrorKind, Refused } from './gguf/gguf-error.js';
export { type Inspected, type InspectOptions, inspectModel } from './gguf/inspect-model.js';
export type { FieldViolation } from './grpc/field-violation.js';
export { RpcError, type RpcErrorParts } from './grpc/rpc-error.js';
export type { EventNews } from './launcher/follow-events.js';
export type { RunNews } from './launcher/follow-run.js';
export { Launcher } from './launcher/launcher.js';
export { BoundaryBundle } from './worker/engine/boundary-bundle.js';
export { EngineCapabilities } from './worker/engine/engine-capabilities.js';
export { EngineTensor } from './worker/engine/engine-tensor.js';
export type { ArchitectureAuxStateHook, MtpHook } from './worker/engine/hooks.js';
export { type LoadOptions, type LoadProgressReport, LoadRequest, type LoadResult } from './worker/engine/load.js';
export type { HealthResult, MetricsResult } from './worker/engine/observations.js';
export type { OwnEngine } from './worker/engine/own-engine.js';
export type { Recipe } from './worker/engine/recipe.js';
export type { SaidTokens } from './worker/engine/said-tokens.js';
export type { ShardEngine } from './worker/engine/shard-engine.js';
export type {
  LoadFootprint,
  LoadLayers,
  LoadLayersOutcome,
  StageLayers,
  StepInput,
  StepOutput,
} from './worker/engine/stage-layers.js';
export { EngineError, type StatusCode, type StructuredStatus } from './worker/engine/status.js';
export { type CacheResult, StepResult } from './worker/engine/step-result.js';
export { type CacheExpectation, DecodeRequest, PrefillRequest } from './worker/engine/steps.js';
export { TokenOutput } from './worker/engine/token-output.js';
export { runStageWorker } from './worker/run-stage-worker.js';
