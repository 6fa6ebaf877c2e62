import type { Node } from '../../../gen/stageplane/v1/node.js';
import { escapeControls } from '../../cli/format/escape.js';
import { CheckField, NumberField, TextField } from '../parts/field.js';
import { MoreFields } from '../parts/more-fields.js';
import type { PoolFieldsProps } from './plan-fields.js';
import { binding, type NodeWish, noWish } from './plan-form.js';

/** What bounds the orchestrator's choice of a placement. */
export function BoundFields({ nodes, ...props }: PoolFieldsProps) {
  const { form, onChange } = props;
  const bound = binding(props);
  return (
    <MoreFields summary="Limits, pins and nodes to leave out">
      <NumberField label="Leave free of each device, %" placeholder="20" {...bound('headroom')} />
      <TextField
        label="Seconds for a token at most"
        inputMode="decimal"
        pattern="[0-9]*\.?[0-9]*"
        {...bound('secondsPerToken')}
      />
      <CheckField label="A smaller KV cache type may be chosen" {...bound('allowKvQuantisation')} />
      {nodes.map((node) => (
        <NodeWishes
          key={String(node.nodeId)}
          node={node}
          wish={form.nodes[String(node.nodeId)] ?? noWish}
          onChange={(wish) => onChange({ ...form, nodes: { ...form.nodes, [String(node.nodeId)]: wish } })}
        />
      ))}
    </MoreFields>
  );
}

interface NodeWishesProps {
  readonly node: Node;
  readonly wish: NodeWish;
  readonly onChange: (wish: NodeWish) => void;
}

function NodeWishes({ node: { nodeId, name }, wish, onChange }: NodeWishesProps) {
  const { isExcluded, pinned, maxLayers } = wish;
  return (
    <fieldset>
      <legend>
        <bdi>{escapeControls(name)}</bdi>
      </legend>
      <CheckField
        label="Leave out"
        id={`exclude-${nodeId}`}
        value={isExcluded}
        onChange={(value) => onChange({ ...wish, isExcluded: value })}
      />
      {!isExcluded && (
        <div className="pair">
          <TextField
            label="Holds stage"
            placeholder="any"
            pattern="[0-9]+( *, *[0-9]+)*"
            id={`pin-${nodeId}`}
            value={pinned}
            onChange={(value) => onChange({ ...wish, pinned: value })}
          />
          <NumberField
            label="Layers at most"
            placeholder="all"
            id={`layers-${nodeId}`}
            value={maxLayers}
            onChange={(value) => onChange({ ...wish, maxLayers: value })}
          />
        </div>
      )}
    </fieldset>
  );
}
