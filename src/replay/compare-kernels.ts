import type { Node } from '../../gen/stageplane/v1/node.js';
import type { Run } from '../../gen/stageplane/v1/run.js';

/** A node of a run and the build of the run's engine there. */
export interface NodeBuild {
  readonly nodeId: bigint;
  readonly name: string;
  /** Absent when the node does not say. */
  readonly build: string | undefined;
}

/** Whether this machine computes as the nodes of a run do. */
export interface KernelComparison {
  /** `different` when one node is known to be of another build, `unknown` when one does not say. */
  readonly kind: 'same' | 'different' | 'unknown';
  readonly local: string;
  /** Each node once, in stage order. */
  readonly nodes: readonly NodeBuild[];
}

/** @param local build of the run's engine on this machine */
export function compareKernels(run: Run, nodes: readonly Node[], local: string): KernelComparison {
  const engine = run.settings[0]?.engine;
  const names = new Map(run.stages.map(({ nodeId, nodeName }) => [nodeId, nodeName]));
  const builds = [...names].map(([nodeId, name]): NodeBuild => {
    const node = nodes.find((candidate) => candidate.nodeId === nodeId);
    return { nodeId, name, build: node?.engines.find((offer) => offer.name === engine)?.build };
  });
  if (builds.some(({ build }) => build !== undefined && build !== local)) {
    return { kind: 'different', local, nodes: builds };
  }
  return { kind: builds.every(({ build }) => build === local) ? 'same' : 'unknown', local, nodes: builds };
}
