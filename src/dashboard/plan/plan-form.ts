import type { Node } from '../../../gen/stageplane/v1/node.js';
import { RuntimeConfig } from '../../../gen/stageplane/v1/plan.js';
import {
  AutomaticPlacement,
  PlacementObjective as Objective,
  PlacementConstraints,
  PlanRequest,
} from '../../../gen/stageplane/v1/planner.js';
import { Fidelity, StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { escapeControls } from '../../cli/format/escape.js';
import { findModel } from '../../core/catalogue/find-model.js';

/** What is typed; an empty field leaves it to the orchestrator. */
export interface PlanForm {
  /** Path of a GGUF file. */
  readonly model: string;
  readonly prompt: string;
  readonly objective: keyof typeof objectives;
  readonly fidelity: 'fast' | 'exact';
  readonly engine: string;
  readonly context: string;
  readonly sessions: string;
  readonly minStages: string;
  readonly maxStages: string;
  /** Per cent of a device. */
  readonly headroom: string;
  readonly allowKvQuantisation: boolean;
  /** Ids of nodes. */
  readonly excluded: readonly string[];
}

export const emptyForm: PlanForm = {
  model: '',
  prompt: '',
  objective: 'fastest',
  fidelity: 'fast',
  engine: '',
  context: '',
  sessions: '',
  minStages: '',
  maxStages: '',
  headroom: '',
  allowKvQuantisation: false,
  excluded: [],
};

export const objectives = {
  fastest: { name: 'fastest: least time for each token', value: Objective.PLACEMENT_OBJECTIVE_FASTEST },
  throughput: { name: 'throughput: many conversations', value: Objective.PLACEMENT_OBJECTIVE_THROUGHPUT },
  'fewest-nodes': { name: 'fewest nodes', value: Objective.PLACEMENT_OBJECTIVE_FEWEST_NODES },
  balanced: { name: 'balanced: least full devices', value: Objective.PLACEMENT_OBJECTIVE_BALANCED },
} as const;

/** What the form asks of the planner. Whether that makes sense is the orchestrator's to say. */
export function planRequestOf(form: PlanForm): PlanRequest {
  const { model, prompt, objective, fidelity, engine, context, sessions } = form;
  const fidelities = { fast: Fidelity.FIDELITY_FAST, exact: Fidelity.FIDELITY_EXACT };
  return PlanRequest.fromPartial({
    model: { source: { $case: 'localPath', value: model.trim() } },
    ...(prompt !== '' && {
      runtime: RuntimeConfig.fromPartial({
        prompt: { source: { $case: 'inline', value: prompt } },
        sampling: { temperatureMillis: 0, topK: 0 },
      }),
    }),
    settings: StageSettings.fromPartial({
      engine,
      contextLength: whole(context) ?? 0,
      sessions: whole(sessions) ?? 0,
      fidelity: fidelities[fidelity],
    }),
    placement: {
      $case: 'automatic',
      value: AutomaticPlacement.fromPartial({
        objective: objectives[objective].value,
        constraints: constraintsOf(form),
      }),
    },
  });
}

function constraintsOf(form: PlanForm): PlacementConstraints {
  const { minStages, maxStages, headroom, allowKvQuantisation, excluded } = form;
  const percent = whole(headroom);
  return PlacementConstraints.fromPartial({
    minStages: whole(minStages),
    maxStages: whole(maxStages),
    headroomMillis: percent === undefined ? undefined : percent * 10,
    allowKvQuantisation,
    excludedNodeIds: excluded.map(BigInt),
  });
}

function whole(text: string): number | undefined {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}

/** Whether the model is one of the catalogue, of which there need not be a file. */
export function isReference({ model }: PlanRequest): boolean {
  return model?.source?.$case === 'localPath' && findModel(model.source.value).kind === 'found';
}

/** Engines that any node offers. */
export function enginesOf(nodes: readonly Node[]): string[] {
  return [...new Set(nodes.flatMap(({ engines }) => engines.map(({ name }) => escapeControls(name))))].sort();
}
