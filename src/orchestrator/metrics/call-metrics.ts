import { status } from '@grpc/grpc-js';
import type { Registry } from 'prom-client';
import { addCounter, type Sample } from './families.js';

/** gRPC calls and HTTP requests, counted when they are over. */
export class CallMetrics {
  /** By the path of a method that is served, then by code. */
  private readonly grpc = new Map<string, Map<number, number>>();
  /** By a route's method and pattern, then by status. */
  private readonly http = new Map<string, Map<number, number>>();

  constructor(registry: Registry) {
    addCounter(registry, {
      name: 'stageplane_grpc_calls_total',
      help: 'gRPC calls that are over, by method and status code.',
      labelNames: ['method', 'code'],
      read: () => this.grpcSamples(),
    });
    addCounter(registry, {
      name: 'stageplane_http_requests_total',
      help: 'HTTP requests that are over, by route and status code.',
      labelNames: ['route', 'code'],
      read: () => this.httpSamples(),
    });
  }

  /** @param path of a method that is served, such as `/stageplane.v1.OrchestratorService/GetRun` */
  readonly grpcCall = (path: string, code: status): void => count(this.grpc, path, code);

  /** @param route a pattern that is served, such as `GET /v1/runs/:id`: never what the client wrote */
  readonly httpRequest = (route: string, code: number): void => count(this.http, route, code);

  private grpcSamples(): Sample[] {
    return samples(this.grpc, (path, code) => ({ method: path.slice(1), code: status[code] ?? 'other' }));
  }

  private httpSamples(): Sample[] {
    return samples(this.http, (route, code) => ({ route, code: String(code) }));
  }
}

function count(counts: Map<string, Map<number, number>>, name: string, code: number): void {
  const ofName = counts.get(name) ?? new Map<number, number>();
  if (ofName.size === 0) counts.set(name, ofName);
  ofName.set(code, (ofName.get(code) ?? 0) + 1);
}

function samples(
  counts: ReadonlyMap<string, ReadonlyMap<number, number>>,
  labels: (name: string, code: number) => Record<string, string>,
): Sample[] {
  return [...counts].flatMap(([name, codes]) => [...codes].map(([code, value]): Sample => [labels(name, code), value]));
}
