import type { ProvisionDelivery, StageDelivery, StopDelivery } from '../../gen/stageplane/v1/node_agent_service.js';
import { limits } from '../core/limits.js';
import type { AgentEvent, ModelLookup } from '../core/machine/agent/events.js';
import { findModel } from './model-path.js';

/**
 * Deliveries in the order of their arrival. A provision waits here until its models have been looked for, which may
 * touch a slow disk; a stop behind it waits too, since it may be about the same stage.
 */
export class DeliveryQueue {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(
    private readonly folders: readonly string[],
    private readonly tell: (event: AgentEvent) => void,
  ) {}

  /** False when too many wait already. */
  provision(session: number, delivery: ProvisionDelivery): boolean {
    return this.#enqueue(async () => {
      const models = await this.#find(delivery.stages);
      this.tell({ kind: 'provision-delivered', session, delivery, models });
    });
  }

  /** False when too many wait already. */
  stop(session: number, stop: StopDelivery): boolean {
    return this.#enqueue(async () => this.tell({ kind: 'stop-delivered', session, stop }));
  }

  #enqueue(work: () => Promise<void>): boolean {
    if (this.#waiting >= limits.queuedPerSession) return false;
    this.#waiting += 1;
    this.#last = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
    });
    return true;
  }

  /** Stages of one run have one model: it is looked for once. */
  #find(stages: readonly StageDelivery[]): Promise<ModelLookup[]> {
    const lookups = new Map<string, Promise<ModelLookup>>();
    return Promise.all(
      stages.map(({ provision }) => {
        const source = provision?.ggufSource;
        const name = JSON.stringify(source) ?? '';
        const lookup = lookups.get(name) ?? findModel(source, this.folders);
        lookups.set(name, lookup);
        return lookup;
      }),
    );
  }
}
