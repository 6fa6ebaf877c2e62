import type { Bound } from '../parts/bound.js';

/** What is typed; an empty field leaves it to the orchestrator. */
export interface PlanForm {
  /** Path of a GGUF file, or a model of the catalogue. */
  readonly model: string;
  readonly placement: keyof typeof placements;
  readonly minStages: string;
  readonly maxStages: string;
  readonly context: string;
  readonly sessions: string;
  readonly engine: string;
  readonly fidelity: 'fast' | 'exact';
  readonly prompt: string;

  /** Per cent of a device. */
  readonly headroom: string;
  readonly secondsPerToken: string;
  readonly allowKvQuantisation: boolean;
  /** What is asked of single nodes, by their ids. */
  readonly nodes: Readonly<Record<string, NodeWish>>;
  /** Where each stage shall be, for a placement that is given; in order. */
  readonly stages: readonly GivenStage[];

  readonly kvCacheType: '' | 'f16' | 'q8_0' | 'q4_0';
  readonly threads: string;
  readonly microBatch: string;
  readonly flashAttention: boolean;
  readonly maxTokens: string;
  readonly temperature: string;
}

export interface NodeWish {
  readonly isExcluded: boolean;
  /** Stages that must be there, such as `0` or `0, 2`. */
  readonly pinned: string;
  readonly maxLayers: string;
}

export interface GivenStage {
  /** Id of a node. */
  readonly node: string;
  /** `0-12`, the end not included; empty where layers are spread evenly. */
  readonly layers: string;
}

export const noWish: NodeWish = { isExcluded: false, pinned: '', maxLayers: '' };

export const emptyForm: PlanForm = {
  model: '',
  placement: 'fastest',
  minStages: '',
  maxStages: '',
  context: '',
  sessions: '',
  engine: '',
  fidelity: 'fast',
  prompt: '',
  headroom: '',
  secondsPerToken: '',
  allowKvQuantisation: false,
  nodes: {},
  stages: [],
  kvCacheType: '',
  threads: '',
  microBatch: '',
  flashAttention: false,
  maxTokens: '',
  temperature: '',
};

/** What makes a placement the best, or that it is not the orchestrator's to choose. */
export const placements = {
  fastest: 'fastest: least time for each token',
  throughput: 'throughput: many conversations',
  'fewest-nodes': 'fewest nodes',
  balanced: 'balanced: least full devices',
  given: 'given: a node for each stage',
} as const;

/** What each group of fields gets. */
export interface FieldsProps {
  readonly form: PlanForm;
  readonly onChange: (form: PlanForm) => void;
}

/** What a field of the form is bound to. */
export function binding({ form, onChange }: FieldsProps) {
  return <Name extends keyof PlanForm & string>(name: Name): Bound<PlanForm[Name]> => ({
    id: name,
    value: form[name],
    onChange: (value) => onChange({ ...form, [name]: value }),
  });
}
