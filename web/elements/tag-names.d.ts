/**
 * What `import 'attention-playground/element'` adds to a page's types: the elements by their tags, and
 * the events they send, which bubble and so can be heard anywhere.
 */
import type { Kind, Range } from '../draw/colour.js';
import type { State } from '../lessons/state.js';
import type { AttentionPlayground } from './attention-playground.js';
import type { AttentionHeatmap } from './heatmap/attention-heatmap.js';
import type { HeatmapStrings, Matrix, MatrixLike, Token } from './heatmap/data.js';

export * from './index.js';

/** What a page sets on a heatmap; attention-heatmap.js says what each means. */
export interface HeatmapProperties {
  get matrix(): Matrix | null;
  set matrix(value: MatrixLike | Matrix | null);
  get mask(): ArrayLike<number> | null;
  set mask(value: MatrixLike | ArrayLike<number> | null);
  get kind(): Kind;
  set kind(value: string | null);
  get palette(): 'cividis' | 'viridis';
  set palette(value: string | null);
  rowLabels: readonly Token[] | null;
  columnLabels: readonly Token[] | null;
  rowFlags: ArrayLike<number> | null;
  edited: readonly (readonly [row: number, column: number])[];
  outlined: readonly (readonly [row: number, column: number])[];
  range: Range | null;
  label: string | null;
  rowAxis: string | null;
  columnAxis: string | null;
  strings: HeatmapStrings | null;
  editable: boolean;
  thumbnail: boolean;
}

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
