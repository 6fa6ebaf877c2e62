import { Link } from 'wouter';
import { MemoryBar } from '../parts/memory-bar.js';
import { Status } from '../parts/status.js';
import type { DeviceView } from './device-view.js';
import { NodeActions } from './node-actions.js';
import type { DrainView, NodeView } from './node-view.js';

interface Props {
  readonly node: NodeView;
  /** Something was done to it. */
  readonly onChange: () => void;
}

export function NodeCard({ node, onChange }: Props) {
  return (
    <li className="card node" data-node={node.id}>
      <div className="card-head">
        <h2>
          <bdi>{node.name}</bdi> <span className="id">{node.id}</span>
        </h2>
        <Status state={node.state} />
      </div>
      {node.why !== '' && <p className="why">{node.why}</p>}
      {node.devices.map((device) => (
        <DeviceRow key={device.id} device={device} />
      ))}
      <dl className="facts">
        <Fact name="machine" value={node.machine} />
        <Fact name="stages" value={node.stages} />
        <Fact name="heard" value={node.heard} />
        <Fact name="engines" value={node.engines} />
        <Fact name="agent" value={node.version || 'unknown'} />
      </dl>
      {node.labels.length > 0 && (
        <ul className="labels" aria-label="Labels">
          {node.labels.map((label) => (
            <li key={label}>
              <bdi>{label}</bdi>
            </li>
          ))}
        </ul>
      )}
      {node.drain && <Drain drain={node.drain} />}
      <NodeActions node={node} onDone={onChange} />
    </li>
  );
}

function DeviceRow({ device }: { readonly device: DeviceView }) {
  return (
    <div className="device">
      <p className="device-title">
        <b>{device.id}</b> <span className="quiet">{device.name}</span> <span className="figure">{device.summary}</span>
      </p>
      {device.parts.length > 0 && <MemoryBar title={`Memory of ${device.id}`} parts={device.parts} />}
    </div>
  );
}

function Drain({ drain }: { readonly drain: DrainView }) {
  return (
    <div className="drain">
      <p>
        <b>{drain.title}</b>
      </p>
      <ul>
        {drain.runs.map(({ runId, text }) => (
          <li key={runId}>
            <Link href={`/runs/${runId}`}>run {runId}</Link>, {text}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
