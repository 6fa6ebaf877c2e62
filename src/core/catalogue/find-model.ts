import { quoted } from '../quoted.js';
import { type CatalogueModel, catalogueModel } from './catalogue-model.js';
import type { ModelLayout } from './layout.js';
import { layouts } from './layouts.js';
import { type QuantisationName, quantisations } from './quantisations.js';

export type FoundModel =
  | { readonly kind: 'found'; readonly model: CatalogueModel }
  /** One sentence: what is unknown, and what there is instead. */
  | { readonly kind: 'refused'; readonly message: string };

const DEFAULT_QUANTISATION: QuantisationName = 'q4_k_m';

/** Finds `name:size` or `name:size@quantisation`, in letters of any case. */
export function findModel(reference: string): FoundModel {
  const [, name = '', size = '', suffix] = /^([^:@]+):([^:@]+)(?:@([^:@]+))?$/.exec(reference.toLowerCase()) ?? [];
  const layout = layouts.find((known) => known.name === name && known.size === size);
  if (layout === undefined) return refused(unknownModel(reference, name));
  const published = quantisationsOf(layout);
  const quantisation = suffix === undefined ? defaultOf(layout) : published.find((known) => known === suffix);
  if (quantisation === undefined) {
    return refused(`${name}:${size} is not known as ${quoted(suffix ?? '')}; choose one of ${published.join(', ')}`);
  }
  return { kind: 'found', model: catalogueModel(layout, quantisation) };
}

function defaultOf({ publishedAs }: ModelLayout): QuantisationName {
  return publishedAs ?? DEFAULT_QUANTISATION;
}

/** MXFP4 is how its makers publish a model, and no mix that one would make of another. */
function quantisationsOf({ publishedAs }: ModelLayout): readonly QuantisationName[] {
  if (publishedAs !== undefined) return [publishedAs];
  return (Object.keys(quantisations) as QuantisationName[]).filter((known) => known !== 'mxfp4');
}

/** Names the sizes of the same model, or else the models that begin alike, or else all. */
function unknownModel(reference: string, name: string): string {
  const beginning = /^[a-z]*/.exec(reference.toLowerCase())?.[0] ?? '';
  const all = layouts.map((known) => ({ name: known.name, reference: `${known.name}:${known.size}` }));
  const near = [
    all.filter((known) => known.name === name),
    all.filter((known) => beginning !== '' && known.name.startsWith(beginning)),
    all,
  ].find((candidates) => candidates.length > 0)!;
  const choices = near.map((known) => known.reference).join(', ');
  return `${quoted(reference)} is no well-known model; choose one of ${choices}, or name a file`;
}

function refused(message: string): FoundModel {
  return { kind: 'refused', message };
}
