/**
 * What `import 'attention-playground/element'` adds to a page's types: the elements by their tags, and
 * the events they send, which bubble and so can be heard anywhere.
 */
import type { State } from '../lessons/state.js';
import type { AttentionHeatmap } from './attention-heatmap.js';
import type { AttentionPlayground } from './attention-playground.js';

export * from './index.js';

/** A cell of a heatmap. */
export interface CellDetail {
  row: number;
  column: number;
  value: number;
  /** Bits of the reasons why it is masked, 0 when it is not. */
  masked: number;
}

export interface CellClickDetail extends CellDetail {
  originalEvent: MouseEvent | KeyboardEvent;
}

export interface CellEditDetail extends Omit<CellDetail, 'value'> {
  /** The number that was typed; null takes an edit back. */
  value: number | null;
  previous: number;
}

export interface AttentionChangeDetail {
  state: State;
}

declare global {
  interface HTMLElementTagNameMap {
    'attention-heatmap': AttentionHeatmap;
    'attention-playground': AttentionPlayground;
  }

  interface GlobalEventHandlersEventMap {
    cellhover: CustomEvent<CellDetail | null>;
    cellselect: CustomEvent<CellDetail>;
    cellclick: CustomEvent<CellClickDetail>;
    celledit: CustomEvent<CellEditDetail>;
    attentionchange: CustomEvent<AttentionChangeDetail>;
  }
}
