import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { readText } from '../config/readers.js';
import { optional, type Values } from '../config/setting.js';
import { checkPlacement, planSettings } from './plan-settings.js';
import { checkPlannedModel, plannedFileOperand, plannedModelSettings } from './planned-model-settings.js';

const settings = {
  ...planSettings,
  ...plannedModelSettings,
  explainNode: optional(readText, {
    placeholder: '<node>',
    description:
      'show instead all that the plan says of one node, by name or id: why it is used or not, and how full it is',
  }),
  ...clientSettings,
};

export type PlanValues = Values<typeof settings & typeof plannedFileOperand>;

export const planCommand = defineCommand({
  name: 'plan',
  summary: 'show how a model would be split over the nodes, and commit nothing',
  settings,
  operands: plannedFileOperand,
  examples: [
    'plan model.gguf',
    'plan model.gguf --objective throughput --max-stages 3 --exclude laptop --max-layers attic=8',
    'plan model.gguf --explain-node laptop',
    'plan --model llama3.1:70b@q4_k_m --nodes nodes.yaml',
    'plan model.gguf --place 0=alpha,1=beta',
    'plan model.gguf --place 0=alpha,1=beta --layers 0=0-12,1=12-30',
    'plan model.gguf --engine llama.cpp --fidelity exact --threads 4',
  ],
  check: (values) => [...checkPlannedModel(values), ...checkPlacement(values)],
  load: async () => (await import('../actions/plan.js')).plan,
});
