import { ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { inspectModel } from '../../gguf/inspect-model.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { inspectionView } from '../format/inspection-view.js';

interface InspectValues {
  readonly file: string;
  readonly tensors: boolean;
}

export async function inspect({ values, output }: Invocation<InspectValues>): Promise<ExitCode> {
  const model = await inspectModel(values.file, { includeTensors: values.tensors });
  if (model.kind === 'refused') {
    const { kind, message } = model.error;
    const reason = kind.toUpperCase().replaceAll('-', '_');
    return output.fail({ exitCode: exitCode.failure, code: 'INVALID_ARGUMENT', reason, message, violations: [] });
  }
  if (output.json) output.document(ModelInspection.toJSON(model.inspection));
  else output.print(inspectionView(model.inspection));
  if (model.obstacle !== undefined) output.note('NOT_PLANNABLE', model.obstacle);
  return exitCode.ok;
}
