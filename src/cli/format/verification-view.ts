import type { Run } from '../../../gen/stageplane/v1/run.js';
import type { Comparison, SaidAnswer } from '../../replay/compare-answers.js';
import type { KernelComparison } from '../../replay/compare-kernels.js';
import type { Verdict } from '../../replay/judge-comparison.js';
import { escapeControls } from './escape.js';
import { fidelitySentence } from './fidelity-sentence.js';
import { renderFields } from './table.js';

/** What came of a comparison with the whole model, and all that it depends on. */
export interface Verification {
  readonly run: Run;
  readonly files: { readonly modelPath: string; readonly digest: string };
  readonly answer: SaidAnswer;
  readonly kernels: KernelComparison;
  readonly comparison: Comparison;
  readonly verdict: Verdict;
}

type Different = Extract<Comparison, { kind: 'different' }>;

/** Characters of text that are shown on either side of a difference. */
const CONTEXT_CHARACTERS = 48;

/** A verification for people; the first line says it all. */
export function verificationView(verification: Verification): string {
  const { run, files, kernels, comparison, verdict } = verification;
  const fields: (readonly [string, string])[] = [
    ...(comparison.kind === 'different' ? differenceFields(comparison) : []),
    ['promised', fidelitySentence(run.fidelity)],
    ['kernels', kernelSentence(kernels)],
    ['model', escapeControls(files.modelPath)],
    ...(verdict === 'kept' ? [] : [['verdict', verdictSentences[verdict]] as const]),
  ];
  return `${headline(verification)}\n${renderFields(fields)}`;
}

/** The same as JSON; counts are numbers, ids strings, as in protobuf's mapping. */
export function verificationDocument({ run, files, answer, kernels, comparison, verdict }: Verification) {
  const identical = comparison.kind === 'identical';
  return {
    runId: String(run.runId),
    identical,
    verdict,
    fidelity: run.fidelity,
    tokens: answer.tokenIds.length,
    agreeingTokens: identical ? comparison.tokens : comparison.agreeing,
    brokenOff: answer.end === 'broken-off',
    ...(comparison.kind === 'different' && { difference: differenceDocument(comparison) }),
    kernels: {
      comparison: kernels.kind,
      local: kernels.local,
      nodes: kernels.nodes.map(({ nodeId, name, build }) => ({ nodeId: String(nodeId), name, build })),
    },
    model: { path: files.modelPath, digest: files.digest },
  };
}

function headline({ run, answer, comparison }: Verification): string {
  const count = answer.tokenIds.length;
  const whole = 'the whole model in one process';
  const rest = answer.end === 'broken-off' ? ', as far as its answer goes: it was broken off' : '';
  return comparison.kind === 'identical'
    ? `identical: ${count} of ${count} tokens of run ${run.runId} are those of ${whole}${rest}`
    : `different: the first ${comparison.agreeing} of ${count} tokens of run ${run.runId} are those of ${whole}${rest}`;
}

function differenceFields({ agreeing, runToken, wholeToken, common, runText, wholeText }: Different) {
  const isText = runToken === undefined && wholeToken === undefined;
  const said = (token: number | undefined, text: string) => {
    if (token === undefined && !isText) return 'the answer ends';
    const id = token === undefined ? '' : ` (token ${token})`;
    return `${quoted(text.slice(0, CONTEXT_CHARACTERS))}${id}`;
  };
  return [
    ['differs at', isText ? 'the text alone; all tokens agree' : `token ${agreeing}, counted from 0`],
    ['after', quoted(common.slice(-CONTEXT_CHARACTERS))],
    ['run', said(runToken, runText)],
    ['whole model', said(wholeToken, wholeText)],
  ] as const;
}

function differenceDocument({ agreeing, runToken, wholeToken, common, runText, wholeText }: Different) {
  return { index: agreeing, runToken, wholeToken, common, runText, wholeText };
}

function kernelSentence({ kind, local, nodes }: KernelComparison): string {
  if (kind === 'same') return `the same here and on the run's nodes: ${escapeControls(local)}`;
  const elsewhere = nodes
    .filter(({ build }) => build !== local)
    .map(({ nodeId, name, build }) => `${name || `node ${nodeId}`} ${build ?? 'of unknown build'}`);
  const what = kind === 'different' ? 'different kernels are compared' : 'different kernels may be compared';
  return escapeControls(`${what}: here ${local}; ${elsewhere.join('; ')}`);
}

const verdictSentences: Readonly<Record<Exclude<Verdict, 'kept'>, string>> = {
  expected: 'as can be expected of such a run; plan it with --fidelity exact to rule that out',
  'no-proof': "nothing is proved, since kernels round differently: verify on a machine like the run's nodes",
  broken:
    'an error, since the run promised the same text: see whether all files have the same weights, which their digests do not cover, or report it',
};

function quoted(text: string): string {
  return `"${escapeControls(text)}"`;
}
