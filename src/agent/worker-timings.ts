/** How patient an agent is with its workers, in milliseconds. */
export interface WorkerTimings {
  /** From the start to the first line. */
  readonly hello: number;
  /** Between two health checks. */
  readonly healthEvery: number;
  /** From a health check to its answer. */
  readonly healthPatience: number;
  /** From the stop command to SIGKILL. */
  readonly stopGrace: number;
}

export const defaultWorkerTimings: WorkerTimings = {
  hello: 30_000,
  healthEvery: 10_000,
  healthPatience: 30_000,
  stopGrace: 5_000,
};
