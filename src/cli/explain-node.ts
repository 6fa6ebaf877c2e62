import type { Device, Node } from '../../gen/stageplane/v1/node.js';
import {
  type CandidateStatus,
  type MemoryBreakdown,
  type NodeExclusion,
  type PlanReport,
  CandidateStatus as Status,
} from '../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { nodeBudget } from '../core/model/node-budget.js';
import type { LiveStage } from './live-stages.js';

/** One stage of the plan on the node. */
export interface UsedStage {
  readonly stageIndex: number;
  /** Layers `[layerStart, layerEndExclusive)`. */
  readonly layerStart: number;
  readonly layerEndExclusive: number;
  readonly deviceId: string;
  /** Absent when the plan was not priced. */
  readonly memory: MemoryBreakdown | undefined;
}

export interface ExplainedDevice {
  readonly device: Device;
  /** What live stages were promised. */
  readonly reservedBytes: bigint;
  /** Bytes that a plan may use, as the planner counts them, save that a stage is taken to hold what it held when ready. */
  readonly usableBytes: number | undefined;
}

/** What one candidate puts on the node. */
export interface CandidateShare {
  readonly name: string;
  readonly status: CandidateStatus;
  /** In stage order; empty when it leaves the node out. */
  readonly stages: readonly MemoryBreakdown[];
  /** The first reason why it was not taken. */
  readonly reason: string | undefined;
}

/** Everything that a report says about one node. */
export interface NodeExplanation {
  readonly node: Node;
  readonly used: readonly UsedStage[];
  readonly exclusion: NodeExclusion | undefined;
  readonly devices: readonly ExplainedDevice[];
  readonly candidates: readonly CandidateShare[];
  /** Those that name it. */
  readonly warnings: readonly string[];
  /** What would have made a plan, when that is about this node. */
  readonly hint: string | undefined;
}

export interface Explaining {
  readonly node: Node;
  readonly report: PlanReport;
  /** Of the plan, in stage order; empty after a rejection. */
  readonly settings: readonly StageSettings[];
  /** On this node. */
  readonly live: readonly LiveStage[];
  /** Thousandths; undefined for the default. */
  readonly headroomMillis: number | undefined;
}

/** Gathers what a report, the pool and the live runs say about one node. */
export function explainNode(explaining: Explaining): NodeExplanation {
  const { node, report, settings } = explaining;
  const { nodeId } = node;
  const selected = report.candidates.find(({ status }) => status === Status.CANDIDATE_STATUS_SELECTED);
  const hint = report.noValidPlanHint;
  const stages = report.selected?.placement?.stages.filter((stage) => stage.nodeId === nodeId) ?? [];
  return {
    node,
    used: stages.map(({ stageIndex, layerStart, layerEndExclusive }) => ({
      stageIndex,
      layerStart,
      layerEndExclusive,
      deviceId: settings[stageIndex]?.device ?? '',
      memory: selected?.memory.find((stage) => stage.stageIndex === stageIndex),
    })),
    exclusion: report.exclusions.find((exclusion) => exclusion.nodeId === nodeId),
    devices: (node.descriptor?.devices ?? []).map((device) => explainDevice(explaining, device)),
    candidates: report.candidates.map(({ name, status, memory, reasons: [reason] }) => {
      return { name, status, reason, stages: memory.filter((stage) => stage.nodeId === nodeId) };
    }),
    warnings: report.warnings.filter((warning) => warning.includes(`"${node.name}"`)),
    hint: hint?.nodeId === nodeId ? hint.text : undefined,
  };
}

function explainDevice({ node, live, headroomMillis }: Explaining, device: Device): ExplainedDevice {
  const here = live.filter(({ deviceId }) => deviceId === device.deviceId);
  const budget = nodeBudget(node.name, device, here, { headroomMillis });
  return {
    device,
    reservedBytes: here.reduce((sum, { reservedBytes }) => sum + reservedBytes, 0n),
    usableBytes: budget.kind === 'known' ? budget.usable : undefined,
  };
}
