import type { Server } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { guardedServer } from './guarded-server.js';
import type { OpenStreams } from './open-streams.js';

/** grpc.health.v1.Health for a whole server (the empty name) and each of its services. Starts as NOT_SERVING. */
export class Health {
  private readonly names: readonly string[];
  private readonly implementation = new HealthImplementation();

  /** @param services full names, such as `stageplane.v1.OrchestratorService` */
  constructor(services: readonly string[]) {
    this.names = ['', ...services];
    this.setNotServing();
  }

  addTo(server: Server, streams: OpenStreams): void {
    this.implementation.addToServer(guardedServer(server, streams));
  }

  setServing(): void {
    for (const name of this.names) this.implementation.setStatus(name, 'SERVING');
  }

  setNotServing(): void {
    for (const name of this.names) this.implementation.setStatus(name, 'NOT_SERVING');
  }
}
