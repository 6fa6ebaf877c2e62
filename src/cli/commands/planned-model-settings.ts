import { readText } from '../config/readers.js';
import { optional } from '../config/setting.js';
import type { Violation } from '../failure.js';

/** What `plan` alone takes: a question may be about machines and models that are not there. */
export const plannedModelSettings = {
  model: optional(readText, {
    placeholder: '<name:size[@quant]>',
    description: 'instead of a file, a well-known model, such as llama3.1:70b@q4_k_m; without a quant: q4_k_m',
  }),
  nodes: optional(readText, {
    placeholder: '<file>',
    description: 'plan for the nodes that this YAML file describes, and ask no orchestrator',
  }),
};

export const plannedFileOperand = {
  file: optional(readText, {
    placeholder: '[file]',
    description: "model; a path that does not exist here is sent as it is, for the orchestrator's own disk",
  }),
};

/** There is exactly one model. */
export function checkPlannedModel(values: {
  readonly file?: string | undefined;
  readonly model?: string | undefined;
}): readonly Violation[] {
  const { file, model } = values;
  if ((file === undefined) !== (model === undefined)) return [];
  const field = file === undefined ? '<file>' : '--model';
  const message =
    file === undefined
      ? 'is missing; name a file, or a well-known model with --model, such as --model llama3.1:70b'
      : 'cannot be combined with a file; leave out one of them';
  return [{ field, message }];
}
