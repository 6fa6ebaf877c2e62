import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { GgufSource } from '../../gen/stageplane/v1/model.js';
import type { RunPlan } from '../../gen/stageplane/v1/plan.js';
import type { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { findModel } from '../agent/model-path.js';
import type { ModelLookup } from '../core/machine/agent/events.js';
import { openModel } from '../gguf/open-model.js';

export interface ModelWish {
  readonly plan: RunPlan;
  readonly settings: StageSettings;
  /** The file that was named; else the plan's own path, if it is there, or its name under `folders`. */
  readonly named: string | undefined;
  readonly folders: readonly string[];
}

export type FoundFiles =
  | {
      readonly kind: 'found';
      readonly modelPath: string;
      /** Empty for the fixture engine, whose tokens are bytes. */
      readonly tokenizerPath: string;
      /** As in `ModelInspection.digest`. */
      readonly digest: string;
    }
  /** `message` is a whole sentence. */
  | { readonly kind: 'refused'; readonly message: string };

/** Finds the model of a run on this machine, and makes sure that it is the one that the run has. */
export async function findModelFile({ plan, settings, named, folders }: ModelWish): Promise<FoundFiles> {
  const located = named === undefined ? await locate(plan.model?.ggufSource, folders) : found(named);
  if (located.kind === 'refused') return refused(`the ${located.message}; or name the file with --model`);
  const opened = await openModel(located.path);
  if (opened.kind === 'refused') return refused(opened.error.message);
  const { digest } = opened.model;
  if (settings.modelDigest !== '' && settings.modelDigest !== digest) {
    return refused(
      `${located.path} has digest ${digest}, but the run's model has ${settings.modelDigest}: name the run's own file with --model`,
    );
  }
  const { tokenizer } = plan.model ?? {};
  const separate =
    tokenizer?.source?.$case === 'localPath' ? await locate({ source: tokenizer.source }, folders) : located;
  if (separate.kind === 'refused') return refused(`the tokenizer's ${separate.message}`);
  const tokenizerPath = settings.engine === 'fixture' ? '' : separate.path;
  return { kind: 'found', modelPath: located.path, tokenizerPath, digest };
}

async function locate(source: GgufSource | undefined, folders: readonly string[]): Promise<ModelLookup> {
  const path = source?.source?.$case === 'localPath' ? source.source.value : '';
  return isAbsolute(path) && existsSync(path) ? found(path) : findModel(source, folders);
}

function found(path: string): ModelLookup {
  return { kind: 'found', path };
}

function refused(message: string): FoundFiles {
  return { kind: 'refused', message };
}
