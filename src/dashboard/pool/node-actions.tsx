import { useState } from 'react';
import { orchestrator } from '../api/orchestrator.js';
import { useAction } from '../api/use-action.js';
import { useMay } from '../api/use-may.js';
import { ConfirmButton } from '../parts/confirm-button.js';
import { SelectField } from '../parts/field.js';
import { Problem } from '../parts/notice.js';
import type { NodeOffer, NodeView } from './node-view.js';

interface Props {
  readonly node: Pick<NodeView, 'id' | 'name' | 'offers' | 'drain'>;
  readonly onDone: () => void;
}

/** Keeping a node free, freeing it and forgetting it, for who may. */
export function NodeActions({ node: { id, name, offers, drain }, onDone }: Props) {
  const may = useMay();
  const { error, act } = useAction();
  const [deadline, setDeadline] = useState<keyof typeof deadlines>('600000');
  const can = (offer: NodeOffer) => offers.has(offer) && may(methods[offer]);
  const perform = (what: () => Promise<void>) => act(() => what().then(onDone));
  const toggle = can('cordon') ? orchestrator.cordonNode : orchestrator.uncordonNode;
  if (![...offers].some(can)) return null;
  return (
    <fieldset className="actions" aria-label={`Node ${name}`}>
      {/* One button in both states: the focus stays on it. */}
      {(can('cordon') || can('uncordon')) && (
        <button type="button" className="button" onClick={() => void perform(() => toggle(id))}>
          {can('cordon') ? 'Cordon' : 'Uncordon'}
        </button>
      )}
      {can('drain') && (
        <ConfirmButton
          label={drain ? 'Change deadline' : 'Drain'}
          question="No stage comes any more. Runs that may begin again move to other nodes; what is left in the end is ended."
          onConfirm={() => perform(() => orchestrator.drainNode(id, deadline))}
        >
          <SelectField
            label="End what is left"
            options={deadlines}
            id={`deadline-${id}`}
            value={deadline}
            onChange={setDeadline}
          />
        </ConfirmButton>
      )}
      {can('forget') && (
        <ConfirmButton
          label="Forget"
          question="Only for a machine that is off for good: its stages count as gone, and what they reserved is free."
          onConfirm={() => perform(() => orchestrator.deleteNode(id))}
        />
      )}
      <Problem error={error} />
    </fieldset>
  );
}

const methods: Readonly<Record<NodeOffer, string>> = {
  cordon: 'CordonNode',
  uncordon: 'UncordonNode',
  drain: 'DrainNode',
  forget: 'DeleteNode',
};

/** In milliseconds. */
const deadlines = {
  '0': 'at once',
  '600000': 'after 10 minutes',
  '3600000': 'after an hour',
  '86400000': 'after a day',
} as const;
