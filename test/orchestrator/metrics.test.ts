import { describe, expect, it, vi } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { processMetrics } from '../../src/orchestrator/metrics/process-metrics.js';
import { sampleHello, samplePlan } from '../core/machine/samples.js';
import { complaintsAbout, scrape, seriesSum, seriesValue } from '../support/exposition.js';
import { runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { runSecured } from '../support/secured-orchestrator.js';

const http = '127.0.0.1:0';
const { RUN_PHASE_RUNNING, RUN_PHASE_DONE, RUN_PHASE_TEARING_DOWN } = RunPhase;

describe('GET /metrics', () => {
  it('counts exactly what has happened', async () => {
    const { client, address, httpUrl } = await runOrchestrator({ http });
    const alpha = await ScriptedAgent.join(address, 'alpha');
    const create = (requestId: string, node: bigint) =>
      unaryCall(client, Service.createRun, { requestId, plan: samplePlan([node]) });

    // One run that ends as it was asked to.
    await create('good', 2n);
    await alpha.becomeReady();
    await watchUntil(client, 1n, RUN_PHASE_RUNNING);
    await unaryCall(client, Service.stopRun, { runId: 1n });
    await alpha.confirmStop();
    await watchUntil(client, 1n, RUN_PHASE_DONE);

    // One that its agent refuses.
    await create('bad', 2n);
    const { deliveryId } = await alpha.next('provision');
    const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_MODEL_NOT_FOUND, message: 'no such file', logTail: [] };
    alpha.say({ $case: 'nack', value: { deliveryId, status: fault } });
    await watchUntil(client, 2n, RUN_PHASE_TEARING_DOWN);
    await alpha.confirmStop();
    await watchUntil(client, 2n, RUN_PHASE_DONE);

    // One rejection, and one provision that is sent twice.
    expect((await create('nowhere', 9n)).outcome?.$case).toBe('rejection');
    // Two dry runs, one of which finds no plan.
    for (const node of [2n, 9n]) await unaryCall(client, Service.planRun, { plan: samplePlan([node]) });
    await create('again', 2n);
    await alpha.next('provision');
    await alpha.vanish();
    const again = await ScriptedAgent.join(address, 'alpha');
    await again.becomeReady();
    await watchUntil(client, 3n, RUN_PHASE_RUNNING);

    // One word about a generation that is long over; what comes after it says that it was taken in.
    again.report({ runId: 1n, stageIndex: 0, generation: 1 }, { $case: 'stopped', value: {} });
    await again.next('reportAck');
    again.report({ runId: 3n, stageIndex: 0, generation: 4 }, { $case: 'stopped', value: {} });
    await again.next('reportAck');
    again.say({ $case: 'heartbeat', value: { sequence: 1n, devices: [], stages: [] } });
    await again.next('heartbeatAck');

    await vi.waitFor(async () => {
      const families = await scrape(httpUrl);
      const values = Object.fromEntries(Object.keys(expected).map((name) => [name, seriesValue(families, name)]));
      expect(values).toEqual(expected);
      // A sum of zeroes but for one.
      expect(seriesSum(families, 'stageplane_runs_faulted_total')).toBe(1);
      expect(seriesSum(families, 'stageplane_run_rejections_total')).toBe(1);
      expect(seriesSum(families, 'stageplane_dry_run_rejections_total')).toBe(1);
    });
  });

  const expected = {
    stageplane_runs_created_total: 3,
    'stageplane_runs_ended_total{outcome="stopped"}': 1,
    'stageplane_runs_ended_total{outcome="faulted"}': 1,
    'stageplane_runs_ended_total{outcome="completed"}': 0,
    'stageplane_runs_faulted_total{reason="model_not_found"}': 1,
    'stageplane_stage_faults_total{reason="model_not_found"}': 1,
    'stageplane_run_rejections_total{kind="unknown_node"}': 1,
    'stageplane_dry_run_rejections_total{kind="unknown_node"}': 1,
    'stageplane_runs{phase="running"}': 1,
    'stageplane_runs{phase="done"}': 2,
    'stageplane_stages{phase="ready"}': 1,
    'stageplane_deliveries_total{kind="provision"}': 4,
    'stageplane_deliveries_total{kind="stop"}': 2,
    stageplane_redeliveries_total: 1,
    'stageplane_outbox_stages{kind="provision",state="unsent"}': 0,
    'stageplane_outbox_stages{kind="stop",state="unacknowledged"}': 0,
    'stageplane_ignored_messages_total{kind="old_generation"}': 1,
    'stageplane_ignored_messages_total{kind="out_of_date"}': 1,
    'stageplane_ignored_messages_total{kind="old_session"}': 0,
    stageplane_sessions_begun_total: 2,
    stageplane_sessions_ended_total: 1,
    stageplane_sessions_connected: 1,
    'stageplane_stage_phase_duration_seconds_count{phase="pending"}': 3,
    'stageplane_stage_phase_duration_seconds_count{phase="accepted"}': 2,
    stageplane_run_start_duration_seconds_count: 2,
    'stageplane_nodes{state="schedulable"}': 1,
    'stageplane_node_stages{node="alpha"}': 1,
    'stageplane_device_capacity_bytes{node="alpha",device="cpu"}': 2 ** 34,
    'stageplane_device_free_bytes{node="alpha",device="cpu"}': 2 ** 33,
    'stageplane_grpc_calls_total{method="stageplane.v1.OrchestratorService/CreateRun",code="OK"}': 4,
    stageplane_watchers: 0,
    'stageplane_store_commits_failed_total{kind="disk-full"}': undefined,
  };

  it('is in the format, by the rules, whatever agents call themselves', async () => {
    const { client, address, httpUrl } = await runOrchestrator({ http });
    const device = { kind: 2, name: 'a "card"', totalBytes: 1n << 36n, freeBytes: 1n << 35n };
    const hello = sampleHello('odd');
    const odd = { ...hello.descriptor!, devices: [{ ...device, deviceId: 'gpu"\\\n0' }] };
    await ScriptedAgent.join(address, 'odd', { descriptor: odd });
    await ScriptedAgent.join(address, 'alpha');
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([3n]) });
    await unaryCall(client, Service.getRun, { runId: 9n }).catch(() => {});
    await fetch(`${httpUrl}/nowhere/${'x'.repeat(50)}`);
    const watch = streamCall(client, Service.watchNodes, {});
    await watch.next();

    const families = await scrape(httpUrl);
    expect(complaintsAbout(families)).toEqual([]);
    expect(seriesValue(families, 'stageplane_watchers')).toBe(1);
    expect(seriesValue(families, 'stageplane_http_requests_total{route="unknown",code="404"}')).toBe(1);
    const devices = families.find(({ name }) => name === 'stageplane_device_capacity_bytes')?.series;
    expect(devices?.map(({ labels }) => labels.device)).toContain('gpu"\\\n0');
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes', 'stageplane_build_info']) {
      expect(families.find((family) => family.name === name)?.series.length, name).toBe(1);
    }
    await watch.return(undefined);
  });

  it('has figures that are figures, also right after another scrape', async () => {
    await processMetrics().metrics();
    const text = await processMetrics().metrics();
    const lags = text.split('\n').filter((line) => line.startsWith('nodejs_eventloop_lag'));
    expect(lags).not.toEqual([]);
    for (const line of lags) expect(Number(line.split(' ')[1]), line).toBeLessThan(60);
  });

  it('has no series per run, and forgets nodes that are deleted', async () => {
    const { client, address, httpUrl } = await runOrchestrator({ http });
    const agent = await ScriptedAgent.join(address, 'alpha');
    const seriesOf = async () =>
      (await scrape(httpUrl)).flatMap(({ name, series }) => (name.startsWith('stageplane') ? series : []));
    const before = (await seriesOf()).map(({ name }) => name);
    for (const requestId of ['a', 'b', 'c']) {
      await unaryCall(client, Service.createRun, { requestId, plan: samplePlan([2n]) });
    }
    const perRun = (await seriesOf()).filter(({ labels }) =>
      Object.entries(labels).some(([label]) => /run|request|model/.test(label)),
    );
    expect(perRun).toEqual([]);
    expect(before.some((name) => name === 'stageplane_node_stages')).toBe(true);

    await agent.vanish();
    await unaryCall(client, Service.deleteNode, { nodeId: 2n });
    expect((await seriesOf()).filter(({ labels }) => labels.node === 'alpha')).toEqual([]);
  });

  it('needs a key where there are certificates', async () => {
    const { httpUrl } = await runSecured({ http });
    expect((await fetch(`${httpUrl}/metrics`)).status).toBe(401);
  });
});
