import { limits } from '../core/limits.js';

/** What a field must keep beyond its type. Sizes that are absent take the defaults of limits.ts. */
export interface FieldRule {
  /** A string or list must not be empty, a message or oneof not unset, an enum not `_UNSPECIFIED`. */
  readonly required?: true;
  /** Bytes of a string in UTF-8, or of a bytes field; also of each entry of a list. */
  readonly maxBytes?: number;
  /** Entries of a list or map. */
  readonly maxEntries?: number;
}

/**
 * Rules by full name of a field or oneof. They say what the comments in the proto files say; what the planner rejects
 * as MALFORMED_INPUT is not refused here, because a rejection is an answer.
 */
export const fieldRules: Readonly<Record<string, FieldRule>> = {
  'stageplane.v1.InspectModelRequest.source': { required: true },
  'stageplane.v1.PlanRunRequest.plan': { required: true },
  'stageplane.v1.CreateRunRequest.request_id': {
    required: true,
    maxBytes: limits.requestIdBytes,
  },
  'stageplane.v1.CreateRunRequest.plan': { required: true },
  'stageplane.v1.PlanRequest.model': { required: true },

  'stageplane.v1.ModelFacts.model_id': { maxBytes: limits.pathBytes },
  'stageplane.v1.GgufSource.local_path': { maxBytes: limits.pathBytes },
  'stageplane.v1.HuggingFaceSource.repo': { maxBytes: limits.pathBytes },
  'stageplane.v1.HuggingFaceSource.file': { maxBytes: limits.pathBytes },
  'stageplane.v1.HuggingFaceSource.revision': { maxBytes: limits.pathBytes },
  'stageplane.v1.TokenizerSource.local_path': { maxBytes: limits.pathBytes },
  'stageplane.v1.PromptSource.inline': { maxBytes: limits.promptBytes },
  'stageplane.v1.PromptSource.user_message': { maxBytes: limits.promptBytes },
  'stageplane.v1.GenerateRequest.messages': { maxEntries: limits.chatMessages },
  'stageplane.v1.GenerateRequest.conversation': { maxBytes: limits.requestIdBytes },
  'stageplane.v1.ChatMessage.role': { required: true, maxBytes: limits.nameBytes },
  'stageplane.v1.ChatMessage.content': { maxBytes: limits.promptBytes },
  'stageplane.v1.FixedLinearPlacement.stages': {
    maxEntries: limits.stagesPerRequest,
  },
  'stageplane.v1.FixedLinearPlacement.activation_edges': {
    maxEntries: limits.stagesPerRequest,
  },
  'stageplane.v1.LayerRangesPlacement.stages': {
    maxEntries: limits.stagesPerRequest,
  },
  'stageplane.v1.PlacementConstraints.pins': {
    maxEntries: limits.stagesPerRequest,
  },
  'stageplane.v1.StageSettings.engine': { maxBytes: limits.nameBytes },
  'stageplane.v1.StageSettings.device': { maxBytes: limits.nameBytes },

  'stageplane.v1.EnrollRequest.secret': { required: true, maxBytes: limits.nameBytes },
  'stageplane.v1.EnrollRequest.csr': { maxBytes: limits.csrBytes },
  'stageplane.v1.EnrollRequest.name': { maxBytes: limits.nameBytes },
  'stageplane.v1.EnrollRequest.default_name': { maxBytes: limits.nameBytes },
  'stageplane.v1.EnrollRequest.instance_id': { maxBytes: limits.instanceIdBytes },
  'stageplane.v1.RenewCertificateRequest.csr': { maxBytes: limits.csrBytes },

  'stageplane.v1.Hello.name': { required: true, maxBytes: limits.nameBytes },
  'stageplane.v1.Hello.instance_id': {
    required: true,
    maxBytes: limits.instanceIdBytes,
  },
  'stageplane.v1.Hello.process_id': {
    required: true,
    maxBytes: limits.instanceIdBytes,
  },
  'stageplane.v1.Hello.engines': { maxEntries: limits.devicesPerNode },
  'stageplane.v1.Hello.held': { maxEntries: limits.heldStagesPerNode },
  'stageplane.v1.EngineOffer.name': {
    required: true,
    maxBytes: limits.nameBytes,
  },
  'stageplane.v1.EngineOffer.device_ids': {
    maxBytes: limits.nameBytes,
    maxEntries: limits.devicesPerNode,
  },
  'stageplane.v1.NodeDescriptor.devices': { maxEntries: limits.devicesPerNode },
  'stageplane.v1.NodeDescriptor.labels': {
    maxBytes: limits.pathBytes,
    maxEntries: limits.labelsPerNode,
  },
  'stageplane.v1.Device.device_id': {
    required: true,
    maxBytes: limits.nameBytes,
  },
  'stageplane.v1.Heartbeat.devices': { maxEntries: limits.devicesPerNode },
  'stageplane.v1.Heartbeat.stages': { maxEntries: limits.heldStagesPerNode },
  'stageplane.v1.DeviceUsage.device_id': {
    required: true,
    maxBytes: limits.nameBytes,
  },
  'stageplane.v1.Hello.descriptor': { required: true },
  'stageplane.v1.Nack.status': { required: true },
  'stageplane.v1.StageReport.report': { required: true },
  'stageplane.v1.StageFault.reason': { required: true },
  'stageplane.v1.StageFault.message': { maxBytes: limits.faultMessageBytes },
  'stageplane.v1.StageFault.log_tail': {
    maxBytes: limits.logLineBytes,
    maxEntries: limits.logTailLines,
  },
  'stageplane.v1.StageLog.lines': {
    maxBytes: limits.logLineBytes,
    maxEntries: limits.logRequestLines,
  },
};
